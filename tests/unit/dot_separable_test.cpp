// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Separable filters of 16 to 31 integer taps an axis, of bytes, as dot products or multiply-adds: exactly the oracle's
// result, on each SIMD target of this machine, also where sums along the row fit 16 bits only less half of the range.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cpu/simd/targets.hpp"
#include "filtered_frame.hpp"

namespace {

using namespace convolve;

constexpr int width = 101, height = 35;

// Rises by 1 every `every` taps to the centre; a part of it turned negative where `signs` says so.
std::vector<std::int64_t> triangle(int taps, int every, bool signs) {
  std::vector<std::int64_t> values;
  for (int i = 0; i < taps; ++i)
    values.push_back((std::min(i, taps - 1 - i) / every + 1) * (signs && i % 4 == 1 ? -1 : 1));
  return values;
}

struct Integers {
  oracle::Kernel kernel;
  TapArray taps;

  /// The column times the row, and `centre` more in the middle, over the sum of magnitudes.
  Integers(const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& row, std::int64_t centre) {
    taps.height = kernel.height = static_cast<int>(column.size());
    taps.width = kernel.width = static_cast<int>(row.size());
    kernel.centre_y = kernel.height / 2;
    kernel.centre_x = kernel.width / 2;
    for (const std::int64_t down : column)
      for (const std::int64_t along : row) kernel.integers.push_back(down * along);
    kernel.integers[kernel.centre_y * row.size() + kernel.centre_x] += centre;
    for (const std::int64_t tap : kernel.integers) kernel.divisor += std::abs(tap);
    for (const std::int64_t tap : kernel.integers) taps.taps.push_back(Tap::fraction(tap, kernel.divisor));
  }
};

class DotSeparable : public testing::Test {
 protected:
  void TearDown() override { cpu::force_simd_target(nullptr); }

  /// Expects the oracle's result of noise, and of black and white alone, and a plan that says `kernel` where the target
  /// has the engine.
  void check(const Integers& filter, const char* kernel) {
    for (const cpu::SimdTarget& target : cpu::simd_targets()) {
      if (!target.available) continue;
      ASSERT_TRUE(cpu::force_simd_target(target.name));
      for (const std::vector<double>& zeros : {std::vector{0.0}, {16.0}, {128.0, 128.0}, {0.0, 0.0, 0.0}})
        for (const bool extremes : {false, true}) {
          std::vector<std::uint8_t> in(static_cast<std::size_t>(width * height) * zeros.size());
          for (std::uint8_t& sample : in)
            sample = static_cast<std::uint8_t>(extremes ? random_() % 2 * 255 : random_());
          const FilteredFrame found = filter_frame(Algorithm::separable, Filter(filter.taps), filter.kernel, width,
                                                   height, zeros, std::move(in));
          EXPECT_EQ(found.difference, 0) << filter.kernel.height << "x" << filter.kernel.width << ", zero level "
                                         << zeros[0] << ", " << found.described;
          const std::string name = target.name;
          const bool has_engine = name.starts_with("avx") || name == "vnni";
          EXPECT_TRUE(!has_engine || found.described.find(kernel) != std::string::npos) << found.described;
        }
    }
  }

  std::mt19937 random_{1};
};

TEST_F(DotSeparable, IsExactForUpToThirtyOneTapsAnAxis) {
  for (const bool signs : {false, true})
    for (const int side : {16, 17, 24, 31}) {
      check(Integers(triangle(side, 2, signs), triangle(47 - side, 2, false), 0), "16-bit ");
      check(Integers(triangle(side, 2, false), triangle(side, 2, signs), 0), "16-bit ");
    }
}

TEST_F(DotSeparable, TakesACentreTapBesideManyTaps) {
  check(Integers(triangle(19, 3, false), triangle(31, 2, false), -900), "with a centre tap");
  check(Integers(triangle(31, 2, false), triangle(31, 2, true), 2000), "with a centre tap");
}

// 31 taps that rise by 1 come to 256: times 128 that is one too many for a word.
TEST_F(DotSeparable, LeavesRowsThatNoWordHoldsToFloats) {
  check(Integers(triangle(17, 2, false), triangle(31, 1, false), 0), "f32");
}

}  // namespace
