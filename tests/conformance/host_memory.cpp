// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>
#include <new>

#include "memory.hpp"

namespace conformance {
namespace {

class HostMemory final : public Memory {
 public:
  void* allocate(std::size_t size, bool) override { return ::operator new(size, alignment); }
  void release(void* data) override { ::operator delete(data, alignment); }
  void upload(void* to, std::span<const std::byte> from) override { std::memcpy(to, from.data(), from.size()); }
  void download(std::span<std::byte> to, const void* from) override { std::memcpy(to.data(), from, to.size()); }

 private:
  static constexpr std::align_val_t alignment{256};
};

}  // namespace

std::unique_ptr<Memory> host_memory() {
  return std::make_unique<HostMemory>();
}

}  // namespace conformance
