// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include "cpu/simd.hpp"

#if HWY_ARCH_X86_64

// GCC 12 takes the undefined operands inside its own intrinsics for uninitialised variables.
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

namespace convolve::cpu {
namespace {

// A block is `rows` x 64 samples. Its sums lie in `vectors` registers a row, in the order that makes packing cheap:
// lane 4 * l + j of register b is sample 16 * l + 4 * b + j, so that packing within 128-bit parts puts the samples in
// their order. A window register holds, for each lane, the samples under the next taps; one byte permutation makes it
// from 64 bytes of the ring.
constexpr int rows = dot_block_rows, vectors = 4, samples = 64;

int sample_of(int vector, int lane) {
  return lane / 4 * 16 + 4 * vector + lane % 4;
}

// What a block needs, for each position of its first sample within a pixel.
struct Phase {
  alignas(64) std::int32_t start[vectors][16];  // of the sums: takes the zero levels off
  alignas(64) float offset[vectors][16];
  alignas(64) double wide_offset[vectors][16];
};

// For the pass along rows, lane l of register b is sample 16 * b + l.
struct PackedPass {
  alignas(64) std::uint8_t window[64];
  alignas(64) std::int32_t start[pattern_length];
  int groups = 0;
  float gain = 1;
  std::vector<std::int32_t> words;
};

struct Packed {
  alignas(64) std::uint8_t window[64];
  int groups = 0;                   // of taps in a filter row
  bool plain = false;               // sums are code values once `start` is in them
  std::vector<std::int32_t> words;  // [depth][height][groups]: the taps of a group
  std::vector<Phase> phases;
};

}  // namespace
}  // namespace convolve::cpu

#ifdef __clang__
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")
#endif

namespace convolve::cpu {
namespace {

// Pairs: windows of two samples widened to 16 bits, and taps of 16 bits; else four samples and taps of 8 bits.
template <bool Pairs>
HWY_INLINE __m512i Window(__m512i order, const std::uint8_t* p) {
  const __m512i v = _mm512_loadu_si512(p);
  return Pairs ? _mm512_maskz_permutexvar_epi8(0x5555555555555555u, order, v) : _mm512_permutexvar_epi8(order, v);
}

template <bool Pairs>
HWY_INLINE __m512i Dot(__m512i sum, __m512i window, __m512i taps) {
  return Pairs ? _mm512_dpwssd_epi32(sum, window, taps) : _mm512_dpbusd_epi32(sum, window, taps);
}

// Adds one ring row into output rows First..Last. `words`: the taps of this ring row in output row 0. Groups 0: as many
// as `groups` says.
template <bool Pairs, int Groups, int First, int Last>
HWY_INLINE void AddRow(__m512i (&sum)[rows][vectors], const std::uint8_t* q, const std::int32_t* words, int groups,
                       int step, __m512i order) {
  if (Groups) groups = Groups;
  for (int g = 0; g < groups; ++g, q += step, ++words) {
    __m512i window[vectors];
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) window[b] = Window<Pairs>(order, q + 4 * b);
    CONVOLVE_UNROLL
    for (int i = First; i <= Last; ++i) {
      const __m512i taps = _mm512_set1_epi32(words[-i * groups]);
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) sum[i][b] = Dot<Pairs>(sum[i][b], window[b], taps);
    }
  }
}

// Output row i takes ring row r with tap row r - i.
constexpr int first_output(int r, int height) {
  return r < height ? 0 : r - height + 1;
}
constexpr int last_output(int r) {
  return r < rows ? r : rows - 1;
}

// All ring rows of one frame; the height is known to the compiler.
template <bool Pairs, int Groups, int... Row>
HWY_INLINE void AddRows(std::integer_sequence<int, Row...>, __m512i (&sum)[rows][vectors], const void* const* ring,
                        int x, const std::int32_t* words, int step, __m512i order) {
  constexpr int height = static_cast<int>(sizeof...(Row)) - rows + 1;
  (AddRow<Pairs, Groups, first_output(Row, height), last_output(Row)>(
       sum, static_cast<const std::uint8_t*>(ring[Row]) + x, words + Row * Groups, Groups, step, order),
   ...);
}

