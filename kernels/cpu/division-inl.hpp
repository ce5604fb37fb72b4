// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sums of 16 samples to the values that are rounded, by Division (convolve/arithmetic.hpp), in AVX-512. Include it
// after immintrin.h, inside the region whose functions may use that.
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

}  // namespace
}  // namespace convolve::cpu
