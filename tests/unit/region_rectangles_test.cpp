// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of rectangles are told: the factors that stand for a division, against the division, and which lists
// they do not serve.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "cuda/regions/rectangles.hpp"

namespace {

/// A list of rectangles of a plane of bytes, or of the chroma of 4:2:0, with cells along their longer side.
struct List {
  convolve::cuda::RegionArgs args{};
  std::vector<convolve::cuda::RegionLayer> layers;

  List(int width, int height, int subsampling = 0) {
    args.parts = 1;
    args.words = 2;
    args.width = width;
    args.height = height;
    args.effect = convolve::RegionEffect::blur;
    convolve::cuda::RegionPart& part = args.part[0];
    part.period = part.components = 1;
    part.period_shift = part.shift_y = part.slot[0].shift_x = static_cast<std::uint8_t>(subsampling);
    part.samples = ((width - 1) >> subsampling) + 1;
    part.height = ((height - 1) >> subsampling) + 1;
    part.by_period = 1;
  }
  void add(const convolve::PixelRect& rect, int cells) {
    const convolve::CellGrid grid({rect.left, rect.top, rect.right, rect.bottom}, cells, args.width, args.height);
    convolve::cuda::RegionLayer& layer = layers.emplace_back();
    layer.x = grid.x;
    layer.y = grid.y;
    layer.box = layer.window = rect;
  }
  bool served() { return convolve::cuda::RectangleList().set(args, layers, 1, 90); }
};

TEST(RectangleList, ServesRectanglesThatShareNoSample) {
  const auto served = [](const convolve::PixelRect& second, int subsampling) {
    List list(640, 480, subsampling);
    list.add({10, 20, 111, 121}, 3);
    list.add(second, 1);
    return list.served();
  };
  EXPECT_TRUE(served({111, 20, 200, 121}, 0));
  EXPECT_TRUE(served({10, 121, 111, 200}, 0));
  EXPECT_FALSE(served({110, 20, 200, 121}, 0));
  EXPECT_FALSE(served({10, 120, 111, 200}, 0));
  EXPECT_FALSE(served({40, 40, 90, 90}, 0));
  // A sample of chroma covers pixels 110 and 111.
  EXPECT_FALSE(served({111, 20, 200, 121}, 1));
  EXPECT_TRUE(served({112, 20, 200, 121}, 1));
}

TEST(RectangleList, LeavesSmallCellsAndLongListsToOthers) {
  List small(640, 480);
  small.add({0, 0, 70, 70}, 10);
  EXPECT_FALSE(small.served());
  List many(640, 480);
  for (int i = 0; i < convolve::cuda::max_items; ++i) many.add({20 * i, 0, 20 * i + 16, 40}, 1);
  EXPECT_TRUE(many.served());
  many.add({0, 100, 16, 140}, 1);
  EXPECT_FALSE(many.served());
}

TEST(RectangleList, TilesCoverEachRowOnce) {
  for (const int capability : {75, 90})
    for (const int side : {64, 600, 2100}) {
      List rectangle(3840, 2160);
      rectangle.add({3, 5, 3 + side, 5 + side}, 6);
      convolve::cuda::RectangleList list;
      ASSERT_TRUE(list.set(rectangle.args, rectangle.layers, 1, capability));
      const convolve::cuda::RectangleArgs& args = list.args();
      const int rows = args.tile_rows, columns = (3 + side + 127) / 128;
      EXPECT_EQ(rows % convolve::cuda::rectangle_warps, 0);
      EXPECT_LE(rows, capability == 90 ? convolve::cuda::max_rectangle_rows : 32);
      EXPECT_EQ(args.blocks - args.means_blocks, columns * ((side + rows - 1) / rows));
    }
}

TEST(RectangleList, FilterOfManyBlocksIsWrittenAlone) {
  const auto alone = [](convolve::RegionEffect effect, int side, int capability) {
    List rectangle(3840, 2160);
    rectangle.args.effect = effect;
    rectangle.add({0, 0, side, side}, 6);
    convolve::cuda::RectangleList list;
    EXPECT_TRUE(list.set(rectangle.args, rectangle.layers, 1, capability));
    EXPECT_EQ(list.args().launched, list.args().blocks);
    return list.args().writes_alone;
  };
  EXPECT_TRUE(alone(convolve::RegionEffect::filter, 2160, 90));
  EXPECT_FALSE(alone(convolve::RegionEffect::filter, 1000, 90));
  EXPECT_FALSE(alone(convolve::RegionEffect::filter, 2160, 80));
  EXPECT_FALSE(alone(convolve::RegionEffect::fill, 2160, 90));
}

TEST(RectangleList, FactorsDivideToWithinTwoUnits) {
  std::mt19937 random(2);
  for (int turn = 0; turn < 300; ++turn) {
    const int width = 64 + static_cast<int>(random() % 8000), height = 64 + static_cast<int>(random() % 5000);
    List rectangle(width, height);
    rectangle.add({0, 0, width, height}, 1 + static_cast<int>(random() % 2));
    convolve::cuda::RectangleList list;
    ASSERT_TRUE(list.set(rectangle.args, rectangle.layers, 1, 90));
    const convolve::cuda::RectangleAxis& axis = list.args().item[0].x;
    const convolve::CellAxis& cells = rectangle.layers[0].x;
    ASSERT_EQ(axis.count, cells.count());
    for (int cell = 1; cell < axis.count; ++cell) {
      const std::int64_t distance = cells.centre(cell) - cells.centre(cell - 1);
      const int which = cell + 1 == axis.count ? 1 : 0;
      for (int i = 0; i < 50; ++i) {
        const std::uint64_t n = i == 0 ? static_cast<std::uint64_t>(distance) : random() % (distance + 1);
        const std::uint64_t exact = (n << 31) / static_cast<std::uint64_t>(distance);
        const std::uint32_t shifted = static_cast<std::uint32_t>(n) << axis.shift[which];
        const std::uint64_t found = std::uint64_t{shifted} * axis.factor[which] >> 32;
        ASSERT_LE(found, exact);
        ASSERT_LE(exact - found, 2u) << n << " / " << distance;
      }
    }
  }
}

}  // namespace
