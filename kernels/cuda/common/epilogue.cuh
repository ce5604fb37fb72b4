// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A sum to a sample on the device, as convolve/arithmetic.hpp lays down.
//
// The intrinsics are explicit, so that no compiler contracts or cancels what adding and taking away `rounding_bias`
// does.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "convolve/arithmetic.hpp"
#include "cuda/common/ptx.cuh"

namespace convolve::cuda {

#ifdef __CUDACC__

/// The value before it is rounded to an integer, in single precision, by Division::product.
__device__ __forceinline__ float narrow_value(float sum, const Quantizer& q) {
  return __fadd_rn(__fmaf_rn(sum, q.gain, __fadd_rn(q.offset, q.rounding_bias)), -q.rounding_bias);
}

/// To the nearest code value, ties to even, within [0, max].
__device__ __forceinline__ int to_code(float value, float max) {
  return __float2int_rn(fminf(fmaxf(value, 0.f), max));
}
__device__ __forceinline__ int to_code(double value, float max) {
  return __double2int_rn(fmin(fmax(value, 0.0), static_cast<double>(max)));
}

/// The code value of a sum by Division::remainder or Division::doubles. It is kept out of line: it is long and rare,
/// and would cost the other divisions registers. It takes values, since a kernel parameter whose address is taken is no
/// longer read as a constant.
static __device__ __noinline__ int code_apart(Division division, float sum, float gain, double divisor, double offset,
                                              float max) {
  return division == Division::doubles
             ? to_code(static_cast<double>(sum) / divisor + offset, max)
             : to_code(remainder_value(sum, gain, static_cast<float>(offset), static_cast<float>(divisor)), max);
}

using ptx::pack_bytes;
/// Rounds to nearest, ties to even, clamps to 0..255 and packs, `a` lowest. The compiler makes two instructions of
/// these six, each of which rounds, clamps and packs a pair.
__device__ __forceinline__ std::uint32_t pack_bytes(float a, float b, float c, float d) {
  return ptx::pack_bytes(__float2int_rn(a), __float2int_rn(b), __float2int_rn(c), __float2int_rn(d));
}

/// The stored sample of a sum. f32 samples are not rounded.
template <class Sample, class Sum>
__device__ __forceinline__ Sample quantize(Sum sum, const Quantizer& q, int shift) {
  if constexpr (std::is_floating_point_v<Sample>) {
    return static_cast<Sample>(sum + static_cast<Sum>(q.offset));
  } else if constexpr (std::is_same_v<Sum, double>) {
    return static_cast<Sample>(to_code(q.wide_value(sum), q.max) << shift);
  } else {
    const int code = q.division == Division::product
                         ? to_code(narrow_value(sum, q), q.max)
                         : code_apart(q.division, sum, q.gain, q.divisor, q.wide_offset, q.max);
    return static_cast<Sample>(code << shift);
  }
}

/// Neighbours that are loaded and stored as one.
template <class Sample, int n>
struct __align__(n * sizeof(Sample)) Samples {
  Sample value[n];
};

template <class Sample>
__device__ __forceinline__ Samples<Sample, 4> quantize4(const float (&sum)[4], const Quantizer& q, int shift) {
  Samples<Sample, 4> out;
  if constexpr (std::is_same_v<Sample, std::uint8_t>) {
    if (q.division == Division::product && q.max == 255.f) {
      // Saturates and rounds to nearest even in one conversion, and packs.
#pragma unroll
      for (int i = 0; i < 4; ++i) out.value[i] = static_cast<std::uint8_t>(ptx::round_to_u8(narrow_value(sum[i], q)));
      return out;
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) out.value[i] = quantize<Sample>(sum[i], q, shift);
  return out;
}

#endif

}  // namespace convolve::cuda
