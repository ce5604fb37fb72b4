// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats.hpp"

#include <algorithm>
#include <cmath>

#include "gpu.hpp"

namespace convolve {
namespace {

// In order of preference: the usual ones first, as caps that leave the format open are fixed to the first; grey ones
// last, as that must not cost a picture its colours. All else about a format comes from GStreamer's own description of
// it, but for true_offsets below.
constexpr GstVideoFormat table[] = {
    GST_VIDEO_FORMAT_I420,      GST_VIDEO_FORMAT_NV12,      GST_VIDEO_FORMAT_YV12,      GST_VIDEO_FORMAT_NV21,
    GST_VIDEO_FORMAT_Y42B,      GST_VIDEO_FORMAT_NV16,      GST_VIDEO_FORMAT_NV61,      GST_VIDEO_FORMAT_YUY2,
    GST_VIDEO_FORMAT_UYVY,      GST_VIDEO_FORMAT_YVYU,      GST_VIDEO_FORMAT_VYUY,      GST_VIDEO_FORMAT_Y444,
    GST_VIDEO_FORMAT_NV24,      GST_VIDEO_FORMAT_v308,      GST_VIDEO_FORMAT_IYU2,      GST_VIDEO_FORMAT_A420,
    GST_VIDEO_FORMAT_AV12,      GST_VIDEO_FORMAT_AYUV,      GST_VIDEO_FORMAT_VUYA,      GST_VIDEO_FORMAT_RGB,
    GST_VIDEO_FORMAT_BGR,       GST_VIDEO_FORMAT_RGBx,      GST_VIDEO_FORMAT_BGRx,      GST_VIDEO_FORMAT_xRGB,
    GST_VIDEO_FORMAT_xBGR,      GST_VIDEO_FORMAT_RGBA,      GST_VIDEO_FORMAT_BGRA,      GST_VIDEO_FORMAT_ARGB,
    GST_VIDEO_FORMAT_ABGR,      GST_VIDEO_FORMAT_GBR,       GST_VIDEO_FORMAT_RGBP,      GST_VIDEO_FORMAT_BGRP,
    GST_VIDEO_FORMAT_GBRA,      GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_I420_12LE,
    GST_VIDEO_FORMAT_P012_LE,   GST_VIDEO_FORMAT_P016_LE,   GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_Y210,
    GST_VIDEO_FORMAT_I422_12LE, GST_VIDEO_FORMAT_Y212_LE,   GST_VIDEO_FORMAT_Y444_10LE, GST_VIDEO_FORMAT_Y444_12LE,
    GST_VIDEO_FORMAT_Y444_16LE, GST_VIDEO_FORMAT_Y412_LE,   GST_VIDEO_FORMAT_A420_10LE, GST_VIDEO_FORMAT_A422_10LE,
    GST_VIDEO_FORMAT_A444_10LE, GST_VIDEO_FORMAT_GBR_10LE,  GST_VIDEO_FORMAT_GBR_12LE,  GST_VIDEO_FORMAT_GBRA_10LE,
    GST_VIDEO_FORMAT_GBRA_12LE, GST_VIDEO_FORMAT_ARGB64_LE, GST_VIDEO_FORMAT_RGBA64_LE, GST_VIDEO_FORMAT_ABGR64_LE,
    GST_VIDEO_FORMAT_BGRA64_LE,
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
    GST_VIDEO_FORMAT_AYUV64,    GST_VIDEO_FORMAT_ARGB64,
#endif
#if GST_CHECK_VERSION(1, 24, 0)
    GST_VIDEO_FORMAT_A422,      GST_VIDEO_FORMAT_A444,      GST_VIDEO_FORMAT_A420_12LE, GST_VIDEO_FORMAT_A422_12LE,
    GST_VIDEO_FORMAT_A444_12LE, GST_VIDEO_FORMAT_A420_16LE, GST_VIDEO_FORMAT_A422_16LE, GST_VIDEO_FORMAT_A444_16LE,
    GST_VIDEO_FORMAT_GBR_16LE,  GST_VIDEO_FORMAT_RBGA,
#endif
#if GST_CHECK_VERSION(1, 26, 0)
    GST_VIDEO_FORMAT_Y216_LE,   GST_VIDEO_FORMAT_Y416_LE,
#endif
    GST_VIDEO_FORMAT_Y41B,      GST_VIDEO_FORMAT_YUV9,      GST_VIDEO_FORMAT_YVU9,      GST_VIDEO_FORMAT_GRAY16_LE,
    GST_VIDEO_FORMAT_GRAY8,
};

// Where Y, U, V and A lie, in samples, in formats of which GStreamer's table says something else than its own functions
// that pack and unpack them do. It has the components of those of 16-bit words all at the start of a pixel, and Y210's
// 10 bits as if they were the low ones: in all of these the bits are at the high end. It has U and V of VYUY the other
// way round.
struct TrueOffsets {
  GstVideoFormat format;
  int offset[4];
};
constexpr TrueOffsets true_offsets[] = {
    {GST_VIDEO_FORMAT_VYUY, {1, 2, 0}},    {GST_VIDEO_FORMAT_Y210, {0, 1, 3}},
    {GST_VIDEO_FORMAT_Y212_LE, {0, 1, 3}}, {GST_VIDEO_FORMAT_Y412_LE, {1, 0, 2, 3}},
#if GST_CHECK_VERSION(1, 26, 0)
    {GST_VIDEO_FORMAT_Y216_LE, {0, 1, 3}}, {GST_VIDEO_FORMAT_Y416_LE, {1, 0, 2, 3}},
#endif
};

const TrueOffsets* find_true_offsets(GstVideoFormat format) {
  for (const TrueOffsets& row : true_offsets)
    if (row.format == format) return &row;
  return nullptr;
}

enum class Role { luma, chroma, red, green, blue, alpha, padding };

constexpr struct {
  Role role;
  unsigned flag;
} role_flags[] = {
    {Role::luma, component_luma},   {Role::chroma, component_chroma}, {Role::red, component_red},
    {Role::green, component_green}, {Role::blue, component_blue},     {Role::alpha, component_alpha},
};

Role role_of(const GstVideoFormatInfo* finfo, unsigned component) {
  constexpr Role rgb[] = {Role::red, Role::green, Role::blue, Role::alpha};
  constexpr Role yuv[] = {Role::luma, Role::chroma, Role::chroma, Role::alpha};
  return GST_VIDEO_FORMAT_INFO_IS_RGB(finfo) ? rgb[component] : yuv[component];  // grey is luma alone
}

void set_levels(Component& component, Role role, const GstVideoInfo& info, int bits, const Levels& levels) {
  component.filtered = false;
  component.zero = component.bias = 0;
  for (const auto& row : role_flags)
    if (row.role == role && levels.components & row.flag) component.filtered = true;
  const double full = std::ldexp(1.0, bits) - 1;
  if (levels.code) {
    if (role != Role::padding) component.bias = levels.bias.fraction * full + levels.bias.codes;
    component.ghost = levels.ghost * full;
    return;
  }
  if (role == Role::chroma) {
    component.zero = component.ghost = std::ldexp(1.0, bits - 1);
    return;
  }
  double range = full;
  if (role == Role::luma && GST_VIDEO_INFO_IS_YUV(&info)) {
    gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
    gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offset, scale);
    component.zero = offset[0];
    range = scale[0];
  }
  if (role != Role::alpha && role != Role::padding) {
    const double codes = range == full ? levels.bias.codes : levels.bias.codes / full * range;
    component.bias = levels.bias.fraction * range + codes;
  }
  component.ghost = component.zero + levels.ghost * range;
}

}  // namespace

