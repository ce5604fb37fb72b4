// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The matrices of CUDA's warpgroups for large separable filters, as threads hold them.
#include "cuda/separable/large_group_taps.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace convolve;

std::vector<double> counting_taps(int count, int positive) {
  std::vector<double> taps;
  for (int i = 1; i <= count; ++i) taps.push_back(i % positive ? i % 120 : -i % 120);
  return taps;
}

/// Element (m, k) of the row pass' left matrix, of as many pixels as the units hold: where wgmma's threads have it.
int row_element(const std::vector<std::uint32_t>& words, int m, int k) {
  const int thread = m / 16 * 32 + m % 8 * 4 + k % 16 / 4, w = m % 16 / 8 + k % 32 / 16 * 2;
  return static_cast<std::int8_t>(words[(k / 32 * 128 + thread) * 4 + w] >> k % 4 * 8);
}

TEST(LargeGroupTaps, RowMatricesMakeNeighboursOfALane) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any(0, 255);
  for (const int count : {16, 17, 31, 63, 100, 127, 255}) {
    const std::vector<double> taps = counting_taps(count, 3);
    const int centre = count / 2, units = cuda::group_units(count, centre, count), before = cuda::group_before(centre);
    const std::vector<std::uint32_t> words = cuda::group_row_matrices(taps, centre, units);
    ASSERT_EQ(words.size(), std::size_t(units * 128 * 4));
    std::vector<int> window(32 * units);
    for (int& sample : window) sample = any(random);
    std::vector<std::int64_t> made(64);  // V of a strip, as the product has its rows
    for (int m = 0; m < 64; ++m)
      for (int k = 0; k < 32 * units; ++k) made[m] += row_element(words, m, k) * window[k];
    // V's rows are the columns of the column pass' sums: of each eight, lane t of four has columns 2 t and 2 t + 1.
    std::vector<std::int64_t> strip;
    for (int lane = 0; lane < 4; ++lane)
      for (int eight = 0; eight < 64; eight += 8)
        for (const int column : {2 * lane, 2 * lane + 1}) strip.push_back(made[eight + column]);
    for (int x = 0; x < 64; ++x) {
      std::int64_t wanted = 0;
      for (int i = 0; i < count; ++i) wanted += static_cast<std::int64_t>(taps[i]) * window[before + x - centre + i];
      ASSERT_EQ(strip[x], wanted) << count << " taps, pixel " << x;
    }
  }
}

TEST(LargeGroupTaps, ColumnMatricesTakeRowsAsTheyLie) {
  for (const int count : {16, 31, 63, 127, 255}) {
    const std::vector<double> taps = counting_taps(count, 2);
    const int units = cuda::group_units(count, count / 2, count);
    const std::vector<std::uint32_t> words = cuda::group_column_matrices(taps, units);
    ASSERT_EQ(words.size(), std::size_t(units * 128 * 4));
    for (int m = 0; m < 64; ++m)
      for (int row = 0; row < 32 * units; ++row) {
        // Of 16 rows a thread has two of the first eight and two of the others.
        const int thread = m / 16 * 32 + m % 8 * 4 + row % 8 / 2;
        const int byte = row % 16 / 8 * 2 + row % 2, w = row % 32 / 16 * 2 + m % 16 / 8;
        const std::uint32_t four = words[(row / 32 * 128 + thread) * 4 + w] >> byte * 8;
        const double wanted = row >= m && row < m + count ? taps[row - m] : 0;
        ASSERT_EQ(static_cast<std::int8_t>(four), wanted) << count << " taps, row " << row << " of " << m;
      }
  }
}

}  // namespace
