// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "fault.hpp"
#include "rows.hpp"

namespace convolve {
namespace {

// Where a plane lies in its buffer: its first row, and the bytes between which all rows lie.
struct Place {
  std::int64_t first = 0, begin = 0, end = 0;
  std::ptrdiff_t stride = 0;
  guint memory = 0, memories = 0;
  gsize skip = 0;  // of `begin`, in that memory
};

[[noreturn]] void refuse(const std::string& what) {
  throw ElementError(GST_STREAM_ERROR_FORMAT, what);
}

std::string size_of(const GstVideoInfo& info) {
  return std::string(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info))) + " " + std::to_string(info.width) +
         "x" + std::to_string(info.height);
}

}  // namespace

FrameMap::FrameMap(GstBuffer* buffer, const GstVideoInfo& info, const FrameLayout& layout, int flags)
    : buffer_(buffer) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (meta && (static_cast<int>(meta->n_planes) < layout.planes || static_cast<int>(meta->width) < info.width ||
               static_cast<int>(meta->height) < info.height))
    refuse("a buffer's video meta describes " + std::to_string(meta->width) + "x" + std::to_string(meta->height) +
           " in " + std::to_string(meta->n_planes) + " planes, which is less than its caps: " + size_of(info));

  const auto size = static_cast<std::int64_t>(gst_buffer_get_size(buffer));
  std::array<Place, max_planes> places;
  bool whole = false;
  for (int p = 0; p < layout.planes; ++p) {
    Place& place = places[p];
    place.stride = meta ? meta->stride[p] : info.stride[p];
    place.first = static_cast<std::int64_t>(meta ? meta->offset[p] : info.offset[p]);
    const std::int64_t last = place.first + static_cast<std::int64_t>(place.stride) * (rows(layout, p) - 1);
    place.begin = std::min(place.first, last);
    place.end = std::max(place.first, last) + row_bytes(layout, p);
    if (place.begin < 0 || place.end > size)
      refuse("a buffer of " + std::to_string(size) + " bytes is smaller than its caps say: plane " +
             std::to_string(p + 1) + " of " + size_of(info) + " takes bytes " + std::to_string(place.begin) + " to " +
             std::to_string(place.end));
    if ((flags & GST_MAP_WRITE) && std::abs(place.stride) < row_bytes(layout, p))
      refuse("an output buffer's rows overlap");
    if (!gst_buffer_find_memory(buffer, static_cast<gsize>(place.begin), static_cast<gsize>(place.end - place.begin),
                                &place.memory, &place.memories, &place.skip))
      refuse("a buffer's memory does not hold what its size says");
    whole |= place.memories > 1;
  }

  std::array<guint, max_planes> mapped_memory{};
  for (int p = 0; p < layout.planes; ++p) {
    const Place& place = places[p];
    int m = 0;
    while (m < maps_ && !(whole || mapped_memory[m] == place.memory)) ++m;
    if (m == maps_) {
      // A plane that straddles memories needs them merged, and then all of them at once.
      const bool good = whole
                            ? gst_buffer_map(buffer, &map_[m], static_cast<GstMapFlags>(flags))
                            : gst_buffer_map_range(buffer, place.memory, 1, &map_[m], static_cast<GstMapFlags>(flags));
      if (!good) {
        unmap();
        throw ElementError(flags & GST_MAP_WRITE ? GST_RESOURCE_ERROR_WRITE : GST_RESOURCE_ERROR_READ,
                           "a buffer's memory could not be mapped");
      }
      mapped_memory[m] = place.memory;
      if (++maps_ == 1) gst_buffer_ref(buffer);  // after the map, which asks for a writable buffer
    }
    const std::int64_t skip = whole ? place.begin : static_cast<std::int64_t>(place.skip);
    image_.plane[p].data = map_[m].data + skip + (place.first - place.begin);
    image_.plane[p].stride = place.stride;
    if (place.stride % bytes_per_sample(layout.type) != 0) {
      if (flags != GST_MAP_READ) {
        unmap();
        refuse("a stride of " + std::to_string(place.stride) + " bytes splits samples");
      }
      align(layout, p);
    }
  }
}

void FrameMap::align(const FrameLayout& layout, int plane) {
  const int width = row_bytes(layout, plane), height = rows(layout, plane);
  aligned_[plane].resize(static_cast<std::size_t>(width) * height);
  PlaneView& view = image_.plane[plane];
  for (int y = 0; y < height; ++y)
    std::memcpy(aligned_[plane].data() + static_cast<std::size_t>(y) * width,
                static_cast<const std::byte*>(view.data) + y * view.stride, width);
  view = {aligned_[plane].data(), width};
}

void FrameMap::unmap() noexcept {
  if (maps_ == 0) return;
  while (maps_ > 0) gst_buffer_unmap(buffer_, &map_[--maps_]);
  gst_buffer_unref(buffer_);
}

void FrameMap::swap(FrameMap& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(map_, other.map_);
  std::swap(maps_, other.maps_);
  std::swap(image_, other.image_);
  std::swap(aligned_, other.aligned_);
}

}  // namespace convolve
