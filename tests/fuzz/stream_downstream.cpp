// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Downstream of the fuzzed element: what it answers, and what it demands of each frame that it gets.
#include "stream.hpp"

#include <cstdio>
#include <cstdlib>

namespace fuzz {
namespace {

// What went in may leave again as it was. A reference would keep the element from working in place.
GQuark input_mark() {
  static const GQuark mark = g_quark_from_static_string("fuzz-input");
  return mark;
}
bool has_mark(GstMiniObject* object) {
  return gst_mini_object_get_qdata(object, input_mark()) != nullptr;
}
// A frame that is treated in place can have lost its memories: those of one are merged where it is mapped.
bool is_input(GstBuffer* buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
    if (has_mark(GST_MINI_OBJECT_CAST(gst_buffer_peek_memory(buffer, i)))) return true;
  return has_mark(GST_MINI_OBJECT_CAST(buffer));
}
void mark(GstMiniObject* object) {
  gst_mini_object_set_qdata(object, input_mark(), object, nullptr);
}

}  // namespace

void mark_as_input(GstBuffer* buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) mark(GST_MINI_OBJECT_CAST(gst_buffer_peek_memory(buffer, i)));
  mark(GST_MINI_OBJECT_CAST(buffer));
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::abort();
}

GstFlowReturn Stream::chain(GstPad* pad, GstObject*, GstBuffer* buffer) {
  Stream& self = of(pad);
  self.take(buffer);
  gst_buffer_unref(buffer);
  return self.downstream_;
}

// What the element made has to hold a frame of the caps that it sent, in each byte of which the sanitizer agrees.
void Stream::take(GstBuffer* buffer) {
  ++outputs_;
  if (value_ < 0 && is_input(buffer)) return;
  GstCaps* caps = gst_pad_get_current_caps(down_);
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) fail("a frame without caps");
  gst_caps_unref(caps);
  if (gst_buffer_get_size(buffer) < info.size && !gst_buffer_get_video_meta(buffer)) fail("an output is too small");
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) fail("an output cannot be mapped");
  unsigned sum = 0;
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(&frame); ++c)
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); ++y) {
      const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
                        static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c);
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, c); ++x) {
        const guint8 sample = row[static_cast<std::ptrdiff_t>(x) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)];
        if (value_ >= 0 && sample != value_)
          fail("a sample is " + std::to_string(sample) + ", not " + std::to_string(value_));
        sum += sample;
      }
    }
  volatile unsigned kept = sum;  // so that each sample is read
  (void)kept;
  gst_video_frame_unmap(&frame);
}

gboolean Stream::answer(GstPad* pad, GstObject* parent, GstQuery* query) {
  Stream& self = of(pad);
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_ALLOCATION:
      if (self.takes_video_meta_) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      gst_query_set_accept_caps_result(query, TRUE);
      return TRUE;
    case GST_QUERY_CAPS: {
      GstCaps* any = gst_caps_new_any();
      gst_query_set_caps_result(query, any);
      gst_caps_unref(any);
      return TRUE;
    }
    default:
      return gst_pad_query_default(pad, parent, query);
  }
}

}  // namespace fuzz
