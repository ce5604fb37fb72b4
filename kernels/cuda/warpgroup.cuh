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

#include <cuda_runtime.h>

#include <cstdint>

namespace convolve::cuda {

#if defined(__CUDACC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Describes a matrix in shared memory. `across`: bytes from a block to the one of the next 16 columns, `down`: to that
/// of the next 8 rows.
__device__ __forceinline__ std::uint64_t describe_matrix(unsigned address, int across, int down) {
  return static_cast<std::uint64_t>((address & 0x3FFFFu) >> 4) | static_cast<std::uint64_t>(across >> 4) << 16 |
         static_cast<std::uint64_t>(down >> 4) << 32;
}
/// The same matrix, so many bytes further on.
__device__ __forceinline__ std::uint64_t moved(std::uint64_t matrix, int bytes) {
  return matrix + static_cast<unsigned>(bytes >> 4);
}

/// What the threads wrote to shared memory, by stores or cp.async, becomes visible to products behind the next barrier.
__device__ __forceinline__ void publish_to_products() {
  asm volatile("cp.async.wait_all;\n fence.proxy.async.shared::cta;" ::: "memory");
}

/// Before the first of some products: the sums are as the registers say.
template <int n>
__device__ __forceinline__ void begin_products(int (&sum)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+r"(sum[i])::"memory");
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Behind the last: waits until the registers hold the sums.
template <int n>
__device__ __forceinline__ void end_products(int (&sum)[n]) {
  asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+r"(sum[i])::"memory");
}

/// sum += left * right: 64 rows of 32 u8 by 32 of 16 * blocks s8. Thread 32 w + 4 g + t holds, of block b,
/// sum[8 b + 4 j + 2 h + e]: row 16 w + 8 h + g, column 16 b + 8 j + 2 t + e.
template <int blocks>
__device__ __forceinline__ void multiply_add(int* sum, std::uint64_t left, std::uint64_t right) {
#define CONVOLVE_SUMS(i)                                                                                              \
  "+r"(sum[(i)]), "+r"(sum[(i) + 1]), "+r"(sum[(i) + 2]), "+r"(sum[(i) + 3]), "+r"(sum[(i) + 4]), "+r"(sum[(i) + 5]), \
      "+r"(sum[(i) + 6]), "+r"(sum[(i) + 7])
  static_assert(blocks >= 1 && blocks <= 4);
  if constexpr (blocks == 1)
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.s8 {%0,%1,%2,%3,%4,%5,%6,%7},%8,%9,p;}"
        : CONVOLVE_SUMS(0)
        : "l"(left), "l"(right));
  else if constexpr (blocks == 2)
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.s8 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},%16,%17,p;}"
        : CONVOLVE_SUMS(0), CONVOLVE_SUMS(8)
        : "l"(left), "l"(right));
  else if constexpr (blocks == 3)
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n48k32.s32.u8.s8 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23},%24,%25,p;}"
        : CONVOLVE_SUMS(0), CONVOLVE_SUMS(8), CONVOLVE_SUMS(16)
        : "l"(left), "l"(right));
  else
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,"
        "%29,%30,%31},%32,%33,p;}"
        : CONVOLVE_SUMS(0), CONVOLVE_SUMS(8), CONVOLVE_SUMS(16), CONVOLVE_SUMS(24)
        : "l"(left), "l"(right));
#undef CONVOLVE_SUMS
}

/// The same, with a number of blocks that is constant once loops are unrolled: 1 to 4.
__device__ __forceinline__ void multiply_add(int blocks, int* sum, std::uint64_t left, std::uint64_t right) {
  switch (blocks) {
    case 1:
      return multiply_add<1>(sum, left, right);
    case 2:
      return multiply_add<2>(sum, left, right);
    case 3:
      return multiply_add<3>(sum, left, right);
    default:
      return multiply_add<4>(sum, left, right);
  }
}

#endif

}  // namespace convolve::cuda
