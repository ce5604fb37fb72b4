// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the two kernels of rectangles share: the block's item, and cells of pixels.
#pragma once

#include "cuda/common/launch.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/regions/rectangles.hpp"

namespace convolve::cuda {

#ifdef __CUDACC__

/// a / b of whole numbers below 2^20, where `by` is 1 / b: the product is off by less than the half that was added,
/// over b.
__device__ __forceinline__ int divided(int a, float by) {
  return __float2int_rz((static_cast<float>(a) + 0.5f) * by);
}

/// Lets the next launch of the stream start its blocks, as far as there is room: both kernels take longer to find out
/// what to do than to do it.
__device__ __forceinline__ void start_next_launch() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// The block's item, copied to shared memory, and the block's number in it.
struct BlockItem {
  RectangleItem item;
  int number;
};

/// `first`: each item's first block. To be called by all threads.
__device__ __forceinline__ void find_item(const RectangleArgs& args, const int (&first)[max_items], BlockItem& found) {
  constexpr int words = sizeof(RectangleItem) / 4;
  static_assert(sizeof(RectangleItem) % 4 == 0 && words < rectangle_threads);
  const int block = static_cast<int>(blockIdx.x), id = static_cast<int>(threadIdx.x);
  int index = 0, begin = 0;
#pragma unroll
  for (int i = 1; i < max_items; ++i) {
    if (first[i] > block) continue;  // behind the last, none is smaller
    index = i;
    begin = first[i];
  }
  if (id < words)
    reinterpret_cast<std::uint32_t*>(&found.item)[id] = reinterpret_cast<const std::uint32_t*>(&args.item[index])[id];
  if (id == words) found.number = block - begin;
  __syncthreads();
}

/// The cell of a pixel of the frame, or the nearest to it.
__device__ __forceinline__ int cell_of(const RectangleAxis& axis, int pixel) {
  const int at = min(max(pixel, axis.begin), axis.end - 1) - axis.begin;
  return min(max(divided(at, axis.by_size) - axis.first, 0), axis.count - 1);
}

/// The first of `samples` samples, of 1 << shift pixels each, in this cell or a later one; `cell` up to the count.
__device__ __forceinline__ int first_sample(const RectangleAxis& axis, int cell, int shift, int samples) {
  if (cell <= 0) return 0;
  if (cell >= axis.count) return samples;
  const int begin = axis.begin + (axis.first + cell) * axis.size;
  return min(max((begin + (1 << shift) - 1) >> shift, 0), samples);
}

/// Samples of a row or column: first <= i < last.
struct SampleRange {
  int first, last;
};

/// The rectangle's samples in a cell; `pixels`: of the frame.
__device__ __forceinline__ SampleRange range_of(const RectangleAxis& axis, int cell, int shift, int pixels) {
  const int samples = ((pixels - 1) >> shift) + 1;
  return {max(first_sample(axis, cell, shift, samples), axis.begin >> shift),
          min(first_sample(axis, cell + 1, shift, samples), ((axis.end - 1) >> shift) + 1)};
}

#endif

}  // namespace convolve::cuda
