// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "odd_buffer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fuzz {
namespace {

using Wide = __int128;  // sums of 64-bit numbers, as they are

struct Layout {
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
};

int component_of_plane(const GstVideoInfo& info, guint plane) {
  int c = 0;
  while (guint{GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, c)} != plane) ++c;
  return c;
}

// Bytes that a row of a plane takes, and rows that it has, no less than anybody counts: whole groups of pixels.
int generous_row_bytes(const GstVideoInfo& info, guint plane) {
  const int c = component_of_plane(info, plane), sub = GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, c);
  int pixels = (info.width + (1 << sub) - 1) >> sub;
  if (GST_VIDEO_INFO_N_PLANES(&info) == 1) pixels = (pixels + 1) / 2 * 2;
  return std::max(pixels * GST_VIDEO_INFO_COMP_PSTRIDE(&info, c), pixels);
}

int generous_rows(const GstVideoInfo& info, guint plane) {
  const int sub = GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, component_of_plane(info, plane));
  const int rows = (info.height + (1 << sub) - 1) >> sub;
  return GST_VIDEO_INFO_IS_INTERLACED(&info) ? (rows + 1) / 2 * 2 : rows;
}

bool holds(const GstVideoInfo& info, const Layout& layout, gsize size) {
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const Wide first = layout.offset[p], stride = layout.stride[p];
    const Wide last = first + stride * (generous_rows(info, p) - 1);
    if (std::min(first, last) < 0 || std::max(first, last) + generous_row_bytes(info, p) > static_cast<Wide>(size))
      return false;
  }
  return true;
}

// One plane behind the other, padded and shifted as the bytes say. Returns the size that they take.
gsize lay_out(Bytes& bytes, const GstVideoInfo& info, Layout& layout) {
  gsize at = bytes.below(3) ? 0 : bytes.byte();
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const int rows = generous_rows(info, p),
              stride = generous_row_bytes(info, p) + (bytes.below(2) ? 0 : static_cast<int>(bytes.byte()));
    const gsize room = static_cast<gsize>(rows) * static_cast<gsize>(stride);
    const bool bottom_up = bytes.one_in(4);
    layout.offset[p] = bottom_up ? at + room - static_cast<gsize>(stride) : at;
    layout.stride[p] = bottom_up ? -stride : stride;
    at += room + (bytes.below(4) ? 0 : bytes.byte());
  }
  // Now and then one number is any number.
  if (bytes.one_in(8)) layout.offset[bytes.below(GST_VIDEO_MAX_PLANES)] = bytes.odd_number();
  if (bytes.one_in(8)) layout.stride[bytes.below(GST_VIDEO_MAX_PLANES)] = static_cast<gint>(bytes.odd_number());
  return at;
}

void append_in_pieces(Bytes& bytes, GstBuffer* buffer, gsize size) {
  const auto value = static_cast<guint8>(bytes.byte());
  for (unsigned more = bytes.below(4); more > 0 && size > 1; --more) {
    const gsize piece = 1 + bytes.number(2) % (size - 1);
    gst_buffer_append_memory(buffer, exact_memory(piece, value));
    size -= piece;
  }
  GstMemory* last = exact_memory(size, value);
  if (bytes.one_in(4)) GST_MINI_OBJECT_FLAG_SET(last, GST_MEMORY_FLAG_READONLY);
  gst_buffer_append_memory(buffer, last);
}

void add_regions(Bytes& bytes, GstBuffer* buffer) {
  constexpr const char* types[] = {"face", "", "car"};
  for (unsigned n = bytes.below(4); n > 0; --n) {
    const auto any = [&] { return static_cast<guint>(bytes.odd_number()); };
    const guint x = any(), y = any(), width = any(), height = any();
    auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer, bytes.pick(types), x, y, width, height);
    constexpr double confidences[] = {0, 0.5, 1, -1, 1e300, NAN};
    if (bytes.below(2))
      gst_video_region_of_interest_meta_add_param(
          roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, bytes.pick(confidences), nullptr));
  }
}

