// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// dot: blocks of 32-bit sums by dot-product instructions (AVX-512 VNNI and VBMI), and their way to samples of 8 bits.
//
// A block is `rows` x 64 samples. Its sums lie in `vectors` registers a row: lane 4 * l + j of register b is sample
// 16 * l + 4 * b + j, so that packing within 128-bit parts keeps samples near their places. A window register holds,
// for each lane, the samples under the next taps; one byte permutation makes it from 64 bytes. The window of register b
// under the taps from k on lies 4 * b + k samples along the row.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "cpu/dot.hpp"
#include "cpu/simd.hpp"

// GCC 12 takes the undefined operands inside its own intrinsics for uninitialised variables.
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

namespace convolve::cpu::dot {

constexpr int rows = dot_block_rows, vectors = 4, samples = 64;

inline int sample_of(int vector, int lane) {
  return lane / 4 * 16 + 4 * vector + lane % 4;
}

// What a block needs, for each position of its first sample within a pixel.
struct Phase {
  alignas(64) std::int32_t start[vectors][16];  // of the sums: takes the zero levels off
  alignas(64) float offset[vectors][16];
  alignas(64) double wide_offset[vectors][16];
  std::uint64_t keep = 0;  // samples that are copied
};

// Where a block goes. Stores of bytes may change anything, so what is used after them is copied.
struct Target {
  int n;
  std::uint8_t* out[rows];
  const std::uint8_t* kept[rows] = {};
  explicit Target(const Block& block) : n(block.n) {
    for (int i = 0; i < rows; ++i) {
      out[i] = static_cast<std::uint8_t*>(block.out[i]);
      if (block.kept) kept[i] = static_cast<const std::uint8_t*>(block.kept[i]);
    }
  }
};

// How sums become code values: they are (but for saturation); by one product, where none is beyond 16 bits; by what
// takes longer, as Division has it.
enum class Finish : std::uint8_t { plain, single, apart };

struct Sums {
  Finish finish = Finish::apart;
  std::vector<Phase> phases;

  /// `zero_weight`: what the zero levels are to be taken off the sums with; `reach`: of a code value, before it is
  /// clamped. The gain is in `q` already.
  Sums(const Quantization& q, const Group& group, double zero_weight, double reach);
};

/// Of a window register.
struct Window {
  alignas(64) std::uint8_t order[64];
  Window(int components, bool pairs);
};

bool needs_pairs(const IntegerTaps& taps);

/// The taps of a group, for each row of `width`.
std::vector<std::int32_t> pack_words(const std::vector<std::int32_t>& taps, int width, bool pairs);

}  // namespace convolve::cpu::dot

#ifdef __clang__
#pragma clang attribute push(                                                                            \
    __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,prfchw"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,prfchw")
#endif

#include "cpu/division-inl.hpp"

