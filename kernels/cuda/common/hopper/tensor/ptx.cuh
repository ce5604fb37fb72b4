// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// More asm statements, as ptx.cuh has them: what kernels need whose rows come to shared memory by tensor copies, which
// map.hpp describes. Compute capability 9.0 on.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/ptx.cuh"

#if defined(__CUDACC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace convolve::cuda::ptx {

/// Copies a box of a tensor, which begins at column x of row y, from global to shared memory, to a multiple of 128
/// bytes; a barrier expects its bytes. What is not of the tensor is zeros. PTX ISA, cp.async.bulk.tensor.
__device__ __forceinline__ void copy_box(std::uint32_t to, const CUtensorMap& from, int x, int y,
                                         std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1,{%2,%3}],[%4];" ::"r"(to),
      "l"(&from), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
/// Copies a box from shared memory, from a multiple of 128 bytes on, to a tensor, in a group of its own; what is not of
/// the tensor is left out. PTX ISA, cp.async.bulk.tensor and cp.async.bulk.commit_group.
__device__ __forceinline__ void store_box(const CUtensorMap& to, int x, int y, std::uint32_t from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0,{%1,%2}],[%3];" ::"l"(&to), "r"(x), "r"(y),
               "r"(from)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until shared memory has been read for all boxes that this thread has stored. PTX ISA,
/// cp.async.bulk.wait_group.
__device__ __forceinline__ void wait_for_reads_of_boxes() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// Brings a box to the second level cache. PTX ISA, cp.async.bulk.prefetch.tensor.
__device__ __forceinline__ void prefetch_box(const CUtensorMap& from, int x, int y) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0,{%1,%2}];" ::"l"(&from), "r"(x), "r"(y) : "memory");
}
/// Brings what describes a tensor to where copies look for it. PTX ISA, prefetch.tensormap.
__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
/// Arrives at a barrier for so many threads. PTX ISA, mbarrier.arrive.
__device__ __forceinline__ void arrive_at_barrier(std::uint32_t barrier, int threads) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0], %1;}" ::"r"(barrier), "r"(threads)
               : "memory");
}
/// Arrives at a barrier once `loaded` is in its register, for which arriving alone does not wait. `zero`: 0, as the
/// assembler must not know. PTX ISA, mbarrier.arrive.
__device__ __forceinline__ void arrive_behind_loads(std::uint32_t barrier, std::uint32_t loaded, unsigned zero) {
  asm volatile(
      "{.reg .b64 state; .reg .b32 at; and.b32 at, %1, %2; add.u32 at, at, %0;\n"
      "mbarrier.arrive.shared.b64 state, [at];}" ::"r"(barrier),
      "r"(loaded), "r"(zero)
      : "memory");
}
/// Loads two words, or four, in a volatile statement. Such statements keep the order of the program until the
/// assembler, which then moves loads (CUDA 13.0) but for those `in_order`. PTX ISA, ld and ld.volatile.
template <bool in_order = false>
__device__ __forceinline__ uint2 load_shared_two_words(std::uint32_t from) {
  uint2 v;
  if constexpr (in_order)
    asm volatile("ld.volatile.shared.v2.u32 {%0,%1},[%2];" : "=r"(v.x), "=r"(v.y) : "r"(from) : "memory");
  else
    asm volatile("ld.shared.v2.u32 {%0,%1},[%2];" : "=r"(v.x), "=r"(v.y) : "r"(from));
  return v;
}
template <bool in_order = false>
__device__ __forceinline__ uint4 load_shared_four_words(std::uint32_t from) {
  uint4 v;
  if constexpr (in_order)
    asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3},[%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(from)
                 : "memory");
  else
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from));
  return v;
}

/// Stores two words, in a volatile statement. PTX ISA, st.
__device__ __forceinline__ void store_shared_two_words(std::uint32_t to, std::uint32_t first, std::uint32_t second) {
  asm volatile("st.shared.v2.u32 [%0],{%1,%2};" ::"r"(to), "r"(first), "r"(second) : "memory");
}

}  // namespace convolve::cuda::ptx

#endif
