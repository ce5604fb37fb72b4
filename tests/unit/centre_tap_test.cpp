// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Filters that are a column times a row and one more tap at the centre, against the oracle: bytes at the ends of their
// range, each zero level, and centre taps at the ends of what 16 bits hold, on each SIMD target of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cpu/simd/targets.hpp"
#include "filtered_bytes.hpp"

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

  /// The largest difference from the oracle, of interleaved components with these zero levels.
  double difference(const Unsharp& unsharp, const std::vector<double>& zeros, unsigned mask) {
    std::vector<std::uint8_t> in(static_cast<std::size_t>(width * height) * zeros.size());
    // Of mask 0 noise, else nothing but black and white.
    for (std::uint8_t& sample : in) sample = static_cast<std::uint8_t>(mask ? random_() % 2 * 255 : random_());
    const FilteredBytes found =
        filter_bytes(Algorithm::separable, Filter(unsharp.taps), unsharp.kernel, width, height, zeros, std::move(in));
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