namespace convolve::cpu::dot {
namespace {

// Pairs: windows of two samples widened to 16 bits, and taps of 16 bits; else four samples and taps of 8 bits.
template <bool Pairs>
HWY_INLINE __m512i WindowAt(__m512i order, const std::uint8_t* p) {
  const __m512i v = _mm512_loadu_si512(p);
  return Pairs ? _mm512_maskz_permutexvar_epi8(0x5555555555555555u, order, v) : _mm512_permutexvar_epi8(order, v);
}

template <bool Pairs>
HWY_INLINE __m512i Dot(__m512i sum, __m512i window, __m512i taps) {
  return Pairs ? _mm512_dpwssd_epi32(sum, window, taps) : _mm512_dpbusd_epi32(sum, window, taps);
}

// What Finish::single needs, apart from the offsets.
struct Rounding {
  __m512 gain, round;
  __m512i up, apart, most;
  explicit Rounding(const Quantization& q) {
    gain = _mm512_set1_ps(q.gain);
    round = _mm512_set1_ps(0x1.8p23f - q.snap);
    up = _mm512_set4_epi32(0x0d0c0d0c, 0x09080908, 0x05040504, 0x01000100);
    most = _mm512_set1_epi8(static_cast<char>(static_cast<int>(q.max)));
    apart = _mm512_set4_epi32(0x0f0d0b09, 0x0e0c0a08, 0x07050301, 0x06040200);
  }
};

// Rounded by adding what leaves no fraction; the low 16 bits are then the integer. Uniform: all registers have the
// offsets of the first.
template <bool Uniform>
HWY_INLINE __m512i RoundToBytes(const Rounding& r, const Phase& phase, __m512i (&sum)[vectors]) {
  CONVOLVE_UNROLL
  for (int b = 0; b < vectors; ++b) {
    const __m512 offset = _mm512_load_ps(phase.offset[Uniform ? 0 : b]);
    sum[b] = _mm512_castps_si512(_mm512_add_ps(_mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[b]), r.gain, offset), r.round));
  }
  const __m512i low = _mm512_mask_shuffle_epi8(sum[0], 0xCCCCCCCCCCCCCCCCu, sum[1], r.up);
  const __m512i high = _mm512_mask_shuffle_epi8(sum[2], 0xCCCCCCCCCCCCCCCCu, sum[3], r.up);
  return _mm512_min_epu8(_mm512_shuffle_epi8(_mm512_packus_epi16(low, high), r.apart), r.most);
}

HWY_INLINE __m512i SaturateToBytes(__m512i (&sum)[vectors]) {
  return _mm512_packus_epi16(_mm512_packs_epi32(sum[0], sum[1]), _mm512_packs_epi32(sum[2], sum[3]));
}

HWY_INLINE __mmask64 First(int n) {
  return n >= samples ? ~__mmask64{0} : (__mmask64{1} << n) - 1;
}

// Uniform: of one component, so nothing is copied.
template <bool Uniform>
HWY_INLINE void Store(const Target& to, const Phase& phase, int i, int x, __m512i bytes) {
  const __mmask64 wanted = First(to.n - x);
  if (!Uniform && to.kept[i]) bytes = _mm512_mask_loadu_epi8(bytes, wanted & phase.keep, to.kept[i] + x);
  _mm512_mask_storeu_epi8(to.out[i] + x, wanted, bytes);
}

// The rows of a block by what takes longer. Apart from Filter, whose registers it would take.
[[gnu::noinline]] void FinishApart(const Quantization& q, const Rounding& rounding, const Phase& phase,
                                   const std::int32_t (*sum)[vectors][16], const Target& to, int x) {
  for (int i = 0; i < rows; ++i) {
    if (!to.out[i]) continue;
    __m512i value[vectors];
    for (int b = 0; b < vectors; ++b)
      value[b] = code_values(q, _mm512_load_si512(sum[i][b]), _mm512_load_ps(phase.offset[b]), phase.wide_offset[b]);
    Store<false>(to, phase, i, x, _mm512_min_epu8(SaturateToBytes(value), rounding.most));
  }
}

// The rows of a block on their way out.
template <bool Uniform>
HWY_INLINE void FinishBlock(const Quantization& q, const Rounding& rounding, Finish finish, const Phase& phase,
                            __m512i (&sum)[rows][vectors], const Target& to, int x) {
  if (finish == Finish::apart) {
    alignas(64) std::int32_t sums[rows][vectors][16];
    std::memcpy(sums, sum, sizeof sums);
    FinishApart(q, rounding, phase, sums, to, x);
    return;
  }
  CONVOLVE_UNROLL
  for (int i = 0; i < rows; ++i)
    if (to.out[i])
      Store<Uniform>(to, phase, i, x,
                     finish == Finish::plain ? _mm512_min_epu8(SaturateToBytes(sum[i]), rounding.most)
                                             : RoundToBytes<Uniform>(rounding, phase, sum[i]));
}

}  // namespace
}  // namespace convolve::cpu::dot

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
