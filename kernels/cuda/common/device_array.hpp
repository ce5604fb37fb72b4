// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Device memory that a plan owns: sums on their way from one launch to the next, and lists.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>

#include "convolve/plan.hpp"

namespace convolve::cuda {

/// Throws std::bad_alloc where there was no memory, and PlanError for what else failed: "WHAT: why".
inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
  throw PlanError(std::string(what) + ": " + cudaGetErrorString(error));
}

/// Device memory, freed when its owner goes (which waits for the device: not for what changes with every frame).
/// Make and drop it with the same context current.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  /// Room for so many values, none of which is set. Throws std::bad_alloc where the device has no memory left, else
  /// PlanError.
  explicit DeviceArray(std::size_t count) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(T)), "device memory for the filter");
    data_.reset(static_cast<T*>(memory));
  }
  T* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(T* memory) const { cudaFree(memory); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace convolve::cuda
