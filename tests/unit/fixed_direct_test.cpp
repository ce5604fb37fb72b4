// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Filters of bytes in 16-bit fixed point, all taps at once, against the oracle on each SIMD target of this machine:
// sums at both ends of what 16 bits hold, each zero level, and where the engine gives way to others.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cpu/simd/targets.hpp"
#include "filtered_frame.hpp"

namespace {

using namespace convolve;

constexpr int width = 91, height = 17;

struct Case {
  int rows, columns;
  double magnitude;  // of all taps together
  std::vector<double> zeros;
};

class FixedDirect : public testing::Test {
 protected:
  void TearDown() override { cpu::force_simd_target(nullptr); }

  // Taps of either sign, one in four below 0.
  void draw_taps(const Case& c) {
    kernel_ = {};
    kernel_.height = c.rows;
    kernel_.width = c.columns;
    kernel_.centre_y = c.rows / 2;
    kernel_.centre_x = c.columns / 2;
    std::uniform_real_distribution<double> value(-0.3, 0.9);
    double all = 0;
    for (int i = 0; i < c.rows * c.columns; ++i) all += std::abs(kernel_.taps.emplace_back(value(random_)));
    for (double& tap : kernel_.taps) tap *= c.magnitude / all;
  }

  // Noise, and on it in turns what makes the largest and the smallest sum: white under taps of one sign, else black.
  std::vector<std::uint8_t> draw_samples(const Case& c) {
    const int components = static_cast<int>(c.zeros.size());
    std::vector<std::uint8_t> in(static_cast<std::size_t>(width * height * components));
    for (std::uint8_t& sample : in) sample = static_cast<std::uint8_t>(random_());
    bool largest = false;
    for (int top = 0; top + c.rows <= height; top += c.rows)
      for (int left = 0; left + c.columns <= width; left += c.columns, largest = !largest)
        for (int y = 0; y < c.rows; ++y)
          for (int x = 0; x < c.columns; ++x)
            for (int k = 0; k < components; ++k)
              in[static_cast<std::size_t>(((top + y) * width + left + x) * components + k)] =
                  (kernel_.taps[static_cast<std::size_t>(y * c.columns + x)] > 0) == largest ? 255 : 0;
    return in;
  }

  /// The largest difference from the oracle.
  double difference(const Case& c) {
    draw_taps(c);
    TapArray taps{.height = c.rows, .width = c.columns, .taps = {}};
    for (const double tap : kernel_.taps) taps.taps.push_back(Tap::real(tap));
    const FilteredFrame found =
        filter_frame(Algorithm::direct, Filter(taps), kernel_, width, height, c.zeros, draw_samples(c));
    described_ = found.described;
    return found.difference;
  }

  bool is_fixed_point() const { return described_.find("16-bit fixed point") != std::string::npos; }

  oracle::Kernel kernel_;
  std::mt19937 random_{1};
  std::string described_;
};

TEST_F(FixedDirect, IsWithinOneCodeValueForEachShapeAndMagnitude) {
  int fixed = 0;
  for (const cpu::SimdTarget& target : cpu::simd_targets()) {
    if (!target.available) continue;
    ASSERT_TRUE(cpu::force_simd_target(target.name));
    for (const auto& [rows, columns] : {std::pair{3, 2}, {3, 3}, {4, 4}, {5, 6}, {7, 7}, {3, 15}, {11, 5}})
      for (const double magnitude : {0.3, 1.0, 1.9, 2.1, 4.2, 12.0, 60.0})
        for (const std::vector<double>& zeros : {std::vector{0.0}, {16.0}, {128.0, 128.0}, {0.0, 0.0, 0.0}}) {
          EXPECT_LE(difference({rows, columns, magnitude, zeros}), 1)
              << rows << "x" << columns << ", " << magnitude << ", zero level " << zeros[0] << ", " << described_;
          fixed += is_fixed_point();
        }
  }
  EXPECT_GT(fixed, 50);
}

// It takes a third less time than words in pairs, and half as much as floats. Taps of one byte take less still.
TEST_F(FixedDirect, IsTakenForSmallFiltersOfRealTaps) {
  for (const cpu::SimdTarget& target : cpu::simd_targets()) {
    const std::string name = target.name;
    if (!target.available || name == "scalar") continue;
    ASSERT_TRUE(cpu::force_simd_target(target.name));
    for (const int side : {3, 5, 7}) {
      difference({side, side, 1.2, {0}});
      EXPECT_TRUE(is_fixed_point() || described_.find("8-bit") != std::string::npos) << described_;
    }
    difference({9, 9, 1.2, {0}});
    EXPECT_FALSE(is_fixed_point()) << "81 products round too much: " << described_;
    difference({3, 3, 60, {0}});
    EXPECT_FALSE(is_fixed_point()) << "too few bits are left for a fraction: " << described_;
  }
}

}  // namespace
