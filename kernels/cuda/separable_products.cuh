// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The matrix instructions and packing conversions that separable's tensor kernel is made of. Warp-wide: all 32 lanes
// take part in every product. Before sm_80 they are not there and trap; the plan does not choose them then.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

namespace convolve::cuda {

/// d = a b + c: 16 x 16 by 16 x 8, halves.
__device__ __forceinline__ void mma_f16_k16(std::uint32_t (&d)[2], const std::uint32_t (&a)[4], std::uint32_t b0,
                                            std::uint32_t b1, const std::uint32_t (&c)[2]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]));
#else
  __trap();
#endif
}

/// d = a b: 16 x 32 by 32 x 8 signed bytes.
__device__ __forceinline__ void mma_s8_s8(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                          std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%10,%10,%10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(0));
#else
  __trap();
#endif
}

/// d = a b + c: 16 x 32 by 32 x 8 signed bytes.
__device__ __forceinline__ void mma_s8_s8(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                          const int (&c)[4]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
#else
  __trap();
#endif
}

/// d = a b + c: 16 x 32 unsigned by 32 x 8 signed bytes.
__device__ __forceinline__ void mma_u8_s8(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                          const int (&c)[4]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
#else
  __trap();
#endif
}

/// The two halves plus 0.5, within [0, 1], as codes of 0..255, to nearest, ties to even, in bytes 0 and 2.
__device__ __forceinline__ std::uint32_t codes_of_halves(std::uint32_t pair) {
  const __half2 half = __floats2half2_rn(0.5f, 0.5f), full = __floats2half2_rn(255.f, 255.f);
  const __half2 magic = __floats2half2_rn(1024.f, 1024.f);
  const __half2 level = __hadd2_sat(*reinterpret_cast<const __half2*>(&pair), half);
  const __half2 code = __hfma2(level, full, magic);
  return *reinterpret_cast<const std::uint32_t*>(&code);
}

}  // namespace convolve::cuda