// False where the crop reaches beyond the frame, whatever it is a crop of.
bool add_crop(Bytes& bytes, GstBuffer* buffer, const GstVideoInfo& info, guint frame_width, guint frame_height) {
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = static_cast<guint>(bytes.odd_number());
  crop->y = static_cast<guint>(bytes.odd_number());
  crop->width = bytes.below(2) ? static_cast<guint>(info.width) : static_cast<guint>(bytes.odd_number());
  crop->height = bytes.below(2) ? static_cast<guint>(info.height) : static_cast<guint>(bytes.odd_number());
  const auto beyond = [](guint from, guint length, guint all) { return guint64{from} + length > all; };
  return !beyond(crop->x, std::max(crop->width, static_cast<guint>(info.width)), frame_width) &&
         !beyond(crop->y, std::max(crop->height, static_cast<guint>(info.height)), frame_height);
}

void stamp(Bytes& bytes, GstBuffer* buffer) {
  const auto time = [&]() -> GstClockTime {
    const unsigned kind = bytes.byte();
    return kind < 160 ? kind * (40 * GST_MSECOND) : kind < 208 ? GST_CLOCK_TIME_NONE : bytes.odd_number();
  };
  GST_BUFFER_PTS(buffer) = time();
  GST_BUFFER_DURATION(buffer) = bytes.below(2) ? 40 * GST_MSECOND : time();
  constexpr guint flags[] = {0,
                             GST_BUFFER_FLAG_DISCONT,
                             GST_BUFFER_FLAG_CORRUPTED,
                             GST_BUFFER_FLAG_GAP,
                             GST_VIDEO_BUFFER_FLAG_INTERLACED,
                             GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF,
                             GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_ONEFIELD,
                             GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_RFF,
                             GST_BUFFER_FLAG_DROPPABLE | GST_BUFFER_FLAG_DELTA_UNIT};
  GST_BUFFER_FLAG_SET(buffer, bytes.pick(flags));
}

}  // namespace

GstMemory* exact_memory(gsize size, guint8 value) {
  auto* data = static_cast<guint8*>(g_malloc(size));
  std::memset(data, value, size);
  return gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), data, size, 0, size, data, g_free);
}

OddBuffer make_odd_buffer(Bytes& bytes, const GstVideoInfo& info) {
  OddBuffer made;
  made.buffer = gst_buffer_new();
  Layout layout;
  const bool with_meta = bytes.below(2);
  gsize size = info.size;
  if (with_meta) size = lay_out(bytes, info, layout);
  if (bytes.one_in(8)) size -= std::min(size - 1, static_cast<gsize>(bytes.number(2)));
  append_in_pieces(bytes, made.buffer, size);
  guint width = static_cast<guint>(info.width), height = static_cast<guint>(info.height);
  if (with_meta) {
    made.is_good = holds(info, layout, size);
    GstVideoMeta* meta =
        gst_buffer_add_video_meta_full(made.buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info), width,
                                       height, GST_VIDEO_INFO_N_PLANES(&info), layout.offset, layout.stride);
    if (bytes.one_in(8)) meta->width = static_cast<guint>(bytes.odd_number());
    if (bytes.one_in(8)) meta->height = static_cast<guint>(bytes.odd_number());
    if (bytes.one_in(16)) meta->n_planes = bytes.below(GST_VIDEO_MAX_PLANES + 1);
    // A frame that is said to be larger than it is holds its picture, but no crop of it is to be relied on.
    made.is_good &= meta->width >= width && meta->height >= height && meta->n_planes >= GST_VIDEO_INFO_N_PLANES(&info);
  } else {
    made.is_good = size >= info.size;
  }
  if (bytes.one_in(4)) made.is_good &= add_crop(bytes, made.buffer, info, width, height);
  if (bytes.one_in(2)) add_regions(bytes, made.buffer);
  stamp(bytes, made.buffer);
  return made;
}

GstBuffer* odd_buffer_of_pool(Bytes& bytes, GstBufferPool* pool) {
  GstBufferPoolAcquireParams params{};
  params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  GstBuffer* buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool, &buffer, &params) != GST_FLOW_OK) return nullptr;
  gst_buffer_memset(buffer, 0, 100, gst_buffer_get_size(buffer));
  stamp(bytes, buffer);
  return buffer;
}

}  // namespace fuzz
