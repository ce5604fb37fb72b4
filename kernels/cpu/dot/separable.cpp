// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/separable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cpu/dot/packing.hpp"
#include "cpu/rows/copy_staging.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dot/separable.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/dot/dot-inl.hpp"

#ifndef CONVOLVE_DOT_SEPARABLE_CPP_ONCE
#define CONVOLVE_DOT_SEPARABLE_CPP_ONCE
namespace convolve::cpu::dot {

// Ring rows are sums along the row in 16 bits, as packing leaves a block of them: registers 0 and 1 together, then 2
// and 3. Interleaved with the row below they are pairs for the taps down the column, in the order of sums again.
struct PackedRows {
  WindowOrder window;
  std::vector<std::array<std::array<std::int32_t, max_lanes>, vectors>> start;  // of the sums, by position in a pixel
  int shift;                                                                    // right, of the sums
  std::vector<std::int32_t> words;
};

struct PackedColumns {
  BlockEpilogue epilogue;
  std::vector<std::int32_t> words;  // [pair of ring rows][output rows it is in]
};

// The functions of a SIMD target; rows is 0 where it has none.
struct SeparableFunctions {
  int rows = 0, samples = 0;
  decltype(RowPass::run) (*along)(bool pairs, int components, int groups) = nullptr;
  decltype(Kernel::run) (*down)(bool uniform, int half_height) = nullptr;
};

}  // namespace convolve::cpu::dot
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if CONVOLVE_DOT
namespace {

using dot::PackedColumns, dot::PackedRows;

// Rows of a block: it has 16 registers of sums where there are 32 registers, and 8 where there are 16.
constexpr int rows = HWY_TARGET == HWY_AVX3 ? 4 : 2;

// Components and Groups are known to the compiler, which then makes each window but once.
template <class Form, int Components, int Groups>
void AlongRow(const RowPass& pass, const void* line, void* elements, int n) {
  const auto& k = *static_cast<const PackedRows*>(pass.packed.get());
  const Tag<std::uint8_t> db;
  const Tag<std::int32_t> di;
  const auto* in = static_cast<const std::uint8_t*>(line);
  auto* out = static_cast<std::int16_t*>(elements);
  constexpr int step = Form::taps * Components, turn = samples % Components;
  // Windows `unit` apart come from one load as long as they end within it.
  constexpr int unit = step % 4 ? 2 : 4, spare = 12 - (Form::taps - 1) * Components, count = spare / unit + 1;
  Bytes orders[count];
  for (int i = 0; i < count; ++i)
    orders[i] = hn::Add(hn::Load(db, k.window.order), hn::Set(db, static_cast<std::uint8_t>(i * unit)));
  const std::int32_t* words = k.words.data();
  int position = 0;
  for (int x = 0; x < n; x += samples, in += samples, out += samples) {
    Ints sum[vectors];
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) sum[b] = hn::LoadU(di, k.start[position][b].data());
    CONVOLVE_UNROLL
    for (int g = 0; g < Groups; ++g) {
      const Ints taps = hn::Set(di, words[g]);
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) {
        const int place = (g * step + 4 * b) / unit;
        const Ints window = WindowAt(orders[place % count], in + place / count * count * unit);
        sum[b] = Dot<Form>(sum[b], window, taps);
      }
    }
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) sum[b] = hn::ShiftRightSame(sum[b], k.shift);
    const Tag<std::int16_t> dw;
    hn::StoreU(hn::ReorderDemote2To(dw, sum[0], sum[1]), dw, out);
    hn::StoreU(hn::ReorderDemote2To(dw, sum[2], sum[3]), dw, out + samples / 2);
    position += turn;
    if (position >= Components) position -= Components;
  }
}

// [components - 1][groups - 1]
template <class Form, int... Component, int... Group>
constexpr auto passes_of(std::integer_sequence<int, Component...>, std::integer_sequence<int, Group...> groups) {
  const auto of = []<int C, int... G>(std::integer_sequence<int, C>, std::integer_sequence<int, G...>) {
    return std::array<decltype(RowPass::run), sizeof...(G)>{AlongRow<Form, C + 1, G + 1>...};
  };
  return std::array{of(std::integer_sequence<int, Component>(), groups)...};
}

template <bool Vnni>
decltype(RowPass::run) Along(bool pairs, int components, int groups) {
  constexpr std::make_integer_sequence<int, max_components> each_component;
  static constexpr auto of_bytes =
      passes_of<dot::Form<Vnni, false>>(each_component, std::make_integer_sequence<int, (max_compiled_taps + 3) / 4>());
  static constexpr auto of_pairs =
      passes_of<dot::Form<Vnni, true>>(each_component, std::make_integer_sequence<int, (max_compiled_taps + 1) / 2>());
  return pairs ? of_pairs[components - 1][groups - 1] : of_bytes[components - 1][groups - 1];
}