int component_offset(const GstVideoFormatInfo* finfo, unsigned c) {
  if (const TrueOffsets* row = find_true_offsets(GST_VIDEO_FORMAT_INFO_FORMAT(finfo))) return row->offset[c];
  const int bytes = GST_VIDEO_FORMAT_INFO_DEPTH(finfo, 0) <= 8 ? 1 : 2;
  // Bytes; but GStreamer's P010 and its like count samples, and say 1 where the second of them begins.
  const int offset = GST_VIDEO_FORMAT_INFO_POFFSET(finfo, c);
  return offset % bytes == 0 ? offset / bytes : offset;
}

int sample_shift(const GstVideoFormatInfo* finfo) {
  const int bits = GST_VIDEO_FORMAT_INFO_DEPTH(finfo, 0);
  if (bits > 8 && find_true_offsets(GST_VIDEO_FORMAT_INFO_FORMAT(finfo))) return 16 - bits;
  return GST_VIDEO_FORMAT_INFO_SHIFT(finfo, 0);
}

FrameLayout make_layout(const GstVideoInfo& info, int height, const Levels& levels) {
  const GstVideoFormatInfo* finfo = info.finfo;
  FrameLayout layout;
  layout.bits = GST_VIDEO_FORMAT_INFO_DEPTH(finfo, 0);
  layout.type = layout.bits <= 8 ? SampleType::u8 : SampleType::u16;
  layout.shift = sample_shift(finfo);
  layout.planes = GST_VIDEO_FORMAT_INFO_N_PLANES(finfo);
  const int bytes = bytes_per_sample(layout.type);

  for (unsigned c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(finfo); ++c) {
    PlaneLayout& plane = layout.plane[GST_VIDEO_FORMAT_INFO_PLANE(finfo, c)];
    Component& component = plane.component[plane.components++];
    component.offset = component_offset(finfo, c);
    component.step = GST_VIDEO_FORMAT_INFO_PSTRIDE(finfo, c) / bytes;
    component.width = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(finfo, c, info.width);
    component.height = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(finfo, c, height);
    set_levels(component, role_of(finfo, c), info, layout.bits, levels);
  }
  // Components in the order in which they lie, so that interleaved planes are uniform(); then the sample that no
  // component claims (the x of RGBx) is padding.
  for (int p = 0; p < layout.planes; ++p) {
    PlaneLayout& plane = layout.plane[p];
    if (plane.components == 3 && plane.component[0].step == 4 && plane.component[1].step == 4) {
      int free_offset = 0 + 1 + 2 + 3;
      for (int c = 0; c < 3; ++c) free_offset -= plane.component[c].offset;
      Component& padding = plane.component[plane.components++];
      padding = plane.component[0];
      padding.offset = free_offset;
      set_levels(padding, Role::padding, info, layout.bits, levels);
    }
    std::sort(plane.component.begin(), plane.component.begin() + plane.components,
              [](const Component& a, const Component& b) { return a.offset < b.offset; });
  }
  return layout;
}

