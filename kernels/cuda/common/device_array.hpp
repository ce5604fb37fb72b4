// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Device memory that a plan owns: tables of taps, filled once, and sums on their way from one launch to the next.
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
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(data_.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    // A pageable copy may return before its last part has arrived; streams that do not wait for the legacy one would
    // run ahead of it.
    check(cudaStreamSynchronize(cudaStreamLegacy));
  }
  /// Room for so many values, none of which is set. Throws likewise.
  explicit DeviceArray(std::size_t count) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(T)));
    data_.reset(static_cast<T*>(memory));
  }
  T* get() const { return data_.get(); }

 private:
  static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    cudaGetLastError();
    if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
    throw PlanError(std::string("device memory for the filter: ") + cudaGetErrorString(error));
  }
  struct Free {
    void operator()(T* memory) const { cudaFree(memory); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace convolve::cuda
