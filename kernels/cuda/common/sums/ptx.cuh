// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The asm statements that running sums take beside those of common/ptx.cuh, under the same rules.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef __CUDACC__

namespace convolve::cuda::ptx {

/// Returns sum + low * w0 + high * w1: the halves of `pair`, without a sign, and the two lower bytes of `weights`, with
/// one. PTX ISA, Integer Arithmetic Instructions: dp2a.
__device__ __forceinline__ std::uint32_t add_halves(std::uint32_t pair, std::uint32_t weights, std::uint32_t sum) {
  std::uint32_t result;
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(weights), "r"(sum));
  return result;
}
/// The same of halves with a sign. PTX ISA, Integer Arithmetic Instructions: dp2a.
__device__ __forceinline__ std::uint32_t add_signed_halves(std::uint32_t pair, std::uint32_t weights,
                                                           std::uint32_t sum) {
  std::uint32_t result;
  asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(weights), "r"(sum));
  return result;
}
/// Four of the eight bytes of `a` and `b`. __byte_perm() masks `select` first. PTX ISA, Data Movement and Conversion
/// Instructions: prmt.
__device__ __forceinline__ std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t select) {
  std::uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(select));
  return result;
}
/// Adds what the lane `distance` before this one has, where there is one. PTX ISA, Data Movement and Conversion
/// Instructions: shfl.sync.
__device__ __forceinline__ void add_lane_before(std::uint32_t& sum, int distance) {
  asm volatile(
      "{\n.reg .u32 other;\n.reg .pred there;\n"
      "shfl.sync.up.b32 other|there, %0, %1, 0, -1;\n"
      "@there add.u32 %0, %0, other;\n}"
      : "+r"(sum)
      : "r"(distance));
}
/// Loads a word. PTX ISA, Data Movement and Conversion Instructions: ld.
__device__ __forceinline__ std::uint32_t load_word(std::uint32_t from) {
  std::uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  return word;
}
/// Waits at one of the block's 16 barriers for `threads` threads. PTX ISA, Parallel Synchronization and Communication
/// Instructions: bar.
__device__ __forceinline__ void sync_threads(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

}  // namespace convolve::cuda::ptx

#endif
