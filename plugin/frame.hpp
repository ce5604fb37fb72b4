// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FrameMap: a GstBuffer's planes, mapped for as long as the object lives. Honours GstVideoMeta (any offset, odd and
// negative strides, a map function of its own), GstVideoCropMeta (crop.hpp), and buffers of several memories. Refuses a
// buffer that is smaller than its caps say.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "convolve/plane.hpp"

namespace convolve {

struct Corner;

class FrameMap {
 public:
  /// The format that a buffer is mapped as. `layout` is that of the whole frame, also of an interlaced one.
  struct Format {
    const GstVideoInfo& info;
    const FrameLayout& layout;
    bool interlaced = false;  ///< this frame's rows belong to two fields in turn
  };

  FrameMap() = default;
  FrameMap(FrameMap&& other) noexcept { swap(other); }
  FrameMap& operator=(FrameMap&& other) noexcept {
    FrameMap moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~FrameMap() { unmap(); }

  /// Maps `buffer` and holds a reference meanwhile. `flags` are GST_MAP_READ or GST_MAP_WRITE, with GST_MAP_CUDA for
  /// device addresses. Throws ElementError.
  FrameMap(GstBuffer* buffer, const Format& format, int flags);

  const Image& image() const { return image_; }
  bool mapped() const { return maps_ > 0; }
  /// True where the image lies in the buffer's own memories, not in a copy of them.
  bool in_place() const { return in_place_; }
  void unmap() noexcept;

  /// Fills the rows of an interlaced output, in host memory, that its layout has and its picture has not: GStreamer
  /// rounds the rows of subsampled chroma up to an even number, and its converters read the last one as the bottom
  /// field's. They repeat that field's last row. To be called when the frame's own rows are there.
  void fill_spare_rows() noexcept;

 private:
  struct Place;
  using Places = std::array<Place, max_planes>;

  void swap(FrameMap& other) noexcept;
  void find_places(const GstVideoMeta* meta, const Format& format, Corner corner, int flags, Places& places) const;
  void map_memories(Places& places, const FrameLayout& layout, int flags);
  void map_by_meta(GstVideoMeta* meta, const Format& format, Corner corner, int flags);
  void count_map(bool mapped, int flags);
  void put_in_order(const GstVideoMeta* meta, const Format& format, Corner corner, int flags);
  void align(const FrameLayout& layout, int flags);
  void find_spare_rows(const Places& places, const FrameLayout& layout);

  GstBuffer* buffer_ = nullptr;
  bool holds_buffer_ = false;     ///< has a reference to it
  GstVideoMeta* meta_ = nullptr;  ///< has functions of its own to map and unmap; null: the usual ones do
  std::array<GstMapInfo, max_planes> map_{};
  int maps_ = 0;
  bool in_place_ = true;
  Image image_;
  std::array<std::size_t, max_planes> spare_bytes_{};  ///< bytes of a spare row below a plane's last; 0: none
  std::array<int, max_planes> rows_{};                 ///< rows above that spare row
  /// Copies of planes whose stride splits samples, or whose rows lie in another order.
  std::array<std::vector<std::byte>, max_planes> aligned_;
};

/// "640x480", for messages.
std::string size_text(guint64 width, guint64 height);

/// Whether a video meta maps its planes as every one does that nobody gave a map function of its own.
bool has_usual_map(const GstVideoMeta& meta);

}  // namespace convolve
