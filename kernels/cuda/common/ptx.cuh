// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every asm statement of the CUDA backend but those of hopper/ptx.cuh: one function an instruction, named by what it
// does, with the section of NVIDIA's "Parallel Thread Execution ISA" that defines it. Instructions of a warp or a
// warpgroup are taken by all its threads together. Addresses in shared memory are 32 bits wide, as address_in_shared()
// gives them.
//
// Functions behind `__CUDA_ARCH__ >= 800` and the like are not there for older chips: kernels that use them have no
// body there either, and plans do not choose them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef __CUDACC__

namespace convolve::cuda::ptx {

__device__ __forceinline__ std::uint32_t address_in_shared(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// What the compiler may know. These emit no instruction: an empty asm statement is said to change 4 or 8 bytes.

/// Hides how a value was made, so that it is kept in a register rather than computed or loaded again.
template <class T>
__device__ __forceinline__ void hide(T& value) {
  if constexpr (sizeof(T) == 8)
    asm("" : "+l"(value));
  else
    asm("" : "+r"(value));
}
/// Hides five values of 4 bytes at once, without an order among them.
template <class A, class B, class C, class D, class E>
__device__ __forceinline__ void hide(A& a, B& b, C& c, D& d, E& e) {
  asm("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
}
/// Hides a value, and keeps its place among the other volatile statements: the value is there from here on.
template <class T>
__device__ __forceinline__ void hide_here(T& value) {
  if constexpr (sizeof(T) == 8)
    asm volatile("" : "+l"(value));
  else
    asm volatile("" : "+r"(value));
}
/// Hides a value, and no access to memory moves past this statement.
template <class T>
__device__ __forceinline__ void hide_behind_memory(T& value) {
  static_assert(sizeof(T) == 4);
  asm volatile("" : "+r"(value)::"memory");
}

// Arithmetic and conversion.

/// Returns a + x * y, with a 64-bit address `a`, in one instruction. PTX ISA, Integer Arithmetic Instructions: mad.
template <class T>
__device__ __forceinline__ const T* multiply_add_address(int x, int y, const T* a) {
  const T* sum;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(sum) : "r"(x), "r"(y), "l"(a));
  return sum;
}
/// Rounds to two halves, ties to even, `a` lowest. PTX ISA, Data Movement and Conversion Instructions: cvt.
__device__ __forceinline__ std::uint32_t pack_halves(float a, float b) {
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(b), "f"(a));
  return pair;
}
/// Rounds to nearest, ties to even, within 0..255. PTX ISA, Data Movement and Conversion Instructions: cvt.
__device__ __forceinline__ std::uint32_t round_to_u8(float value) {
  std::uint32_t code;
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(code) : "f"(value));
  return code;
}
/// Rounds to nearest, ties to even, within 0..65535. PTX ISA, Data Movement and Conversion Instructions: cvt.
__device__ __forceinline__ std::uint32_t round_to_u16(float value) {
  std::uint32_t code;
  asm("cvt.rni.sat.u16.f32 %0, %1;" : "=r"(code) : "f"(value));
  return code;
}
/// The square root, off by 2^-23 of it at the most; 0 of subnormal numbers. PTX ISA, Floating Point Instructions: sqrt.
__device__ __forceinline__ float approximate_root(float square) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
  return root;
}
/// Clamps four integers to 0..255 and packs them, `a` lowest. PTX ISA, Data Movement and Conversion Instructions:
/// cvt.pack.
__device__ __forceinline__ std::uint32_t pack_bytes(int a, int b, int c, int d) {
  std::uint32_t high, all;
  asm("cvt.pack.sat.u8.s32.b32 %0,%1,%2,%3;" : "=r"(high) : "r"(d), "r"(c), "r"(0));
  asm("cvt.pack.sat.u8.s32.b32 %0,%1,%2,%3;" : "=r"(all) : "r"(b), "r"(a), "r"(high));
  return all;
}
/// Clamps two integers to 0..65535 and packs them. PTX ISA, Data Movement and Conversion Instructions: cvt.pack.
__device__ __forceinline__ std::uint32_t pack_words(int low, int high) {
  std::uint32_t pair;
  asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(pair) : "r"(high), "r"(low));
  return pair;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// Copies to shared memory that go on in the background (Data Movement and Conversion Instructions: Asynchronous copy).

/// Copies 4, 8 or 16 bytes through both caches. PTX ISA, cp.async.
template <int bytes>
__device__ __forceinline__ void copy_async(std::uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0],[%1],%2;" ::"r"(to), "l"(from), "n"(bytes) : "memory");
}

/// Copies them where `wanted`, without a branch. PTX ISA, cp.async.
template <int bytes>
__device__ __forceinline__ void copy_async(std::uint32_t to, const void* from, bool wanted) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "setp.ne.s32 p, %3, 0;\n"
      "@p cp.async.ca.shared.global [%0],[%1],%2;\n}" ::"r"(to),
      "l"(from), "n"(bytes), "r"(static_cast<int>(wanted))
      : "memory");
}

