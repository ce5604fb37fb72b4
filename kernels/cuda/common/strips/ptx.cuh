// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The asm statement that strips take beside those of common/ptx.cuh, under the same rules.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef __CUDACC__

namespace convolve::cuda::ptx {

/// Copies 16 bytes past the first level cache where `wanted`, without a branch. PTX ISA, cp.async.
__device__ __forceinline__ void copy_async_past_l1(std::uint32_t to, const void* from, bool wanted) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "setp.ne.s32 p, %2, 0;\n"
      "@p cp.async.cg.shared.global [%0],[%1],16;\n}" ::"r"(to),
      "l"(from), "r"(static_cast<int>(wanted))
      : "memory");
}

}  // namespace convolve::cuda::ptx

#endif
