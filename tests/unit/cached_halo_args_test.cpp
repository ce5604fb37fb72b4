// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What CUDA's cached-halo kernels are given: taps padded to a compiled radius, and tiles that cover each sample once.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cuda/cached_halo/args.hpp"

namespace {

using namespace convolve;
using namespace convolve::cuda::cached_halo_tuning;
using cuda::HaloArgs;

/// A filter of taps 1, 2, 3... in order.
Filter counting(int depth, int height, int width) {
  TapArray array{.depth = depth, .height = height, .width = width, .taps = {}};
  for (int i = 1; i <= depth * height * width; ++i) array.taps.push_back(Tap::integer(i));
  return Filter(array, {});
}

PlaneLayout interleaved(int components, int width, int height) {
  PlaneLayout plane;
  plane.components = components;
  for (int c = 0; c < components; ++c)
    plane.component[c] = {.offset = c, .step = components, .width = width, .height = height};
  return plane;
}

PlanDesc desc_of(Filter filter, const std::vector<PlaneLayout>& planes, SampleType type = SampleType::u8) {
  PlanDesc desc;
  desc.layout.type = type;
  desc.layout.bits = type == SampleType::u16 ? 16 : 8;
  for (const PlaneLayout& plane : planes) desc.layout.plane[desc.layout.planes++] = plane;
  desc.filter = std::move(filter);
  return desc;
}

using Args = HaloArgs<cuda::max_filter_taps>;
struct Filled {
  std::unique_ptr<Args> args = std::make_unique<Args>();
  int tiles = 0;
};
Filled fill(const PlanDesc& desc, int radius) {
  Filled filled;
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, desc.border == Border::constant);
  filled.tiles = fill_halo_args(*filled.args, filled.args->taps, desc, arithmetic, radius);
  return filled;
}

TEST(CachedHaloArgs, ARadiusIsTheLeastThatIsCompiled) {
  const auto radius = [](int width, SampleType type, bool many) {
    return cuda::compiled_radius(counting(1, 1, width), type, many);
  };
  EXPECT_EQ(radius(1, SampleType::u8, false), 1);
  EXPECT_EQ(radius(3, SampleType::u8, false), 1);
  EXPECT_EQ(radius(9, SampleType::u8, false), 4);
  EXPECT_EQ(radius(11, SampleType::u8, false), 7);
  EXPECT_EQ(radius(15, SampleType::f32, false), 7);
  EXPECT_EQ(radius(3, SampleType::u16, false), 2);  // 16 bits have fewer
  EXPECT_EQ(radius(7, SampleType::u16, false), 4);
  EXPECT_EQ(radius(3, SampleType::u8, true), 7);
}

TEST(CachedHaloArgs, ManyTapsAreCountedAsTheyArePadded) {
  EXPECT_FALSE(cuda::has_many_taps(counting(1, 15, 15), SampleType::u8));
  EXPECT_FALSE(cuda::has_many_taps(counting(5, 9, 5), SampleType::u8));  // 225 taps
  EXPECT_TRUE(cuda::has_many_taps(counting(5, 9, 6), SampleType::u8));   // rows of 7: 315
}

// Tap (x - centre, y, t) stands 2 * radius + 1 taps a row apart, and all else is 0.
TEST(CachedHaloArgs, RowsOfTapsArePaddedAroundTheCentre) {
  for (const int width : {1, 2, 5, 6, 8})
    for (const int depth : {1, 3}) {
      const int height = 4, radius = 7, pitch = 2 * radius + 1;
      const PlanDesc desc = desc_of(counting(depth, height, width), {interleaved(1, 64, 64)});
      const Filled filled = fill(desc, radius);
      EXPECT_FALSE(filled.args->combine);
      int found = 0;
      for (int i = 0; i < depth * height * pitch; ++i) {
        const int row = i / pitch, x = i % pitch - radius + desc.filter.centre_x();
        const bool inside = x >= 0 && x < width;
        EXPECT_EQ(filled.args->taps[i], inside ? row * width + x + 1 : 0) << width << " taps, " << i;
        found += inside;
      }
      EXPECT_EQ(found, depth * height * width);
    }
}

TEST(CachedHaloArgs, FramesThatFactorHaveWeights) {
  TapArray array{.depth = 3, .height = 1, .width = 3, .taps = {}};
  for (const int t : {1, 2, 4})
    for (const int x : {3, 5, 7}) array.taps.push_back(Tap::integer(t * x));
  const Filled filled = fill(desc_of(Filter(array, {}), {interleaved(1, 64, 64)}), 1);
  ASSERT_TRUE(filled.args->combine);
  for (int t = 0; t < 3; ++t)
    for (int x = 0; x < 3; ++x)
      EXPECT_EQ(filled.args->weight[t] * filled.args->taps[x], (1 << t) * (3 + 2 * x)) << t << ' ' << x;
}

