// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What every plan's host side shares: arguments made once and bound to each frame's planes, owned device memory,
// and the text of a launch that failed.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "convolve/plan.hpp"
#include "cuda/frame.cuh"

namespace convolve::cuda {

/// Everything but the planes' addresses and the tiles.
FrameArgs make_frame_args(const PlanDesc& desc, const Arithmetic& arithmetic);

/// Covers every component with tiles of this many samples and returns the number of tiles, all of them blocks of
/// one launch. Throws PlanError where that is more than a launch may have.
int set_tiles(FrameArgs& frame, int tile_width, int tile_height);

/// Puts this frame's planes in.
void bind(FrameArgs& frame, int planes, const Window& window, const Image& out) noexcept;

/// Null, or the static text of what the launch just made on this thread failed with.
inline const char* launch_error() noexcept {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

/// Device memory, freed when its owner goes (which waits for the device: not for what changes with every frame).
/// Make and drop it with the same context current.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  /// Uploads; done on return. Throws PlanError.
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
