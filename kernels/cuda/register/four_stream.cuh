// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// register, pixels of four 16-bit components under 2D filters: a row stream whose rows come through shared memory
// (cuda/common/four_stream.cuh). A lane keeps the sums of four pixels of all rows that the row at hand touches; each
// pixel that it reads is added to all of them at once.
#pragma once

#include "cuda/common/four_stream.cuh"

namespace convolve::cuda {

/// Blocks that a multiprocessor is to hold, which bounds the registers, and slots of a warp. More of either are slower
/// where the memory is what limits.
constexpr int register_four_blocks(int width) {
  return width == 3 ? 2 : 3;
}
constexpr int register_four_slots(int filtered, int width) {
  return filtered == 3 && width > 3 ? 3 : 4;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Adds the products of a row with the filter's rows to sums low .. high - 1, each of which becomes that of the next
/// lower number.
template <int F, int width, int low, int high>
__device__ __forceinline__ void add_four_row(const FourStreamArgs& args, const char* row, float (&sum)[width][4 * F],
                                             std::uint32_t (&last)[4]) {
  using Shared = FourShared<width, register_four_slots(F, width)>;
  constexpr int radius = width / 2;
#pragma unroll
  for (int q = 0; q < width + 3; ++q) {
    const float4 v = *reinterpret_cast<const float4*>(row + Shared::at(Shared::margin - radius + q));
    const float value[4] = {v.x, v.y, v.z, v.w};
    if (q >= radius && q < radius + 4) last[q - radius] = __float_as_uint(v.w);
#pragma unroll
    for (int k = 0; k < width; ++k)
      if (const int n = q - k; n >= 0 && n < 4)
#pragma unroll
        for (int j = low; j < high; ++j)
#pragma unroll
          for (int c = 0; c < F; ++c) {
            const float before = k > 0 ? sum[j][n * F + c] : j + 1 < width ? sum[j + 1][n * F + c] : 0;
            sum[j][n * F + c] = fmaf(args.taps[(width - 1 - j) * width + k], value[c], before);
          }
  }
}

#endif

template <int F, int width>
__global__ void __launch_bounds__(four_stream_threads, register_four_blocks(width))
    register_four_kernel(const __grid_constant__ FourStreamArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr int radius = width / 2;
  const auto add_row = [&](const FourPlace& place, int i, const char* row, auto& sum, auto& last) {
    // Sums of rows outside of the range are not worth their products.
    if (i <= radius)
      add_four_row<F, width, radius, width>(args, row, sum, last);
    else if (i >= place.rows - 1 - radius && i > 2 * radius)
      add_four_row<F, width, 0, radius + 1>(args, row, sum, last);
    else
      add_four_row<F, width, 0, width>(args, row, sum, last);
  };
  run_four_stream<F, width, register_four_slots(F, width), false, 4>(args, add_row);
#endif
}

}  // namespace convolve::cuda
