// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What CUDA's register kernels are given: filters padded to a width class, and grids that cover each pixel once.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cuda/register/row_stream.hpp"
#include "cuda/register/tile_args.hpp"

namespace {

using namespace convolve;
using cuda::PaddedFilter;
using cuda::RegisterTileArgs;
using cuda::row_stream_pixels;
using cuda::RowStreamArgs;

Filter counting(int depth, int height, int width) {
  TapArray array{.depth = depth, .height = height, .width = width, .taps = {}};
  for (int i = 1; i <= depth * height * width; ++i) array.taps.push_back(Tap::integer(i));
  return Filter(array, {});
}

PlanDesc desc_of(Filter filter, SampleType type, const std::vector<int>& components, int width, int height) {
  PlanDesc desc;
  desc.layout.type = type;
  desc.layout.bits = type == SampleType::u16 ? 16 : 8;
  for (const int n : components) {
    PlaneLayout& plane = desc.layout.plane[desc.layout.planes++];
    plane.components = n;
    for (int c = 0; c < n; ++c) plane.component[c] = {.offset = c, .step = n, .width = width, .height = height};
    width = (width + 1) / 2, height = (height + 1) / 2;
  }
  desc.filter = std::move(filter);
  return desc;
}

struct Filled {
  PaddedFilter padded;
  std::unique_ptr<RegisterTileArgs> args = std::make_unique<RegisterTileArgs>();
  int blocks = 0;
};
Filled fill(const PlanDesc& desc) {
  Filled filled{.padded = cuda::pad_filter(desc.filter)};
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, desc.border == Border::constant);
  filled.blocks = fill_register_tile(*filled.args, desc, arithmetic, filled.padded);
  return filled;
}

TEST(RegisterTileArgs, WidthClassesHoldTheWholeFilter) {
  for (int width = 1; width <= 15; ++width) {
    const PaddedFilter padded = cuda::pad_filter(counting(1, 3, width));
    const int centre = width / 2;  // taps to the left of the centre; to its right there are no more
    EXPECT_GE(padded.width / 2, centre);
    EXPECT_EQ(padded.width, width <= 3 ? 3 : width <= 5 ? 5 : width <= 7 ? 7 : 15) << width;
    EXPECT_EQ(padded.width, cuda::register_classes[padded.index]);
  }
  EXPECT_TRUE(cuda::pad_filter(counting(1, 5, 5)).square);
  EXPECT_TRUE(cuda::pad_filter(counting(1, 1, 5)).square);
  EXPECT_FALSE(cuda::pad_filter(counting(1, 7, 5)).square);
  EXPECT_TRUE(cuda::pad_filter(counting(2, 5, 5)).square);
  EXPECT_EQ(cuda::pad_filter(counting(2, 5, 5)).sums, 2);
}

// Tap (x - centre, y, t) stands in row `height * t + y + top`, and all else is 0.
TEST(RegisterTileArgs, TapsStandAroundTheCentre) {
  for (const int width : {1, 3, 4, 7})
    for (const int depth : {1, 2})
      for (const int top : {0, 2}) {
        const int height = 3, columns = 7, rows = height + top;
        const Filter filter = counting(depth, height, width);
        std::vector<double> taps;
        for (int i = 1; i <= depth * height * width; ++i) taps.push_back(i);
        std::vector<float> padded(depth * rows * columns, 0.f);
        cuda::pad_taps(taps, filter, columns, rows, top, padded.data());
        for (int i = 0; i < static_cast<int>(padded.size()); ++i) {
          const int x = i % columns - columns / 2 + filter.centre_x(), row = i / columns;
          const int t = row / rows, y = row % rows - top;
          const bool inside = x >= 0 && x < width && y >= 0;
          EXPECT_EQ(padded[i], inside ? (t * height + y) * width + x + 1 : 0) << width << " taps, " << i;
        }
      }
}

TEST(RegisterTileArgs, FramesThatFactorHaveWeights) {
  TapArray array{.depth = 3, .height = 1, .width = 3, .taps = {}};
  for (const int t : {1, 2, 4})
    for (const int x : {3, 5, 7}) array.taps.push_back(Tap::integer(t * x));
  const Filled filled = fill(desc_of(Filter(array, {}), SampleType::u8, {1}, 64, 64));
  ASSERT_EQ(filled.args->combined, 3);
  ASSERT_EQ(filled.args->sums, 1);
  for (int t = 0; t < 3; ++t)
    for (int x = 0; x < 3; ++x)
      EXPECT_EQ(filled.args->time[t] * filled.args->taps[x], (1 << t) * (3 + 2 * x)) << t << ' ' << x;
}

