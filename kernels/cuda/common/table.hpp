// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Table: what a plan keeps in device memory, in memory that is kept for the next plan when this one goes.
//
// A filter that changes while frames flow makes a plan a frame. Its tables come from a pool's slots, and the stream
// itself writes them, from page-locked memory, before the plan's first launch: nothing is allocated once there are
// slots enough, and nothing waits. A slot that goes back may still be read by launches that are queued; who has it next
// writes it later on the same stream. Hence all plans of a pool run on one stream, or the stream is waited for between
// them.
//
// Single-threaded, as the backend is. A context that outlives the pool is current at each call.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace convolve::cuda {

class TablePool {
 public:
  struct Slot {
    void* device = nullptr;
    void* host = nullptr;  ///< page-locked; null of scratch memory, which is written on the device alone
    std::size_t bytes = 0;
    cudaEvent_t sent = nullptr;  ///< the last copy from `host`; null before the first
  };

  TablePool() = default;
  ~TablePool();
  TablePool(const TablePool&) = delete;
  TablePool& operator=(const TablePool&) = delete;

  /// A slot of at least so many bytes whose host memory may be written. Throws std::bad_alloc where the device has no
  /// memory left once what lies idle is freed, else PlanError.
  Slot* take(std::size_t bytes, bool with_host);
  void give_back(Slot* slot) noexcept;

 private:
  Slot* make(std::size_t bytes, bool with_host);
  void free_idle() noexcept;

  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> idle_;  ///< has room for all: giving back does not allocate
};

/// Queues the copy of a slot's host memory. Null, or the static text of what failed.
const char* send_slot(TablePool::Slot& slot, std::size_t bytes, cudaStream_t stream) noexcept;

template <class T>
class Table {
 public:
  Table() = default;
  /// Values that send() takes to the device. Throws as TablePool::take() does.
  Table(const std::shared_ptr<TablePool>& pool, const std::vector<T>& values) : Table(pool, values.size(), true) {
    std::memcpy(slot_->host, values.data(), bytes_);
    unsent_ = true;
  }
  /// Room for so many values, none of which is set.
  Table(const std::shared_ptr<TablePool>& pool, std::size_t count) : Table(pool, count, false) {}
  Table(Table&& other) noexcept { swap(other); }
  Table& operator=(Table&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Table() {
    if (slot_) pool_->give_back(slot_);
  }

  T* get() const { return slot_ ? static_cast<T*>(slot_->device) : nullptr; }
  /// Before each launch: queues the values' copy before the first. Null, or the static text of what failed.
  const char* send(void* stream) noexcept {
    if (!unsent_) return nullptr;
    const char* error = send_slot(*slot_, bytes_, static_cast<cudaStream_t>(stream));
    unsent_ = error != nullptr;
    return error;
  }

 private:
  Table(const std::shared_ptr<TablePool>& pool, std::size_t count, bool with_host)
      : pool_(pool), slot_(pool->take(count * sizeof(T), with_host)), bytes_(count * sizeof(T)) {}
  void swap(Table& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(slot_, other.slot_);
    std::swap(bytes_, other.bytes_);
    std::swap(unsent_, other.unsent_);
  }

  std::shared_ptr<TablePool> pool_;
  TablePool::Slot* slot_ = nullptr;
  std::size_t bytes_ = 0;
  bool unsent_ = false;
};

/// Several arrays behind each other, for tables that one copy takes to the device.
class Joined {
 public:
  /// Adds values. Returns where they begin.
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    const std::size_t first = (bytes_.size() + alignment - 1) / alignment * alignment, size = values.size() * sizeof(T);
    bytes_.resize(first + size);
    if (size > 0) std::memcpy(&bytes_[first], values.data(), size);
    return first;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  static constexpr std::size_t alignment = 16;
  std::vector<std::byte> bytes_;
};

/// An array of a table that was made of Joined::bytes().
template <class T>
const T* array_at(const Table<std::byte>& table, std::size_t first) {
  return reinterpret_cast<const T*>(table.get() + first);
}

}  // namespace convolve::cuda