GstCaps* make_template_caps(std::span<const GstVideoFormat> cuda_formats) {
  const auto list_of = [](auto&& takes) {
    GValue list = G_VALUE_INIT, name = G_VALUE_INIT;
    g_value_init(&list, GST_TYPE_LIST);
    g_value_init(&name, G_TYPE_STRING);
    for (const GstVideoFormat format : table)
      if (takes(format)) {
        g_value_set_static_string(&name, gst_video_format_to_string(format));
        gst_value_list_append_value(&list, &name);
      }
    g_value_unset(&name);
    return list;
  };
  const auto caps_of = [](GValue list) {
    GstCaps* caps =
        gst_caps_new_simple("video/x-raw", "width", GST_TYPE_INT_RANGE, 1, max_side, "height", GST_TYPE_INT_RANGE, 1,
                            max_side, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
    gst_caps_set_value(caps, "format", &list);
    g_value_unset(&list);
    return caps;
  };
  GstCaps* caps = gst_caps_new_empty();
  if (!cuda_formats.empty()) {
    GstCaps* device = caps_of(list_of([&](GstVideoFormat format) {
      return std::find(cuda_formats.begin(), cuda_formats.end(), format) != cuda_formats.end();
    }));
    gst_caps_set_features_simple(device, gst_caps_features_new(cuda_memory_feature, nullptr));
    gst_caps_append(caps, device);
  }
  gst_caps_append(caps, caps_of(list_of([](GstVideoFormat) { return true; })));
  return caps;
}

// Ways to spread a frame over buffers, or several frames over one buffer, that the element does not take.
constexpr struct {
  const char *field, *value, *why;
} unserved[] = {
    {"interlace-mode", "fields", "interlace-mode=fields is not served; progressive, interleaved and mixed are"},
    {"interlace-mode", "alternate", "interlace-mode=alternate is not served; progressive, interleaved and mixed are"},
    {"multiview-mode", "separated",
     "multiview-mode=separated is not served, as its buffers hold several frames each; one frame a buffer is"},
};

const char* why_unserved(const GstCaps* caps) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    for (const auto& row : unserved)
      if (g_strcmp0(gst_structure_get_string(gst_caps_get_structure(caps, i), row.field), row.value) == 0)
        return row.why;
  return nullptr;
}

const char* why_unserved(const GstVideoInfo& info) {
  GstCaps* caps = gst_video_info_to_caps(&info);
  const char* why = why_unserved(caps);
  gst_caps_unref(caps);
  return why;
}

GstCaps* served_part(GstCaps* caps) {
  // Fields that the caps do not name stay unnamed: naming them would refuse caps that leave them to their defaults.
  const auto prune = [](GstCapsFeatures*, GstStructure* structure, gpointer) -> gboolean {
    for (const auto& row : unserved) {
      const GValue* value = gst_structure_get_value(structure, row.field);
      if (!value) continue;
      GValue taken = G_VALUE_INIT, rest = G_VALUE_INIT;
      g_value_init(&taken, G_TYPE_STRING);
      g_value_set_static_string(&taken, row.value);
      const bool any = gst_value_subtract(&rest, value, &taken);
      g_value_unset(&taken);
      if (!any) return FALSE;
      gst_structure_take_value(structure, row.field, &rest);
    }
    return TRUE;
  };
  caps = gst_caps_make_writable(caps);
  gst_caps_filter_and_map_in_place(caps, prune, nullptr);
  return caps;
}

GstCaps* system_memory_first(GstCaps* caps) {
  if (gst_caps_is_any(caps)) return caps;
  GstCaps* ordered = gst_caps_new_empty();
  for (const bool cuda : {false, true})
    for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
      GstCapsFeatures* features = gst_caps_get_features(caps, i);
      const bool in_cuda_memory =
          !gst_caps_features_is_any(features) && gst_caps_features_contains(features, cuda_memory_feature);
      if (in_cuda_memory == cuda)
        gst_caps_append_structure_full(ordered, gst_structure_copy(gst_caps_get_structure(caps, i)),
                                       gst_caps_features_copy(features));
    }
  gst_caps_unref(caps);
  return ordered;
}

}  // namespace convolve
