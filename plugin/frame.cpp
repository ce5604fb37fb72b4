// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "crop.hpp"
#include "element_error.hpp"
#include "plane_size.hpp"

namespace convolve {

// The place of a plane in its buffer: its first row, and the bytes between which all rows lie.
struct FrameMap::Place {
  std::int64_t first = 0, begin = 0, end = 0;
  std::ptrdiff_t stride = 0;
  guint memory = 0, memories = 0;
  gsize skip = 0;  // of `begin`, in that memory
  gsize room = 0;  // bytes from `begin` to the end of what is mapped
};

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw ElementError(GST_STREAM_ERROR_FORMAT, what);
}

std::string size_of(const GstVideoInfo& info) {
  return std::string(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info))) + " " +
         size_text(info.width, info.height);
}

// The rows of a plane in GStreamer's own layout. For nearly all interlaced formats it rounds those of subsampled
// chroma up to an even number, for P010 and its like not.
int rows_of_default_layout(const GstVideoInfo& info, const FrameLayout& layout, int plane) {
  const gsize begin = info.offset[plane], stride = static_cast<gsize>(info.stride[plane]);
  gsize end = info.size;
  for (int p = 0; p < layout.planes; ++p)
    if (info.offset[p] > begin) end = std::min(end, info.offset[p]);
  const int own = rows(layout, plane), even = own + own % 2;
  return GST_VIDEO_INFO_IS_INTERLACED(&info) && own < info.height && begin + stride * static_cast<gsize>(even) <= end
             ? even
             : own;
}

}  // namespace

std::string size_text(guint64 width, guint64 height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

bool has_usual_map(const GstVideoMeta& meta) {
  static const auto usual = [] {
    GstBuffer* buffer = gst_buffer_new();
    const auto map = gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 1, 1)->map;
    gst_buffer_unref(buffer);
    return map;
  }();
  return meta.map == usual;
}

FrameMap::FrameMap(GstBuffer* buffer, const Format& format, int flags) : FrameMap() {
  buffer_ = buffer;  // from here on the destructor undoes what was mapped when something throws
  const GstVideoInfo& info = format.info;
  GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (meta && (static_cast<int>(meta->n_planes) < format.layout.planes ||
               meta->width < static_cast<guint>(info.width) || meta->height < static_cast<guint>(info.height)))
    refuse("a buffer's video meta describes " + size_text(meta->width, meta->height) + " in " +
           std::to_string(meta->n_planes) + " planes, which is less than its caps: " + size_of(info));
  const Corner corner = flags & GST_MAP_WRITE ? Corner{} : checked_corner(buffer_, meta, info);
  if (meta && !has_usual_map(*meta)) {
    map_by_meta(meta, format, corner, flags);
  } else {
    Places places;
    find_places(meta, format, corner, flags, places);
    map_memories(places, format.layout, flags);
    if ((flags & GST_MAP_WRITE) && format.interlaced) find_spare_rows(places, format.layout);
  }
  put_in_order(meta, format, corner, flags);
  align(format.layout, flags);
  gst_buffer_ref(buffer_);  // after all maps: one for writing asks for a buffer with a single reference
  holds_buffer_ = true;
}

void FrameMap::find_places(const GstVideoMeta* meta, const Format& format, Corner corner, int flags,
                           Places& places) const {
  const GstVideoInfo& info = format.info;
  const FrameLayout& layout = format.layout;
  const bool writes = flags & GST_MAP_WRITE;
  const auto size = static_cast<std::int64_t>(gst_buffer_get_size(buffer_));
  for (int p = 0; p < layout.planes; ++p) {
    Place& place = places[p];
    place.stride = meta ? meta->stride[p] : info.stride[p];
    const gsize offset = meta ? meta->offset[p] : info.offset[p];
    const auto refuse_plane = [&](const std::string& bytes) {
      refuse("a buffer of " + std::to_string(size) + " bytes is smaller than its caps say: plane " +
             std::to_string(p + 1) + " of " + size_of(info) + " takes bytes " + bytes);
    };
    // From here on no sum exceeds 64 bits: strides, rows and columns have 32 bits with their sign.
    if (offset > static_cast<gsize>(size)) refuse_plane("from " + std::to_string(offset) + " on");
    place.first = static_cast<std::int64_t>(offset);
    int needed = meta ? rows(layout, p) : rows_of_default_layout(info, layout, p);
    if (meta) {
      const PictureInFrame picture{corner, meta->height, format};
      place.first += picture.bytes_to(p, place.stride);
      if (!picture.rows_are_in_order(p)) needed = picture.frame_rows(p);
    }
    if (place.first < 0 || place.first > size) refuse_plane("from " + std::to_string(place.first) + " on");
    const std::int64_t last = place.first + static_cast<std::int64_t>(place.stride) * (needed - 1);
    place.begin = std::min(place.first, last);
    place.end = std::max(place.first, last) + row_bytes(layout, p);
    if (place.begin < 0 || place.end > size)
      refuse_plane(std::to_string(place.begin) + " to " + std::to_string(place.end));
    if (writes && rows_overlap(place.stride, layout, p)) refuse("an output buffer's rows overlap");
    if (!gst_buffer_find_memory(buffer_, static_cast<gsize>(place.begin), static_cast<gsize>(place.end - place.begin),
                                &place.memory, &place.memories, &place.skip))
      refuse("a buffer's memory does not hold what its size says");
  }
}

