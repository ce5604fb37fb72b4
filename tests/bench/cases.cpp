// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <sstream>
#include <string_view>

#include "convolve/preset.hpp"

namespace convolve::bench {
namespace {

/// One plane of `components` interleaved samples; the last `copied` of them are not filtered.
PlaneLayout interleaved(int components, int width, int height, int copied = 0) {
  PlaneLayout plane;
  plane.components = components;
  for (int c = 0; c < components; ++c)
    plane.component[c] = {
        .offset = c, .step = components, .width = width, .height = height, .filtered = c < components - copied};
  return plane;
}

FrameLayout packed(SampleType type, int components, int width, int height, int copied = 0) {
  FrameLayout layout{.type = type, .bits = type == SampleType::u16 ? 16 : 8, .planes = 1};
  layout.plane[0] = interleaved(components, width, height, copied);
  return layout;
}

/// Limited-range levels, as most video has.
void set_levels(Component& component, bool luma, int bits) {
  component.zero = component.ghost = luma ? 16 << (bits - 8) : 1 << (bits - 1);
}

FrameLayout semi_planar(SampleType type, int bits, int shift, int width, int height) {
  FrameLayout layout{.type = type, .bits = bits, .shift = shift, .planes = 2};
  layout.plane[0] = interleaved(1, width, height);
  layout.plane[1] = interleaved(2, (width + 1) / 2, (height + 1) / 2);
  set_levels(layout.plane[0].component[0], true, bits);
  for (int c = 0; c < 2; ++c) set_levels(layout.plane[1].component[c], false, bits);
  return layout;
}

/// Y U Y V where luma comes first, U Y V Y where chroma does.
FrameLayout packed_422(int luma, int width, int height) {
  FrameLayout layout{.planes = 1};
  PlaneLayout& plane = layout.plane[0];
  plane.components = 3;
  plane.component[0] = {.offset = luma, .step = 2, .width = width, .height = height};
  plane.component[1] = {.offset = 1 - luma, .step = 4, .width = (width + 1) / 2, .height = height};
  plane.component[2] = {.offset = 3 - luma, .step = 4, .width = (width + 1) / 2, .height = height};
  for (int c = 0; c < 3; ++c) set_levels(plane.component[c], c == 0, 8);
  return layout;
}

/// Three planes, both of chroma at half of the size.
FrameLayout i420_10(int width, int height) {
  FrameLayout layout{.type = SampleType::u16, .bits = 10, .planes = 3};
  for (int p = 0; p < 3; ++p) {
    layout.plane[p] = p == 0 ? interleaved(1, width, height) : interleaved(1, (width + 1) / 2, (height + 1) / 2);
    set_levels(layout.plane[p].component[0], p == 0, 10);
  }
  return layout;
}

/// Alpha first, then luma and chroma, with their levels; alpha is copied.
FrameLayout ayuv64(int width, int height) {
  FrameLayout layout = packed(SampleType::u16, 4, width, height);
  layout.plane[0].component[0].filtered = false;
  for (int c = 1; c < 4; ++c) set_levels(layout.plane[0].component[c], c == 1, 16);
  return layout;
}

constexpr std::array<LayoutRow, 16> layout_table{{
    {"GRAY8", [](int w, int h) { return packed(SampleType::u8, 1, w, h); }},
    {"NV12", [](int w, int h) { return semi_planar(SampleType::u8, 8, 0, w, h); }},
    {"RGBA", [](int w, int h) { return packed(SampleType::u8, 4, w, h); }},
    {"RGBx", [](int w, int h) { return packed(SampleType::u8, 4, w, h, 1); }},
    {"RGB", [](int w, int h) { return packed(SampleType::u8, 3, w, h); }},
    {"YUY2", [](int w, int h) { return packed_422(0, w, h); }},
    {"UYVY", [](int w, int h) { return packed_422(1, w, h); }},
    {"GRAY16", [](int w, int h) { return packed(SampleType::u16, 1, w, h); }},
    {"ARGB64", [](int w, int h) { return packed(SampleType::u16, 4, w, h); }},
    {"AYUV64", ayuv64},
    {"I420_10", i420_10},
    {"P010", [](int w, int h) { return semi_planar(SampleType::u16, 10, 6, w, h); }},
    {"F32", [](int w, int h) { return packed(SampleType::f32, 1, w, h); }},
    {"GRAY8-odd", [](int w, int h) { return packed(SampleType::u8, 1, w - 2, h); }},
    {"NV12-odd", [](int w, int h) { return semi_planar(SampleType::u8, 8, 0, w - 2, h); }},
    {"RGB-odd", [](int w, int h) { return packed(SampleType::u8, 3, w - 2, h); }},
}};

TapArray make_taps(int depth, int side, auto tap) {
  TapArray array{.depth = depth, .height = side, .width = side, .taps = {}};
  for (int t = 0; t < depth; ++t)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) array.taps.push_back(tap(t, y, x));
  return array;
}

/// Integers of 7 bits and a sign over their sum.
Filter random_integers(int depth, int side) {
  std::mt19937 random(static_cast<unsigned>(side * 16 + depth));
  std::uniform_int_distribution<int> value(-30, 90);
  return Filter(make_taps(depth, side, [&](int, int, int) { return Tap::integer(value(random)); }),
                {.normalize = true});
}

Filter random_reals(int depth, int side) {
  std::mt19937 random(static_cast<unsigned>(side * 16 + depth));
  std::uniform_real_distribution<double> value(-0.3, 0.9);
  return Filter(make_taps(depth, side, [&](int, int, int) { return Tap::real(value(random)); }), {.normalize = true});
}

/// Triangles in x, y and time: their products and sums stay exact at every side.
Filter triangle(int depth, int side) {
  const auto rise = [](int i, int n) { return std::min(i, n - 1 - i) / 2 + 1; };
  return Filter(
      make_taps(depth, side,
                [&](int t, int y, int x) { return Tap::integer(rise(t, depth) * rise(y, side) * rise(x, side)); }),
      {.normalize = true});
}

Filter gaussian(int depth, int side) {
  PresetParameters parameters{.radius = side / 2, .temporal_radius = depth / 2};
  return Filter(make_preset(depth > 1 ? Preset::temporal_denoise : Preset::gaussian_blur, parameters));
}

/// Of rank 2, as unsharp masks, Laplacians and Laplacians of Gaussians are.
Filter unsharp(int, int side) {
  return Filter(make_preset(Preset::unsharp, {.radius = side / 2}));
}

/// All taps equal: running sums will do.
Filter box(int, int side) {
  return Filter(make_preset(Preset::box_blur, {.radius = side / 2}));
}

/// The gradient of two kernels, and the compass of eight.
Bank sobel() {
  const PresetKernels made = make_preset_kernels(Preset::sobel, {});
  return Bank(made.kernels, made.combine);
}
Bank kirsch() {
  const PresetKernels made = make_preset_kernels(Preset::kirsch, {});
  return Bank(made.kernels, made.combine);
}

constexpr std::array<TapsRow, 8> taps_table{{
    {"integer", true, random_integers},
    {"real", true, random_reals},
    {"separable-integer", true, triangle},
    {"separable-real", true, gaussian},
    {"rank-2-real", false, unsharp},
    {"box", false, box},
    {"sobel-magnitude", false, nullptr, sobel},
    {"kirsch-max", false, nullptr, kirsch},
}};

constexpr std::array sides{3, 5, 7, 9, 11, 15};
// Of the sizes that not every algorithm has, on layouts that stand for all.
constexpr std::array large_sides{31, 63, 127, 255};
constexpr std::array<std::string_view, 6> large_layouts{"GRAY8", "NV12", "RGBA", "RGB", "YUY2", "GRAY16"};
// Layouts whose rows show that they are as fast as others of their kind, at the sizes of which speed is asked.
constexpr std::array<std::string_view, 3> kindred_layouts{"UYVY", "AYUV64", "I420_10"};
constexpr std::array kindred_sides{3, 5, 7, 15};
// Frames a little less wide, whose rows are no whole vectors: as fast as others?
constexpr std::array<std::string_view, 3> odd_layouts{"GRAY8-odd", "NV12-odd", "RGB-odd"};
constexpr std::array odd_sides{7, 63, 127};
constexpr std::array<std::string_view, 3> factoring_taps{"separable-real", "rank-2-real", "box"};

bool has(const auto& values, const auto& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

std::span<const LayoutRow> layouts() {
  return layout_table;
}
std::span<const TapsRow> tap_classes() {
  return taps_table;
}

std::string Case::name() const {
  std::ostringstream name;
  name << layout->name << '/' << side << 'x' << side;
  if (depth > 1) name << 'x' << depth;
  name << '/' << taps->nick;
  return name.str();
}

PlanDesc Case::desc(int width, int height) const {
  PlanDesc desc;
  desc.layout = layout->make(width, height);
  if (taps->make_bank) desc.bank = taps->make_bank();
  desc.filter = taps->make_bank ? desc.bank.kernels().front() : taps->make(depth, side);
  return desc;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const LayoutRow& layout : layout_table) {
    if (has(odd_layouts, layout.name)) {
      for (int side : odd_sides)
        for (const TapsRow& taps : taps_table)
          if (has(factoring_taps, taps.nick)) cases.push_back({&layout, &taps, side, 1});
      continue;
    }
    const bool kindred = has(kindred_layouts, layout.name);
    const auto wanted = [kindred](int side) { return !kindred || has(kindred_sides, side); };
    for (int side : sides)
      for (const TapsRow& taps : taps_table)
        if (wanted(side) && (taps.make || side == 3)) cases.push_back({&layout, &taps, side, 1});
    for (int side : {1, 3, 7})
      for (const TapsRow& taps : taps_table)
        if (wanted(side) && taps.frames) cases.push_back({&layout, &taps, side, 5});
    if (!has(large_layouts, layout.name)) continue;
    for (int side : large_sides)
      for (const TapsRow& taps : taps_table)
        if ((taps.make && side <= max_dense_taps) || has(factoring_taps, taps.nick))
          cases.push_back({&layout, &taps, side, 1});
  }
  return cases;
}

Work work_of(const PlanDesc& desc) {
  double samples = 0;
  for (int p = 0; p < desc.layout.planes; ++p)
    for (int c = 0; c < desc.layout.plane[p].components; ++c) {
      const Component& component = desc.layout.plane[p].component[c];
      if (component.filtered) samples += static_cast<double>(component.width) * component.height;
    }
  const double frame = static_cast<double>(FrameShape(desc.layout).bytes);
  return {
      .macs = samples * desc.filter.count() * static_cast<double>(std::max<std::size_t>(1, desc.bank.kernels().size())),
      .bytes = frame * (desc.filter.depth() + 1)};
}

FrameShape::FrameShape(const FrameLayout& layout) : planes(layout.planes) {
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneLayout& plane = layout.plane[p];
    std::ptrdiff_t samples = 0;
    int rows = 0;
    for (int c = 0; c < plane.components; ++c) {
      const Component& k = plane.component[c];
      samples = std::max<std::ptrdiff_t>(samples, k.offset + static_cast<std::ptrdiff_t>(k.width - 1) * k.step + 1);
      rows = std::max(rows, k.height);
    }
    stride[p] = (samples * bytes_per_sample(layout.type) + 255) / 256 * 256;
    offset[p] = static_cast<std::ptrdiff_t>(bytes);
    bytes += static_cast<std::size_t>(stride[p]) * rows;
  }
}

Image FrameShape::at(void* base) const {
  Image image;
  for (int p = 0; p < planes; ++p) image.plane[p] = {static_cast<char*>(base) + offset[p], stride[p]};
  return image;
}

std::vector<unsigned char> random_frames(const FrameLayout& layout, std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  std::mt19937_64 random(1);
  if (layout.type == SampleType::f32) {
    for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
      const float value = static_cast<float>(random() >> 40) * 0x1p-16f;
      std::memcpy(&data[i], &value, 4);
    }
    return data;
  }
  const bool all_bits = layout.type == SampleType::u8 || layout.bits + layout.shift == 16;
  const std::uint64_t used =
      all_bits ? ~std::uint64_t{0} : ((std::uint64_t{1} << layout.bits) - 1) * 0x0001000100010001;
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    const std::uint64_t value = random() & used;
    std::memcpy(&data[i], &value, 8);
  }
  return data;
}

}  // namespace convolve::bench
