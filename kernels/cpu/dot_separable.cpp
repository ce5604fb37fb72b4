// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>

#include "cpu/dot.hpp"
#include "cpu/real.hpp"
#include "cpu/simd.hpp"
#include "cpu/targets.hpp"

#if HWY_ARCH_X86_64

#include "cpu/dot-inl.hpp"

namespace convolve::cpu::dot {
namespace {

// Ring rows are sums along the row in 16 bits, as packing leaves a block of them: registers 0 and 1 together, then 2
// and 3. Interleaved with the row below they are pairs for the taps down the column, in the order of sums again.
struct PackedRows {
  Window window;
  std::vector<std::array<std::array<std::int32_t, 16>, vectors>> start;  // of the sums, by position within a pixel
  int shift;                                                             // right, of the sums
  std::vector<std::int32_t> words;
};

struct PackedColumns {
  Sums sums;
  std::vector<std::int32_t> words;  // [pair of ring rows][output rows it is in]
};

}  // namespace
}  // namespace convolve::cpu::dot

#ifdef __clang__
#pragma clang attribute push(                                                                            \
    __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,prfchw"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,prfchw")
#endif

namespace convolve::cpu::dot {
namespace {

// Components and Groups are known to the compiler, which then makes each window but once.
template <bool Pairs, int Components, int Groups>
void AlongRow(const RowPass& pass, const void* line, void* elements, int n) {
  const auto& k = *static_cast<const PackedRows*>(pass.packed.get());
  const __m512i order = _mm512_load_si512(k.window.order);
  const __m128i shift = _mm_cvtsi32_si128(k.shift);
  const auto* in = static_cast<const std::uint8_t*>(line);
  auto* out = static_cast<std::int16_t*>(elements);
  constexpr int step = (Pairs ? 2 : 4) * Components, turn = samples % Components;
  // Windows `unit` apart come from one load as long as they end within it.
  constexpr int unit = step % 4 ? 2 : 4, spare = 12 - (Pairs ? 1 : 3) * Components, count = spare / unit + 1;
  __m512i orders[count];
  for (int i = 0; i < count; ++i) orders[i] = _mm512_add_epi8(order, _mm512_set1_epi8(static_cast<char>(i * unit)));
  const std::int32_t* words = k.words.data();
  int position = 0;
  for (int x = 0; x < n; x += samples, in += samples, out += samples) {
    __m512i sum[vectors];
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) sum[b] = _mm512_loadu_si512(k.start[position][b].data());
    CONVOLVE_UNROLL
    for (int g = 0; g < Groups; ++g) {
      const __m512i taps = _mm512_set1_epi32(words[g]);
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) {
        const int place = (g * step + 4 * b) / unit;
        const __m512i window = WindowAt<Pairs>(orders[place % count], in + place / count * count * unit);
        sum[b] = Dot<Pairs>(sum[b], window, taps);
      }
    }
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) sum[b] = _mm512_sra_epi32(sum[b], shift);
    _mm512_storeu_si512(out, _mm512_packs_epi32(sum[0], sum[1]));
    _mm512_storeu_si512(out + samples / 2, _mm512_packs_epi32(sum[2], sum[3]));
    position += turn;
    if (position >= Components) position -= Components;
  }
}

// [components - 1][groups - 1]
template <bool Pairs, int... Component, int... Group>
constexpr auto passes_of(std::integer_sequence<int, Component...>, std::integer_sequence<int, Group...> groups) {
  const auto of = []<int C, int... G>(std::integer_sequence<int, C>, std::integer_sequence<int, G...>) {
    return std::array<decltype(RowPass::run), sizeof...(G)>{AlongRow<Pairs, C + 1, G + 1>...};
  };
  return std::array{of(std::integer_sequence<int, Component>(), groups)...};
}
constexpr std::make_integer_sequence<int, max_components> each_component;
constexpr auto byte_passes = passes_of<false>(each_component, std::make_integer_sequence<int, (max_taps + 3) / 4>());
constexpr auto pair_passes = passes_of<true>(each_component, std::make_integer_sequence<int, (max_taps + 1) / 2>());

