// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Taps for sums of words: what multiply-adds of bytes make of them, saturation and overflow included, is the sum of the
// filter's products.
#include "cpu/dot/word_taps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace convolve::cpu;

constexpr int stride = 16;

/// Two products of a byte and a signed byte, added up to a word that saturates.
int multiply_add(const std::uint8_t* samples, dot::TapPair taps) {
  EXPECT_EQ(taps & 0xffff, taps >> 16 & 0xffff);
  const int sum =
      samples[0] * static_cast<std::int8_t>(taps & 0xff) + samples[1] * static_cast<std::int8_t>(taps >> 8 & 0xff);
  return std::clamp(sum, -32768, 32767);
}

/// The sum that the segments make for the output whose first tap is over `samples`.
std::int64_t sum_of(const dot::WordTaps& k, int side, int segment_rows, const std::uint8_t* samples) {
  std::vector<std::int64_t> words(k.start.begin(), k.start.end());
  const int pairs = side / 2 + 1;
  for (int row = 0; row < side; ++row)
    for (int p = 0; p < pairs; ++p)
      words[static_cast<std::size_t>(row / segment_rows)] += multiply_add(
          samples + row * stride + dot::pair_column(p, side), k.pairs[static_cast<std::size_t>(row * pairs + p)]);
  for (const dot::WordTaps::LeftOver& pair : k.left_over)
    words.back() += multiply_add(samples + pair.row * stride + pair.column, pair.taps);
  std::int64_t sum = -k.excess;
  for (const std::int64_t word : words) {
    EXPECT_GE(word, -32768);
    EXPECT_LE(word, 32767);
    sum += word;
  }
  return sum;
}

class WordTaps : public testing::Test {
 protected:
  std::vector<std::int32_t> draw(int side, int least, int most) {
    std::uniform_int_distribution<int> value(least, most);
    std::vector<std::int32_t> taps;
    for (int i = 0; i < side * side; ++i) taps.push_back(value(random_));
    return taps;
  }

  /// Expects the sums of noise, of white, and of white under the taps of one sign alone.
  void expect_sums(const dot::WordTaps& k, const std::vector<std::int32_t>& taps, int side, int segment_rows) {
    for (int image = 0; image < 6; ++image) {
      std::uint8_t samples[stride * stride];
      for (std::uint8_t& sample : samples) sample = static_cast<std::uint8_t>(image == 5 ? 255 : random_());
      std::int64_t expected = 0;
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          std::uint8_t& sample = samples[y * stride + x];
          const std::int32_t tap = taps[static_cast<std::size_t>(y * side + x)];
          if (image == 3 || image == 4) sample = (tap > 0) == (image == 3) ? 255 : 0;
          expected += tap * sample;
        }
      EXPECT_EQ(sum_of(k, side, segment_rows, samples), expected) << side << ", image " << image;
    }
  }

  std::mt19937 random_{1};
};

TEST_F(WordTaps, KeepTheSumsWithin16Bits) {
  int served = 0, with_left_over = 0;
  for (const int side : {3, 5})
    for (int segment_rows = 1; segment_rows <= side; ++segment_rows)
      for (const auto& [least, most] : {std::pair{-3, 9}, {-30, 90}, {-90, 30}, {-127, 127}, {0, 127}, {-60, 60}})
        for (int draws = 0; draws < 40; ++draws) {
          const std::vector<std::int32_t> taps = draw(side, least, most);
          const auto k = dot::make_word_taps(taps, side, side, segment_rows);
          if (!k) continue;
          ++served;
          with_left_over += !k->left_over.empty();
          EXPECT_EQ(k->start.size() % 2, 0u) << "segments are added up two at a time";
          expect_sums(*k, taps, side, segment_rows);
        }
  EXPECT_GT(served, 700);
  EXPECT_GT(with_left_over, 200);
}

TEST_F(WordTaps, LeaveOverWhatIsTooMuchForAPairOrASegment) {
  EXPECT_TRUE(dot::make_word_taps({1, 2, 1, 2, 4, 2, 1, 2, 1}, 3, 3, 3)->left_over.empty());
  // 128 + 128 beside the shared column, which is all that two pairs hold; 255 at the ends is more.
  EXPECT_TRUE(dot::make_word_taps({80, 90, 80, 0, 0, 0, 0, 0, 0}, 3, 3, 3)->left_over.empty());
  EXPECT_FALSE(dot::make_word_taps({100, 100, 100, 0, 0, 0, 0, 0, 0}, 3, 3, 3)->left_over.empty());
  // Of two segments there is no place for what is left over.
  EXPECT_FALSE(dot::make_word_taps({100, 100, 100, 0, 0, 0, 0, 0, 0}, 3, 3, 2));
  EXPECT_FALSE(dot::make_word_taps(std::vector<std::int32_t>(9, 90), 3, 3, 3));
}

}  // namespace