/// Copies 16 bytes past the first level cache. PTX ISA, cp.async.
__device__ __forceinline__ void copy_async_past_l1(std::uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(to), "l"(from) : "memory");
}

/// Makes a group of this thread's copies since the last one. PTX ISA, cp.async.commit_group.
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits for all but the newest `pending` of the groups that this thread made. PTX ISA, cp.async.wait_group.
template <int pending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Waits for all of this thread's copies. PTX ISA, cp.async.wait_all.
__device__ __forceinline__ void wait_for_all_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// Barriers in shared memory (Parallel Synchronization and Communication Instructions: mbarrier).

/// Sets up a barrier that `threads` threads are to arrive at. PTX ISA, mbarrier.init.
__device__ __forceinline__ void init_barrier(std::uint32_t barrier, int threads) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Makes this thread arrive once its copies so far have been done. PTX ISA, cp.async.mbarrier.arrive.
__device__ __forceinline__ void arrive_after_copies(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/// Waits until all have arrived for the first time. PTX ISA, mbarrier.test_wait and, where the hardware can suspend a
/// thread meanwhile, mbarrier.try_wait.
__device__ __forceinline__ void wait_for_barrier(std::uint32_t barrier) {
  asm volatile(
      "{.reg .pred done;\n"
#if __CUDA_ARCH__ >= 900
      "again: mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n"
#else
      "again: mbarrier.test_wait.parity.shared.b64 done, [%0], 0;\n"
#endif
      "@!done bra again;}" ::"r"(barrier)
      : "memory");
}

// Loads from shared memory.

/// Loads 16 bytes. As a volatile statement, it is neither repeated nor moved past others. PTX ISA, Data Movement and
/// Conversion Instructions: ld.
__device__ __forceinline__ uint4 load_shared(std::uint32_t from) {
  uint4 u;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(u.x), "=r"(u.y), "=r"(u.z), "=r"(u.w) : "r"(from));
  return u;
}

/// Loads four 8 x 8 matrices of byte pairs, transposed, whose rows lie at the lanes' addresses. Not volatile: it may
/// move ahead of stores, past anything but hide_behind_memory() of its address. PTX ISA, Warp Level Matrix
/// Instructions: ldmatrix.
__device__ __forceinline__ void load_matrices(std::uint32_t (&m)[4], std::uint32_t row_of_lane) {
  asm("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
      : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
      : "r"(row_of_lane));
}

/// Loads four 8 x 8 matrices of byte pairs as they are: a lane has four neighbouring bytes of a row.
__device__ __forceinline__ void load_rows(std::uint32_t (&m)[4], std::uint32_t row_of_lane) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(row_of_lane));
}

/// Loads as load_matrices(), in a volatile statement: it is neither repeated nor moved past others.
__device__ __forceinline__ void load_matrices_here(std::uint32_t (&m)[4], std::uint32_t row_of_lane) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(row_of_lane));
}

// Products of a warp, d = a b + c, each lane with its words of the matrices; c may be d. PTX ISA, Warp Level Matrix
// Instructions: mma, and mma.sp where a is 2:4 sparse.

#define CONVOLVE_MMA(a_type, b_type)                                \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." a_type "." b_type    \
      ".s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};" \
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])              \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))

/// Multiplies 16 x 32 by 32 x 8: bytes with a sign (s8) or without (u8).
__device__ __forceinline__ void mma_u8_s8(int (&d)[4], const std::uint32_t* a, const std::uint32_t* b, const int* c) {
  CONVOLVE_MMA("u8", "s8");
}
__device__ __forceinline__ void mma_s8_u8(int (&d)[4], const std::uint32_t* a, const std::uint32_t* b, const int* c) {
  CONVOLVE_MMA("s8", "u8");
}
__device__ __forceinline__ void mma_s8_s8(int (&d)[4], const std::uint32_t* a, const std::uint32_t* b, const int* c) {
  CONVOLVE_MMA("s8", "s8");
}
#undef CONVOLVE_MMA

/// The same, 16 x 16 by 16 x 8.
__device__ __forceinline__ void mma_s8_u8_of_16(int (&d)[4], const std::uint32_t* a, std::uint32_t b, const int* c) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

/// Multiplies 16 x 16 by 16 x 8: halves, with sums in single precision.
__device__ __forceinline__ void mma_f16(float (&d)[4], const std::uint32_t* a, const std::uint32_t* b, const float* c) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

// The positions of a sparse matrix's elements are in order either way; toolkits before 12.5 have no name for that.
#if CUDART_VERSION >= 12050
#define CONVOLVE_MMA_SPARSE "mma.sp::ordered_metadata"
#else
#define CONVOLVE_MMA_SPARSE "mma.sp"
#endif