// Adds two ring rows into output rows First..Last.
template <int First, int Last>
HWY_INLINE void AddPair(__m512i (&sum)[rows][vectors], const std::int16_t* upper, const std::int16_t* lower,
                        const std::int32_t*& words) {
  __m512i pair[vectors];
  CONVOLVE_UNROLL
  for (int b = 0; b < vectors; b += 2) {
    const __m512i u = _mm512_loadu_si512(upper + 16 * b), l = _mm512_loadu_si512(lower + 16 * b);
    pair[b] = _mm512_unpacklo_epi16(u, l);
    pair[b + 1] = _mm512_unpackhi_epi16(u, l);
  }
  CONVOLVE_UNROLL
  for (int i = First; i <= Last; ++i) {
    const __m512i taps = _mm512_set1_epi32(*words++);
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) sum[i][b] = _mm512_dpwssd_epi32(sum[i][b], pair[b], taps);
  }
}

// Height: halved, known to the compiler. As a loop GCC 12 moves all sums about in each turn.
template <bool Uniform, int HalfHeight>
void DownColumns(const Kernel& kernel, const Block& block) {
  const auto& k = *static_cast<const PackedColumns*>(kernel.packed.get());
  const Rounding rounding(kernel.quantization);
  const Finish finish = k.sums.finish;
  const Target to(block);
  const int turn = samples % kernel.components;
  // Pairs of ring rows; the lower one of the last may be one too many, and has no taps.
  constexpr int pairs = HalfHeight + 2;
  const int last = kernel.height + rows - 2;
  int position = 0;
  for (int x = 0; x < to.n; x += samples) {
    block.ahead.fetch(x, samples);
    const Phase& phase = k.sums.phases[position];
    position += turn;
    if (position >= kernel.components) position -= kernel.components;
    __m512i sum[rows][vectors];
    CONVOLVE_UNROLL
    for (int i = 0; i < rows; ++i) {
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) sum[i][b] = _mm512_load_si512(phase.start[Uniform ? 0 : b]);
    }
    const std::int32_t* words = k.words.data();
    const auto row = [&](int r) { return static_cast<const std::int16_t*>(block.rows[r]) + x; };
    AddPair<0, 1>(sum, row(0), row(1), words);
    CONVOLVE_UNROLL
    for (int j = 1; j < pairs - 1; ++j) AddPair<0, 3>(sum, row(2 * j), row(2 * j + 1), words);
    AddPair<2, 3>(sum, row(2 * pairs - 2), row(std::min(2 * pairs - 1, last)), words);
    FinishBlock<Uniform>(kernel.quantization, rounding, finish, phase, sum, to, x);
  }
}

