// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame.hpp"

#include <algorithm>
#include <cstring>
#include <string>

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

std::string size_text(guint64 width, guint64 height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

std::string size_of(const GstVideoInfo& info) {
  return std::string(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info))) + " " +
         size_text(info.width, info.height);
}

using MetaMap = decltype(GstVideoMeta::map);

// The map function that every GstVideoMeta has unless somebody gave it another.
MetaMap usual_map() {
  static const MetaMap map = [] {
    GstBuffer* buffer = gst_buffer_new();
    const MetaMap usual =
        gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 1, 1)->map;
    gst_buffer_unref(buffer);
    return usual;
  }();
  return map;
}

// corner_of_picture() of a frame that holds the whole picture.
Corner find_corner(GstBuffer* buffer, const GstVideoMeta* meta, const GstVideoInfo& info) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop || !crops_to_caps(*crop, info) || (crop->x == 0 && crop->y == 0)) return {};
  const guint64 width = meta ? meta->width : info.width, height = meta ? meta->height : info.height;
  if (guint64{crop->x} + info.width > width || guint64{crop->y} + info.height > height || crop->x > G_MAXINT ||
      crop->y > G_MAXINT)
    refuse("a buffer's crop meta asks for " + size_text(info.width, info.height) + " pixels from (" +
           std::to_string(crop->x) + ", " + std::to_string(crop->y) + ") on, in a frame of " +
           size_text(width, height));
  return corner_of_picture(buffer, info);
}

// The first component that lies in a plane.
guint component_in(const GstVideoFormatInfo* finfo, int plane) {
  guint c = 0;
  while (static_cast<int>(GST_VIDEO_FORMAT_INFO_PLANE(finfo, c)) != plane) ++c;
  return c;
}

// Rows of the plane of a frame of `height` pixels, which a meta may say to be any number.
int rows_of_frame(guint height, const FrameMap::Format& format, int plane) {
  const guint c = component_in(format.info.finfo, plane);
  return GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(format.info.finfo, c, static_cast<int>(std::min<guint>(height, G_MAXINT)));
}

// Which row of a frame's plane is row `y` of the picture that begins at the corner. Rows of subsampled chroma take
// turns between the fields as rows of luma do, and a crop from an odd row on makes the bottom field the top one. Where
// a field ends, its last row stands in, and for a field without a row the other one's.
std::int64_t row_in_frame(Corner corner, guint height, const FrameMap::Format& format, int plane, int y) {
  const GstVideoFormatInfo* finfo = format.info.finfo;
  const int sub = GST_VIDEO_FORMAT_INFO_H_SUB(finfo, component_in(finfo, plane));
  if (!format.interlaced) return std::int64_t{corner.y >> sub} + y;
  const std::int64_t luma = std::int64_t{corner.y} + (y & 1) + 2 * ((std::int64_t{y} >> 1) << sub), field = luma & 1;
  const std::int64_t row = ((luma >> 1) >> sub) * 2 + field;
  return row < rows_of_frame(height, format, plane) ? row : std::max<std::int64_t>(row - 2, 0);
}

// Whether the picture's rows follow each other in the frame's plane, so that they can be seen where they lie. Else the
// fields' rows of chroma have changed places.
bool in_order(Corner corner, guint height, const FrameMap::Format& format, int plane) {
  if (!format.interlaced || corner.y == 0) return true;
  const std::int64_t first = row_in_frame(corner, height, format, plane, 0);
  for (int y = 1; y < rows(format.layout, plane); ++y)
    if (row_in_frame(corner, height, format, plane, y) != first + y) return false;
  return true;
}

// Bytes from a plane's start to the sample in it from which its rows are counted: the corner's, or that above it in the
// frame's first row, where they are not in order.
std::ptrdiff_t skip_to(Corner corner, guint height, const FrameMap::Format& format, int plane, std::ptrdiff_t stride) {
  const GstVideoFormatInfo* finfo = format.info.finfo;
  const guint c = component_in(finfo, plane);
  const std::int64_t y = in_order(corner, height, format, plane) ? row_in_frame(corner, height, format, plane, 0) : 0;
  return y * stride + static_cast<std::ptrdiff_t>(corner.x >> GST_VIDEO_FORMAT_INFO_W_SUB(finfo, c)) *
                          GST_VIDEO_FORMAT_INFO_PSTRIDE(finfo, c);
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

bool crops_to_caps(const GstVideoCropMeta& crop, const GstVideoInfo& info) {
  return crop.width >= static_cast<guint>(info.width) && crop.height >= static_cast<guint>(info.height);
}

Corner corner_of_picture(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop || !crops_to_caps(*crop, info)) return {};
  Corner corner{static_cast<int>(crop->x), static_cast<int>(crop->y)};
  // The picture can only begin at a whole group of pixels where luma and chroma share a plane.
  const GstVideoFormatInfo* finfo = info.finfo;
  if (GST_VIDEO_FORMAT_INFO_N_PLANES(finfo) == 1)
    for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(finfo); ++c)
      corner.x &= -1 << GST_VIDEO_FORMAT_INFO_W_SUB(finfo, c);
  return corner;
}

