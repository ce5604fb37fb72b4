// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "crop.hpp"

#include <algorithm>
#include <string>

#ifdef CONVOLVE_HAVE_ANALYTICS
#include "analytics.hpp"
#endif
#include "element_error.hpp"
#include "plane_size.hpp"

namespace convolve {
namespace {

// The first component that lies in a plane.
guint component_in(const GstVideoFormatInfo* finfo, int plane) {
  guint c = 0;
  while (static_cast<int>(GST_VIDEO_FORMAT_INFO_PLANE(finfo, c)) != plane) ++c;
  return c;
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

FrameSize size_of_frame(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (crop && meta && crops_to_caps(*crop, info)) return {std::max(meta->width, 1u), std::max(meta->height, 1u)};
  return {static_cast<guint>(info.width), static_cast<guint>(info.height)};
}

Corner checked_corner(GstBuffer* buffer, const GstVideoMeta* meta, const GstVideoInfo& info) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop || !crops_to_caps(*crop, info) || (crop->x == 0 && crop->y == 0)) return {};
  const guint64 width = meta ? meta->width : info.width, height = meta ? meta->height : info.height;
  if (guint64{crop->x} + info.width > width || guint64{crop->y} + info.height > height || crop->x > G_MAXINT ||
      crop->y > G_MAXINT)
    throw ElementError(GST_STREAM_ERROR_FORMAT, "a buffer's crop meta asks for " + size_text(info.width, info.height) +
                                                    " pixels from (" + std::to_string(crop->x) + ", " +
                                                    std::to_string(crop->y) + ") on, in a frame of " +
                                                    size_text(width, height));
  return corner_of_picture(buffer, info);
}

int PictureInFrame::frame_rows(int plane) const {
  const GstVideoFormatInfo* finfo = format.info.finfo;
  return GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(finfo, component_in(finfo, plane),
                                            static_cast<int>(std::min<guint>(height, G_MAXINT)));
}

std::int64_t PictureInFrame::row(int plane, int y) const {
  const GstVideoFormatInfo* finfo = format.info.finfo;
  const int sub = GST_VIDEO_FORMAT_INFO_H_SUB(finfo, component_in(finfo, plane));
  if (!format.interlaced) return std::int64_t{corner.y >> sub} + y;
  const std::int64_t luma = std::int64_t{corner.y} + (y & 1) + 2 * ((std::int64_t{y} >> 1) << sub), field = luma & 1;
  const std::int64_t in_frame = ((luma >> 1) >> sub) * 2 + field;
  return in_frame < frame_rows(plane) ? in_frame : std::max<std::int64_t>(in_frame - 2, 0);
}

bool PictureInFrame::rows_are_in_order(int plane) const {
  if (!format.interlaced || corner.y == 0) return true;
  const std::int64_t first = row(plane, 0);
  for (int y = 1; y < rows(format.layout, plane); ++y)
    if (row(plane, y) != first + y) return false;
  return true;
}

std::ptrdiff_t PictureInFrame::bytes_to(int plane, std::ptrdiff_t stride) const {
  const GstVideoFormatInfo* finfo = format.info.finfo;
  const guint c = component_in(finfo, plane);
  const std::int64_t y = rows_are_in_order(plane) ? row(plane, 0) : 0;
  return y * stride + static_cast<std::ptrdiff_t>(corner.x >> GST_VIDEO_FORMAT_INFO_W_SUB(finfo, c)) *
                          GST_VIDEO_FORMAT_INFO_PSTRIDE(finfo, c);
}

bool move_to_picture(GstBuffer* buffer, const FrameMap::Format& format) {
  GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta || !has_usual_map(*meta) || static_cast<int>(meta->n_planes) < format.layout.planes) return false;
  const PictureInFrame picture{checked_corner(buffer, meta, format.info), meta->height, format};
  for (int p = 0; p < format.layout.planes; ++p)
    if (!picture.rows_are_in_order(p)) return false;
  for (int p = 0; p < format.layout.planes; ++p)
    meta->offset[p] += static_cast<gsize>(picture.bytes_to(p, meta->stride[p]));
  meta->width = static_cast<guint>(format.info.width);
  meta->height = static_cast<guint>(format.info.height);
  gst_video_alignment_reset(&meta->alignment);  // of the frame's edges, which are not the picture's
  return true;
}

void move_regions(GstBuffer* buffer, Corner corner) {
  if (corner.x == 0 && corner.y == 0) return;
#ifdef CONVOLVE_HAVE_ANALYTICS
  move_found(buffer, corner.x, corner.y);
#endif
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

}  // namespace convolve
