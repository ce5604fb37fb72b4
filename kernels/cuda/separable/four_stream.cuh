// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable, pixels of four 16-bit components: a stream whose rows come through shared memory, several frames' added up
// (cuda/common/four_stream.cuh). A lane filters its pixels by the row factor, and adds them to its sums of columns.
#pragma once

#include "cuda/common/four_stream.cuh"

namespace convolve::cuda {

/// Pixels that a lane makes of a row: sums of fewer leave room for those of more rows.
constexpr int separable_four_own(int width) {
  return width <= 7 ? 4 : 2;
}
/// Blocks that a multiprocessor is to hold, which bounds the registers, and slots of a warp. More of either are slower.
constexpr int separable_four_blocks(int filtered, int width) {
  return width <= 7 ? 2 : width <= 9 || (width <= 11 && filtered == 3) ? 4 : 3;
}
constexpr int separable_four_slots(bool several) {
  return several ? 12 : 4;
}
template <int width, bool several>
using SeparableFourShared = FourShared<width, separable_four_slots(several), separable_four_own(width)>;

template <int F, int width, bool several>
__global__ void __launch_bounds__(four_stream_threads, separable_four_blocks(F, width))
    separable_four_kernel(const __grid_constant__ FourStreamArgs args) {
#if __CUDA_ARCH__ >= 800
  using Shared = SeparableFourShared<width, several>;
  constexpr int radius = width / 2, own = separable_four_own(width);
  const auto add_row = [&](const FourPlace&, int, const char* row, auto& sum, auto& last) {
    float across[own * F] = {};
#pragma unroll
    for (int q = 0; q < width + own - 1; ++q) {
      const float4 v = *reinterpret_cast<const float4*>(row + Shared::at(Shared::margin - radius + q));
      const float value[4] = {v.x, v.y, v.z, v.w};
      if (q >= radius && q < radius + own) last[q - radius] = __float_as_uint(v.w);
#pragma unroll
      for (int k = 0; k < width; ++k)
        if (const int n = q - k; n >= 0 && n < own)
#pragma unroll
          for (int c = 0; c < F; ++c) across[n * F + c] = fmaf(args.taps[k], value[c], across[n * F + c]);
    }
#pragma unroll
    for (int j = 0; j < width; ++j)
#pragma unroll
      for (int n = 0; n < own * F; ++n)
        sum[j][n] = fmaf(args.taps[width + width - 1 - j], across[n], j + 1 < width ? sum[j + 1][n] : 0);
  };
  run_four_stream<F, width, separable_four_slots(several), several, own>(args, add_row);
#endif
}

}  // namespace convolve::cuda