// The same for any height.
template <bool Pairs>
HWY_INLINE void AddRows(int height, __m512i (&sum)[rows][vectors], const void* const* ring, int x,
                        const std::int32_t* words, int groups, int step, __m512i order) {
  static_assert(rows == 4);
  for (int r = 0; r < height + rows - 1; ++r, words += groups) {
    const auto* q = static_cast<const std::uint8_t*>(ring[r]) + x;
    switch (first_output(r, height) * rows + last_output(r)) {
#define CONVOLVE_CASE(first, last)                                     \
  case first* rows + last:                                             \
    AddRow<Pairs, 0, first, last>(sum, q, words, groups, step, order); \
    break;
      CONVOLVE_CASE(0, 0)
      CONVOLVE_CASE(0, 1)
      CONVOLVE_CASE(0, 2)
      CONVOLVE_CASE(0, 3)
      CONVOLVE_CASE(1, 1)
      CONVOLVE_CASE(1, 2)
      CONVOLVE_CASE(1, 3)
      CONVOLVE_CASE(2, 2)
      CONVOLVE_CASE(2, 3)
      CONVOLVE_CASE(3, 3)
#undef CONVOLVE_CASE
    }
  }
}

HWY_INLINE __m512i Wide(const Quantization& q, __m512i sum, const double* offset) {
  const __m512d divisor = _mm512_set1_pd(q.divisor);
  const __m512d low = _mm512_cvtepi32_pd(_mm512_castsi512_si256(sum));
  const __m512d high = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(sum, 1));
  const __m256i a = _mm512_cvtpd_epi32(_mm512_add_pd(_mm512_div_pd(low, divisor), _mm512_load_pd(offset)));
  const __m256i b = _mm512_cvtpd_epi32(_mm512_add_pd(_mm512_div_pd(high, divisor), _mm512_load_pd(offset + 8)));
  return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

HWY_INLINE __m512i Quantize(const Quantization& q, const Packed& k, const Phase& phase, __m512i (&sum)[vectors]) {
  if (!k.plain) {
    const __m512 gain = _mm512_set1_ps(q.gain), snap = _mm512_set1_ps(q.snap);
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) {
      if (q.wide) {
        sum[b] = Wide(q, sum[b], phase.wide_offset[b]);
      } else {
        const __m512 v = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[b]), gain, _mm512_load_ps(phase.offset[b]));
        sum[b] = _mm512_cvtps_epi32(_mm512_sub_ps(v, snap));
      }
    }
  }
  const __m512i low = _mm512_packs_epi32(sum[0], sum[1]), high = _mm512_packs_epi32(sum[2], sum[3]);
  return _mm512_min_epu8(_mm512_packus_epi16(low, high), _mm512_set1_epi8(static_cast<char>(static_cast<int>(q.max))));
}

// Height and Groups: known to the compiler, or 0.
template <bool Pairs, int Height, int Groups>
void Filter(const Kernel& kernel, const Block& block) {
  const Packed& k = *static_cast<const Packed*>(kernel.packed.get());
  const __m512i order = _mm512_load_si512(k.window);
  const int height = Height ? Height : kernel.height, groups = Groups ? Groups : k.groups;
  const int step = (Pairs ? 2 : 4) * kernel.components, turn = samples % kernel.components;
  const std::int32_t* words = k.words.data();
  int position = 0;
  for (int x = 0; x < block.n; x += samples) {
    block.ahead.fetch(x, samples);
    const Phase& phase = k.phases[position];
    position += turn;
    if (position >= kernel.components) position -= kernel.components;
    __m512i sum[rows][vectors];
    CONVOLVE_UNROLL
    for (int i = 0; i < rows; ++i) {
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) sum[i][b] = _mm512_load_si512(phase.start[b]);
    }
    for (int t = 0; t < kernel.depth; ++t) {
      const void* const* ring = block.rows + t * block.frame_rows;
      if constexpr (Height > 0)
        AddRows<Pairs, Groups>(std::make_integer_sequence<int, Height + rows - 1>(), sum, ring, x,
                               words + t * height * groups, step, order);
      else
        AddRows<Pairs>(height, sum, ring, x, words + t * height * groups, groups, step, order);
    }
    const int left = block.n - x;
    const __mmask64 wanted = left >= samples ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    CONVOLVE_UNROLL
    for (int i = 0; i < rows; ++i)
      if (block.out[i])
        _mm512_mask_storeu_epi8(static_cast<std::uint8_t*>(block.out[i]) + x, wanted,
                                Quantize(kernel.quantization, k, phase, sum[i]));
  }
}

