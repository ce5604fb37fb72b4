// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a thread of the row stream of banks does with three rows in its registers: the sums of the kernels, how they are
// combined, and how that becomes samples.
#pragma once

#include <cmath>

#include "cuda/bank/stream.hpp"
#include "cuda/common/pixels.cuh"
#include "cuda/common/ptx.cuh"

namespace convolve::cuda {

/// The layout of a plane as a kernel is compiled for it. `first_luma`: of packed 4:2:2, its byte in a pair; else -1.
template <class Stored, int components, int first_luma = -1>
struct BankPlaneOf {
  using Sample = Stored;
  static constexpr int C = components;
  static constexpr bool is_packed = first_luma >= 0;
  static constexpr int luma = first_luma;
  static constexpr int span = bank_stream_pixels(C, bank_stream_side), samples = span * C;
  static constexpr int pixel_bytes = C * static_cast<int>(sizeof(Sample));
  using Own = PixelGroup<Sample, C, span>;
  /// A group of which the first pixel alone is used.
  using Side = PixelGroup<Sample, C>;
  /// A row with a pixel either side.
  using Floats = float[samples + 2 * C];
  /// Samples from one of this component to the next.
  static constexpr int step(int sample) { return is_packed && sample % 2 == luma ? 2 : C; }
};

/// Both kernels' sums of a pair of gradients.
template <class Plane>
__device__ __forceinline__ void sum_gradients(const typename Plane::Floats& above, const typename Plane::Floats& here,
                                              const typename Plane::Floats& below, float middle,
                                              float (&across)[Plane::samples], float (&down)[Plane::samples]) {
  constexpr int C = Plane::C;
  typename Plane::Floats smooth, difference;
#pragma unroll
  for (int i = 0; i < Plane::samples + 2 * C; ++i) {
    smooth[i] = fmaf(middle, here[i], above[i] + below[i]);
    difference[i] = below[i] - above[i];
  }
#pragma unroll
  for (int n = 0; n < Plane::samples; ++n) {
    const int i = C + n, step = Plane::step(n);
    across[n] = smooth[i + step] - smooth[i - step];
    down[n] = fmaf(middle, difference[i], difference[i - step] + difference[i + step]);
  }
}

/// One kernel's sums.
template <class Plane>
__device__ __forceinline__ void sum_kernel(const typename Plane::Floats& above, const typename Plane::Floats& here,
                                           const typename Plane::Floats& below, const float* taps,
                                           float (&sum)[Plane::samples]) {
#pragma unroll
  for (int r = 0; r < bank_stream_side; ++r) {
    const typename Plane::Floats& row = r == 0 ? above : r == 1 ? here : below;
#pragma unroll
    for (int k = 0; k < bank_stream_side; ++k) {
      const float tap = taps[r * bank_stream_side + k];
#pragma unroll
      for (int n = 0; n < Plane::samples; ++n) {
        const float value = row[Plane::C + n + (k - 1) * Plane::step(n)];
        sum[n] = r == 0 && k == 0 ? tap * value : fmaf(tap, value, sum[n]);
      }
    }
  }
}

/// What is combined so far of a row's outputs.
template <int samples, BankSum way>
struct Combined {
  static constexpr float whole = 0x1.8p23f;  ///< added to a float, it leaves a whole number in the lowest bits
  float all[samples];
  std::uint32_t squares[samples];  ///< of BankSum::exact_root: the sum of squares modulo 2^22

  __device__ __forceinline__ void begin(Combine combine) {
    const float first = way == BankSum::linear && combine == Combine::max ? -INFINITY : 0;
#pragma unroll
    for (int n = 0; n < samples; ++n) all[n] = first, squares[n] = 0;
  }
  __device__ __forceinline__ void add(Combine combine, const float (&sum)[samples]) {
    const auto each = [&](const auto& one) {
#pragma unroll
      for (int n = 0; n < samples; ++n) all[n] = one(all[n], sum[n]);
    };
    if constexpr (way != BankSum::linear) {
      each([](float before, float one) { return fmaf(one, one, before); });
      if constexpr (way == BankSum::exact_root)
#pragma unroll
        for (int n = 0; n < samples; ++n) {
          // The bits are 301 * 2^22 + sum, whose square is that of the sum modulo 2^23.
          const std::uint32_t bits = __float_as_uint(__fadd_rn(sum[n], whole));
          squares[n] += bits * bits;
        }
      return;
    }
    switch (combine) {
      case Combine::sum_abs:
        return each([](float before, float one) { return before + fabsf(one); });
      case Combine::max_abs:
        return each([](float before, float one) { return fmaxf(before, fabsf(one)); });
      default:  // Combine::max
        return each([](float before, float one) { return fmaxf(before, one); });
    }
  }
  /// The root of a sum of squares as a whole number, to nearest, plus 0x4B400000 and `level`. The estimate is the right
  /// one or one less: its root is less by 2^-20 of it, which the errors of root and square do not reach. It is one less
  /// where the square of the tie above it is no larger than the whole number; only the lowest bits of the difference
  /// can be set.
  __device__ __forceinline__ int whole_root(int n, int level) const {
    constexpr float less = 1 - 0x1p-20f;
    const std::uint32_t below = __float_as_uint(__fmaf_rn(ptx::approximate_root(all[n]), less, whole));
    const std::uint32_t tie = below * below + below + (1u << 22);  // modulo 2^23, less 1/4
    return static_cast<int>(below + ((tie - squares[n]) << 10 >> 31)) + level;
  }
};

/// The combined sums of a row as samples, which are not shifted yet.
template <class Plane, BankSum way>
__device__ __forceinline__ typename Plane::Own finished(const Combined<Plane::samples, way>& combined,
                                                        const SamplePlane& plane, SampleNumbers numbers) {
  constexpr int C = Plane::C;
  numbers.shift = 0;
  typename Plane::Own group;
  if constexpr (way == BankSum::exact_root) {
    static_assert(sizeof(typename Plane::Sample) == 2);
    const auto code = [&](int n) { return combined.whole_root(n, static_cast<int>(plane.offset[n % C]) - 0x4B400000); };
    const std::uint32_t most = static_cast<std::uint32_t>(numbers.max) * 0x10001u;
#pragma unroll
    for (int i = 0; i < Plane::Own::words; ++i) group.word[i] = ptx::pack_words(code(2 * i), code(2 * i + 1));
    if (numbers.max != 65535.f)
#pragma unroll
      for (int i = 0; i < Plane::Own::words; ++i) group.word[i] = __vminu2(group.word[i], most);
  } else if constexpr (way == BankSum::root) {
    float value[Plane::samples];
#pragma unroll
    for (int n = 0; n < Plane::samples; ++n)
      value[n] = fmaf(ptx::approximate_root(combined.all[n]), numbers.gain, plane.offset[n % C]);
    group.put(value, numbers.max, numbers.shift);
  } else {
    group = quantized<typename Plane::Own, C, false>(combined.all, plane.offset, numbers);
  }
  return group;
}

}  // namespace convolve::cuda