// Adds two ring rows into output rows First..Last.
template <bool Vnni, int First, int Last>
HWY_INLINE void AddPair(Ints (&sum)[rows][vectors], const std::int16_t* upper, const std::int16_t* lower,
                        const std::int32_t*& words) {
  const Tag<std::int16_t> dw;
  const Tag<std::int32_t> di;
  Ints pair[vectors];
  CONVOLVE_UNROLL
  for (int b = 0; b < vectors; b += 2) {
    const auto u = hn::LoadU(dw, upper + b * lanes<std::int32_t>), l = hn::LoadU(dw, lower + b * lanes<std::int32_t>);
    pair[b] = hn::BitCast(di, hn::InterleaveLower(dw, u, l));
    pair[b + 1] = hn::BitCast(di, hn::InterleaveUpper(dw, u, l));
  }
  CONVOLVE_UNROLL
  for (int i = First; i <= Last; ++i) {
    const Ints taps = hn::Set(di, *words++);
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) sum[i][b] = Dot<dot::Form<Vnni, true>>(sum[i][b], pair[b], taps);
  }
}

// Height: halved, known to the compiler. As a loop GCC 12 moves all sums about in each turn.
template <bool Vnni, bool Uniform, int HalfHeight>
void DownColumns(const Kernel& kernel, const Block& block) {
  const auto& k = *static_cast<const PackedColumns*>(kernel.packed.get());
  const EpilogueConstants constants(kernel.quantization);
  const Epilogue epilogue = k.epilogue.epilogue;
  const Target to(block);
  const int turn = samples % kernel.components;
  // Pairs of ring rows; the lower one of the last may be one too many, and has no taps.
  constexpr int pairs = HalfHeight + rows / 2;
  const int last = kernel.height + rows - 2;
  int position = 0;
  for (int x = 0; x < to.n; x += samples) {
    block.ahead.fetch<true>(x, samples);
    const Phase& phase = k.epilogue.phases[position];
    position += turn;
    if (position >= kernel.components) position -= kernel.components;
    Ints sum[rows][vectors];
    StartBlock<Uniform>(phase, sum);
    const std::int32_t* words = k.words.data();
    const auto row = [&](int r) { return static_cast<const std::int16_t*>(block.rows[r]) + x; };
    AddPair<Vnni, 0, 1>(sum, row(0), row(std::min(1, last)), words);
    CONVOLVE_UNROLL
    for (int j = 1; j < pairs - 1; ++j) AddPair<Vnni, 0, rows - 1>(sum, row(2 * j), row(2 * j + 1), words);
    if constexpr (pairs > 1)
      AddPair<Vnni, rows - 2, rows - 1>(sum, row(2 * pairs - 2), row(std::min(2 * pairs - 1, last)), words);
    FinishBlock<Uniform>(kernel.quantization, constants, epilogue, phase, sum, to, x);
  }
}

template <bool Vnni, bool Uniform, int... HalfHeight>
constexpr auto columns_of(std::integer_sequence<int, HalfHeight...>) {
  return std::array{DownColumns<Vnni, Uniform, HalfHeight>...};
}

template <bool Vnni>
decltype(Kernel::run) Down(bool uniform, int half_height) {
  constexpr std::make_integer_sequence<int, max_compiled_taps / 2 + 1> half_heights;
  static constexpr auto gray = columns_of<Vnni, true>(half_heights), other = columns_of<Vnni, false>(half_heights);
  return (uniform ? gray : other)[half_height];
}

}  // namespace

dot::SeparableFunctions DotSeparable([[maybe_unused]] bool vnni) {
#ifndef CONVOLVE_EMULATE
  if (!vnni) return {rows, samples, Along<false>, Down<false>};
#endif
  return {rows, samples, Along<true>, Down<true>};
}
#else
dot::SeparableFunctions DotSeparable(bool) {
  return {};
}
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(DotSeparable);

