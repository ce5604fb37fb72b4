// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Memory: where a backend's frames live, as far as the tests need to know. Blocks are exactly as large as asked, so
// that the sanitizers see any access past an end; but for planes whose rows begin at multiples of 16 bytes, of which
// the CUDA backend reads whole vectors (PlaneView).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "late_copy.hpp"

namespace conformance {

inline constexpr int vector_bytes = 16;

class Memory {
 public:
  virtual ~Memory() = default;
  /// Aligned to 256 bytes. `in_vectors`: of a plane whose rows begin at multiples of vector_bytes.
  virtual void* allocate(std::size_t size, bool in_vectors) = 0;
  virtual void release(void* data) = 0;
  virtual void upload(void* to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const void* from) = 0;
  /// What plans are enqueued on: one of two, which run beside each other. Null for the host.
  virtual void* stream(int which) { return static_cast<void>(which), nullptr; }
  /// Queues copies on stream 0 that are done late (late_copy.hpp). Not for the host.
  virtual void copy_late(std::span<const LateCopy> copies) { static_cast<void>(copies); }
  /// Waits for both streams; empty, or what went wrong on the device.
  virtual std::string synchronize() { return {}; }
};

std::unique_ptr<Memory> host_memory();

#ifdef CONVOLVE_HAVE_CUDA
/// Memory of the first device, whose primary context it makes current. Throws std::runtime_error where there is none.
std::unique_ptr<Memory> cuda_memory();
#endif

/// One block.
class Block {
 public:
  Block(Memory& memory, std::size_t size, bool in_vectors = false)
      : memory_(&memory), data_(memory.allocate(size, in_vectors)) {}
  ~Block() {
    if (data_) memory_->release(data_);
  }
  Block(Block&& other) noexcept : memory_(other.memory_), data_(std::exchange(other.data_, nullptr)) {}
  Block& operator=(Block&&) = delete;
  void* data() const { return data_; }

 private:
  Memory* memory_;
  void* data_;
};

}  // namespace conformance
