// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The packing of the CPU's dot products: their shuffles and products are carried out here byte by byte, and the sums
// compared with those of the row.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "cpu/dot/packing.hpp"

namespace {

namespace dot = convolve::cpu::dot;

/// The window register of register `vector` under the taps from sample `from` on: each part of 16 bytes is loaded from
/// the row and shuffled; a byte of the order with its highest bit set is 0.
std::vector<std::uint8_t> window_of(const std::vector<std::uint8_t>& row, const dot::WindowOrder& order, int vector,
                                    int from) {
  std::vector<std::uint8_t> window;
  for (int i = 0; i < dot::max_samples; ++i) {
    const std::uint8_t at = order.order[i];
    window.push_back(at & 0x80 ? 0 : row.at(i / 16 * 16 + 4 * vector + from + at));
  }
  return window;
}

/// What one lane's product of unsigned samples by signed taps comes to, in fours of bytes or in pairs of words.
int product_of(const std::uint8_t* samples, std::int32_t taps, bool pairs) {
  int sum = 0;
  if (pairs)
    for (int i = 0; i < 2; ++i)
      sum += (samples[2 * i] + 256 * samples[2 * i + 1]) * static_cast<std::int16_t>(taps >> 16 * i);
  else
    for (int i = 0; i < 4; ++i) sum += samples[i] * static_cast<std::int8_t>(taps >> 8 * i);
  return sum;
}

TEST(DotPacking, SumsAreThoseOfTheRow) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> byte(0, 255);
  std::vector<std::uint8_t> row(64 + 16 + 4 * 35);
  for (std::uint8_t& sample : row) sample = static_cast<std::uint8_t>(byte(random));
  for (const bool pairs : {false, true})
    for (int components = 1; components <= 4; ++components)
      for (int width = 1; width <= 31; ++width) {
        std::uniform_int_distribution<int> tap(pairs ? -32768 : -128, pairs ? 32767 : 127);
        std::vector<std::int32_t> taps(2 * width);  // two rows
        for (std::int32_t& t : taps) t = tap(random);
        const int in_group = dot::taps_in_group(pairs), groups = (width - 1) / in_group + 1;
        const std::vector<std::int32_t> words = dot::pack_words(taps, width, pairs);
        ASSERT_EQ(words.size(), 2u * groups);
        const dot::WindowOrder order(components, pairs);
        for (int filter_row = 0; filter_row < 2; ++filter_row)
          for (int vector = 0; vector < dot::vectors; ++vector) {
            std::vector<std::int64_t> sum(dot::max_lanes);
            for (int g = 0; g < groups; ++g) {
              const auto window = window_of(row, order, vector, components * g * in_group);
              for (int lane = 0; lane < dot::max_lanes; ++lane)
                sum[lane] += product_of(&window[4 * lane], words[filter_row * groups + g], pairs);
            }
            for (int lane = 0; lane < dot::max_lanes; ++lane) {
              std::int64_t right = 0;
              for (int k = 0; k < width; ++k)
                right += taps[filter_row * width + k] * row.at(dot::sample_of(vector, lane) + k * components);
              ASSERT_EQ(sum[lane], right) << width << " taps of " << components << " components, lane " << lane
                                          << " of register " << vector << (pairs ? ", in pairs" : "");
            }
          }
      }
}

TEST(DotPacking, EverySampleOfABlockHasOneLane) {
  std::set<int> samples;
  for (int vector = 0; vector < dot::vectors; ++vector)
    for (int lane = 0; lane < dot::max_lanes; ++lane) samples.insert(dot::sample_of(vector, lane));
  EXPECT_EQ(samples.size(), 64u);
  EXPECT_EQ(*samples.begin(), 0);
  EXPECT_EQ(*samples.rbegin(), 63);
}