template <bool Uniform, int... HalfHeight>
constexpr auto columns_of(std::integer_sequence<int, HalfHeight...>) {
  return std::array{DownColumns<Uniform, HalfHeight>...};
}
constexpr std::make_integer_sequence<int, max_taps / 2 + 1> half_heights;
constexpr auto gray_columns = columns_of<true>(half_heights), other_columns = columns_of<false>(half_heights);

}  // namespace
}  // namespace convolve::cpu::dot

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace convolve::cpu {
namespace {

constexpr double largest_error = 0.25;  // in code values
constexpr double sample_limit = 255, word_limit = 32767;

double magnitude_of(const std::vector<double>& taps) {
  return std::accumulate(taps.begin(), taps.end(), 0.0, [](double sum, double tap) { return sum + std::abs(tap); });
}

}  // namespace

bool make_dot_separable(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
                        const std::vector<double>& column, const std::vector<double>& row) {
  using namespace dot;
  if (!use_vnni() || desc.filter.depth() > 1) return false;
  const bool exact = arithmetic.accumulator == Accumulator::exact;
  const double column_magnitude = magnitude_of(column), row_magnitude = magnitude_of(row);
  Arithmetic part = arithmetic;
  part.coefficients = row;
  const std::optional<IntegerTaps> along =
      make_integer_taps(part, desc.layout, desc.border, group, 32767, column_magnitude);
  if (!along) return false;
  // Sums along the row are brought into 16 bits; exact ones must fit.
  double reach = 0;
  for (const int tap : along->taps) reach += std::abs(tap) * sample_limit;
  int shift = 0;
  while (reach / (1 << shift) > word_limit - 1) ++shift;
  if (exact && shift > 0) return false;
  const double unit = std::ldexp(along->gain, shift);  // what 1 of a ring row is
  double scale = 1, error = 0;
  if (!exact) {
    const double peak = std::abs(
        *std::max_element(column.begin(), column.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    if (peak == 0) return false;
    scale = std::min(word_limit / peak, 65000 / column_magnitude);
    for (const double tap : row) error += std::abs(std::nearbyint(tap / along->gain) * along->gain - tap);
    error *= sample_limit * column_magnitude;
    if (shift > 0) error += 0.5 * unit * column_magnitude;
  }
  std::vector<std::int32_t> down;
  for (const double tap : column) {
    down.push_back(static_cast<std::int32_t>(std::nearbyint(tap * scale)));
    error += std::abs(down.back() / scale - tap) * sample_limit * row_magnitude;
    if (std::abs(down.back()) > word_limit) return false;
  }
  if (error > largest_error || column_magnitude * scale > 65500) return false;

  const int components = group.components, height = desc.filter.height();
  const bool pairs = needs_pairs(*along);
  auto rows_packed = std::make_shared<PackedRows>(
      PackedRows{Window(components, pairs), {}, shift, pack_words(along->taps, static_cast<int>(row.size()), pairs)});
  for (int p = 0; p < components; ++p) {
    auto& start = rows_packed->start.emplace_back();
    for (int b = 0; b < vectors; ++b)
      for (int lane = 0; lane < 16; ++lane) {
        const double zero = group.component[(p + sample_of(b, lane)) % components]->zero;
        start[b][lane] = static_cast<std::int32_t>(-zero * static_cast<double>(along->sum) + ((1 << shift) >> 1));
      }
  }
  engine.staging = make_copy_staging(desc, group);
  const std::size_t groups = rows_packed->words.size();
  engine.row_pass = {components, row, rows_packed, 1,
                     pairs ? pair_passes[components - 1][groups - 1] : byte_passes[components - 1][groups - 1]};
  engine.element_size = 2;
  engine.block_rows = dot_block_rows;
  engine.keeps = true;
  engine.name = "16-bit dot products";
  engine.cost = 0.3 * static_cast<double>(groups) + 0.25 * height + 7.5;

  Kernel& kernel = engine.kernel;
  kernel.height = height;
  kernel.components = components;
  Quantization& q = kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  q.gain = static_cast<float>(q.gain * unit / scale);
  q.divisor *= scale / unit;
  auto columns = std::make_shared<PackedColumns>(
      PackedColumns{Sums(q, group, 0, (column_magnitude * row_magnitude * sample_limit + 1) / arithmetic.divisor), {}});
  const auto tap = [&](int i) { return static_cast<std::uint32_t>(i >= 0 && i < height ? down[i] : 0) & 0xffff; };
  const int last = height / 2 + 1;
  for (int j = 0; j <= last; ++j)
    for (int i = j == last ? 2 : 0; i < (j == 0 ? 2 : dot_block_rows); ++i)
      columns->words.push_back(static_cast<std::int32_t>(tap(2 * j - i) | tap(2 * j + 1 - i) << 16));
  kernel.packed = columns;
  kernel.run = (components == 1 ? gray_columns : other_columns)[height / 2];
  return true;
}

}  // namespace convolve::cpu

#else

namespace convolve::cpu {

bool make_dot_separable(Engine&, const PlanDesc&, const Arithmetic&, const Group&, const std::vector<double>&,
                        const std::vector<double>&) {
  return false;
}

}  // namespace convolve::cpu

#endif