bool move_to_picture(GstBuffer* buffer, const FrameMap::Format& format) {
  GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta || meta->map != usual_map() || static_cast<int>(meta->n_planes) < format.layout.planes) return false;
  const Corner corner = find_corner(buffer, meta, format.info);
  for (int p = 0; p < format.layout.planes; ++p)
    if (!in_order(corner, meta->height, format, p)) return false;
  for (int p = 0; p < format.layout.planes; ++p)
    meta->offset[p] += static_cast<gsize>(skip_to(corner, meta->height, format, p, meta->stride[p]));
  meta->width = static_cast<guint>(format.info.width);
  meta->height = static_cast<guint>(format.info.height);
  gst_video_alignment_reset(&meta->alignment);  // of the frame's edges, which are not the picture's
  return true;
}

void move_regions_of_interest(GstBuffer* buffer, Corner corner) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto& roi = *reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    // Unsigned, but what lies left of the picture or above it is written as negative numbers.
    roi.x -= static_cast<guint>(corner.x);
    roi.y -= static_cast<guint>(corner.y);
  }
}

void turn_field_order(GstBuffer* buffer, Corner corner, const FrameMap::Format& format) {
  if (!format.interlaced || corner.y % 2 == 0 ||
      GST_VIDEO_INFO_FIELD_ORDER(&format.info) != GST_VIDEO_FIELD_ORDER_UNKNOWN)
    return;
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_TFF))
    GST_BUFFER_FLAG_UNSET(buffer, GST_VIDEO_BUFFER_FLAG_TFF);
  else
    GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_TFF);
}

FrameMap::FrameMap(GstBuffer* buffer, const Format& format, int flags) : FrameMap() {
  buffer_ = buffer;  // from here on the destructor undoes what was mapped when something throws
  const GstVideoInfo& info = format.info;
  GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (meta && (static_cast<int>(meta->n_planes) < format.layout.planes ||
               meta->width < static_cast<guint>(info.width) || meta->height < static_cast<guint>(info.height)))
    refuse("a buffer's video meta describes " + size_text(meta->width, meta->height) + " in " +
           std::to_string(meta->n_planes) + " planes, which is less than its caps: " + size_of(info));
  const Corner corner = flags & GST_MAP_WRITE ? Corner{} : find_corner(buffer_, meta, info);
  if (meta && meta->map != usual_map()) {
    map_by_meta(meta, format, corner, flags);
  } else {
    Places places;
    find_places(meta, format, corner, flags, places);
    map_memories(places, format.layout, flags);
    if ((flags & GST_MAP_WRITE) && format.interlaced) find_spare_rows(places, format.layout);
  }
  put_in_order(meta, format, corner, flags);
  align(format.layout, flags);
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
      place.first += skip_to(corner, meta->height, format, p, place.stride);
      if (!in_order(corner, meta->height, format, p)) needed = rows_of_frame(meta->height, format, p);
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
    const std::ptrdiff_t skip = skip_to(corner, meta->height, format, p, stride);
    image_.plane[p] = {static_cast<std::byte*>(data) + skip, stride};
  }
}

void FrameMap::count_map(bool mapped, int flags) {
  if (!mapped)
    throw ElementError(flags & GST_MAP_WRITE ? GST_RESOURCE_ERROR_WRITE : GST_RESOURCE_ERROR_READ,
                       "a buffer's memory could not be mapped");
  if (++maps_ == 1) gst_buffer_ref(buffer_);  // after the map, which asks for a writable buffer
}

void FrameMap::put_in_order(const GstVideoMeta* meta, const Format& format, Corner corner, int flags) {
  for (int p = 0; p < format.layout.planes; ++p) {
    if (!meta || in_order(corner, meta->height, format, p)) continue;
    if (flags != GST_MAP_READ)
      refuse(
          "a crop from row " + std::to_string(corner.y) + " on of interlaced " + size_of(format.info) +
          " in CUDA memory parts the chroma from its field; crop from a multiple of 4 rows on, or before the upload");
    const int width = row_bytes(format.layout, p), height = rows(format.layout, p);
    aligned_[p].resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    PlaneView& view = image_.plane[p];
    for (int y = 0; y < height; ++y)
      std::memcpy(
          aligned_[p].data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width),
          static_cast<const std::byte*>(view.data) + row_in_frame(corner, meta->height, format, p, y) * view.stride,
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
  if (maps_ == 0) return;
  while (maps_ > 0) {
    --maps_;
    if (meta_)
      gst_video_meta_unmap(meta_, static_cast<guint>(maps_), &map_[maps_]);
    else
      gst_buffer_unmap(buffer_, &map_[maps_]);
  }
  gst_buffer_unref(buffer_);
}

void FrameMap::swap(FrameMap& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(meta_, other.meta_);
  std::swap(map_, other.map_);
  std::swap(maps_, other.maps_);
  std::swap(in_place_, other.in_place_);
  std::swap(image_, other.image_);
  std::swap(spare_bytes_, other.spare_bytes_);
  std::swap(rows_, other.rows_);
  std::swap(aligned_, other.aligned_);
}

}  // namespace convolve
