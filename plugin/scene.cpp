// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scene.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "formats.hpp"

namespace convolve {
namespace {

constexpr std::array<double, 3> bt709{0.2126, 0.7152, 0.0722};

// One component of an image: where its samples lie, and how many bits below their value.
template <class Sample>
struct Samples {
  const Image& image;
  unsigned plane;
  int offset, step, shift;

  Samples(const Image& of, const GstVideoFormatInfo* finfo, unsigned c)
      : image(of),
        plane(GST_VIDEO_FORMAT_INFO_PLANE(finfo, c)),
        offset(component_offset(finfo, c)),
        step(GST_VIDEO_FORMAT_INFO_PSTRIDE(finfo, c) / static_cast<int>(sizeof(Sample))),
        shift(sample_shift(finfo)) {}

  const Sample* row(int y) const {
    const PlaneView& view = image.plane[plane];
    return reinterpret_cast<const Sample*>(static_cast<const std::byte*>(view.data) + y * view.stride) + offset;
  }
};

template <class Sample>
std::uint64_t row_difference(const Sample* a, const Sample* b, int n, int step, int shift) {
  std::uint64_t sum = 0;
  if (step == 1 && shift == 0) {  // a loop of its own, which the compiler vectorises
    for (int x = 0; x < n; ++x) sum += static_cast<unsigned>(std::abs(a[x] - b[x]));
    return sum;
  }
  for (int x = 0; x < n; ++x) sum += static_cast<unsigned>(std::abs((a[x * step] >> shift) - (b[x * step] >> shift)));
  return sum;
}

template <class Sample>
double luma_difference(const Image& a, const Image& b, const GstVideoInfo& info) {
  const Samples<Sample> luma_a(a, info.finfo, 0), luma_b(b, info.finfo, 0);
  std::uint64_t sum = 0;
  for (int y = 0; y < info.height; ++y)
    sum += row_difference(luma_a.row(y), luma_b.row(y), info.width, luma_a.step, luma_a.shift);
  return static_cast<double>(sum);
}

template <class Sample>
double rgb_difference(const Image& a, const Image& b, const GstVideoInfo& info) {
  const auto all = [&](const Image& image) {
    return std::array{Samples<Sample>(image, info.finfo, 0), Samples<Sample>(image, info.finfo, 1),
                      Samples<Sample>(image, info.finfo, 2)};
  };
  const auto colours_a = all(a), colours_b = all(b);
  double sum = 0;
  for (int y = 0; y < info.height; ++y) {
    std::array<const Sample*, 3> row_a, row_b;
    for (int c = 0; c < 3; ++c) row_a[c] = colours_a[c].row(y), row_b[c] = colours_b[c].row(y);
    for (int x = 0; x < info.width; ++x) {
      double difference = 0;
      for (int c = 0; c < 3; ++c) {
        const int at = x * colours_a[c].step;
        difference += bt709[c] * ((row_a[c][at] >> colours_a[c].shift) - (row_b[c][at] >> colours_a[c].shift));
      }
      sum += std::abs(difference);
    }
  }
  return sum;
}

}  // namespace

double mean_luma_difference(const Image& a, const Image& b, const GstVideoInfo& info) {
  const int bits = GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, 0);
  const bool wide = bits > 8, rgb = GST_VIDEO_INFO_IS_RGB(&info);
  double range = std::ldexp(1.0, bits) - 1;
  if (GST_VIDEO_INFO_IS_YUV(&info)) {
    gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
    gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offset, scale);
    range = scale[0];
  }
  const double sum = rgb ? wide ? rgb_difference<std::uint16_t>(a, b, info) : rgb_difference<std::uint8_t>(a, b, info)
                     : wide ? luma_difference<std::uint16_t>(a, b, info)
                            : luma_difference<std::uint8_t>(a, b, info);
  return sum / range / info.width / info.height;
}

}  // namespace convolve
