// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cuda_runtime.h>

#include <algorithm>

#include "late_copy.hpp"

namespace conformance {
namespace {

struct Copies {
  LateCopy copy[most_late_copies];
  int count;
};

__global__ void late_copy_kernel(const __grid_constant__ Copies copies) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  constexpr long long cycles = 100'000;
  for (const long long begin = clock64(); clock64() - begin < cycles;) __nanosleep(500);
  for (int n = 0; n < copies.count; ++n) {
    const LateCopy& copy = copies.copy[n];
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < copy.size; i += gridDim.x * blockDim.x)
      static_cast<unsigned char*>(copy.to)[i] = static_cast<const unsigned char*>(copy.from)[i];
  }
}

}  // namespace

void copy_late(std::span<const LateCopy> copies, void* stream) {
  Copies all{};
  all.count = static_cast<int>(copies.size());
  std::copy(copies.begin(), copies.end(), all.copy);
  late_copy_kernel<<<16, 256, 0, static_cast<cudaStream_t>(stream)>>>(all);
}

}  // namespace conformance
