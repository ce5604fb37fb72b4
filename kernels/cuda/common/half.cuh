// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Two halves in a word, as kernels that compute in half precision read their arguments.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

namespace convolve::cuda {

__device__ __forceinline__ __half2 as_halves(std::uint32_t bits) {
  return *reinterpret_cast<const __half2*>(&bits);
}
__device__ __forceinline__ std::uint32_t bits_of(__half2 halves) {
  return *reinterpret_cast<const std::uint32_t*>(&halves);
}

}  // namespace convolve::cuda
