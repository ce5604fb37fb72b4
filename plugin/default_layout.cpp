// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "default_layout.hpp"

#include "crop.hpp"
#include "plane_size.hpp"

namespace convolve {
namespace {

gboolean copy_meta(GstBuffer* from, GstMeta** meta, gpointer to) {
  const GstMetaInfo* info = (*meta)->info;
  if (!info->transform_func) return TRUE;
  // What describes or keeps the memory, as a parent buffer does, has no part in a copy.
  for (const char* tag : {GST_META_TAG_MEMORY_STR, GST_META_TAG_MEMORY_REFERENCE_STR})
    if (gst_meta_api_type_has_tag(info->api, g_quark_from_static_string(tag))) return TRUE;
  GstMetaTransformCopy whole{FALSE, 0, static_cast<gsize>(-1)};
  info->transform_func(static_cast<GstBuffer*>(to), *meta, from, _gst_meta_transform_copy, &whole);
  return TRUE;
}

// The buffer holds what the crop left.
void take_crop(GstBuffer* buffer, const FrameMap::Format& format) {
  const GstVideoInfo& info = format.info;
  const Corner corner = corner_of_picture(buffer, info);
  move_regions(buffer, corner);
  turn_field_order(buffer, corner, format);
  GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (crop && crops_to_caps(*crop, info)) gst_buffer_remove_meta(buffer, reinterpret_cast<GstMeta*>(crop));
}

}  // namespace

bool has_default_layout(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta) return true;
  if (meta->n_planes != GST_VIDEO_INFO_N_PLANES(&info)) return false;
  for (guint p = 0; p < meta->n_planes; ++p)
    if (meta->stride[p] != info.stride[p] || meta->offset[p] != info.offset[p]) return false;
  return true;
}

GstBuffer* copy_to_default_layout(GstBuffer* buffer, const FrameMap::Format& format) {
  const FrameMap from(buffer, format, GST_MAP_READ);
  GstBuffer* copy = gst_buffer_new_allocate(nullptr, format.info.size, nullptr);
  if (!copy) return nullptr;
  try {
    FrameMap to(copy, format, GST_MAP_WRITE);
    for (int p = 0; p < format.layout.planes; ++p)
      copy_rows(from.image().plane[p], to.image().plane[p], row_bytes(format.layout, p), 0, rows(format.layout, p));
    to.fill_spare_rows();
  } catch (...) {
    gst_buffer_unref(copy);
    throw;
  }
  gst_buffer_copy_into(copy, buffer,
                       static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS), 0, -1);
  gst_buffer_foreach_meta(buffer, copy_meta, copy);
  take_crop(copy, format);
  return copy;
}

GstBuffer* view_of_picture(GstBuffer* buffer, const FrameMap::Format& format) {
  GstBuffer* view = gst_buffer_copy(buffer);
  try {
    if (!move_to_picture(view, format)) {
      gst_buffer_unref(view);
      return nullptr;
    }
  } catch (...) {
    gst_buffer_unref(view);
    throw;
  }
  take_crop(view, format);
  gst_buffer_add_parent_buffer_meta(view, buffer);  // its pool is to get it back whole
  return view;
}

}  // namespace convolve
