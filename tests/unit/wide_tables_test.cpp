// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The tables of strips whose rows are bytes with edges: what lanes make of a row by them is the row's convolution, its
// border repeating the edge.
#include "cuda/separable/wide_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace convolve;
using cuda::wide::StripAxis;
using cuda::wide::Strips;

/// A table of one part: the taps as products read them, then what those beside the frame add up to.
struct Table {
  const Strips& strips;
  const std::byte* bytes;

  int products() const { return (strips.window + 31) / 32; }
  std::size_t taps_bytes() const { return static_cast<std::size_t>(products() * 32 * strips.pixels); }
  /// What multiplies row k of a product, 16 of which are side by side for a column.
  int tap(int product, int k, int column) const {
    return std::to_integer<int>(bytes[((product * 2 + k / 16) * strips.pixels + column) * 16 + k % 16]);
  }
  /// Of the taps on the left of the frame, or on its right.
  std::int32_t edge(bool right, int column) const {
    std::int32_t sum;
    std::memcpy(&sum, bytes + taps_bytes() + (column / 2 * 4 + right * 2 + column % 2) * 4, 4);
    return sum;
  }
};
/// The pixel of the window in row k of a product: of lane t bytes 4 t and those 16 on, two words of its pieces, which
/// four lanes have side by side.
int pixel_of_row(const Strips& strips, int product, int k) {
  const int words = strips.piece_pixels / 4, word = 2 * product + k / 16, t = k % 16 / 4;
  return (word / words * 4 + t) * strips.piece_pixels + word % words * 4 + k % 4;
}
/// The pixel of the strip in a column of a product: of lane t columns 8 i + 2 t and the next one, which the column pass
/// makes `run` neighbours of.
int pixel_of_column(const Strips& strips, int column) {
  const int i = column / 8, t = column % 8 / 2, pairs = strips.run / 2;
  return (i / pairs * 4 + t) * strips.run + i % pairs * 2 + column % 2;
}

void check_strips(const Strips& strips, int width, const std::vector<double>& taps, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int> row(static_cast<std::size_t>(width));
  for (int& sample : row) sample = static_cast<int>(random() % 256);
  const int centre = static_cast<int>(taps.size()) / 2, before = (centre + 31) / 32 * 32;
  const StripAxis axis{Border::replicate, width, before, before - centre, taps, 0, true, {}};
  cuda::wide::StripTables tables({{strips, axis}}, true);
  const int count = (width + strips.pixels - 1) / strips.pixels;
  for (int strip = 0; strip < count; ++strip) ASSERT_TRUE(tables.add(strip * strips.pixels));
  const std::size_t table_bytes = tables.bytes().size() / static_cast<std::size_t>(count);
  for (int strip = 0; strip < count; ++strip) {
    const Table table{strips, &tables.bytes()[static_cast<std::size_t>(strip) * table_bytes]};
    for (int column = 0; column < strips.pixels; ++column) {
      const int x = strip * strips.pixels + pixel_of_column(strips, column), first = strip * strips.pixels - before;
      if (x >= width) continue;
      int made = table.edge(false, column) * row.front() + table.edge(true, column) * row.back(), wanted = 0;
      for (int product = 0; product < table.products(); ++product)
        for (int k = 0; k < 32; ++k) {
          const int at = first + pixel_of_row(strips, product, k);  // beside the frame there are zeros
          if (at >= 0 && at < width) made += table.tap(product, k, column) * row[static_cast<std::size_t>(at)];
        }
      for (int i = 0; i < static_cast<int>(taps.size()); ++i)
        wanted += static_cast<int>(taps[static_cast<std::size_t>(i)]) *
                  row[static_cast<std::size_t>(std::clamp(x + i - centre, 0, width - 1))];
      ASSERT_EQ(made, wanted) << "pixel " << x << " of " << width << ", " << taps.size() << " taps";
    }
  }
}

// RGB, four components, luma of packed 4:2:2.
TEST(WideTables, RowsOfBytesAddUpTheTapsBesideTheFrame) {
  const Strips all[] = {{3, 32, 8, 288, 8, 3, true, false, true},
                        {4, 32, 4, 288, 4, 4, true, false, true},
                        {1, 64, 8, 320, 8, 2, true, false, true}};
  std::mt19937 random(1);
  for (const Strips& strips : all)
    for (const int count : {63, 195, 200, 255})
      for (const int width : {4, 36, 100, 300, 644}) {
        std::vector<double> taps;
        for (int i = 0; i < count; ++i) taps.push_back(random() % 256);
        check_strips(strips, width, taps, static_cast<std::uint32_t>(width + count));
      }
}

}  // namespace