TEST(DotPacking, PairsAreNeededWhereBytesOrSumsOfTwoDoNotHoldTheTaps) {
  const auto needs = [](std::vector<std::int32_t> taps, bool vnni) {
    const int width = static_cast<int>(taps.size());
    return dot::needs_pairs({std::move(taps)}, width, vnni);
  };
  EXPECT_FALSE(needs({127, -128, 127}, true));
  EXPECT_TRUE(needs({128}, true));
  EXPECT_TRUE(needs({-129}, true));
  // Without dot products two neighbours are added in 16 bits, which hold 128 * 255 and no more.
  EXPECT_FALSE(needs({64, 64, 64, 64}, false));
  EXPECT_FALSE(needs({100, -100}, false));
  EXPECT_TRUE(needs({65, 64}, false));
  EXPECT_TRUE(needs({-65, -64}, false));
  EXPECT_FALSE(needs({1, 65, 64, 1}, false));  // they lie in different pairs
}

/// Taps over `rows` rows that are uniform between two bounds.
std::vector<std::int32_t> random_taps(std::mt19937& random, int rows, int width, int least, int most) {
  std::uniform_int_distribution<int> tap(least, most);
  std::vector<std::int32_t> taps(static_cast<std::size_t>(rows) * width);
  for (std::int32_t& t : taps) t = tap(random);
  return taps;
}

/// Carries the products of an arrangement out as multiply-adds do, and expects each sum to be that of the row and no
/// sum of two products to need more than 16 bits.
void expect_sums(const dot::Arrangement& arranged, const std::vector<std::int32_t>& taps, int width,
                 const std::vector<std::uint8_t>& row) {
  for (std::size_t filter_row = 0; filter_row < taps.size() / width; ++filter_row)
    for (int lane = 0; lane < dot::max_lanes; ++lane) {
      int sum = 0, right = 0;
      for (int g = 0; g < arranged.groups; ++g) {
        const auto window = window_of(row, arranged.windows[g], 1, dot::first_column(g));
        const auto word = static_cast<std::uint32_t>(arranged.words[filter_row * arranged.groups + g]);
        for (int half = 0; half < 2; ++half) {
          int above = 0, below = 0;
          for (int i = 2 * half; i < 2 * half + 2; ++i) {
            const int tap = static_cast<std::int8_t>(word >> 8 * i);
            sum += window[4 * lane + i] * tap;
            (tap > 0 ? above : below) += 255 * tap;
          }
          ASSERT_LE(above, 32767);
          ASSERT_GE(below, -32768);
        }
      }
      for (int k = 0; k < width; ++k) right += taps[filter_row * width + k] * row.at(dot::sample_of(1, lane) + k);
      ASSERT_EQ(sum, right) << width << " taps, row " << filter_row << ", lane " << lane;
    }
}

TEST(DotPacking, ArrangementsKeepTheSumsAndHoldPairsIn16Bits) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> byte(0, 255);
  std::vector<std::uint8_t> row(64 + 16 + 32);
  for (std::uint8_t& sample : row) sample = static_cast<std::uint8_t>(byte(random));
  int found = 0, split = 0;
  for (int width = 1; width <= 15; ++width)
    for (const int most : {64, 90, 110, 127})
      for (int rows : {1, 3, 7}) {
        const auto taps = random_taps(random, rows, width, -most / 3, most);
        const auto arranged = dot::arrange_bytes(taps, width);
        ASSERT_TRUE(arranged || most > 64) << "any two fit, " << width;
        if (!arranged) continue;
        ++found;
        split += dot::needs_pairs({taps}, width, false);
        expect_sums(*arranged, taps, width, row);
      }
  EXPECT_GT(found, 100);
  EXPECT_GT(split, 40);  // as they stand, they would not do
}

TEST(DotPacking, ArrangementsSplitATapOrAreRefused) {
  std::mt19937 random(13);
  std::vector<std::uint8_t> row(64 + 16 + 32, 255);
  // Three columns of a group of four: the one that comes twice makes room for both others.
  const std::vector<std::int32_t> heavy{80, 90, 70, -80, -90, -70};
  const auto arranged = dot::arrange_bytes(heavy, 3);
  ASSERT_TRUE(arranged);
  EXPECT_EQ(arranged->groups, 1);
  expect_sums(*arranged, heavy, 3, row);
  EXPECT_FALSE(dot::arrange_bytes({100, 100, 100}, 3));  // 256 is all that four places hold
  EXPECT_FALSE(dot::arrange_bytes(std::vector<std::int32_t>(15 * 15, 127), 15));
}

}  // namespace
