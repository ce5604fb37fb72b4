// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/separable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cpu/dot/passes.hpp"
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

// The functions of a SIMD target; rows is 0 where it has none.
struct SeparableFunctions {
  int rows = 0, samples = 0;
  decltype(RowPass::run) (*along)(bool pairs, int components, int groups) = nullptr;
  decltype(Kernel::run) (*down)(bool uniform, bool centred, int half_height) = nullptr;
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
  static constexpr auto of_bytes = passes_of<dot::Form<Vnni, false>>(
      each_component, std::make_integer_sequence<int, (dot::max_pass_taps + 3) / 4>());
  static constexpr auto of_pairs =
      passes_of<dot::Form<Vnni, true>>(each_component, std::make_integer_sequence<int, (dot::max_pass_taps + 1) / 2>());
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

// A register of samples, of which `left` are in the row.
HWY_INLINE Bytes LoadUpTo(int left, const std::uint8_t* p) {
#if HWY_TARGET == HWY_AVX3
  return {_mm512_maskz_loadu_epi8(left >= samples ? ~__mmask64{0} : (__mmask64{1} << left) - 1, p)};
#else
  const Tag<std::uint8_t> d;
  if (HWY_LIKELY(left >= samples)) return hn::LoadU(d, p);
  alignas(64) std::uint8_t rest[samples];
  std::memcpy(rest, p, left);
  return hn::Load(d, rest);
#endif
}

// Adds the centre tap to output rows First and First + 1, of which `upper` and `lower` are the input; see PackedCentre.
template <bool Vnni, int First>
HWY_INLINE void AddCentre(Ints (&sum)[rows][vectors], const dot::PackedCentre& k, Bytes upper, Bytes lower) {
  const Tag<std::uint8_t> db;
  const Tag<std::int16_t> dw;
  const Tag<std::int32_t> di;
  const Bytes flip = hn::Set(db, k.flip);
  const Ints first = hn::Set(di, k.tap & 0xffff), second = hn::Set(di, k.tap * 65536);
  CONVOLVE_UNROLL
  for (int half = 0; half < 2; ++half) {
    const Bytes order = hn::LoadDup128(db, k.order[half]);
    const auto words_of = [&](Bytes v)
                              HWY_ATTR { return hn::BitCast(dw, hn::TableLookupBytesOr0(hn::Xor(v, flip), order)); };
    const auto u = words_of(upper), l = words_of(lower);
    const Ints pair[2] = {hn::BitCast(di, hn::InterleaveLower(dw, u, l)),
                          hn::BitCast(di, hn::InterleaveUpper(dw, u, l))};
    CONVOLVE_UNROLL
    for (int i = 0; i < 2; ++i) {
      sum[First][2 * half + i] = Dot<dot::Form<Vnni, true>>(sum[First][2 * half + i], pair[i], first);
      sum[First + 1][2 * half + i] = Dot<dot::Form<Vnni, true>>(sum[First + 1][2 * half + i], pair[i], second);
    }
  }
}

// The sums, of which the compiler does not know that they are these: they stay in their registers from one turn of a
// loop to the next.
HWY_INLINE void Hold(Ints (&sum)[rows][vectors]) {
  CONVOLVE_UNROLL
  for (int i = 0; i < rows; ++i) {
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) sum[i][b] = Held(sum[i][b]);
  }
}

// Half of a height that is not known to the compiler.
constexpr int any_height = max_compiled_taps / 2 + 1;

