// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The quotients that the CUDA kernels of `matrix` form by one product, for every divisor, where they could go wrong: at
// ties and beside them, at the ends of the range and beyond. Single precision here is that of the GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cuda/matrix.hpp"

namespace {

using convolve::cuda::MatrixFinish;
using convolve::cuda::MatrixReading;
using convolve::cuda::MatrixTaps;

MatrixTaps taps_over(int divisor, MatrixReading how) {
  convolve::PlanDesc desc;
  desc.layout.bits = 8;
  desc.layout.planes = desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0] = convolve::Component{.width = 8, .height = 8};
  desc.filter = convolve::Filter(convolve::TapArray{1, 1, 3, {3, convolve::Tap::fraction(1, divisor)}});
  MatrixTaps taps;
  std::string why;
  EXPECT_TRUE(make_matrix_taps(desc, how, taps, why)) << divisor << ": " << why;
  return taps;
}

/// sum / divisor, ties to even, clamped.
int expected(std::int64_t sum, std::int64_t divisor) {
  const std::int64_t twice = 2 * sum + divisor;
  std::int64_t quotient = twice / (2 * divisor) - (twice % (2 * divisor) < 0 ? 1 : 0);
  if (twice % (2 * divisor) == 0 && quotient % 2 != 0) --quotient;
  return static_cast<int>(std::clamp<std::int64_t>(quotient, 0, 255));
}

/// As the kernels do: the sum's bits read as a float, one product, and the lift where there is one.
int by_one_product(const MatrixTaps& taps, std::int64_t sum) {
  const auto reading = std::bit_cast<float>(static_cast<std::int32_t>(taps.start[0][0] + sum));
  const float lift = taps.finish == MatrixFinish::lifted ? MatrixTaps::lift : 0;
  const float value = std::fma(reading, taps.gain, lift - 0x1p23f * taps.gain) - lift;
  return static_cast<int>(std::clamp(std::nearbyint(value), 0.0f, 255.0f));
}

TEST(MatrixTaps, QuotientsByOneProductAreExact) {
  int reading = 0, lifted = 0;
  for (int divisor = 2; divisor <= 17000; ++divisor) {
    const MatrixTaps taps = taps_over(divisor, MatrixReading::lifted);
    if (taps.finish == MatrixFinish::quotient) continue;
    ASSERT_TRUE(taps.finish == MatrixFinish::reading || taps.finish == MatrixFinish::lifted);
    ++(taps.finish == MatrixFinish::reading ? reading : lifted);
    for (int k = -3; k < 259; ++k)
      for (int beside = -1; beside <= 2; ++beside)
        for (const std::int64_t at : {std::int64_t{k} * divisor, (2 * std::int64_t{k} + 1) * divisor / 2}) {
          const std::int64_t sum = at + beside;
          ASSERT_EQ(by_one_product(taps, sum), expected(sum, divisor)) << sum << " over " << divisor;
        }
    for (const std::int64_t sum : {-50'000'000, -300 * divisor, 1000 * divisor, 50'000'000})
      ASSERT_EQ(by_one_product(taps, sum), expected(sum, divisor)) << sum << " over " << divisor;
  }
  // Most divisors need no more, and both ways are taken.
  EXPECT_GT(reading, 12000);
  EXPECT_GT(lifted, 1000);
}

TEST(MatrixTaps, WithoutLiftTiesStayWhereTheyAre) {
  for (int divisor = 2; divisor <= 17000; ++divisor) {
    const MatrixTaps taps = taps_over(divisor, MatrixReading::joined);
    ASSERT_NE(taps.finish, MatrixFinish::lifted);
    if (taps.finish != MatrixFinish::reading || divisor % 2 != 0) continue;
    for (int k = 0; k < 255; ++k) {
      const std::int64_t tie = (2 * std::int64_t{k} + 1) * divisor / 2;
      ASSERT_EQ(by_one_product(taps, tie), k + k % 2) << tie << " over " << divisor;
    }
  }
}

TEST(MatrixTaps, RealTapsOverSeveralFramesKeepTheirLevels) {
  // Small taps have many fraction bits, so that a level is a large sum.
  convolve::PlanDesc desc;
  desc.layout.bits = 8;
  desc.layout.planes = 1;
  desc.layout.plane[0].components = 2;
  for (int c = 0; c < 2; ++c)
    desc.layout.plane[0].component[c] = convolve::Component{.width = 8, .height = 8, .bias = 250.0 - c};
  desc.filter = convolve::Filter(
      convolve::TapArray{3, 7, 7, std::vector<convolve::Tap>(std::size_t{3 * 7 * 7}, convolve::Tap::real(-0.005))});
  for (const MatrixReading how : {MatrixReading::apart, MatrixReading::joined}) {
    MatrixTaps taps;
    std::string why;
    ASSERT_TRUE(make_matrix_taps(desc, how, taps, why)) << why;
    for (int c = 0; c < 2; ++c) {
      const double start = taps.finish == MatrixFinish::reading ? taps.start[0][c] - 0x4B000000 : 0;
      EXPECT_NEAR(start * taps.gain + taps.level[0][c], 250.0 - c, 1e-3);
    }
  }
}

}  // namespace
