// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which of many regions a sample takes its effect from, and at which weight, against the definition in region.hpp: each
// region's pixels by the shape's equation, and the distance to the nearest of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "cpu/regions/owner_map.hpp"

namespace {

using convolve::Region;
using convolve::RegionShape;

constexpr int width = 201, height = 31;

bool holds(const Region& region, std::int64_t x, std::int64_t y) {
  if (x < region.left || x >= region.right || y < region.top || y >= region.bottom) return false;
  if (region.shape == RegionShape::rectangle) return true;
  const auto w = static_cast<double>(region.right - region.left), h = static_cast<double>(region.bottom - region.top);
  const double u = (static_cast<double>(2 * x + 1 - region.left - region.right)) / w;
  const double v = (static_cast<double>(2 * y + 1 - region.top - region.bottom)) / h;
  return u * u + v * v <= 1;
}

/// The distance of each pixel to one region, up to `limit` + 1.
std::vector<int> distances(const Region& region, int limit) {
  std::vector<int> least(width * height, limit + 1);
  for (std::int64_t v = region.top; v < region.bottom; ++v) {
    // The pixels of a row that the region holds are neighbours.
    std::int64_t first = region.left, last = region.right - 1;
    while (first <= last && !holds(region, first, v)) ++first;
    while (last >= first && !holds(region, last, v)) --last;
    if (first > last) continue;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const std::int64_t across = std::max({first - x, x - last, std::int64_t{0}}), down = std::abs(v - y);
        least[y * width + x] = std::min(least[y * width + x], static_cast<int>(std::max(across, down)));
      }
  }
  return least;
}

struct Sample {
  int weight = 0, owner = -1;
};

/// The largest weight of each sample of step x step pixels, and the first region that has it.
std::vector<Sample> expected(const std::vector<std::vector<int>>& distances, int feather, int step) {
  const int columns = (width + step - 1) / step, rows = (height + step - 1) / step;
  std::vector<Sample> samples(static_cast<std::size_t>(columns) * rows);
  for (std::size_t r = 0; r < distances.size(); ++r)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int d = distances[r][y * width + x];
        const int weight =
            d > feather ? 0 : static_cast<int>(std::nearbyint(256.0 * (feather + 1 - d) / (feather + 1)));
        Sample& sample = samples[static_cast<std::size_t>(y / step) * columns + x / step];
        // Regions come in order, so that an equal weight of a later one changes nothing.
        if (weight > sample.weight) sample = {weight, static_cast<int>(r)};
      }
  return samples;
}

/// Regions of up to 24 x 20 pixels whose left ends lie from `from` to `to`.
std::vector<Region> random_regions(int count, int from, int to, std::mt19937& random) {
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  std::vector<Region> regions;
  for (int i = 0; i < count; ++i) {
    const int left = draw(from, to), top = draw(-40, 50);
    regions.push_back(
        {left, top, left + draw(1, 24), top + draw(1, 20), draw(0, 1) ? RegionShape::ellipse : RegionShape::rectangle});
  }
  return regions;
}

void expect_owners(const std::vector<Region>& regions, int feather) {
  convolve::RegionWeights weights(width, height);
  weights.set(regions, false, feather, false);
  convolve::cpu::OwnerMap map(width, height);
  ASSERT_TRUE(map.set(weights, true, 1)) << "feather " << feather;
  std::vector<std::vector<int>> of_regions;
  for (const Region& region : regions) of_regions.push_back(distances(region, feather));
  for (const int step : {1, 2, 4}) {
    const int columns = (width + step - 1) / step, rows = (height + step - 1) / step;
    const std::vector<Sample> samples = expected(of_regions, feather, step);
    std::vector<std::uint16_t> found(columns);
    std::vector<std::int32_t> owners(columns);
    const convolve::PixelRect& bounds = map.bounds();
    for (int y = 0; y < rows; ++y) {
      const int first = bounds.left / step, last = (bounds.right + step - 1) / step;
      std::fill(found.begin(), found.end(), std::uint16_t{0});
      if (y * step < bounds.bottom && (y + 1) * step > bounds.top)
        map.row({step, step, columns, rows}, y, first, last, found.data() + first, owners.data() + first);
      for (int x = 0; x < columns; ++x) {
        const Sample& wanted = samples[static_cast<std::size_t>(y) * columns + x];
        ASSERT_EQ(found[x], wanted.weight) << "feather " << feather << ", step " << step << ", " << x << ", " << y;
        if (wanted.weight == 0) continue;
        // Layers that reach no pixel are left out: what is told is the box.
        const Region& owner = weights.layers()[owners[x]].box;
        ASSERT_EQ(owner, regions[wanted.owner])
            << "feather " << feather << ", step " << step << ", " << x << ", " << y << ", weight " << wanted.weight;
        ASSERT_TRUE(map.owns(owners[x]));
      }
    }
  }
}

TEST(OwnerMap, GivesEachSampleTheFirstRegionOfTheLargestWeight) {
  std::mt19937 random(1);
  for (const int feather : {0, 1, 5, 40}) expect_owners(random_regions(2000, -60, 260, random), feather);
}

TEST(OwnerMap, TakesTheFirstOfTwoDistancesWithOneWeight) {
  // With a feather of 256 the distances 128 and 129 both weigh 128.
  std::mt19937 random(2);
  for (int turn = 0; turn < 3; ++turn) expect_owners(random_regions(160, 230, 330, random), 256);
  expect_owners(random_regions(160, -420, -120, random), 256);
  expect_owners(random_regions(160, -80, 480, random), 256);
  expect_owners(random_regions(160, 180, 330, random), 255);
}

TEST(OwnerMap, IsNotMadeOfRegionsApart) {
  convolve::RegionWeights weights(width, height);
  convolve::cpu::OwnerMap map(width, height);
  const std::vector<Region> apart = {{0, 0, 20, 20}, {40, 0, 60, 20}, {80, 0, 100, 20, RegionShape::ellipse}};
  weights.set(apart, false, 2, false);
  EXPECT_FALSE(map.set(weights, true, 1));
}

}  // namespace