// A block's tile, as tile.cuh finds it.
TEST(RegisterTileArgs, TilesCoverEachPixelOnce) {
  const std::vector<std::vector<int>> layouts{{1}, {1, 2}, {1, 1, 1}, {3}, {4}};
  for (const SampleType type : {SampleType::u8, SampleType::u16, SampleType::f32})
    for (const auto& components : layouts)
      for (const int width : {1, 256, 401})
        for (const int taps : {3, 15}) {
          const int bytes = bytes_per_sample(type);
          const Filled filled = fill(desc_of(counting(1, 1, taps), type, components, width, 77));
          int blocks = 0;
          for (int p = 0; p < filled.args->planes; ++p) {
            const cuda::RegisterTilePlane& grid = filled.args->grid[p];
            const cuda::SamplePlane& plane = filled.args->plane[p];
            EXPECT_EQ(grid.first_block, blocks);
            const int tile_width = bytes == 1 && plane.components == 1 ? 256 : 128;
            const int tile_height = 4 * cuda::register_rows(bytes, plane.components, filled.padded.width);
            EXPECT_TRUE(grid.blocks_x * tile_width >= plane.width && (grid.blocks_x - 1) * tile_width < plane.width);
            EXPECT_TRUE(grid.blocks_y * tile_height >= plane.height &&
                        (grid.blocks_y - 1) * tile_height < plane.height);
            blocks += grid.blocks_x * grid.blocks_y;
          }
          EXPECT_EQ(filled.blocks, blocks);
        }
}

TEST(RegisterTileArgs, TooManyBlocksAreRefused) {
  EXPECT_THROW(fill(desc_of(counting(1, 3, 3), SampleType::u8, {1}, 1 << 28, 1 << 28)), PlanError);
}

// A warp makes args.rows rows of a strip; the last of a plane may have less to do, and none has nothing.
TEST(RowStream, WarpsCoverEachRowOfEachStrip) {
  for (const auto& components : std::vector<std::vector<int>>{{1}, {1, 2}, {3}, {4}})
    for (const int width : {3, 5, 7})
      for (const int pixels : {64, 1920, 3840})
        for (const int resident : {1, 8}) {
          const PlanDesc desc = desc_of(counting(1, width, width), SampleType::u8, components, pixels, 1080);
          const Filled filled = fill(desc);
          RowStreamArgs args{};
          args.planes = desc.layout.planes;
          std::copy_n(filled.args->plane, args.planes, args.plane);
          const int blocks =
              lay_out_row_stream(args, Border::reflect_101, SampleType::u8, width, row_stream_pixels, 132, resident);
          ASSERT_GT(blocks, 0);
          ASSERT_GT(args.rows, 0);
          int first = 0;
          for (int p = 0; p < args.planes; ++p) {
            const cuda::RowStreamPlane& grid = args.grid[p];
            EXPECT_EQ(grid.first_block, first);
            const int strip = 32 * cuda::row_stream_pixels(args.plane[p].components, width);
            EXPECT_TRUE(grid.strips * strip >= args.plane[p].width && (grid.strips - 1) * strip < args.plane[p].width);
            first += (grid.strips * ((args.plane[p].height - 1) / args.rows + 1) + cuda::row_stream_warps - 1) /
                     cuda::row_stream_warps;
          }
          EXPECT_EQ(blocks, first);
        }
}

TEST(RowStream, RowsThatAreNoWholeVectorsAreLeftToTheTile) {
  const PlanDesc desc = desc_of(counting(1, 3, 3), SampleType::u8, {1}, 1921, 1080);
  const Filled filled = fill(desc);
  RowStreamArgs args{};
  args.planes = 1;
  args.plane[0] = filled.args->plane[0];
  EXPECT_EQ(lay_out_row_stream(args, Border::reflect_101, SampleType::u8, 3, row_stream_pixels, 132, 8), 0);
}

}  // namespace
