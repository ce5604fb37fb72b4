// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FrameMap: a GstBuffer's planes, mapped for as long as the object lives. Honours GstVideoMeta (any offset, odd and
// negative strides, a map function of its own), GstVideoCropMeta, and buffers of several memories. Refuses a buffer
// that is smaller than its caps say.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "convolve/plane.hpp"

namespace convolve {

/// The top left corner of the picture in the frame that a buffer holds, in pixels.
struct Corner {
  int x = 0, y = 0;
};

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

/// True where the frame's crop meta says which part of a larger frame the caps describe: that part is what FrameMap
/// maps. False for a crop within the frame that the caps describe, which is left to those downstream.
bool crops_to_caps(const GstVideoCropMeta& crop, const GstVideoInfo& info);

/// The top left corner of the picture that the caps describe: (0, 0), or what a crop meta says. FrameMap checks that
/// the frame holds it.
Corner corner_of_picture(GstBuffer* buffer, const GstVideoInfo& info);

/// Lets a buffer's video meta describe the picture alone: its planes begin at the corner. False where no meta can, as
/// there is none, it maps in a way of its own, or the picture's rows are not in order. Throws ElementError where the
/// frame does not hold the picture.
bool move_to_picture(GstBuffer* buffer, const FrameMap::Format& format);

/// Regions of interest count from the frame's corner, whatever a crop meta makes of the frame. Counts those of
/// `buffer`, which holds the picture alone, from the picture's corner, their sizes as they were: effects follow a
/// region's own size and corner, also where part of it lies outside.
void move_regions_of_interest(GstBuffer* buffer, Corner corner);

/// A crop from an odd row on makes the bottom field the top one. Where the caps leave it to flags of `buffer`, which
/// holds the picture alone, to say which field comes first, these change with it.
void turn_field_order(GstBuffer* buffer, Corner corner, const FrameMap::Format& format);

}  // namespace convolve
