// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Filters that are a column times a row and one more tap at the centre, against the oracle: bytes and words at the ends
// of their range, each zero level, and centre taps at the ends of what 16 bits hold, on each SIMD target of this
// machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cpu/algorithms.hpp"
#include "cpu/simd/targets.hpp"
#include "filtered_frame.hpp"

namespace {

using namespace convolve;

constexpr int width = 83, height = 13;

/// Blur times `amount` taken from 1 + `amount` times the centre; exact: of binomial taps, as integers over their sum.
struct Unsharp {
  oracle::Kernel kernel;
  TapArray taps;

  Unsharp(int rows, int columns, double amount, bool exact) {
    taps.height = kernel.height = rows;
    taps.width = kernel.width = columns;
    kernel.centre_y = rows / 2;
    kernel.centre_x = columns / 2;
    const auto rise = [](int i, int n) { return std::min(i, n - 1 - i) + 1; };
    std::vector<double> blur;
    double sum = 0;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        const double along = rise(x, columns) + (exact ? 0 : 0.3), down = rise(y, rows) + (exact ? 0 : 0.7);
        blur.push_back(along * down);
        sum += blur.back();
      }
    kernel.divisor = exact ? static_cast<std::int64_t>(sum) : 0;
    for (std::size_t i = 0; i < blur.size(); ++i) {
      const bool centre = static_cast<int>(i) == kernel.centre_y * columns + kernel.centre_x;
      const double tap = (centre ? (1 + amount) * sum : 0) - amount * blur[i];
      if (exact) {
        kernel.integers.push_back(static_cast<std::int64_t>(tap));
        taps.taps.push_back(Tap::fraction(kernel.integers.back(), kernel.divisor));
      } else {
        kernel.taps.push_back(tap / sum);
        taps.taps.push_back(Tap::real(tap / sum));
      }
    }
  }
};

class CentreTap : public testing::Test {
 protected:
  void TearDown() override { cpu::force_simd_target(nullptr); }

  /// The largest difference from the oracle, of interleaved components with these zero levels. The bits below words
  /// that are shifted hold noise.
  template <class Sample = std::uint8_t>
  double difference(const Unsharp& unsharp, const std::vector<double>& zeros, unsigned mask,
                    int bits = 8 * sizeof(Sample), int shift = 0) {
    std::vector<Sample> in(static_cast<std::size_t>(width * height) * zeros.size());
    const unsigned most = (1u << (bits + shift)) - 1;
    // Of mask 0 noise, else nothing but black and white.
    for (Sample& sample : in) sample = static_cast<Sample>(mask ? random_() % 2 * most : random_() & most);
    const FilteredFrame found = filter_frame(algorithm_, Filter(unsharp.taps), unsharp.kernel, width, height, zeros,
                                             std::move(in), bits, shift);
    described_ = found.described;
    return found.difference;
  }

  /// Real taps are within one code value, and exact ones exact.
  void check(int rows, int columns, double amount, bool exact) {
    const Unsharp unsharp(rows, columns, amount, exact);
    for (const std::vector<double>& zeros : {std::vector{0.0}, {16.0}, {128.0, 128.0}, {0.0, 0.0, 0.0}})
      for (const unsigned mask : {0u, 1u})
        EXPECT_LE(difference(unsharp, zeros, mask), exact ? 0 : 1)
            << rows << "x" << columns << ", amount " << amount << ", zero level " << zeros[0] << ", " << described_;
  }

  /// The same of words. Integers are to be exact where their sums fit 24 bits.
  void check_words(int rows, int columns, double amount, bool exact) {
    struct {
      int bits, shift;
    } constexpr layouts[]{{16, 0}, {12, 0}, {10, 6}, {12, 4}};
    const Unsharp unsharp(rows, columns, amount, exact);
    for (const auto [bits, shift] : layouts) {
      double most = 0;
      for (const std::int64_t integer : unsharp.kernel.integers) most += std::abs(std::ldexp(integer, bits));
      const double allowed = exact && most < (1 << 24) ? 0 : 1;
      const double luma = 1 << (bits - 4), chroma = 1 << (bits - 1);
      for (const std::vector<double>& zeros : {std::vector{0.0}, {luma}, {chroma, chroma}, {0.0, 0.0, 0.0}})
        for (const unsigned mask : {0u, 1u})
          EXPECT_LE(difference<std::uint16_t>(unsharp, zeros, mask, bits, shift), allowed)
              << rows << "x" << columns << ", amount " << amount << ", " << bits << " bits, zero level " << zeros[0]
              << ", " << described_;
    }
  }

