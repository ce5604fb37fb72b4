// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The matrix instructions that separable's tensor kernel is made of. Warp-wide: all 32 lanes take part in every
// product. Before sm_80 they are not there and trap; the plan does not choose them then.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace convolve::cuda {

// Indices are in order either way; toolkits before 12.5 have no name for that.
#if CUDART_VERSION >= 12050
#define CONVOLVE_MMA_SPARSE "mma.sp::ordered_metadata"
#else
#define CONVOLVE_MMA_SPARSE "mma.sp"
#endif

/// d = a b + c: 16 x 32, 2:4 sparse, by 32 x 8, halves. `where`: which two of every four columns `a` holds.
__device__ __forceinline__ void mma_f16_sparse(std::uint32_t (&d)[2], const std::uint32_t (&a)[4],
                                               const std::uint32_t (&b)[4], const std::uint32_t (&c)[2],
                                               std::uint32_t where) {
#if __CUDA_ARCH__ >= 800
  asm(CONVOLVE_MMA_SPARSE
      ".sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 "
      "{%0,%1},{%2,%3,%4,%5},{%6,%7,%8,%9},{%10,%11},%12,0x0;"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]), "r"(c[1]),
        "r"(where));
#else
  __trap();
#endif
}
#undef CONVOLVE_MMA_SPARSE

/// d = a b + c: 16 x 16 by 16 x 8, halves, with sums in single precision.
__device__ __forceinline__ void mma_f32(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                        const float (&c)[4]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
  __trap();
#endif
}

#if __CUDA_ARCH__ >= 800
#define CONVOLVE_MMA(a_type, b_type)                                \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." a_type "." b_type    \
      ".s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};" \
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])              \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#else
#define CONVOLVE_MMA(a_type, b_type) __trap()
#endif

/// d = a b + c: 16 x 32 by 32 x 8, signed bytes by unsigned ones, and so on.
__device__ __forceinline__ void mma_s8_u8(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                          const int (&c)[4]) {
  CONVOLVE_MMA("s8", "u8");
}
__device__ __forceinline__ void mma_s8_s8(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                          const int (&c)[4]) {
  CONVOLVE_MMA("s8", "s8");
}
__device__ __forceinline__ void mma_u8_s8(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                          const int (&c)[4]) {
  CONVOLVE_MMA("u8", "s8");
}
#undef CONVOLVE_MMA

/// Four transposed 8 x 8 matrices of byte pairs, of rows that lie at the lanes' addresses in shared memory. Not
/// volatile, so that it may be moved ahead of stores: see settled().
__device__ __forceinline__ void load_matrices(std::uint32_t (&m)[4], std::uint32_t row_of_lane) {
#if __CUDA_ARCH__ >= 800
  asm("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
      : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
      : "r"(row_of_lane));
#else
  __trap();
#endif
}

/// The address, in shared memory, of what is not written any more: no load_matrices() from there moves up to before.
__device__ __forceinline__ std::uint32_t settled(const void* address) {
  auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(address));
  asm volatile("" : "+r"(to)::"memory");
  return to;
}

}  // namespace convolve::cuda
