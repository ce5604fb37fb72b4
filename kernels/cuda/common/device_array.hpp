// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Device memory that a plan fills once and owns: tables of taps.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "convolve/plan.hpp"

namespace convolve::cuda {

/// Device memory, freed when its owner goes (which waits for the device: not for what changes with every frame).
/// Make and drop it with the same context current.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  /// Uploads; done on return. Throws std::bad_alloc where the device has no memory left, else PlanError.
  explicit DeviceArray(const std::vector<T>& values) {
    void* memory = nullptr;
    const std::size_t bytes = values.size() * sizeof(T);
    cudaError_t error = cudaMalloc(&memory, bytes);
    data_.reset(static_cast<T*>(memory));
    if (error == cudaSuccess) error = cudaMemcpy(memory, values.data(), bytes, cudaMemcpyHostToDevice);
    // A pageable copy may return before its last part has arrived; streams that do not wait for the legacy one would
    // run ahead of it.
    if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamLegacy);
    if (error != cudaSuccess) {
      cudaGetLastError();
      if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
      throw PlanError(std::string("device memory for the filter: ") + cudaGetErrorString(error));
    }
  }
  const T* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(T* memory) const { cudaFree(memory); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace convolve::cuda
