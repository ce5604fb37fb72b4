// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The two ends of register's kernels: a row of a thread's window as floats, and its sums as samples.
#pragma once

#include "cuda/register.hpp"
#include "cuda/register_samples.cuh"

namespace convolve::cuda {

/// What a thread reads of one row for `4 * groups` pixels of output, and how its groups of pixels lie in it.
template <class Sample, int C, int width>
struct WindowShape {
  static constexpr int groups = register_groups(sizeof(Sample), C), reach = width / 2;
  static constexpr int halo = (reach + 3) / 4;  ///< groups either side
  static constexpr int all = groups + 2 * halo, span = 4 * groups;
  static constexpr int pixels = span + 2 * reach, samples = pixels * C;
  using Group = PixelGroup<Sample, C>;

  /// Pixel o of group `n` lies `at` samples into the window, where that is not negative nor past its end.
  static __host__ __device__ constexpr int at(int n, int o) { return (4 * (n - halo) + o + reach) * C; }
  static __host__ __device__ constexpr bool holds(int n, int o) { return at(n, o) >= 0 && at(n, o) < samples; }

  /// As floats less their zero level.
  static __device__ __forceinline__ void convert(float (&f)[samples], const Group (&raw)[all], const float* zero,
                                                 int shift) {
#pragma unroll
    for (int n = 0; n < all; ++n)
#pragma unroll
      for (int o = 0; o < 4; ++o)
#pragma unroll
        for (int c = 0; c < C; ++c)
          if (holds(n, o)) f[at(n, o) + c] = raw[n].value(o * C + c, shift, zero[c]);
  }
};

/// Sums as samples.
template <class Sample, int C, int pixels>
__device__ __forceinline__ PixelGroup<Sample, C, pixels> quantized(const float* sum, const RegisterPlane& plane,
                                                                   const RegisterNumbers& numbers) {
  float value[pixels * C];
  const bool remainder = sizeof(Sample) == 2 && numbers.divisor != 0;
  if (remainder)
#pragma unroll
    for (int i = 0; i < pixels * C; ++i)
      value[i] = remainder_value(sum[i], numbers.gain, plane.offset[i % C], numbers.divisor);
  else
#pragma unroll
    for (int i = 0; i < pixels * C; ++i) {
      if constexpr (std::is_floating_point_v<Sample>)
        value[i] = sum[i] + plane.offset[i % C];
      else
        value[i] = __fadd_rn(__fmaf_rn(sum[i], numbers.gain, plane.offset[i % C]), -numbers.snap);
    }
  PixelGroup<Sample, C, pixels> group;
  group.put(value, numbers.max, numbers.shift);
  return group;
}

}  // namespace convolve::cuda
