// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Taps for sums of words: what multiply-adds of bytes make of them, saturation and overflow included, is the sum of the
// filter's products, and what 16 bits make of its division is the nearest code value.
#include "cpu/dot/word_taps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace {

using namespace convolve::cpu;

constexpr int stride = 16;

/// Two products of a byte and a signed byte, added up to a word that saturates. Of a wide pair the sample has the sign.
int multiply_add(const std::uint8_t* samples, dot::TapPair taps, std::uint8_t flip) {
  EXPECT_EQ(taps & 0xffff, taps >> 16 & 0xffff);
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    const int tap = taps >> 8 * i & 0xff;
    sum += flip ? static_cast<std::int8_t>(samples[i] ^ flip) * tap : samples[i] * static_cast<std::int8_t>(tap);
  }
  return std::clamp(sum, -32768, 32767);
}

/// The sums of the segments for the output at an even (parity 0) or odd place whose first tap is over `samples`.
std::vector<std::int64_t> segment_sums(const dot::WordTaps& k, int parity, int side, const std::uint8_t* samples) {
  const dot::WordTaps::Parity& of = k.parity[static_cast<std::size_t>(parity)];
  std::vector<std::int64_t> words(of.start.begin(), of.start.end());
  for (std::size_t i = 0; i < words.size(); ++i) words[i] += of.lack[i];
  const std::uint8_t* const window = samples - parity;  // begins at an even place
  std::size_t segment = 0;
  for (std::size_t step = 0; step < of.pairs.size(); ++step) {
    EXPECT_LT(segment, words.size());
    const auto row = static_cast<int>(step) % side;
    const std::uint8_t* const at = window + row * stride + k.columns[step / static_cast<std::size_t>(side)];
    const auto end = [&] {
      // Before, 16 bits may overflow: what wide pairs lack is in from the start.
      EXPECT_GE(words[segment], 0);
      EXPECT_LE(words[segment], 65535);
      ++segment;
    };
    if (of.parts[step]) {
      EXPECT_FALSE(step > 0 && of.ends[step - 1]) << "two segments begin with a step";
      words[segment] += multiply_add(at, of.parts[step], 0);
      end();
    }
    words[segment] += multiply_add(at, of.pairs[step], of.flips[step]);
    if (of.ends[step]) end();
  }
  EXPECT_EQ(segment, words.size());
  return words;
}

/// The average of 2^level segments, of which those beyond the last one are 0: of two it is rounded up, and what is
/// averaged with nothing is cut off.
std::int64_t average_of(std::span<const std::int64_t> words, int level) {
  if (level == 0) return words[0];
  const std::size_t half = std::size_t{1} << (level - 1);
  if (words.size() > half)
    return (average_of(words.first(half), level - 1) + average_of(words.subspan(half), level - 1) + 1) / 2;
  const int fewest = dot::average_levels(static_cast<int>(words.size()));
  return average_of(words, fewest) >> (level - fewest);
}

/// What the instructions of 16 bits make of segments: a code value that is not clamped.
int quotient_of(const dot::WordQuotient& q, const std::vector<std::int64_t>& words) {
  const auto total = static_cast<std::uint16_t>(std::accumulate(words.begin(), words.end(), std::int64_t{0}));
  if (q.saturates) return std::min(std::max(total - q.less, 0), 255);
  const std::int64_t average = average_of(words, dot::average_levels(static_cast<int>(words.size())));
  const auto quotient = static_cast<std::uint16_t>(average * q.multiplier >> 16);
  const auto rest = static_cast<std::int16_t>(total - quotient * q.divisor + (q.ties ? quotient & 1 : 0));
  return static_cast<std::int16_t>(quotient - q.less + (rest > q.divisor / 2 ? 1 : 0));
}

class WordTaps : public testing::Test {
 protected:
  std::vector<std::int32_t> draw(int side, int least, int most) {
    std::uniform_int_distribution<int> value(least, most);
    std::vector<std::int32_t> taps;
    for (int i = 0; i < side * side; ++i) taps.push_back(value(random_));
    return taps;
  }

