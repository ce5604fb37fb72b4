// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FrameMap: a GstBuffer's planes, mapped for as long as the object lives. Honours GstVideoMeta (any offset, odd and
// negative strides) and buffers of several memories; refuses a buffer that is smaller than its caps say.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstddef>
#include <vector>

#include "convolve/plane.hpp"

namespace convolve {

class FrameMap {
 public:
  FrameMap() = default;
  FrameMap(FrameMap&& other) noexcept { swap(other); }
  FrameMap& operator=(FrameMap&& other) noexcept {
    FrameMap moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~FrameMap() { unmap(); }

  /// Maps `buffer` and holds a reference meanwhile. `flags` are GST_MAP_READ or GST_MAP_WRITE, with GST_MAP_CUDA for
  /// device addresses. `layout` is that of the whole frame. Throws ElementError.
  FrameMap(GstBuffer* buffer, const GstVideoInfo& info, const FrameLayout& layout, int flags);

  const Image& image() const { return image_; }
  bool mapped() const { return maps_ > 0; }
  void unmap() noexcept;

 private:
  void swap(FrameMap& other) noexcept;
  void align(const FrameLayout& layout, int plane);

  GstBuffer* buffer_ = nullptr;
  std::array<GstMapInfo, max_planes> map_{};
  int maps_ = 0;
  Image image_;
  std::array<std::vector<std::byte>, max_planes> aligned_;  ///< of planes whose stride splits samples
};

}  // namespace convolve
