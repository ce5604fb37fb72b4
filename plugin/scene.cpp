// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scene.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "formats.hpp"

namespace convolve {
namespace {

constexpr std::array bt709{2126, 7152, 722};  // of 10000

int weight_of(const GstVideoInfo& info, std::size_t component) {
  return GST_VIDEO_INFO_IS_RGB(&info) ? bt709[component] : 1;
}

}  // namespace

LumaDesc luma_of(const GstVideoInfo& info) {
  const GstVideoFormatInfo* finfo = info.finfo;
  LumaDesc desc;
  desc.type = GST_VIDEO_FORMAT_INFO_DEPTH(finfo, 0) > 8 ? SampleType::u16 : SampleType::u8;
  desc.shift = sample_shift(finfo);
  desc.width = info.width;
  desc.height = info.height;
  desc.terms = GST_VIDEO_INFO_IS_RGB(&info) ? 3 : 1;
  for (int c = 0; c < desc.terms; ++c) {
    LumaTerm& term = desc.term[static_cast<std::size_t>(c)];
    term.plane = GST_VIDEO_FORMAT_INFO_PLANE(finfo, c);
    term.offset = component_offset(finfo, static_cast<unsigned>(c));
    term.step = GST_VIDEO_FORMAT_INFO_PSTRIDE(finfo, c) / bytes_per_sample(desc.type);
    term.weight = weight_of(info, static_cast<std::size_t>(c));
  }
  return desc;
}

double mean_luma_difference(std::uint64_t sum, const GstVideoInfo& info) {
  double range = std::ldexp(1.0, static_cast<int>(GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, 0))) - 1;
  if (GST_VIDEO_INFO_IS_YUV(&info)) {
    gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
    gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offset, scale);
    range = scale[0];
  }
  const int weights = GST_VIDEO_INFO_IS_RGB(&info) ? weight_of(info, 0) + weight_of(info, 1) + weight_of(info, 2) : 1;
  return static_cast<double>(sum) / weights / range / info.width / info.height;
}

}  // namespace convolve