  /// Expects the sums of noise, of white, and of white under the taps of one sign alone; and their code values.
  void expect_sums(const dot::WordTaps& k, const dot::WordQuotient* q, const std::vector<std::int32_t>& taps, int side,
                   int divisor, int constant) {
    for (int image = 0; image < 8; ++image) {
      // One sample more on both sides: windows of one parity begin before the first, those of the other end behind.
      std::uint8_t memory[1 + stride * stride];
      std::uint8_t* const samples = memory + 1;
      const int level = static_cast<int>(random_() % 256);
      for (std::uint8_t& sample : memory)
        sample = static_cast<std::uint8_t>(image == 5 ? 255 : image > 5 ? level : random_());
      std::int64_t expected = 0;
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          std::uint8_t& sample = samples[y * stride + x];
          const std::int32_t tap = taps[static_cast<std::size_t>(y * side + x)];
          if (image == 3 || image == 4) sample = (tap > 0) == (image == 3) ? 255 : 0;
          expected += tap * sample;
        }
      for (int parity = 0; parity < 2; ++parity) {
        const std::vector<std::int32_t>& starts = k.parity[static_cast<std::size_t>(parity)].start;
        const std::int64_t start = std::accumulate(starts.begin(), starts.end(), std::int64_t{0});
        std::vector<std::int64_t> words = segment_sums(k, parity, side, samples);
        EXPECT_EQ(std::accumulate(words.begin(), words.end(), std::int64_t{0}) - start, expected)
            << side << ", image " << image << ", parity " << parity;
        if (!q) continue;
        while (dot::loops(side) && words.size() % dot::segments_at_a_time != 0) words.push_back(0);
        const double value = std::nearbyint(static_cast<double>(expected + constant) / divisor);
        EXPECT_EQ(std::clamp(quotient_of(*q, words), 0, 255), std::clamp(value, 0.0, 255.0))
            << side << ", divisor " << divisor << ", image " << image << ", parity " << parity;
      }
    }
  }

  std::mt19937 random_{1};
};

constexpr std::pair<int, int> ranges[] = {{-3, 9}, {-30, 90}, {-90, 30}, {-127, 127}, {0, 127}, {-60, 60}, {0, 9}};

TEST_F(WordTaps, KeepTheSumsWithin16Bits) {
  int served = 0, with_wide_pairs = 0, with_split_pairs = 0;
  for (const int side : {3, 5, 7, 9, 11, 13, 15})
    for (const auto& [least, most] : ranges)
      for (int draws = 0; draws < (dot::loops(side) ? 7 : 80); ++draws) {
        const std::vector<std::int32_t> taps = draw(side, least, most);
        const auto k = dot::make_word_taps(taps, side, side, !dot::loops(side) && random_() % 4 > 0);
        if (!k) continue;
        ++served;
        with_wide_pairs += k->wide_pairs() > 0;
        with_split_pairs += k->split_pairs() > 0;
        expect_sums(*k, nullptr, taps, side, 1, 0);
      }
  EXPECT_GT(served, 1000);
  EXPECT_GT(with_wide_pairs, 200);
  EXPECT_GT(with_split_pairs, 200);
}

TEST_F(WordTaps, DivideAsTheContractSays) {
  int served = 0, looping = 0, with_ties = 0, saturating = 0;
  for (const int side : {3, 5, 7, 9, 11, 13, 15})
    for (const auto& [least, most] : ranges)
      for (int draws = 0; draws < (dot::loops(side) ? 21 : 180); ++draws) {
        const std::vector<std::int32_t> taps = draw(side, least, most);
        auto k = dot::make_word_taps(taps, side, side, !dot::loops(side) && random_() % 4 > 0);
        if (!k) continue;
        const int sum = std::accumulate(taps.begin(), taps.end(), 0);
        const int divisors[] = {1, 2, sum, sum + 1, 16, 256, static_cast<int>(random_() % 4000) + 1};
        const int divisor = divisors[draws % 7], constants[] = {0, 128 * divisor, -16 * sum, divisor / 2};
        const int constant = constants[random_() % 4];
        const auto q = dot::make_word_quotient(*k, divisor, constant);
        if (!q) continue;
        ++served;
        looping += dot::loops(side);
        with_ties += q->ties;
        saturating += q->saturates;
        expect_sums(*k, &*q, taps, side, divisor, constant);
      }
  EXPECT_GT(served, 800);
  EXPECT_GT(looping, 100);
  EXPECT_GT(with_ties, 300);
  EXPECT_GT(saturating, 20);
}

TEST_F(WordTaps, LeaveDivisionsThatTheyHaveNotTheBitsFor) {
  const std::vector<std::int32_t> heavy(25, 30);
  const auto quotient = [&](double divisor, double constant) {
    auto k = dot::make_word_taps(heavy, 5, 5, true);
    return dot::make_word_quotient(*k, divisor, constant);
  };
  EXPECT_TRUE(quotient(750, 0));
  EXPECT_FALSE(quotient(750.5, 0));
  EXPECT_FALSE(quotient(750, 0.5));
  EXPECT_FALSE(quotient(-750, 0));
  EXPECT_FALSE(quotient(1, 0)) << "of more than one segment";
  EXPECT_FALSE(quotient(8, 0)) << "a multiplier of 16 bits";
  EXPECT_FALSE(quotient(20000, 0)) << "what is left would not fit 16 bits";
}

