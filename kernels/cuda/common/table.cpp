// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/table.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "cuda/common/device_array.hpp"

namespace convolve::cuda {
namespace {

// Idle memory beyond this is freed before more of a megabyte is allocated: sums of frames of another size. For a table
// it stays, since that may be missing only as long as the last one's copy is under way, and to free waits for the
// device.
constexpr std::size_t megabyte = 1 << 20, most_idle = 64 * megabyte;
constexpr const char* what = "device memory for the filter";

void free_slot(TablePool::Slot& slot) noexcept {
  cudaFree(slot.device);  // first: it waits for copies from `host`
  if (slot.sent) cudaEventDestroy(slot.sent);
  if (slot.host) cudaFreeHost(slot.host);
  cudaGetLastError();
}

}  // namespace

TablePool::~TablePool() {
  for (const auto& slot : slots_) free_slot(*slot);
}

TablePool::Slot* TablePool::take(std::size_t bytes, bool with_host) {
  // Slots come in few sizes, so that the tables of like filters fit each other's slots.
  const std::size_t room = bytes > megabyte ? (bytes + megabyte - 1) / megabyte * megabyte
                                            : std::bit_ceil(std::max<std::size_t>(bytes, 512));
  for (Slot*& idle : idle_) {
    if (idle->bytes != room || (idle->host != nullptr) != with_host) continue;
    // The last owner's copy from this slot may still be under way.
    if (idle->sent && cudaEventQuery(idle->sent) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    std::swap(idle, idle_.back());
    Slot* found = idle_.back();
    idle_.pop_back();
    return found;
  }
  std::size_t all = 0;
  for (const Slot* idle : idle_) all += idle->bytes;
  if (all > most_idle && room > megabyte) free_idle();
  try {
    return make(room, with_host);
  } catch (const std::bad_alloc&) {
    if (idle_.empty()) throw;
    free_idle();
    return make(room, with_host);
  }
}

TablePool::Slot* TablePool::make(std::size_t bytes, bool with_host) {
  auto slot = std::make_unique<Slot>();
  slots_.reserve(slots_.size() + 1);
  idle_.reserve(slots_.size() + 1);
  slot->bytes = bytes;
  try {
    check(cudaMalloc(&slot->device, bytes), what);
    if (with_host) {
      check(cudaHostAlloc(&slot->host, bytes, cudaHostAllocDefault), what);
      check(cudaEventCreateWithFlags(&slot->sent, cudaEventDisableTiming), what);
    }
  } catch (...) {
    free_slot(*slot);
    throw;
  }
  slots_.push_back(std::move(slot));
  return slots_.back().get();
}

void TablePool::give_back(Slot* slot) noexcept {
  idle_.push_back(slot);
}

void TablePool::free_idle() noexcept {
  for (Slot* slot : idle_) {
    free_slot(*slot);
    std::erase_if(slots_, [slot](const auto& held) { return held.get() == slot; });
  }
  idle_.clear();
}

const char* send_slot(TablePool::Slot& slot, std::size_t bytes, cudaStream_t stream) noexcept {
  cudaError_t error = cudaMemcpyAsync(slot.device, slot.host, bytes, cudaMemcpyHostToDevice, stream);
  if (error == cudaSuccess) error = cudaEventRecord(slot.sent, stream);
  if (error == cudaSuccess) return nullptr;
  cudaGetLastError();
  return cudaGetErrorString(error);
}

}  // namespace convolve::cuda