// Height: halved, known to the compiler, which without Hold() moves all sums about in each turn of a loop (GCC 12).
template <bool Vnni, bool Uniform, bool Centred, int HalfHeight>
void DownColumns(const Kernel& kernel, const Block& block) {
  const auto& k = *static_cast<const PackedColumns*>(kernel.packed.get());
  const EpilogueConstants constants(kernel.quantization);
  const Epilogue epilogue = k.epilogue.epilogue;
  const Target to(block);
  const int turn = samples % kernel.components;
  // Pairs of ring rows; the lower one of the last may be one too many, and has no taps.
  const int pairs = (HalfHeight == any_height ? kernel.height / 2 : HalfHeight) + rows / 2;
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
    if constexpr (HalfHeight == any_height) {
      for (int j = 1; j < pairs - 1; ++j) {
        AddPair<Vnni, 0, rows - 1>(sum, row(2 * j), row(2 * j + 1), words);
        Hold(sum);
      }
    } else {
      CONVOLVE_UNROLL
      for (int j = 1; j < HalfHeight + rows / 2 - 1; ++j)
        AddPair<Vnni, 0, rows - 1>(sum, row(2 * j), row(2 * j + 1), words);
    }
    if (pairs > 1)
      AddPair<Vnni, rows - 2, rows - 1>(sum, row(2 * pairs - 2), row(std::min(2 * pairs - 1, last)), words);
    if constexpr (Centred) {
      const auto input = [&](int i) HWY_ATTR {
        return LoadUpTo(to.n - x, static_cast<const std::uint8_t*>(block.centre[i]) + x);
      };
      AddCentre<Vnni, 0>(sum, k.centre, input(0), input(1));
      if constexpr (rows == 4) AddCentre<Vnni, rows - 2>(sum, k.centre, input(rows - 2), input(rows - 1));
    }
    FinishBlock<Uniform>(kernel.quantization, constants, epilogue, phase, sum, to, x);
  }
}

template <bool Vnni, bool Uniform, bool Centred, int... HalfHeight>
constexpr auto columns_of(std::integer_sequence<int, HalfHeight...>) {
  return std::array{DownColumns<Vnni, Uniform, Centred, HalfHeight>...};
}

template <bool Vnni, bool Centred>
decltype(Kernel::run) DownOf(bool uniform, int half_height) {
  constexpr std::make_integer_sequence<int, any_height + 1> half_heights;
  static constexpr auto gray = columns_of<Vnni, true, Centred>(half_heights);
  static constexpr auto other = columns_of<Vnni, false, Centred>(half_heights);
  return (uniform ? gray : other)[std::min(half_height, any_height)];
}

template <bool Vnni>
decltype(Kernel::run) Down(bool uniform, bool centred, int half_height) {
  return centred ? DownOf<Vnni, true>(uniform, half_height) : DownOf<Vnni, false>(uniform, half_height);
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

bool make_dot_separable(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                        const std::vector<double>& column, const std::vector<double>& row, double centre) {
  using namespace dot;
  const bool vnni = use_vnni();
  const SeparableFunctions functions = HWY_DYNAMIC_DISPATCH(DotSeparable)(vnni);
  if (functions.rows == 0 || desc.filter.depth() > 1 || std::ssize(column) > max_pass_taps ||
      std::ssize(row) > max_pass_taps)
    return false;
  const std::optional<QuantizedPasses> passes = quantize_passes(desc, arithmetic, group, column, row, centre);
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
  if (centre != 0) {
    engine.name = vnni ? "16-bit dot products, with a centre tap" : "16-bit multiply-adds, with a centre tap";
    engine.reads_centre = true;
    engine.cost += vnni || functions.samples == 64 ? 1 : 2;
  }

  Kernel& kernel = engine.kernel;
  kernel.height = height;
  kernel.components = components;
  Quantization& q = kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  q.gain = static_cast<float>(q.gain * passes->unit / passes->scale);
  q.divisor *= passes->scale / passes->unit;
  const double magnitude = magnitude_of(column) * magnitude_of(row) + std::abs(centre);
  const double most = (magnitude * 255 + 1) / arithmetic.divisor;
  // The sums down the column of sums along the row that are of samples less 128.
  double of_rows = 0;
  for (const int tap : passes->down) of_rows += passes->less_128 ? tap * static_cast<double>(passes->along.sum) : 0;
  const bool fine_centre = arithmetic.accumulator != Accumulator::exact;
  const double centre_weight = passes->centre * (fine_centre ? fine : 1);
  PackedCentre packed_centre(fine_centre);
  packed_centre.tap = passes->centre;
  kernel.packed = std::make_shared<PackedColumns>(PackedColumns{
      BlockEpilogue(q, group, centre_weight + of_rows, most, packed_centre.flip * centre_weight + 128 * of_rows),
      pack_column(passes->down, functions.rows), packed_centre});
  kernel.run = functions.down(components == 1, centre != 0, height / 2);
  return true;
}

}  // namespace convolve::cpu

#endif