TEST_F(WordTaps, HaveWidePairsWhereTapsAreTooMuch) {
  EXPECT_EQ(dot::make_word_taps({1, 2, 1, 2, 4, 2, 1, 2, 1}, 3, 3, true)->wide_pairs(), 0);
  // A pair with signs holds 128: of outputs at even places 100 + 28 and 40, of those at odd places 100 and 28 + 40.
  EXPECT_EQ(dot::make_word_taps({100, 28, 40, 0, 0, 0, 0, 0, 0}, 3, 3, true)->wide_pairs(), 0);
  EXPECT_EQ(dot::make_word_taps({100, 29, 40, 0, 0, 0, 0, 0, 0}, 3, 3, true)->wide_pairs(), 1);
  EXPECT_EQ(dot::make_word_taps({-100, -29, -40, 0, 0, 0, 0, 0, 0}, 3, 3, true)->wide_pairs(), 1);
  EXPECT_EQ(dot::make_word_taps({100, -100, 100, 0, 0, 0, 0, 0, 0}, 3, 3, true)->wide_pairs(), 0) << "of other signs";
}

TEST_F(WordTaps, SplitPairsWhereThatSavesSegments) {
  // Of outputs at even places five pairs of 90: two whole ones fit a segment, but all of them fit two.
  const std::vector<std::int32_t> taps{45, 45, 90, 45, 45, 90, 45, 45, 0};
  EXPECT_EQ(dot::make_word_taps(taps, 3, 3, false)->segments(), 3);
  EXPECT_EQ(dot::make_word_taps(taps, 3, 3, false)->split_pairs(), 0);
  EXPECT_EQ(dot::make_word_taps(taps, 3, 3, true)->segments(), 2);
  EXPECT_EQ(dot::make_word_taps(taps, 3, 3, true)->split_pairs(), 2);
  EXPECT_EQ(dot::make_word_taps({60, 60, 0, 60, 60, 0, 0, 0, 0}, 3, 3, true)->split_pairs(), 0) << "whole pairs fit";
}

// What costs least in itself may have more segments than there is a kernel for.
TEST_F(WordTaps, HaveAsManySegmentsAsAKernelTakes) {
  const std::vector<std::int32_t> taps{90,   -103, 81,  86, -115, 7,   -53, -16, 86,   -40, -54, -18, 15,
                                       -101, -121, 111, 9,  53,   -56, 46,  42,  -122, 91,  119, -81};
  const auto k = dot::make_word_taps(taps, 5, 5, true);
  ASSERT_TRUE(k);
  EXPECT_EQ(k->segments(), dot::most_segments(5));
  expect_sums(*k, nullptr, taps, 5, 1, 0);
  int served = 0;
  for (const int side : {3, 5, 7})
    for (int draws = 0; draws < 100; ++draws)
      if (const auto any = dot::make_word_taps(draw(side, -127, 127), side, side, true)) {
        ++served;
        EXPECT_LE(any->segments(), dot::most_segments(side));
      }
  EXPECT_GT(served, 100);
}

TEST_F(WordTaps, EndSegmentsWhereTheyAreFull) {
  EXPECT_EQ(dot::make_word_taps({100, 100, 57, 0, 0, 0, 0, 0, 0}, 3, 3, true)->segments(), 1);
  EXPECT_EQ(dot::make_word_taps({100, 100, 58, 0, 0, 0, 0, 0, 0}, 3, 3, true)->segments(), 2);
  const auto k = dot::make_word_taps({127, 127, 0, 0, 127, 127, 0, 0, 0}, 3, 3, true);
  ASSERT_TRUE(k);
  EXPECT_EQ(k->parity[0].start.size(), k->parity[1].start.size());
  EXPECT_FALSE(dot::make_word_taps(std::vector<std::int32_t>(49, 127), 7, 7, true)) << "too many segments";
  EXPECT_EQ(dot::make_word_taps(std::vector<std::int32_t>(81, 1), 9, 9, false)->segments(), 5)
      << "as many levels as of 8";
  EXPECT_FALSE(dot::make_word_taps(std::vector<std::int32_t>(225, 127), 15, 15, false)) << "too many segments";
}

}  // namespace
