// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Small lists that change with every frame, on their way to the device: page-locked slots and one place in device
// memory. Both grow to the largest list seen, and there are as many slots as lists were ever under way at once.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <list>
#include <memory>

#include "cuda/common/device_array.hpp"

namespace convolve::cuda {

class Upload {
 public:
  Upload() = default;
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  /// Room for a list of so many bytes, in a slot that no copy reads any more. Throws std::bad_alloc or PlanError.
  std::byte* prepare(std::size_t bytes);
  /// The device address of the list prepared last, valid once send() has been called.
  std::byte* device() const { return device_.get(); }
  /// Queues the copy of the list prepared last: behind all that reads the list before it on the stream.
  void send(cudaStream_t stream) noexcept;

 private:
  struct FreeHost {
    void operator()(std::byte* memory) const { cudaFreeHost(memory); }
  };
  struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  struct Slot {
    std::unique_ptr<std::byte, FreeHost> memory;
    std::size_t capacity = 0;
    std::unique_ptr<CUevent_st, DestroyEvent> sent;  ///< behind the last copy
  };
  Slot& free_slot();

  std::list<Slot> slots_;  ///< by their last copy, the oldest first
  Slot* slot_ = nullptr;
  std::size_t bytes_ = 0, capacity_ = 0;
  DeviceArray<std::byte> device_;
};

}  // namespace convolve::cuda