// A tile, as cached_halo.cu finds it: its group by the first tiles, its place in it row by row.
TEST(CachedHaloArgs, TilesCoverEachSampleOnce) {
  PlaneLayout packed = interleaved(3, 130, 9);  // as YUY2 has them: luma at each second byte, chroma at each fourth
  packed.component[0] = {.offset = 0, .step = 2, .width = 130, .height = 9};
  packed.component[1] = {.offset = 1, .step = 4, .width = 65, .height = 9};
  packed.component[2] = {.offset = 3, .step = 4, .width = 65, .height = 9};
  const std::vector<std::vector<PlaneLayout>> frames{
      {interleaved(1, 1, 1)},    {interleaved(1, 128, 32)}, {interleaved(1, 129, 33), interleaved(2, 65, 17)},
      {interleaved(3, 300, 50)}, {interleaved(4, 257, 8)},  {packed}};
  for (const auto& planes : frames) {
    const Filled filled = fill(desc_of(counting(1, 3, 3), planes), 1);
    const Args& args = *filled.args;
    std::vector<std::vector<int>> times(args.frame.components);
    for (int c = 0; c < args.frame.components; ++c)
      times[c].resize(args.frame.component[c].width * args.frame.component[c].height);
    for (int tile = 0; tile < filled.tiles; ++tile) {
      int g = 0;
      while (g + 1 < args.groups && tile >= args.frame.component[args.group[g + 1].first].first_tile) ++g;
      const auto [first, count] = args.group[g];
      const cuda::ComponentArgs& leader = args.frame.component[first];
      const int place = tile - leader.first_tile, height = warps / count * rows;
      const int left = place % leader.tiles_x * strip_width, top = place / leader.tiles_x * height;
      for (int c = first; c < first + count; ++c)
        for (int y = top; y < std::min(top + height, leader.height); ++y)
          for (int x = left; x < std::min(left + strip_width, leader.width); ++x) ++times[c][y * leader.width + x];
    }
    for (const std::vector<int>& component : times)
      for (const int n : component) ASSERT_EQ(n, 1);
  }
}

TEST(CachedHaloArgs, TooManyTilesAreRefused) {
  EXPECT_THROW(fill(desc_of(counting(1, 3, 3), {interleaved(1, 1 << 30, 1 << 30)}), 1), PlanError);
}

TEST(CachedHaloArgs, IntegersAreReadAsTheBitsOfAFloat) {
  PlaneLayout plane = interleaved(2, 8, 8);
  plane.component[1].zero = 128, plane.component[1].ghost = 130;
  const Filled bytes = fill(desc_of(counting(1, 3, 3), {plane}), 1);
  EXPECT_EQ(bytes.args->base[0], 0x1p23f);
  EXPECT_EQ(bytes.args->base[1], 0x1p23f + 128);
  EXPECT_EQ(bytes.args->ghost[1], 2);
  const Filled floats = fill(desc_of(counting(1, 3, 3), {plane}, SampleType::f32), 1);
  EXPECT_EQ(floats.args->base[0], 0);
  EXPECT_EQ(floats.args->base[1], 128);
}

TEST(CachedHaloArgs, WhatIsNotServedSaysWhy) {
  const auto why_not = [](const PlanDesc& desc, std::size_t parameter_bytes) {
    std::string why;
    return cuda::serves_cached_halo(parameter_bytes, desc, why) ? "" : why;
  };
  PlanDesc desc = desc_of(counting(1, 3, 3), {interleaved(1, 64, 64)});
  EXPECT_EQ(why_not(desc, 4096), "");
  desc.layout.plane[0].component[0].zero = 0.5;
  EXPECT_EQ(why_not(desc, 4096), "a zero level that is no whole number");
  desc = desc_of(counting(1, 3, 3), {interleaved(1, 64, 64)});
  desc.layout.bits = 6, desc.layout.shift = 2;
  EXPECT_EQ(why_not(desc, 4096), "8-bit samples that do not end at bit 0");
  desc = desc_of(counting(5, 9, 6), {interleaved(1, 64, 64)});
  EXPECT_NE(why_not(desc, 4096).find("CUDA 12.1"), std::string::npos);
  EXPECT_EQ(why_not(desc, 32764), "");
}

TEST(CachedHaloArgs, AlignmentIsThatOfAllFrames) {
  const PlanDesc desc = desc_of(counting(3, 1, 1), {interleaved(1, 64, 64), interleaved(2, 32, 32)});
  const Filled filled = fill(desc, 1);
  alignas(16) char memory[64];
  const Image aligned{.plane = {PlaneView{memory, 64}, PlaneView{memory + 16, -64}}};
  const Image odd{.plane = {PlaneView{memory + 32, 64}, PlaneView{memory, 72}}};
  const Window window{.depth = 3, .image = {nullptr, &aligned, &odd}};
  bind_halo(*filled.args, 2, window, aligned);
  EXPECT_TRUE(filled.args->in_aligned[0]);
  EXPECT_FALSE(filled.args->in_aligned[1]);
  EXPECT_TRUE(filled.args->out_aligned[0] && filled.args->out_aligned[1]);
  EXPECT_EQ(filled.args->frame.in[2][1].stride, 72);
  EXPECT_EQ(filled.args->frame.in[0][0].data, nullptr);
}

}  // namespace