/// Multiplies 16 x 32, 2:4 sparse, by 32 x 8: halves. `where`: which two of every four columns `a` holds.
__device__ __forceinline__ void mma_f16_sparse(std::uint32_t (&d)[2], const std::uint32_t* a, const std::uint32_t* b,
                                               const std::uint32_t* c, std::uint32_t where) {
  asm(CONVOLVE_MMA_SPARSE
      ".sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 "
      "{%0,%1},{%2,%3,%4,%5},{%6,%7,%8,%9},{%10,%11},%12,0x0;"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]), "r"(c[1]),
        "r"(where));
}

/// A sparse product of halves with sums in single precision.
__device__ __forceinline__ void mma_f16_sparse(float (&d)[4], const std::uint32_t* a, const std::uint32_t* b,
                                               const float* c, std::uint32_t where) {
  asm(CONVOLVE_MMA_SPARSE
      ".sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9,%10,%11},{%12,%13,%14,%15},%16,0x0;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]), "r"(where));
}

/// Adds to d what 16 x 64, 2:4 sparse, by 64 x 8 is: signed bytes by unsigned ones. `where`: which two of every four
/// columns `a` holds.
__device__ __forceinline__ void mma_s8_u8_sparse(int (&d)[4], const uint4& a, const std::uint32_t* b,
                                                 std::uint32_t where) {
  asm(CONVOLVE_MMA_SPARSE
      ".sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9,%10,%11},{%12,%13,%14,%15},%16,0x0;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(d[0]), "r"(d[1]),
        "r"(d[2]), "r"(d[3]), "r"(where));
}
#undef CONVOLVE_MMA_SPARSE

#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Stores two 8 x 8 matrices of byte pairs, transposed, as rows at the addresses of lanes 0 to 15. PTX ISA: stmatrix.
__device__ __forceinline__ void store_matrices(std::uint32_t row_of_lane, const std::uint32_t (&m)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0],{%1,%2};" ::"r"(row_of_lane), "r"(m[0]), "r"(m[1])
               : "memory");
}

/// Brings a cache line to the second level cache. PTX ISA, Data Movement and Conversion Instructions: prefetch.
__device__ __forceinline__ void prefetch_l2(const void* at) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

/// Brings `bytes` bytes to the second level cache; they and the address are multiples of 16. PTX ISA, Data Movement and
/// Conversion Instructions: cp.async.bulk.prefetch.
__device__ __forceinline__ void prefetch_l2(const void* at, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(at), "r"(bytes));
}

#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Arrives at one of the block's 16 barriers and goes on; `threads` threads arrive or wait. PTX ISA, Parallel
/// Synchronization and Communication Instructions: bar, barrier.
template <int threads>
__device__ __forceinline__ void arrive_at_block_barrier(unsigned barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}
/// Arrives at it and waits for the others. PTX ISA, Parallel Synchronization and Communication Instructions: bar,
/// barrier.
template <int threads>
__device__ __forceinline__ void wait_at_block_barrier(unsigned barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}

/// Gives registers of this warpgroup's threads back, down to so many. PTX ISA, Miscellaneous Instructions: setmaxnreg.
template <int registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
/// Waits for registers until this warpgroup's threads have so many. PTX ISA, Miscellaneous Instructions: setmaxnreg.
template <int registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Makes what the thread wrote to shared memory visible to the asynchronous proxy, through which wgmma reads. PTX ISA,
/// Parallel Synchronization and Communication Instructions: membar, fence.
__device__ __forceinline__ void fence_shared_for_wgmma() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Products of a warpgroup, which go on in the background (PTX ISA, Asynchronous Warpgroup Level Matrix Instructions).

/// Orders products behind accesses to their registers. PTX ISA, wgmma.fence.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Makes a group of the products since the last one. PTX ISA, wgmma.commit_group.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits for all groups of products. PTX ISA, wgmma.wait_group.
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// A matrix in shared memory as products take it (PTX ISA, Matrix Descriptor Format): 64 bits, in two words.
struct MatrixDescriptor {
  unsigned low, high;
};

/// sum += left * right: 64 rows of 32 u8 by 32 of so many columns of s8, the first of those that `sum` holds.
/// Thread 32 w + 4 g + t holds sum[4 j + 2 h + e]: row 16 w + 8 h + g, column 8 j + 2 t + e. PTX ISA, wgmma.mma_async.
template <int columns>
__device__ __forceinline__ void wgmma_u8_s8(int (&sum)[32], MatrixDescriptor left, MatrixDescriptor right) {
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
               : "r"(left.low), "r"(left.high), "r"(right.low), "r"(right.high))
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

}  // namespace convolve::cuda::ptx

#endif
