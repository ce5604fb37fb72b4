// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// More asm statements, as ptx.cuh has them: what kernels of warpgroups need whose left matrices are in registers, and
// whose warpgroups wait for each other at barriers in shared memory. Compute capability 9.0 alone.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/hopper/operands.cuh"
#include "cuda/common/ptx.cuh"

#if defined(__CUDACC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace convolve::cuda::ptx {

/// Arrives at a barrier. PTX ISA, mbarrier.arrive.
__device__ __forceinline__ void arrive_at_barrier(std::uint32_t barrier) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(barrier) : "memory");
}
/// Waits for the end of the barrier's phase of this parity; that before its first has parity 1. PTX ISA,
/// mbarrier.try_wait.
__device__ __forceinline__ void wait_for_phase(std::uint32_t barrier, unsigned parity) {
  asm volatile(
      "{.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again;}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
/// Makes barriers that were set up known to all that waits for them. PTX ISA, fence.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives at a barrier, whose phase ends after so many bytes of bulk copies as well. PTX ISA,
/// mbarrier.arrive.expect_tx.
__device__ __forceinline__ void expect_bytes(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Copies a multiple of 16 bytes from global to shared memory, which a barrier expects. PTX ISA, cp.async.bulk.
__device__ __forceinline__ void copy_bulk(std::uint32_t to, const void* from, int bytes, std::uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
/// Loads 16 bytes that no kernel writes meanwhile; the 128 bytes that they are of are to come to the second level
/// cache. PTX ISA, ld.global.nc.
__device__ __forceinline__ uint4 load_near(const void* from) {
  uint4 v;
  asm("ld.global.nc.L2::128B.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}
/// The same in order, right behind pdl_wait(): ptxas (CUDA 13.0) moves loads by way of the read-only cache up past it,
/// so that they see what was there before the launch before was over. PTX ISA, ld.
__device__ __forceinline__ uint4 load_near_in_order(const void* from) {
  uint4 v;
  asm volatile("ld.global.L2::128B.v4.u32 {%0,%1,%2,%3},[%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ __forceinline__ uint2 load_two_words_in_order(const void* from) {
  uint2 v;
  asm volatile("ld.global.v2.u32 {%0,%1},[%2];" : "=r"(v.x), "=r"(v.y) : "l"(from) : "memory");
  return v;
}
/// Hides a float; no access to memory moves past this statement.
__device__ __forceinline__ void hide_behind_memory(float& value) {
  asm volatile("" : "+f"(value)::"memory");
}
/// Stores 16 bytes. PTX ISA, st.
__device__ __forceinline__ void store_shared(std::uint32_t to, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0],{%1,%2,%3,%4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
/// Loads a byte, or a word, in a volatile statement. PTX ISA, ld.
__device__ __forceinline__ std::uint32_t load_shared_byte(std::uint32_t from) {
  std::uint32_t byte;
  asm volatile("ld.shared.u8 %0,[%1];" : "=r"(byte) : "r"(from));
  return byte;
}
__device__ __forceinline__ std::uint32_t load_shared_word(std::uint32_t from) {
  std::uint32_t word;
  asm volatile("ld.shared.u32 %0,[%1];" : "=r"(word) : "r"(from));
  return word;
}
/// Loads two floats, in a volatile statement. PTX ISA, ld.
__device__ __forceinline__ float2 load_shared_floats(std::uint32_t from) {
  float2 v;
  asm volatile("ld.shared.v2.f32 {%0,%1},[%2];" : "=f"(v.x), "=f"(v.y) : "r"(from));
  return v;
}
/// Copies the first `bytes` of 16 bytes past the first level cache; zeros are in the place of the others. PTX ISA,
/// cp.async.
__device__ __forceinline__ void copy_async_past_l1(std::uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
/// Stores four 8 x 8 matrices of byte pairs, whose rows go to the lanes' addresses, not transposed as the two of
/// ptx.cuh's are. PTX ISA, stmatrix.
__device__ __forceinline__ void store_matrices(std::uint32_t row_of_lane, const std::uint32_t (&m)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0],{%1,%2,%3,%4};" ::"r"(row_of_lane), "r"(m[0]), "r"(m[1]),
               "r"(m[2]), "r"(m[3])
               : "memory");
}

// sum = left * right + (adds ? sum : 0), 64 rows by 64 columns; the left matrix is in registers as for mma of a warp,
// each warp with 16 rows. Sums lie as those of wgmma_u8_s8(). PTX ISA, wgmma.mma_async.
#define CONVOLVE_PRODUCT(types)                                                                   \
  asm volatile(                                                                                   \
      "{.reg .pred p; .reg .b64 b; setp.ne.b32 p, %38, 0; mov.b64 b, {%36,%37};\n"                \
      "wgmma.mma_async.sync.aligned.m64n64k32.s32." types " {" CONVOLVE_NAMES_0 CONVOLVE_NAMES_16 \
      "},{%32,%33,%34,%35},b,p;}"                                                                 \
      : CONVOLVE_16_SUMS("+r", 0), CONVOLVE_16_SUMS("+r", 16)                                     \
      : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "r"(right.low), "r"(right.high),      \
        "r"(static_cast<int>(adds)))

/// 32 columns of signed bytes by 32 rows of unsigned ones.
__device__ __forceinline__ void wgmma_s8_u8_registers(int (&sum)[32], const uint4& left, MatrixDescriptor right,
                                                      bool adds) {
  CONVOLVE_PRODUCT("s8.u8");
}
/// 32 columns of signed bytes by 32 rows of signed ones.
__device__ __forceinline__ void wgmma_s8_s8_registers(int (&sum)[32], const uint4& left, MatrixDescriptor right,
                                                      bool adds) {
  CONVOLVE_PRODUCT("s8.s8");
}
#undef CONVOLVE_PRODUCT

// Products of halves of other widths.
#define CONVOLVE_PRODUCT(columns, names, left_names, low_name, high_name, adds_name, ...)                             \
  asm volatile("{.reg .pred p; .reg .b64 b; setp.ne.b32 p, " adds_name ", 0; mov.b64 b, {" low_name "," high_name     \
               "};\n"                                                                                                 \
               "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32.f16.f16 {" names "},{" left_names "},b,p,1,1,0;}" \
               : __VA_ARGS__                                                                                          \
               : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "r"(right.low), "r"(right.high),                 \
                 "r"(static_cast<int>(adds)))

/// sum = left * right + (adds ? sum : 0): 64 rows of 16 halves, by 16 rows of as many columns as twice the sums, in
/// single precision. The left matrix and the sums lie in registers as those of wgmma_s8_u8_registers() do. PTX ISA,
/// wgmma.mma_async.
__device__ __forceinline__ void multiply_halves(float (&sum)[16], const uint4& left, MatrixDescriptor right,
                                                bool adds) {
  CONVOLVE_PRODUCT("32", CONVOLVE_NAMES_0, "%16,%17,%18,%19", "%20", "%21", "%22", CONVOLVE_16_SUMS("+f", 0));
}
__device__ __forceinline__ void multiply_halves(float (&sum)[32], const uint4& left, MatrixDescriptor right,
                                                bool adds) {
  CONVOLVE_PRODUCT("64", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16, "%32,%33,%34,%35", "%36", "%37", "%38",
                   CONVOLVE_16_SUMS("+f", 0), CONVOLVE_16_SUMS("+f", 16));
}
__device__ __forceinline__ void multiply_halves(float (&sum)[48], const uint4& left, MatrixDescriptor right,
                                                bool adds) {
  CONVOLVE_PRODUCT("96", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16 CONVOLVE_NAMES_32, "%48,%49,%50,%51", "%52", "%53", "%54",
                   CONVOLVE_16_SUMS("+f", 0), CONVOLVE_16_SUMS("+f", 16), CONVOLVE_16_SUMS("+f", 32));
}
__device__ __forceinline__ void multiply_halves(float (&sum)[64], const uint4& left, MatrixDescriptor right,
                                                bool adds) {
  CONVOLVE_PRODUCT("128", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16 CONVOLVE_NAMES_32 CONVOLVE_NAMES_48, "%64,%65,%66,%67",
                   "%68", "%69", "%70", CONVOLVE_16_SUMS("+f", 0), CONVOLVE_16_SUMS("+f", 16),
                   CONVOLVE_16_SUMS("+f", 32), CONVOLVE_16_SUMS("+f", 48));
}
#undef CONVOLVE_PRODUCT
#define CONVOLVE_PRODUCT(columns, names, left_low, left_high, low_name, high_name, adds_name, ...)                   \
  asm volatile("{.reg .pred p; .reg .b64 a, b; setp.ne.b32 p, " adds_name ", 0; mov.b64 a, {" left_low "," left_high \
               "}; mov.b64 b, {" low_name "," high_name                                                              \
               "};\n"                                                                                                \
               "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32.f16.f16 {" names "},a,b,p,1,1,0,0;}"             \
               : __VA_ARGS__                                                                                         \
               : "r"(left.low), "r"(left.high), "r"(right.low), "r"(right.high), "r"(static_cast<int>(adds)))

/// The same, the left matrix in shared memory.
__device__ __forceinline__ void multiply_halves(float (&sum)[32], MatrixDescriptor left, MatrixDescriptor right,
                                                bool adds) {
  CONVOLVE_PRODUCT("64", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16, "%32", "%33", "%34", "%35", "%36",
                   CONVOLVE_16_SUMS("+f", 0), CONVOLVE_16_SUMS("+f", 16));
}
__device__ __forceinline__ void multiply_halves(float (&sum)[48], MatrixDescriptor left, MatrixDescriptor right,
                                                bool adds) {
  CONVOLVE_PRODUCT("96", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16 CONVOLVE_NAMES_32, "%48", "%49", "%50", "%51", "%52",
                   CONVOLVE_16_SUMS("+f", 0), CONVOLVE_16_SUMS("+f", 16), CONVOLVE_16_SUMS("+f", 32));
}
__device__ __forceinline__ void multiply_halves(float (&sum)[64], MatrixDescriptor left, MatrixDescriptor right,
                                                bool adds) {
  CONVOLVE_PRODUCT("128", CONVOLVE_NAMES_0 CONVOLVE_NAMES_16 CONVOLVE_NAMES_32 CONVOLVE_NAMES_48, "%64", "%65", "%66",
                   "%67", "%68", CONVOLVE_16_SUMS("+f", 0), CONVOLVE_16_SUMS("+f", 16), CONVOLVE_16_SUMS("+f", 32),
                   CONVOLVE_16_SUMS("+f", 48));
}
#undef CONVOLVE_PRODUCT

/// Waits until no more than the last group of products is under way. PTX ISA, wgmma.wait_group.
__device__ __forceinline__ void wait_for_products_but_last() {
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
}
/// Keeps a product's left matrix in registers that are written before this statement.
__device__ __forceinline__ void hold_matrix(uint4& m) {
  asm volatile("" : "+r"(m.x), "+r"(m.y), "+r"(m.z), "+r"(m.w)::"memory");
}
/// Stores four 8 x 8 matrices of halves transposed, whose rows go to the lanes' addresses. PTX ISA, stmatrix.
__device__ __forceinline__ void store_matrices_transposed(std::uint32_t row_of_lane, const std::uint32_t (&m)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0],{%1,%2,%3,%4};" ::"r"(row_of_lane), "r"(m[0]),
               "r"(m[1]), "r"(m[2]), "r"(m[3])
               : "memory");
}
/// Loads an 8 x 8 matrix of halves, whose rows are at the addresses of the first eight lanes. PTX ISA, ldmatrix.
__device__ __forceinline__ std::uint32_t load_block(std::uint32_t row_of_lane) {
  std::uint32_t m;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0},[%1];" : "=r"(m) : "r"(row_of_lane) : "memory");
  return m;
}
/// As wait_at_block_barrier(), of a barrier that is known at run time alone.
__device__ __forceinline__ void wait_at_warpgroup_barrier(unsigned barrier) {
  asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory");
}

}  // namespace convolve::cuda::ptx

#endif
