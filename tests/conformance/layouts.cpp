// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "layouts.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

namespace conformance {
namespace {

using convolve::Component;
using convolve::FrameLayout;
using convolve::PlaneLayout;
using convolve::SampleType;

constexpr LayoutRow table[] = {
    {"gray8", SampleType::u8, 8, 0, "G"},
    {"luma8", SampleType::u8, 8, 0, "Y"},
    {"gray-alpha8", SampleType::u8, 8, 0, "GA"},
    {"rgb8", SampleType::u8, 8, 0, "GGG"},
    {"rgba8", SampleType::u8, 8, 0, "GGGA"},
    {"rgbx8", SampleType::u8, 8, 0, "GGGx"},
    {"xrgb8", SampleType::u8, 8, 0, "xGGG"},
    {"ayuv8", SampleType::u8, 8, 0, "aYCC"},
    {"red-only8", SampleType::u8, 8, 0, "Gggg"},
    {"copied8", SampleType::u8, 8, 0, "ggga"},
    {"nv12", SampleType::u8, 8, 0, "Y CC/22"},
    {"nv12-luma", SampleType::u8, 8, 0, "Y cc/22"},
    {"nv12-chroma", SampleType::u8, 8, 0, "y CC/22"},
    {"nv16", SampleType::u8, 8, 0, "Y CC/21"},
    {"i420", SampleType::u8, 8, 0, "Y C/22 C/22"},
    {"y41b", SampleType::u8, 8, 0, "Y C/41 C/41"},
    {"a420", SampleType::u8, 8, 0, "Y C/22 C/22 a"},
    {"gbra", SampleType::u8, 8, 0, "G G G A"},
    {"yuy2", SampleType::u8, 8, 0, "YUYV"},
    {"uyvy", SampleType::u8, 8, 0, "UYVY"},
    {"yuy2-luma", SampleType::u8, 8, 0, "YuYv"},
    {"uyvy-chroma", SampleType::u8, 8, 0, "UyVy"},
    {"gray16", SampleType::u16, 16, 0, "G"},
    {"gray10", SampleType::u16, 10, 0, "G"},
    {"gray12-high", SampleType::u16, 12, 4, "G"},
    {"gray9-shifted", SampleType::u16, 9, 3, "G"},
    {"gray-alpha16", SampleType::u16, 16, 0, "GA"},
    {"rgb16", SampleType::u16, 16, 0, "GGG"},
    {"argb64", SampleType::u16, 16, 0, "aGGG"},
    {"ayuv64", SampleType::u16, 16, 0, "AYCC"},
    {"argb64-all", SampleType::u16, 16, 0, "GGGG"},
    {"argb64-none", SampleType::u16, 16, 0, "gggg"},
    {"ayuv64-luma", SampleType::u16, 16, 0, "aYcc"},
    {"ayuv64-colour", SampleType::u16, 16, 0, "ayCC"},
    {"p010", SampleType::u16, 10, 6, "Y CC/22"},
    {"p012", SampleType::u16, 12, 4, "Y CC/22"},
    {"p016", SampleType::u16, 16, 0, "Y CC/22"},
    {"i420-10", SampleType::u16, 10, 0, "Y C/22 C/22"},
    {"i422-12", SampleType::u16, 12, 0, "Y C/21 C/21"},
    {"y210", SampleType::u16, 10, 6, "YUYV"},
    {"y212", SampleType::u16, 12, 4, "YUYV"},
    {"av12", SampleType::u8, 8, 0, "Y CC/22 a"},
    {"yuv9", SampleType::u8, 8, 0, "Y C/44 C/44"},
    {"y412", SampleType::u16, 12, 4, "CYCa"},
    {"gray6", SampleType::u8, 6, 1, "G"},
    {"gray7", SampleType::u8, 7, 0, "G"},
    {"gray-f32", SampleType::f32, 8, 0, "G"},
    {"rgba-f32", SampleType::f32, 8, 0, "GGGA"},
    {"rgba64", SampleType::u16, 16, 0, "GGGa"},
    {"ayuv64-opaque", SampleType::u16, 16, 0, "aYCC"},
};

int divided(int n, char by) {
  const int d = by - '0';
  return (n + d - 1) / d;
}

}  // namespace

std::span<const LayoutRow> layouts() {
  return table;
}

FrameLayout make_layout(const LayoutRow& row, int width, int height, const LevelChoice& levels) {
  FrameLayout layout;
  layout.type = row.type;
  layout.bits = row.bits;
  layout.shift = row.shift;
  const bool real = row.type == SampleType::f32;
  const double step = real ? 1.0 / 256 : std::ldexp(1.0, row.bits - 8);  // what 1 is in 8 bits
  const double full = real ? 1.0 : std::ldexp(1.0, row.bits) - 1;

  for (std::string_view left = row.planes; !left.empty();) {
    const std::string_view text = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(text.size() + 1, left.size()));
    PlaneLayout& plane = layout.plane[layout.planes++];
    const auto slash = text.find('/');
    const std::string_view letters = text.substr(0, slash);
    const bool packed = letters.find_first_of("Uu") != letters.npos;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const char role = static_cast<char>(std::toupper(letters[i]));
      if (packed && i >= 2 && role == 'Y') continue;  // the second luma sample of a pair
      Component& component = plane.component[plane.components++];
      component.offset = static_cast<int>(i);
      component.step = packed ? (role == 'Y' ? 2 : 4) : static_cast<int>(letters.size());
      component.width = packed && role != 'Y' ? divided(width, '2') : width;
      component.height = height;
      if (slash != text.npos) {
        component.width = divided(width, text[slash + 1]);
        component.height = divided(height, text[slash + 2]);
      }
      component.filtered = std::isupper(letters[i]) != 0;
      const bool chroma = role == 'C' || role == 'U' || role == 'V';
      component.zero = role == 'Y' ? 16 * step : chroma ? 128 * step : 0;
      const double range = role == 'Y' ? 219 * step : full;
      component.bias = chroma || role == 'A' ? 0 : levels.bias * range;
      component.ghost = chroma ? component.zero : component.zero + levels.border_value * range;
    }
  }
  return layout;
}

}  // namespace conformance
