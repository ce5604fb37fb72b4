// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Products of a warpgroup of unsigned bytes, the right matrix in shared memory, under the rules of
// common/hopper/ptx.cuh.
#pragma once

#include "cuda/common/hopper/operands.cuh"
#include "cuda/common/hopper/ptx.cuh"

#if defined(__CUDACC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace convolve::cuda::ptx {

/// Hides an integer; no access to memory moves past this statement.
__device__ __forceinline__ void hide_behind_memory(std::int32_t& value) {
  asm volatile("" : "+r"(value)::"memory");
}

#define CONVOLVE_PRODUCT(columns, names, left_low, left_high, low_name, high_name, ...)                        \
  asm volatile("{.reg .b64 a, b; mov.b64 a, {" left_low "," left_high "}; mov.b64 b, {" low_name "," high_name \
               "};\n"                                                                                          \
               "wgmma.mma_async.sync.aligned.m64n" columns "k32.s32.u8.u8 {" names "},a,b,1;}"                 \
               : __VA_ARGS__                                                                                   \
               : "r"(left.low), "r"(left.high), "r"(right.low), "r"(right.high))

/// sum += left * right: 64 rows of 32 bytes, by 32 rows of as many columns as twice the sums. PTX ISA,
/// wgmma.mma_async.
__device__ __forceinline__ void multiply_bytes(std::int32_t (&sum)[32], MatrixDescriptor left, MatrixDescriptor right) {
  CONVOLVE_PRODUCT("64", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16, "%32", "%33", "%34", "%35", CONVOLVE_16_SUMS("+r", 0),
                   CONVOLVE_16_SUMS("+r", 16));
}
__device__ __forceinline__ void multiply_bytes(std::int32_t (&sum)[48], MatrixDescriptor left, MatrixDescriptor right) {
  CONVOLVE_PRODUCT("96", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16 CONVOLVE_NAMES_32, "%48", "%49", "%50", "%51",
                   CONVOLVE_16_SUMS("+r", 0), CONVOLVE_16_SUMS("+r", 16), CONVOLVE_16_SUMS("+r", 32));
}
__device__ __forceinline__ void multiply_bytes(std::int32_t (&sum)[64], MatrixDescriptor left, MatrixDescriptor right) {
  CONVOLVE_PRODUCT("128", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16 CONVOLVE_NAMES_32 CONVOLVE_NAMES_48, "%64", "%65", "%66",
                   "%67", CONVOLVE_16_SUMS("+r", 0), CONVOLVE_16_SUMS("+r", 16), CONVOLVE_16_SUMS("+r", 32),
                   CONVOLVE_16_SUMS("+r", 48));
}
#undef CONVOLVE_PRODUCT
#define CONVOLVE_PRODUCT(columns, names, left_names, low_name, high_name, ...)                                \
  asm volatile("{.reg .b64 b; mov.b64 b, {" low_name "," high_name                                            \
               "};\n"                                                                                         \
               "wgmma.mma_async.sync.aligned.m64n" columns "k32.s32.u8.u8 {" names "},{" left_names "},b,1;}" \
               : __VA_ARGS__                                                                                  \
               : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "r"(right.low), "r"(right.high))

/// The same, the left matrix in registers.
__device__ __forceinline__ void multiply_bytes(std::int32_t (&sum)[16], const uint4& left, MatrixDescriptor right) {
  CONVOLVE_PRODUCT("32", CONVOLVE_NAMES_0, "%16,%17,%18,%19", "%20", "%21", CONVOLVE_16_SUMS("+r", 0));
}
__device__ __forceinline__ void multiply_bytes(std::int32_t (&sum)[32], const uint4& left, MatrixDescriptor right) {
  CONVOLVE_PRODUCT("64", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16, "%32,%33,%34,%35", "%36", "%37", CONVOLVE_16_SUMS("+r", 0),
                   CONVOLVE_16_SUMS("+r", 16));
}
#undef CONVOLVE_PRODUCT

}  // namespace convolve::cuda::ptx

#endif
