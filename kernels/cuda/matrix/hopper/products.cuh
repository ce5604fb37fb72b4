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

/// A matrix in shared memory, as products take it. In two words, since moving it changes the first alone.
struct SharedMatrix {
  unsigned place, shape;
};

/// `across`: bytes from a block to the one of the next 16 columns, `down`: to that of the next 8 rows.
__device__ __forceinline__ SharedMatrix describe_matrix(unsigned address, int across, int down) {
  return {(address & 0x3FFFFu) >> 4 | static_cast<unsigned>(across >> 4) << 16, static_cast<unsigned>(down >> 4)};
}
/// The same matrix, so many bytes further on.
__device__ __forceinline__ SharedMatrix moved(SharedMatrix matrix, int bytes) {
  return {matrix.place + static_cast<unsigned>(bytes >> 4), matrix.shape};
}

/// What the thread wrote to shared memory, by stores or by cp.async but for its last `pending` groups, becomes visible
/// to products behind the next barrier.
template <int pending>
__device__ __forceinline__ void publish_to_products() {
  asm volatile("cp.async.wait_group %0;\n fence.proxy.async.shared::cta;" ::"n"(pending) : "memory");
}

/// Before the first of some products, and between those of so many columns and those of others: the sums are as the
/// registers say.
__device__ __forceinline__ void begin_products(int (&sum)[32]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) asm volatile("" : "+r"(sum[i])::"memory");
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Behind the last.
__device__ __forceinline__ void send_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until the registers hold the sums of what was sent.
__device__ __forceinline__ void end_products(int (&sum)[32]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < 32; ++i) asm volatile("" : "+r"(sum[i])::"memory");
}

/// sum += left * right: 64 rows of 32 u8 by 32 of so many columns of s8, the first of those that `sum` holds.
/// Thread 32 w + 4 g + t holds sum[4 j + 2 h + e]: row 16 w + 8 h + g, column 8 j + 2 t + e.
template <int columns>
__device__ __forceinline__ void multiply_add(int (&sum)[32], SharedMatrix left, SharedMatrix right) {
  static_assert(columns % 16 == 0 && columns <= 64);
#define CONVOLVE_SUMS(i)                                                                                              \
  "+r"(sum[(i)]), "+r"(sum[(i) + 1]), "+r"(sum[(i) + 2]), "+r"(sum[(i) + 3]), "+r"(sum[(i) + 4]), "+r"(sum[(i) + 5]), \
      "+r"(sum[(i) + 6]), "+r"(sum[(i) + 7])
// sums: as the instruction's operands; a, b: the matrices, as operands.
#define CONVOLVE_PRODUCT(n, a, b, sums, ...)                                                         \
  asm volatile("{.reg .pred p; .reg .b64 a, b; setp.eq.u32 p, 0, 0; mov.b64 a, " a "; mov.b64 b, " b \
               ";"                                                                                   \
               "wgmma.mma_async.sync.aligned.m64n" n "k32.s32.u8.s8 {" sums "},a,b,p;}"              \
               : __VA_ARGS__                                                                         \
               : "r"(left.place), "r"(left.shape), "r"(right.place), "r"(right.shape))
  if constexpr (columns == 16)
    CONVOLVE_PRODUCT("16", "{%8,%9}", "{%10,%11}", "%0,%1,%2,%3,%4,%5,%6,%7", CONVOLVE_SUMS(0));
  else if constexpr (columns == 32)
    CONVOLVE_PRODUCT("32", "{%16,%17}", "{%18,%19}",
                     "%0,%1,%2,%3,%4,%5,%6,%7,"
                     "%8,%9,%10,%11,%12,%13,%14,%15",
                     CONVOLVE_SUMS(0), CONVOLVE_SUMS(8));
  else if constexpr (columns == 48)
    CONVOLVE_PRODUCT("48", "{%24,%25}", "{%26,%27}",
                     "%0,%1,%2,%3,%4,%5,%6,%7,"
                     "%8,%9,%10,%11,%12,%13,%14,%15,"
                     "%16,%17,%18,%19,%20,%21,%22,%23",
                     CONVOLVE_SUMS(0), CONVOLVE_SUMS(8), CONVOLVE_SUMS(16));
  else if constexpr (columns == 64)
    CONVOLVE_PRODUCT("64", "{%32,%33}", "{%34,%35}",
                     "%0,%1,%2,%3,%4,%5,%6,%7,"
                     "%8,%9,%10,%11,%12,%13,%14,%15,"
                     "%16,%17,%18,%19,%20,%21,%22,%23,"
                     "%24,%25,%26,%27,%28,%29,%30,%31",
                     CONVOLVE_SUMS(0), CONVOLVE_SUMS(8), CONVOLVE_SUMS(16), CONVOLVE_SUMS(24));
#undef CONVOLVE_PRODUCT
#undef CONVOLVE_SUMS
}

#endif

}  // namespace convolve::cuda
