// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FrameMemory of the CPU backend: frames are filtered where upstream put them, into downstream's buffers.
#include <cstddef>
#include <new>
#include <vector>

#include "element_error.hpp"
#include "frame_memory.hpp"
#include "plane_size.hpp"

namespace convolve {
namespace {

class HostMemory : public FrameMemory {
 public:
  explicit HostMemory(unsigned threads) : backend_(make_cpu_backend(threads)) {}

  Backend& backend() override { return *backend_; }
  void fail(const std::string& fault) const override {
    throw ElementError(GST_RESOURCE_ERROR_FAILED, "the CPU backend failed: " + fault);
  }

  HeldFrame import_frame(BufferPtr buffer, const FrameMap::Format& format, bool detached) override {
    HeldFrame frame;
    frame.interlaced = format.interlaced;
    if (detached) {
      buffer.reset(gst_buffer_copy_deep(buffer.get()));
      if (!buffer) throw std::bad_alloc();
    }
    frame.map = FrameMap(buffer.get(), format, GST_MAP_READ);
    frame.image = frame.map.image();
    frame.buffer = std::move(buffer);
    return frame;
  }

  void compare(HeldFrame&, HeldFrame&, const std::function<void()>& work) override { work(); }

  void produce(std::span<HeldFrame>, const Output& out, const Work& work) override {
    FrameMap map(out.buffer, out.format, out.access);
    work(map.image(), nullptr);
    map.fill_spare_rows();
  }

  bool edit(HeldFrame& frame, const FrameMap::Format& format, const Work& work) override {
    const bool writable = map_for_editing(frame, format, 0);
    frame.image = frame.map.image();
    if (!writable) return false;
    work(frame.image, nullptr);
    frame.map.fill_spare_rows();
    frame.map.unmap();
    return true;
  }

  Image scratch(const FrameLayout& layout) override {
    const PackedPlanes planes = pack_planes(layout);
    scratch_.resize(planes.bytes);
    return planes.at(scratch_.data());
  }

  void copy(const Image& from, const Image& to, const FrameLayout& layout) override {
    for (int p = 0; p < layout.planes; ++p)
      copy_rows(from.plane[p], to.plane[p], row_bytes(layout, p), 0, rows(layout, p));
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::vector<std::byte> scratch_;
};

}  // namespace

bool FrameMemory::map_for_editing(HeldFrame& frame, const FrameMap::Format& format, int flags) {
  GstBuffer* buffer = frame.buffer.get();
  frame.map.unmap();  // a map holds a reference, and a buffer with two is not writable
  const bool writable = gst_buffer_is_writable(buffer) && gst_buffer_is_all_memory_writable(buffer);
  frame.map = FrameMap(buffer, format, (writable ? GST_MAP_READWRITE : GST_MAP_READ) | flags);
  return writable;
}

std::unique_ptr<FrameMemory> make_host_memory(unsigned threads) {
  return std::make_unique<HostMemory>(threads);
}

}  // namespace convolve
