// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the plan of a kernel asks for the shared memory of its blocks.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "convolve/plan.hpp"
#include "cuda/common/launch.hpp"

namespace convolve::cuda {

/// Lets a block of the kernel have so many bytes of dynamic shared memory, since more than 48 KB has to be asked for
/// (CUDA C++ Programming Guide, compute capability 7.x and later). What is asked for is the kernel's, whichever plan
/// runs it, so that a plan asks for the most that any plan of the kernel needs. Throws PlanError.
inline void allow_shared_memory(const void* kernel, int bytes) {
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess)
    throw PlanError(std::string("shared memory for the filter: ") + launch_error());
}

template <class... Args>
void allow_shared_memory(void (*kernel)(Args...), int bytes) {
  allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
}

}  // namespace convolve::cuda
