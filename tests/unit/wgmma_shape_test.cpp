// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The taps of `matrix` on compute capability 9.0 as they lie in shared memory: multiplied by windows of an image as the
// hardware addresses both, they give the filter's sums. And that every filter of a size finds a shape whose tiles fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cuda/matrix/hopper/shape.hpp"

namespace convolve::cuda::wgmma {
namespace {

constexpr int strips = 8;

/// A matrix in shared memory: blocks of 8 rows of 16 bytes, `across` from one to the next along k, `down` along the
/// rows.
template <class Byte>
struct Blocks {
  const Byte* begin;
  int across, down;
  int at(int row, int k) const { return begin[row / 8 * down + k / 16 * across + row % 8 * 16 + k % 16]; }
};

/// The sums of 8 strips by columns of taps, 16 an output row.
class Sums {
 public:
  Sums(const std::vector<std::uint8_t>& input, const std::vector<std::uint8_t>& taps, WgmmaShape shape)
      : input_(input), taps_(taps), shape_(shape), rows_(shape.height + group_rows - 1) {
    shape.has_long_windows() ? add_long_windows() : add_short_windows();
  }
  int of(int strip, int row, int pixel) const {
    const int block = shape_.has_long_windows() ? group_rows - 1 - row : row;
    for (int n = 0; n < 16; ++n)
      if (4 * (n / 2 % 4) + 2 * (n / 8) + n % 2 == pixel) return sum_[strip][16 * block + n];
    return 0;
  }

 private:
  void add_short_windows() {
    for (int r = 0; r < rows_; ++r)
      multiply(std::min(r + 1, group_rows), {input_.data() + r * shape_.pitch(), 16, 0},
               {taps() + (rows_ - 1 - r) * 512, 128, 256});
  }
  void add_long_windows() {
    for (int r = 0; r < rows_; ++r) {
      const std::uint8_t* row = input_.data() + r * shape_.pitch();
      const int blocks = std::min(rows_ - r, group_rows);
      multiply(blocks, {row, 16, 0}, {taps() + r * 512, 128, 256});
      if (r % 2 == 0) multiply(blocks, {row + 32, shape_.pitch(), 0}, {taps() + shape_.ends_at() + r * 256, 256, 128});
    }
  }
  void multiply(int blocks, Blocks<std::uint8_t> left, Blocks<std::int8_t> right) {
    for (int strip = 0; strip < strips; ++strip)
      for (int n = 0; n < 16 * blocks; ++n)
        for (int k = 0; k < 32; ++k) sum_[strip][n] += left.at(strip, k) * right.at(n, k);
  }
  const std::int8_t* taps() const { return reinterpret_cast<const std::int8_t*>(taps_.data()); }

  const std::vector<std::uint8_t>&input_, &taps_;
  WgmmaShape shape_;
  int rows_;
  int sum_[strips][16 * group_rows] = {};
};

Filter filter_of(int height, int width, std::mt19937& random) {
  std::vector<Tap> taps;
  for (int i = 0; i < height * width; ++i)
    taps.push_back(Tap::fraction(std::uniform_int_distribution<int>(-120, 120)(random), 1));
  return Filter(TapArray{1, height, width, taps});
}

/// The filter's sum of an output row of the input, and a column counted from the first strip's first pixel.
int expected(const Filter& filter, const std::vector<std::uint8_t>& input, WgmmaShape shape, int row, int column) {
  double sum = 0;
  for (int y = 0; y < filter.height(); ++y)
    for (int x = 0; x < filter.width(); ++x) {
      const int in_row = row + shape.height / 2 + y - filter.height() / 2;
      const int in_column = column + shape.margin + x - filter.width() / 2;
      sum += filter.taps()[static_cast<std::size_t>(y) * filter.width() + x] *
             input[static_cast<std::size_t>(in_row) * shape.pitch() + in_column];
    }
  return static_cast<int>(sum);
}

void expect_sums_of_filter(const Filter& filter, WgmmaShape shape, std::mt19937& random) {
  SCOPED_TRACE(filter.shape() + " of " + std::to_string(shape.height) + " rows, margin " +
               std::to_string(shape.margin));
  const int limbs = 2;
  const auto limb = [&](int d, std::size_t tap) { return d == 1 ? static_cast<std::int32_t>(filter.taps()[tap]) : 0; };
  const std::vector<std::uint8_t> bytes = right_matrices(filter, limbs, shape, limb);
  ASSERT_EQ(bytes.size(), static_cast<std::size_t>(limbs * shape.taps_bytes()));
  const auto low = bytes.begin() + shape.taps_bytes();
  ASSERT_TRUE(std::all_of(bytes.begin(), low, [](std::uint8_t byte) { return byte == 0; }));
  std::vector<std::uint8_t> input(static_cast<std::size_t>((shape.height + group_rows - 1) * shape.pitch()));
  for (std::uint8_t& sample : input) sample = static_cast<std::uint8_t>(random());
  const std::vector<std::uint8_t> taps(low, bytes.end());
  const Sums sums(input, taps, shape);
  for (int row = 0; row < group_rows; ++row)
    for (int column = 0; column < 16 * strips; ++column)
      ASSERT_EQ(sums.of(column / 16, row, column % 16), expected(filter, input, shape, row, column))
          << "row " << row << ", column " << column;
}

TEST(WgmmaShape, ProductsOfWindowsAndTapsAreTheFiltersSums) {
  std::mt19937 random(4);
  for (const WgmmaShape shape : short_windows)
    for (const int width : {1, 4, 15, 16}) {
      expect_sums_of_filter(filter_of(shape.height, width, random), shape, random);
      expect_sums_of_filter(filter_of(shape.height - 1, width, random), shape, random);
    }
  for (const WgmmaShape shape : long_windows)
    for (const int width : {3, 18, 30, 31}) {
      expect_sums_of_filter(filter_of(shape.height, width, random), shape, random);
      expect_sums_of_filter(filter_of(shape.height - 1, width, random), shape, random);
    }
}

TEST(WgmmaShape, EverySizeFindsOneThatHoldsIt) {
  std::mt19937 random(5);
  for (int height = 1; height <= max_dense_taps; ++height)
    for (int width = 1; width <= max_dense_taps; ++width) {
      const Filter filter = filter_of(height, width, random);
      const WgmmaShape shape = shape_for(filter);
      ASSERT_GE(shape.height / 2, filter.reach_y()) << filter.shape();
      ASSERT_GE(shape.margin, filter.reach_x()) << filter.shape();
      // Long windows cost half as much again: small filters do without.
      EXPECT_EQ(shape.has_long_windows(), filter.reach_y() > 7 || filter.reach_x() > 8) << filter.shape();
    }
}

TEST(WgmmaShape, TilesAndTapsFitSharedMemory) {
  const auto blocks = [](WgmmaShape shape, int components, int limbs) {
    return blocks_by_memory(memory_of(shape, components, limbs));
  };
  for (int components = 1; components <= 4; ++components) {
    for (const WgmmaShape shape : short_windows)
      EXPECT_GE(blocks(shape, components, max_limbs(shape, components)), tuning(shape, components).blocks_resident);
    for (const WgmmaShape shape : long_windows) {
      EXPECT_EQ(max_limbs(shape, components), 3);
      EXPECT_GE(blocks(shape, components, 3), 1);
      EXPECT_GE(blocks(shape, components, 2), tuning(shape, components).blocks_resident);
    }
  }
}

}  // namespace
}  // namespace convolve::cuda::wgmma
