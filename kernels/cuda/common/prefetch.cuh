// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Prefetches into the second level cache. A block asks for its input while the launch before its own is still ending,
// that is, before it may read it, and also for the input of a block that comes later.
//
// Asking early is safe: the bytes are brought to the second level cache and nowhere else, and all that the stream still
// writes to them passes through that cache, so that no block can see old bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/common/ptx.cuh"

namespace convolve::cuda {

inline constexpr int cache_line = 128;  ///< bytes

#ifdef __CUDACC__

__device__ __forceinline__ void prefetch_line(const void* at) {
#if __CUDA_ARCH__ >= 900
  ptx::prefetch_l2(at);
#endif
}

/// `rows` rows of `lines` cache lines from `from` on, less what is beyond `rows_there` and `bytes_there`; by `threads`
/// threads, of which this is number `id`.
template <int rows, int lines, int threads>
__device__ __forceinline__ void prefetch_rows(const void* from, std::ptrdiff_t stride, int id, int rows_there,
                                              int bytes_there) {
#pragma unroll
  for (int i = 0; i < rows * lines; i += threads) {
    const int row = (i + id) / lines, x = (i + id) % lines * cache_line;
    if (row < min(rows, rows_there) && x < bytes_there)
      prefetch_line(static_cast<const std::uint8_t*>(from) + row * stride + x);
  }
}

#endif

}  // namespace convolve::cuda