  Algorithm algorithm_ = Algorithm::separable;
  std::mt19937 random_{1};
  std::string described_;
};

TEST_F(CentreTap, IsRightForEachSizeAndAmount) {
  for (const cpu::SimdTarget& target : cpu::simd_targets()) {
    if (!target.available) continue;
    ASSERT_TRUE(cpu::force_simd_target(target.name));
    for (const int side : {3, 4, 7, 12, 15})
      for (const double amount : {-1.0, 0.25, 1.0, 2.0, 3.0, 40.0}) check(side, 18 - side, amount, false);
    for (const int side : {17, 23, 31})
      for (const double amount : {-1.0, 1.0, 3.0}) check(side, 48 - side, amount, false);
    for (const int side : {3, 4, 7, 9})
      for (const double amount : {-2.0, 1.0, 2.0}) check(side, side, amount, true);
  }
}

// 9x9 integers, and 40 times what is left of smaller ones, are more than 24 bits hold.
TEST_F(CentreTap, IsRightForWordsOfEachSizeAndAmount) {
  for (const cpu::SimdTarget& target : cpu::simd_targets()) {
    if (!target.available) continue;
    ASSERT_TRUE(cpu::force_simd_target(target.name));
    for (const int side : {3, 5, 6, 7, 12})
      for (const double amount : {-1.0, 1.0, 3.0}) check_words(side, 14 - side, amount, false);
    check_words(33, 5, 1, false);
    for (const int side : {3, 5, 7, 8, 9})
      for (const double amount : {-2.0, 1.0, 40.0}) check_words(side, side, amount, true);
  }
}

// All taps at once: the centre tap may have more bits than the others.
TEST_F(CentreTap, IsRightBesideTapsOfOneByte) {
  algorithm_ = Algorithm::direct;
  for (const cpu::SimdTarget& target : cpu::simd_targets()) {
    if (!target.available) continue;
    ASSERT_TRUE(cpu::force_simd_target(target.name));
    for (const int side : {3, 5, 7, 9}) {
      for (const double amount : {-1.0, 0.25, 1.0, 3.0, 40.0}) check(side, side, amount, false);
      for (const double amount : {-20.0, -2.0, 1.0, 2.0, 7.0}) check(side, side, amount, true);
      if (std::string(target.name) == "vnni") {
        const bool small = side == 3;  // of which real taps of one byte are near enough
        EXPECT_LE(difference(Unsharp(side, side, small ? 41 : 1, small), {0}, 0), small ? 0 : 1);
        EXPECT_NE(described_.find("8-bit dot products, with a centre tap"), std::string::npos) << described_;
      }
    }
  }
}

// A second term would be staged, passed along the row and summed down the column.
TEST_F(CentreTap, IsNoSecondTerm) {
  for (const SampleType type : {SampleType::u8, SampleType::u16, SampleType::f32})
    for (const int side : {5, 7, 15, 33}) {
      PlanDesc desc;
      desc.filter = Filter(Unsharp(side, side, 1, false).taps);
      desc.layout = {.type = type, .bits = type == SampleType::u16 ? 16 : 8, .planes = 1};
      desc.layout.plane[0].components = 1;
      desc.layout.plane[0].component[0] = {.width = width, .height = height};
      const auto group = make_component_groups(desc.layout).front();
      const cpu::Engine engine = cpu::make_separable(desc, cpu::choose_arithmetic(desc, group), group);
      EXPECT_TRUE(engine.reads_centre) << engine.name;
      EXPECT_EQ(engine.terms, 1) << engine.name;
    }
}

// The engines for bytes have the tap: a filter in floats takes two to four times as long.
TEST_F(CentreTap, TakesTheEnginesForBytes) {
  for (const cpu::SimdTarget& target : cpu::simd_targets()) {
    if (!target.available || std::string(target.name) == "scalar") continue;
    ASSERT_TRUE(cpu::force_simd_target(target.name));
    for (const int side : {5, 7, 11, 15, 23, 31}) {
      EXPECT_LE(difference(Unsharp(side, side, 1, false), {0}, 0), 1);
      EXPECT_NE(described_.find("16-bit"), std::string::npos) << described_;
      EXPECT_NE(described_.find("with a centre tap"), std::string::npos) << described_;
    }
  }
}

}  // namespace
