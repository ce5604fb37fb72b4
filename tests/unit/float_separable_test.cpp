// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Large separable filters of 16 bits, whose taps all at once would need doubles: as two passes floats hold them within
// one code value of the oracle, on each SIMD target of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cpu/simd/targets.hpp"
#include "filtered_frame.hpp"

namespace {

using namespace convolve;

constexpr int width = 71, height = 37;

struct Product {
  oracle::Kernel kernel;
  TapArray taps;

  Product(const std::vector<double>& column, const std::vector<double>& row) {
    taps.height = kernel.height = static_cast<int>(column.size());
    taps.width = kernel.width = static_cast<int>(row.size());
    kernel.centre_y = kernel.height / 2;
    kernel.centre_x = kernel.width / 2;
    for (const double down : column)
      for (const double along : row) {
        kernel.taps.push_back(down * along);
        taps.taps.push_back(Tap::real(down * along));
      }
  }
};

// A bell of magnitudes that come to `sum`; every third tap is negative where `signs` has it.
std::vector<double> bell(int taps, double sum, bool signs) {
  std::vector<double> values;
  double total = 0;
  for (int i = 0; i < taps; ++i) {
    const double from_centre = (i - taps / 2) / (0.3 * taps);
    values.push_back(std::exp(-from_centre * from_centre) * (signs && i % 3 == 0 ? -1 : 1));
    total += std::abs(values.back());
  }
  for (double& value : values) value *= sum / total;
  return values;
}

class FloatSeparable : public testing::Test {
 protected:
  void TearDown() override { cpu::force_simd_target(nullptr); }

  /// Samples of noise, or where `extremes` says so of black and white alone.
  FilteredFrame filtered(const Product& product, const std::vector<double>& zeros, bool extremes) {
    std::vector<std::uint16_t> in(static_cast<std::size_t>(width * height) * zeros.size());
    for (std::uint16_t& sample : in) sample = static_cast<std::uint16_t>(extremes ? random_() % 2 * 0xffff : random_());
    return filter_frame(Algorithm::separable, Filter(product.taps), product.kernel, width, height, zeros,
                        std::move(in));
  }

  std::mt19937 random_{1};
};

TEST_F(FloatSeparable, HoldsLargeFiltersOfSixteenBitsInSinglePrecision) {
  for (const cpu::SimdTarget& target : cpu::simd_targets()) {
    if (!target.available) continue;
    ASSERT_TRUE(cpu::force_simd_target(target.name));
    for (const int side : {23, 31})
      for (const bool signs : {false, true}) {
        const Product product(bell(side, 1, signs), bell(side, 1, signs));
        for (const std::vector<double>& zeros : {std::vector{0.0}, {4096.0}, {32768.0, 32768.0}})
          for (const bool extremes : {false, true}) {
            const FilteredFrame found = filtered(product, zeros, extremes);
            EXPECT_LE(found.difference, 1) << side << ", zero level " << zeros[0] << ", " << found.described;
            EXPECT_NE(found.described.find("f32"), std::string::npos) << found.described;
          }
      }
  }
}

// 40 times the range is more than floats hold to a code value.
TEST_F(FloatSeparable, StaysInDoublePrecisionWhereTwoPassesRoundTooMuch) {
  const Product product(bell(31, 40, true), bell(31, 1, false));
  const FilteredFrame found = filtered(product, {0}, true);
  EXPECT_LE(found.difference, 1) << found.described;
  EXPECT_NE(found.described.find("f64"), std::string::npos) << found.described;
}

}  // namespace