namespace {

constexpr double sample_limit = 255, word_limit = 32767;

/// Both passes in integers. Sums along the row are moved down by `shift` bits into 16: 1 of a ring row is `unit`. The
/// taps down the column are the filter's times `scale`.
struct QuantizedPasses {
  IntegerTaps along;
  int shift = 0;
  double unit = 1, scale = 1;
  std::vector<std::int32_t> down{};
};

/// Rounds the taps of both passes; nothing where exact sums do not fit, or where real taps could be off by too much.
std::optional<QuantizedPasses> quantize_passes(const PlanDesc& desc, const Arithmetic& arithmetic,
                                               const ComponentGroup& group, const std::vector<double>& column,
                                               const std::vector<double>& row) {
  const bool exact = arithmetic.accumulator == Accumulator::exact;
  const double column_magnitude = magnitude_of(column), row_magnitude = magnitude_of(row);
  Arithmetic part = arithmetic;
  part.coefficients = row;
  std::optional<IntegerTaps> along = make_integer_taps(part, desc.layout, desc.border, group, 32767, column_magnitude);
  if (!along) return std::nullopt;
  QuantizedPasses passes{std::move(*along)};
  double max_sum = 0;
  for (const int tap : passes.along.taps) max_sum += std::abs(tap) * sample_limit;
  while (max_sum / (1 << passes.shift) > word_limit - 1) ++passes.shift;
  if (exact && passes.shift > 0) return std::nullopt;
  passes.unit = std::ldexp(passes.along.gain, passes.shift);
  double error = 0;
  if (!exact) {
    const double peak = std::abs(
        *std::max_element(column.begin(), column.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    if (peak == 0) return std::nullopt;
    passes.scale = std::min(word_limit / peak, 65000 / column_magnitude);
    const double gain = passes.along.gain;
    for (const double tap : row) error += std::abs(std::nearbyint(tap / gain) * gain - tap);
    error *= sample_limit * column_magnitude;
    if (passes.shift > 0) error += 0.5 * passes.unit * column_magnitude;
  }
  for (const double tap : column) {
    const auto rounded = static_cast<std::int32_t>(std::nearbyint(tap * passes.scale));
    error += std::abs(rounded / passes.scale - tap) * sample_limit * row_magnitude;
    if (std::abs(rounded) > word_limit) return std::nullopt;
    passes.down.push_back(rounded);
  }
  if (error > max_error || column_magnitude * passes.scale > 65500) return std::nullopt;
  return passes;
}

std::shared_ptr<dot::PackedRows> pack_rows(const QuantizedPasses& passes, const ComponentGroup& group, int width,
                                           bool pairs) {
  using namespace dot;
  const int components = group.components;
  auto packed = std::make_shared<PackedRows>(
      PackedRows{WindowOrder(components, pairs), {}, passes.shift, pack_words(passes.along.taps, width, pairs)});
  for (int p = 0; p < components; ++p) {
    auto& start = packed->start.emplace_back();
    for (int b = 0; b < vectors; ++b)
      for (int lane = 0; lane < max_lanes; ++lane) {
        const double zero = group.component[(p + sample_of(b, lane)) % components]->zero;
        start[b][lane] =
            static_cast<std::int32_t>(-zero * static_cast<double>(passes.along.sum) + ((1 << passes.shift) >> 1));
      }
  }
  return packed;
}

/// The taps down the column, by pairs of ring rows: [pair][output rows it is in].
std::vector<std::int32_t> pack_column(const std::vector<std::int32_t>& down, int rows) {
  const int height = static_cast<int>(down.size());
  const auto tap = [&](int i) { return static_cast<std::uint32_t>(i >= 0 && i < height ? down[i] : 0) & 0xffff; };
  const int last = (height + rows - 2) / 2;  // of the pairs of ring rows
  std::vector<std::int32_t> words;
  for (int j = 0; j <= last; ++j)
    for (int i = j == last ? rows - 2 : 0; i < (j == 0 ? 2 : rows); ++i)
      words.push_back(static_cast<std::int32_t>(tap(2 * j - i) | tap(2 * j + 1 - i) << 16));
  return words;
}

}  // namespace

bool make_dot_separable(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                        const std::vector<double>& column, const std::vector<double>& row) {
  using namespace dot;
  const bool vnni = use_vnni();
  const SeparableFunctions functions = HWY_DYNAMIC_DISPATCH(DotSeparable)(vnni);
  if (functions.rows == 0 || desc.filter.depth() > 1 || std::ssize(column) > max_compiled_taps ||
      std::ssize(row) > max_compiled_taps)
    return false;
  const std::optional<QuantizedPasses> passes = quantize_passes(desc, arithmetic, group, column, row);
  if (!passes) return false;

  const int components = group.components, width = static_cast<int>(row.size()), height = desc.filter.height();
  const bool pairs = needs_pairs(passes->along, width, vnni);
  const auto rows = pack_rows(*passes, group, width, pairs);
  const int groups = static_cast<int>(rows->words.size());
  engine.staging = make_copy_staging(desc, group);
  engine.row_passes = {{components, row, rows, 0, 1, functions.along(pairs, components, groups)}};
  engine.element_size = 2;
  engine.block_rows = functions.rows;
  engine.block_samples = functions.samples;
  engine.copies_passthrough = true;
  engine.name = name_of(vnni, true);
  const double products = 0.3 * groups + 0.25 * height;
  engine.cost = vnni ? products + 7.5 : 2 * products + 1.5;

  Kernel& kernel = engine.kernel;
  kernel.height = height;
  kernel.components = components;
  Quantization& q = kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  q.gain = static_cast<float>(q.gain * passes->unit / passes->scale);
  q.divisor *= passes->scale / passes->unit;
  const double most = (magnitude_of(column) * magnitude_of(row) * sample_limit + 1) / arithmetic.divisor;
  kernel.packed = std::make_shared<PackedColumns>(
      PackedColumns{BlockEpilogue(q, group, 0, most), pack_column(passes->down, functions.rows)});
  kernel.run = functions.down(components == 1, height / 2);
  return true;
}

}  // namespace convolve::cpu

#endif
