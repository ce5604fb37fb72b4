// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Matrix products of a warpgroup (wgmma, compute capability 9.0 alone): what they read is described to the hardware and
// lies in shared memory, sums are in registers.
//
// Both matrices lie as blocks of 8 rows of 16 bytes, the rows of a block one behind the other. So 128 bytes of an image
// row are such a block, of 8 strips 16 pixels apart, and the block of the same strips' next 16 pixels begins 16 bytes
// on: overlapping windows of the image need no copies and no instructions.
#pragma once

#include "cuda/common/hopper/ptx.cuh"
#include "cuda/common/ptx.cuh"

namespace convolve::cuda {

#if defined(__CUDACC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)

using ptx::MatrixDescriptor;

/// Describes a matrix in shared memory. `across`: bytes from a block to the one of the next 16 columns, `down`: to that
/// of the next 8 rows.
__device__ __forceinline__ MatrixDescriptor describe_matrix(unsigned address, int across, int down) {
  return {(address & 0x3FFFFu) >> 4 | static_cast<unsigned>(across >> 4) << 16, static_cast<unsigned>(down >> 4)};
}
/// A matrix of the same layout that begins so many bytes further on.
__device__ __forceinline__ MatrixDescriptor moved(MatrixDescriptor matrix, int bytes) {
  return {matrix.low + static_cast<unsigned>(bytes >> 4), matrix.high};
}
/// A matrix that begins at the same place, of blocks that lie otherwise: as for describe_matrix().
__device__ __forceinline__ MatrixDescriptor laid_out(MatrixDescriptor matrix, int across, int down) {
  return {(matrix.low & 0xFFFFu) | static_cast<unsigned>(across >> 4) << 16, static_cast<unsigned>(down >> 4)};
}

/// What the thread wrote to shared memory, by stores or by cp.async but for its last `pending` groups, becomes visible
/// to products behind the next barrier.
template <int pending>
__device__ __forceinline__ void publish_to_products() {
  ptx::wait_for_copies<pending>();
  ptx::fence_shared_for_wgmma();
}

/// Before the first of some products, and between those of so many columns and those of others. Ties the sums to their
/// registers: no access to them moves across this statement.
template <class Sum>
__device__ __forceinline__ void begin_products(Sum (&sum)[32]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) ptx::hide_behind_memory(sum[i]);
  ptx::wgmma_fence();
}
/// Waits until the registers hold the sums of what was sent.
template <class Sum>
__device__ __forceinline__ void end_products(Sum (&sum)[32]) {
  ptx::wgmma_wait();
#pragma unroll
  for (int i = 0; i < 32; ++i) ptx::hide_behind_memory(sum[i]);
}

#endif

}  // namespace convolve::cuda
