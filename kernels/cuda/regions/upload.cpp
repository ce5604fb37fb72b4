// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/regions/upload.hpp"

#include <algorithm>

namespace convolve::cuda {
namespace {

constexpr const char* what = "page-locked memory for the regions";

}  // namespace

// Copies end in the order of their slots, so that the first one tells of all.
Upload::Slot& Upload::free_slot() {
  if (!slots_.empty()) {
    if (cudaEventQuery(slots_.front().sent.get()) == cudaSuccess) {
      slots_.splice(slots_.end(), slots_, slots_.begin());
      return slots_.back();
    }
    cudaGetLastError();  // a copy that is still under way is no error
  }
  Slot slot;
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), what);
  slot.sent.reset(event);
  return slots_.emplace_back(std::move(slot));
}

std::byte* Upload::prepare(std::size_t bytes) {
  slot_ = &free_slot();
  if (slot_->capacity < bytes) {
    const std::size_t enough = std::max(bytes, 2 * slot_->capacity);
    slot_->memory.reset();
    slot_->capacity = 0;
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, enough, cudaHostAllocDefault), what);
    slot_->memory.reset(static_cast<std::byte*>(memory));
    slot_->capacity = enough;
  }
  if (capacity_ < bytes) {
    const std::size_t enough = std::max(bytes, 2 * capacity_);
    device_ = {};  // waits for what still reads it
    capacity_ = 0;
    device_ = DeviceArray<std::byte>(enough);
    capacity_ = enough;
  }
  bytes_ = bytes;
  return slot_->memory.get();
}

void Upload::send(cudaStream_t stream) noexcept {
  cudaMemcpyAsync(device_.get(), slot_->memory.get(), bytes_, cudaMemcpyHostToDevice, stream);
  cudaEventRecord(slot_->sent.get(), stream);
}

}  // namespace convolve::cuda
