// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What CUDA's warpgroups for large separable filters compute with: the matrices as threads hold them, and both passes
// with their roundings, against sums in double precision.
#include "cuda/separable/large_group_taps.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "convolve/preset.hpp"
#include "cuda/common/half.hpp"

namespace {

using namespace convolve;
using cuda::GroupTaps;
using cuda::LargeNumbers;

GroupTaps counting_taps(LargeNumbers numbers, int count) {
  GroupTaps taps;
  taps.taps.numbers = numbers;
  const double each = numbers == LargeNumbers::halves ? 250 : 1;  // of two limbs, or of one
  for (int i = 1; i <= count; ++i) taps.taps.row.push_back(i % 3 ? each * (i % 120) : -each * (i % 120));
  for (int i = 1; i <= count; ++i) taps.taps.column.push_back(i % 2 ? i % 120 : -i % 120);
  return taps;
}

double tap_at(const std::vector<double>& taps, int i) {
  return i >= 0 && i < static_cast<int>(taps.size()) ? taps[i] : 0;
}

/// Element (m, k) of the row pass' left matrix, of as many pixels as `units` hold: where wgmma's threads have it.
int row_element(const std::vector<std::uint32_t>& words, LargeNumbers numbers, int units, int m, int k) {
  const int thread = m / 16 * 32 + m % 8 * 4 + k % 16 / 4, w = m % 16 / 8 + k % 32 / 16 * 2;
  const auto byte = [&](int limb) { return words[((limb * units + k / 32) * 128 + thread) * 4 + w] >> k % 4 * 8; };
  const int high = static_cast<std::int8_t>(byte(0));
  return numbers == LargeNumbers::halves ? 256 * high + static_cast<std::uint8_t>(byte(1)) : high;
}

TEST(LargeGroupTaps, RowMatricesMakeNeighboursOfALane) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any(0, 255);
  for (const LargeNumbers numbers : {LargeNumbers::halves, LargeNumbers::limbs})
    for (const int count : {16, 17, 31, 63, 100, 127, 255}) {
      const GroupTaps taps = counting_taps(numbers, count);
      const int centre = count / 2, units = cuda::group_units(count, centre, count);
      const int limbs = numbers == LargeNumbers::halves ? 2 : 1, before = cuda::group_before(centre);
      const std::vector<std::uint32_t> words = group_row_matrices(taps, centre, units);
      ASSERT_EQ(words.size(), std::size_t(limbs * units * 128 * 4));
      std::vector<int> window(32 * units);
      for (int& sample : window) sample = any(random);
      std::vector<std::int64_t> made(64);  // V of a strip, as the product has its rows
      for (int m = 0; m < 64; ++m)
        for (int k = 0; k < 32 * units; ++k) made[m] += row_element(words, numbers, units, m, k) * window[k];
      // V's rows are the columns of the column pass' sums: of each eight, lane t of four has columns 2 t and 2 t + 1.
      std::vector<std::int64_t> strip;
      for (int lane = 0; lane < 4; ++lane)
        for (int eight = 0; eight < 64; eight += 8)
          for (const int column : {2 * lane, 2 * lane + 1}) strip.push_back(made[eight + column]);
      for (int x = 0; x < 64; ++x) {
        std::int64_t wanted = 0;
        for (int i = 0; i < count; ++i)
          wanted += static_cast<std::int64_t>(taps.taps.row[i]) * window[before + x - centre + i];
        ASSERT_EQ(strip[x], wanted) << count << " taps, pixel " << x;
      }
    }
}

TEST(LargeGroupTaps, ColumnMatricesTakeRowsAsTheyLie) {
  for (const int count : {16, 31, 63, 127, 255}) {
    const GroupTaps halves = counting_taps(LargeNumbers::halves, count);
    const GroupTaps limbs = counting_taps(LargeNumbers::limbs, count);
    const int units = cuda::group_units(count, count / 2, count);
    const auto of_halves = group_column_matrices(halves, units), of_limbs = group_column_matrices(limbs, units);
    ASSERT_EQ(of_halves.size(), std::size_t(2 * units * 128 * 4));
    ASSERT_EQ(of_limbs.size(), std::size_t(units * 128 * 4));
    for (int m = 0; m < 64; ++m)
      for (int row = 0; row < 32 * units; ++row) {
        const int warp_row = m / 16 * 32 + m % 8 * 4, t = row % 8 / 2;
        const int half = row % 16 / 8 * 2 + m % 16 / 8;
        const std::uint32_t pair = of_halves[(row / 16 * 128 + warp_row + t) * 4 + half] >> row % 2 * 16;
        ASSERT_EQ(cuda::half_value(static_cast<std::uint16_t>(pair)), tap_at(halves.taps.column, row - m));
        // Of 16 rows a thread has two of the first eight and two of the others.
        const int byte = row % 16 / 8 * 2 + row % 2, word = row % 32 / 16 * 2 + m % 16 / 8;
        const std::uint32_t four = of_limbs[(row / 32 * 128 + warp_row + t) * 4 + word] >> byte * 8;
        ASSERT_EQ(static_cast<std::int8_t>(four), tap_at(limbs.taps.column, row - m));
      }
  }
}