template <bool Pairs>
void Pass(const RowPass& pass, const void* line, void* elements, int n) {
  const PackedPass& k = *static_cast<const PackedPass*>(pass.packed.get());
  const __m512i order = _mm512_load_si512(k.window);
  const __m512 gain = _mm512_set1_ps(k.gain);
  const auto* in = static_cast<const std::uint8_t*>(line);
  auto* out = static_cast<float*>(elements);
  const int step = (Pairs ? 2 : 4) * pass.components, turn = samples % pass.components;
  int position = 0;
  for (int x = 0; x < n; x += samples, in += samples, out += samples) {
    __m512i sum[vectors];
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) sum[b] = _mm512_loadu_si512(k.start + position + 16 * b);
    for (int g = 0; g < k.groups; ++g) {
      const __m512i taps = _mm512_set1_epi32(k.words[g]);
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) sum[b] = Dot<Pairs>(sum[b], Window<Pairs>(order, in + g * step + 16 * b), taps);
    }
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) _mm512_storeu_ps(out + 16 * b, _mm512_mul_ps(_mm512_cvtepi32_ps(sum[b]), gain));
    position += turn;
    if (position >= pass.components) position -= pass.components;
  }
}

// The C library's own copy may choose string instructions, which took twice as long for rows.
void Stage(const Staging& s, const void* const* frame_rows, void* elements, int n) {
  const auto* in = static_cast<const std::uint8_t*>(frame_rows[0]);
  auto* out = static_cast<std::uint8_t*>(elements);
  if (!in) {
    for (int i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(s.ghost.wide[i % s.components]);
    return;
  }
  int i = 0;
  for (; i + samples <= n; i += samples) {
    __m512i v = _mm512_loadu_si512(in + i);
    asm("" : "+v"(v));  // or the compiler makes it a call of the copy again
    _mm512_storeu_si512(out + i, v);
  }
  if (i == n) return;
  const __mmask64 rest = (__mmask64{1} << (n - i)) - 1;
  _mm512_mask_storeu_epi8(out + i, rest, _mm512_maskz_loadu_epi8(rest, in + i));
}

struct Special {
  bool pairs;
  int height, groups;
  decltype(Kernel::run) run;
};

constexpr Special specials[]{
    {false, 3, 1, Filter<false, 3, 1>}, {false, 5, 2, Filter<false, 5, 2>}, {false, 7, 2, Filter<false, 7, 2>},
    {true, 3, 2, Filter<true, 3, 2>},   {true, 5, 3, Filter<true, 5, 3>},   {true, 7, 4, Filter<true, 7, 4>},
};

}  // namespace
}  // namespace convolve::cpu

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace convolve::cpu {

namespace {

bool needs_pairs(const IntegerTaps& taps) {
  return std::any_of(taps.taps.begin(), taps.taps.end(), [](int t) { return t < -128 || t > 127; });
}

// The taps of a group, for each row of `width`.
std::vector<std::int32_t> pack_words(const std::vector<std::int32_t>& taps, int width, bool pairs) {
  const int in_group = pairs ? 2 : 4, bits = pairs ? 16 : 8;
  const std::uint32_t mask = (std::uint64_t{1} << bits) - 1;
  std::vector<std::int32_t> words;
  for (std::size_t row = 0; row < taps.size(); row += width)
    for (int k = 0; k < width; k += in_group) {
      std::uint32_t word = 0;
      for (int i = 0; i < in_group && k + i < width; ++i)
        word |= (static_cast<std::uint32_t>(taps[row + k + i]) & mask) << (bits * i);
      words.push_back(static_cast<std::int32_t>(word));
    }
  return words;
}

}  // namespace

Staging make_byte_staging(const Group& group) {
  Staging staging;
  staging.components = group.components;
  std::vector<double> ghost;
  for (int c = 0; c < group.components; ++c) ghost.push_back(std::clamp(group.component[c]->ghost, 0.0, 255.0));
  staging.ghost = Pattern(ghost);
  staging.run = Stage;
  return staging;
}

void make_dot_row_pass(RowPass& pass, const IntegerTaps& taps, const Group& group) {
  const bool pairs = needs_pairs(taps);
  auto packed = std::make_shared<PackedPass>();
  packed->words = pack_words(taps.taps, static_cast<int>(taps.taps.size()), pairs);
  packed->groups = static_cast<int>(packed->words.size());
  packed->gain = static_cast<float>(taps.gain);
  for (int i = 0; i < 64; ++i)
    packed->window[i] = static_cast<std::uint8_t>(i / 4 + group.components * (pairs ? i % 4 / 2 : i % 4));
  for (int i = 0; i < pattern_length; ++i)
    packed->start[i] =
        static_cast<std::int32_t>(-group.component[i % group.components]->zero * static_cast<double>(taps.sum));
  pass.packed = packed;
  pass.line_element_size = 1;
  pass.run = pairs ? Pass<true> : Pass<false>;
}

void make_dot_kernel(Kernel& kernel, const IntegerTaps& taps, const Group& group) {
  const bool pairs = needs_pairs(taps);
  auto packed = std::make_shared<Packed>();
  packed->groups = (kernel.width + (pairs ? 1 : 3)) / (pairs ? 2 : 4);
  packed->words = pack_words(taps.taps, kernel.width, pairs);
  for (int lane = 0; lane < 16; ++lane)
    for (int byte = 0; byte < 4; ++byte)
      packed->window[4 * lane + byte] =
          static_cast<std::uint8_t>(sample_of(0, lane) + kernel.components * (pairs ? byte / 2 : byte));

  Quantization& q = kernel.quantization;
  q.gain = static_cast<float>(q.gain * taps.gain);
  q.divisor /= taps.gain;
  packed->plain =
      !q.wide && q.gain == 1 && q.snap == 0 &&
      std::all_of(q.offset.wide.begin(), q.offset.wide.end(), [](double v) { return v == static_cast<int>(v); });
  packed->phases.resize(kernel.components);
  for (int p = 0; p < kernel.components; ++p)
    for (int b = 0; b < vectors; ++b)
      for (int lane = 0; lane < 16; ++lane) {
        const int c = (p + sample_of(b, lane)) % kernel.components;
        Phase& phase = packed->phases[p];
        phase.offset[b][lane] = q.offset.single[c];
        phase.wide_offset[b][lane] = q.offset.wide[c];
        const double start = -group.component[c]->zero * static_cast<double>(taps.sum);
        phase.start[b][lane] = static_cast<std::int32_t>(packed->plain ? start + q.offset.wide[c] : start);
      }
  kernel.packed = packed;
  kernel.run = pairs ? Filter<true, 0, 0> : Filter<false, 0, 0>;
  for (const Special& special : specials)
    if (special.pairs == pairs && special.height == kernel.height && special.groups == packed->groups)
      kernel.run = special.run;
}

}  // namespace convolve::cpu

#else

namespace convolve::cpu {

void make_dot_kernel(Kernel&, const IntegerTaps&, const Group&) {
  assert(false);
}
void make_dot_row_pass(RowPass&, const IntegerTaps&, const Group&) {
  assert(false);
}
Staging make_byte_staging(const Group&) {
  assert(false);
  return {};
}

}  // namespace convolve::cpu

#endif