void FrameMap::map_memories(Places& places, const FrameLayout& layout, int flags) {
  const auto map_flags = static_cast<GstMapFlags>(flags);
  bool whole = false;
  for (int p = 0; p < layout.planes; ++p) whole |= places[p].memories > 1;
  std::array<guint, max_planes> mapped_memory{};
  for (int p = 0; p < layout.planes; ++p) {
    Place& place = places[p];
    int m = 0;
    while (m < maps_ && !(whole || mapped_memory[m] == place.memory)) ++m;
    if (m == maps_) {
      // A plane that straddles memories needs them merged, and then all of them at once.
      count_map(whole ? gst_buffer_map(buffer_, &map_[m], map_flags)
                      : gst_buffer_map_range(buffer_, place.memory, 1, &map_[m], map_flags),
                flags);
      mapped_memory[m] = place.memory;
    }
    if (whole) place.skip = static_cast<gsize>(place.begin);
    place.room = map_[m].size - place.skip;
    image_.plane[p] = {map_[m].data + place.skip + (place.first - place.begin), place.stride};
  }
}

void FrameMap::map_by_meta(GstVideoMeta* meta, const Format& format, Corner corner, int flags) {
  meta_ = meta;
  in_place_ = false;
  for (int p = 0; p < format.layout.planes; ++p) {
    gpointer data = nullptr;
    gint stride = 0;
    GstMapInfo& map = map_[p];
    count_map(gst_video_meta_map(meta, static_cast<guint>(p), &map, &data, &stride, static_cast<GstMapFlags>(flags)),
              flags);
    const PictureInFrame picture{corner, meta->height, format};
    image_.plane[p] = {static_cast<std::byte*>(data) + picture.bytes_to(p, stride), stride};
  }
}

void FrameMap::count_map(bool mapped, int flags) {
  if (!mapped)
    throw ElementError(flags & GST_MAP_WRITE ? GST_RESOURCE_ERROR_WRITE : GST_RESOURCE_ERROR_READ,
                       "a buffer's memory could not be mapped");
  ++maps_;
}

void FrameMap::put_in_order(const GstVideoMeta* meta, const Format& format, Corner corner, int flags) {
  if (!meta) return;
  const PictureInFrame picture{corner, meta->height, format};
  for (int p = 0; p < format.layout.planes; ++p) {
    if (picture.rows_are_in_order(p)) continue;
    if (flags != GST_MAP_READ)
      refuse(
          "a crop from row " + std::to_string(corner.y) + " on of interlaced " + size_of(format.info) +
          " in CUDA memory parts the chroma from its field; crop from a multiple of 4 rows on, or before the upload");
    const int width = row_bytes(format.layout, p), height = rows(format.layout, p);
    aligned_[p].resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    PlaneView& view = image_.plane[p];
    for (int y = 0; y < height; ++y)
      std::memcpy(aligned_[p].data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width),
                  static_cast<const std::byte*>(view.data) + picture.row(p, y) * view.stride,
                  static_cast<std::size_t>(width));
    view = {aligned_[p].data(), width};
    in_place_ = false;
  }
}

void FrameMap::align(const FrameLayout& layout, int flags) {
  for (int p = 0; p < layout.planes; ++p) {
    PlaneView& view = image_.plane[p];
    if (view.stride % bytes_per_sample(layout.type) == 0) continue;
    if (flags != GST_MAP_READ) refuse("a stride of " + std::to_string(view.stride) + " bytes splits samples");
    const int width = row_bytes(layout, p), height = rows(layout, p);
    aligned_[p].resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    const PlaneView aligned{aligned_[p].data(), width};
    copy_rows(view, aligned, width, 0, height);
    view = aligned;
    in_place_ = false;
  }
}

void FrameMap::find_spare_rows(const Places& places, const FrameLayout& layout) {
  for (int p = 0; p < layout.planes; ++p) {
    const Place& place = places[p];
    const std::int64_t begin = place.first + static_cast<std::int64_t>(rows(layout, p)) * place.stride;
    const std::int64_t end = begin + row_bytes(layout, p);
    bool is_free = rows(layout, p) % 2 == 1 && rows(layout, p) < rows(layout, 0) && begin >= place.begin &&
                   end - place.begin <= static_cast<std::int64_t>(place.room);
    for (int q = 0; q < layout.planes; ++q)
      is_free = is_free && (q == p || end <= places[q].begin || begin >= places[q].end);
    if (!is_free) continue;
    rows_[p] = rows(layout, p);
    spare_bytes_[p] = static_cast<std::size_t>(row_bytes(layout, p));
  }
}

void FrameMap::fill_spare_rows() noexcept {
  for (int p = 0; p < max_planes; ++p) {
    if (spare_bytes_[p] == 0) continue;
    const PlaneView& view = image_.plane[p];
    auto* first = static_cast<std::byte*>(view.data);
    const int from = std::max(rows_[p] - 2, 0);  // of the bottom field; a single row is the top one's
    std::memcpy(first + rows_[p] * view.stride, first + from * view.stride, spare_bytes_[p]);
  }
}

void FrameMap::unmap() noexcept {
  while (maps_ > 0) {
    --maps_;
    if (meta_)
      gst_video_meta_unmap(meta_, static_cast<guint>(maps_), &map_[maps_]);
    else
      gst_buffer_unmap(buffer_, &map_[maps_]);
  }
  if (std::exchange(holds_buffer_, false)) gst_buffer_unref(buffer_);
}

void FrameMap::swap(FrameMap& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(meta_, other.meta_);
  std::swap(holds_buffer_, other.holds_buffer_);
  std::swap(map_, other.map_);
  std::swap(maps_, other.maps_);
  std::swap(in_place_, other.in_place_);
  std::swap(image_, other.image_);
  std::swap(spare_bytes_, other.spare_bytes_);
  std::swap(rows_, other.rows_);
  std::swap(aligned_, other.aligned_);
}

}  // namespace convolve
