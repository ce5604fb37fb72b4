// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sums of 16 samples to their code values, by Division (convolve/arithmetic.hpp), in AVX-512. Include it after
// immintrin.h, inside the region whose functions may use that.
#pragma once

namespace convolve::cpu {
namespace {

HWY_INLINE __m512 two_products(const Quantization& q, __m512 sum, __m512 offset) {
  const __m512 low = _mm512_mul_ps(sum, _mm512_set1_ps(q.gain_low));
  return _mm512_add_ps(_mm512_fmadd_ps(sum, _mm512_set1_ps(q.gain), low), offset);
}

HWY_INLINE __m512 remainder_value(const Quantization& q, __m512 sum, __m512 offset) {
  const __m512 whole = _mm512_set1_ps(0x1.8p23f), half = _mm512_set1_ps(0.5f);
  const __m512 near = _mm512_fmadd_ps(sum, _mm512_set1_ps(q.gain / 2), _mm512_mul_ps(offset, half));
  const __m512 halves = _mm512_sub_ps(_mm512_add_ps(near, whole), whole), even = _mm512_add_ps(halves, halves);
  const __m512 rest = _mm512_fmadd_ps(_mm512_sub_ps(offset, even), _mm512_set1_ps(static_cast<float>(q.divisor)), sum);
  const __m512 more = _mm512_fmadd_ps(rest, _mm512_set1_ps(q.gain * (1 - 0x1p-22f)), whole);
  return _mm512_add_ps(even, _mm512_sub_ps(more, whole));
}

HWY_INLINE __m256i of_doubles(const Quantization& q, __m256i sum, const double* offset) {
  const __m512d quotient = _mm512_div_pd(_mm512_cvtepi32_pd(sum), _mm512_set1_pd(q.divisor));
  const __m512d value = _mm512_add_pd(quotient, _mm512_loadu_pd(offset));
  return _mm512_cvtpd_epi32(_mm512_min_pd(value, _mm512_set1_pd(q.max)));
}

/// Rounded, not yet within [0, max]; from the offsets of these samples in single and in double precision. Doubles alone
/// can be beyond 32 bits: they are kept below, and what is beyond the other end becomes the least integer.
HWY_INLINE __m512i code_values(const Quantization& q, __m512i sum, __m512 offset, const double* wide_offset) {
  if (q.division == Division::doubles)
    return _mm512_inserti64x4(_mm512_castsi256_si512(of_doubles(q, _mm512_castsi512_si256(sum), wide_offset)),
                              of_doubles(q, _mm512_extracti64x4_epi64(sum, 1), wide_offset + 8), 1);
  const __m512 s = _mm512_cvtepi32_ps(sum);
  if (q.division == Division::two_products) return _mm512_cvtps_epi32(two_products(q, s, offset));
  if (q.division == Division::remainder) return _mm512_cvtps_epi32(remainder_value(q, s, offset));
  return _mm512_cvtps_epi32(_mm512_sub_ps(_mm512_fmadd_ps(s, _mm512_set1_ps(q.gain), offset), _mm512_set1_ps(q.snap)));
}

}  // namespace
}  // namespace convolve::cpu