PlanDesc desc_of(const Filter& filter) {
  PlanDesc desc;
  desc.layout.bits = 8;
  desc.layout.planes = desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0] = Component{.width = 512, .height = 512};
  desc.filter = filter;
  return desc;
}

/// What the kernel's sums make of a sample, and what is wanted, of a window of random bytes. Real taps.
struct Sample {
  double made, wanted;
};
Sample random_sample(const PlanDesc& desc, const GroupTaps& taps, int low, int high, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> any(low, high);
  const FrameFactors& frame = desc.filter.frame_factors().front();
  double sum = 0, wanted = 0, at_centre = 0;
  for (int y = 0; y < desc.filter.height(); ++y) {
    std::int64_t lows = 0, highs = 0;
    double row = 0;
    for (int x = 0; x < desc.filter.width(); ++x) {
      const int sample = any(random), tap = static_cast<int>(taps.taps.row[x]);
      if (y == desc.filter.centre_y() && x == desc.filter.centre_x()) at_centre = sample;
      lows += (tap & 255) * sample, highs += (tap >> 8) * sample;
      row += frame.factors.row[x] * sample;
    }
    const std::int64_t bits = (lows >> 8) + taps.row_start + highs;
    EXPECT_GE(bits, 0x4B000000);
    EXPECT_LT(bits, 0x4B800000);
    const float v = std::fma(std::bit_cast<float>(static_cast<std::int32_t>(bits)), taps.v_gain, taps.v_level);
    sum += taps.taps.column[y] * cuda::half_value(cuda::half_bits(v));
    wanted += frame.factors.column[y] * row;
  }
  wanted += frame.centre * at_centre;
  return {(sum + taps.taps.centre * at_centre) * taps.taps.gain + taps.taps.level[0][0], wanted};
}

void expect_near(const Filter& filter) {
  const PlanDesc desc = desc_of(filter);
  const Component* const component = &desc.layout.plane[0].component[0];
  const Arithmetic arithmetic = frame_factors_arithmetic(
      desc.filter, choose_arithmetic(desc.filter, desc.layout, false), desc.layout, false, std::span(&component, 1));
  cuda::LargeTaps base;
  GroupTaps taps;
  ASSERT_TRUE(make_large_taps(desc, arithmetic, desc.filter.frame_factors().front(), base));
  ASSERT_EQ(base.numbers, LargeNumbers::halves);
  ASSERT_TRUE(make_group_taps(desc, desc.filter.frame_factors().front(), base, taps));
  for (std::uint32_t seed = 0; seed < 8; ++seed)
    for (const auto& [low, high] : {std::pair{0, 255}, std::pair{0, 3}, std::pair{252, 255}, std::pair{255, 255}}) {
      const Sample sample = random_sample(desc, taps, low, high, seed);
      ASSERT_NEAR(sample.made, sample.wanted, 0.2) << filter.width() << " taps";
    }
}

TEST(LargeGroupTaps, RealTapsStayWithinACodeValue) {
  for (const Preset preset : {Preset::gaussian_blur, Preset::unsharp})
    for (const int radius : {8, 15, 31, 127}) expect_near(Filter(make_preset(preset, {.radius = radius})));
}

TEST(LargeGroupTaps, TapsOfEitherSignStayWithinACodeValue) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(-1, 1);
  for (const int count : {17, 64, 255}) {
    TapArray array{.depth = 1, .height = 1, .width = count, .taps = {}};
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += std::abs(any(random));
    for (int i = 0; i < count; ++i) array.taps.push_back(Tap::real(any(random) / sum));
    expect_near(Filter(array));
  }
}

}  // namespace
