// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The quotients that the CUDA kernels of `matrix` form by one product, for every divisor, where they could go wrong: at
// ties and beside them, at the ends of the range and beyond. Single precision here is that of the GPU.
//
// And the sums of bytes by limbs of 16-bit samples, against sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "cuda/matrix/taps.hpp"

namespace {

using convolve::cuda::Epilogue;
using convolve::cuda::LimbSums;
using convolve::cuda::MatrixTaps;
using convolve::cuda::U16Taps;

MatrixTaps taps_over(int divisor, LimbSums how) {
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
  const float rounding_bias = taps.epilogue == Epilogue::biased_magic_number ? MatrixTaps::rounding_bias : 0;
  const float value = std::fma(reading, taps.gain, rounding_bias - 0x1p23f * taps.gain) - rounding_bias;
  return static_cast<int>(std::clamp(std::nearbyint(value), 0.0f, 255.0f));
}

TEST(MatrixTaps, QuotientsByOneProductAreExact) {
  int reading = 0, biased = 0;
  for (int divisor = 2; divisor <= 17000; ++divisor) {
    const MatrixTaps taps = taps_over(divisor, LimbSums::joined_biased);
    if (taps.epilogue == Epilogue::quotient) continue;
    ASSERT_TRUE(taps.epilogue == Epilogue::magic_number || taps.epilogue == Epilogue::biased_magic_number);
    ++(taps.epilogue == Epilogue::magic_number ? reading : biased);
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
  EXPECT_GT(biased, 1000);
}

TEST(MatrixTaps, WithoutLiftTiesStayWhereTheyAre) {
  for (int divisor = 2; divisor <= 17000; ++divisor) {
    const MatrixTaps taps = taps_over(divisor, LimbSums::joined);
    ASSERT_NE(taps.epilogue, Epilogue::biased_magic_number);
    if (taps.epilogue != Epilogue::magic_number || divisor % 2 != 0) continue;
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
  for (const LimbSums how : {LimbSums::separate, LimbSums::joined}) {
    MatrixTaps taps;
    std::string why;
    ASSERT_TRUE(make_matrix_taps(desc, how, taps, why)) << why;
    for (int c = 0; c < 2; ++c) {
      const double start = taps.epilogue == Epilogue::magic_number ? taps.start[0][c] - 0x4B000000 : 0;
      EXPECT_NEAR(start * taps.gain + taps.level[0][c], 250.0 - c, 1e-3);
    }
  }
}

TEST(MatrixTaps, ThreeDigitsHoldWhatTwoDoNot) {
  convolve::PlanDesc desc;
  desc.layout.bits = 8;
  desc.layout.planes = desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0] = convolve::Component{.width = 64, .height = 64};
  std::mt19937 random(9);
  std::vector<double> values(225);
  for (double& v : values) v = std::uniform_real_distribution<double>(-0.006, 0)(random);
  values[112] = 1.9;
  std::vector<convolve::Tap> given;
  for (const double v : values) given.push_back(convolve::Tap::real(v));
  desc.filter = convolve::Filter(convolve::TapArray{1, 15, 15, given});
  MatrixTaps taps;
  std::string why;
  EXPECT_FALSE(make_matrix_taps(desc, LimbSums::joined_biased, taps, why));
  EXPECT_EQ(why, "real taps that 2 8-bit limbs do not hold to within 0.45 code values");
  ASSERT_TRUE(make_matrix_taps(desc, LimbSums::joined_biased, taps, why, 3)) << why;
  ASSERT_EQ(taps.limbs, 3);
  for (int n = 0; n < 100; ++n) {
    std::int64_t sum = 0;
    double wanted = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int sample = n == 0 ? 255 : std::uniform_int_distribution<int>(0, 255)(random);
      std::int64_t tap = 0;
      for (int d = 0; d < taps.limbs; ++d) {
        EXPECT_TRUE(taps.limb(d, i) >= -128 && taps.limb(d, i) <= 127);
        tap = tap * 256 + taps.limb(d, i);
      }
      sum += tap * sample;
      wanted += values[i] * sample;
    }
    ASSERT_LE(std::abs(sum), std::numeric_limits<std::int32_t>::max());
    ASSERT_NEAR(static_cast<double>(sum) * taps.gain + taps.level[0][0], wanted, MatrixTaps::max_error);
  }
}

convolve::PlanDesc wide_desc(int bits, int side, double zero, const std::vector<convolve::Tap>& taps) {
  convolve::PlanDesc desc;
  desc.layout.type = convolve::SampleType::u16;
  desc.layout.bits = bits;
  desc.layout.planes = desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0] = convolve::Component{.width = 64, .height = 64, .zero = zero};
  desc.filter = convolve::Filter(convolve::TapArray{1, side, side, taps});
  return desc;
}

/// As the kernel does, of samples that are code values: sums of products of one weight after the other.
double by_bytes(const U16Taps& taps, int bits, const std::vector<int>& samples) {
  std::int64_t sum = 0;
  const int weights = taps.limbs + 1 - taps.lowest;
  for (int n = 0; n < weights; ++n) {
    const int weight = taps.down ? taps.limbs - n : taps.lowest + n;
    if (n > 0) sum = taps.down ? sum * 256 : (sum + 128) >> 8;
    if (n == weights - 1) sum += taps.start[0][0];
    for (int byte = 0; byte < 2; ++byte) {
      const int limb = weight - byte;
      if (limb < 0 || limb >= taps.limbs) continue;
      for (std::size_t i = 0; i < samples.size(); ++i)
        sum += std::int64_t{(samples[i] << (16 - bits)) >> 8 * byte & 255} * taps.limb(limb, i);
    }
    EXPECT_LE(std::abs(sum), std::numeric_limits<std::int32_t>::max());
  }
  return static_cast<double>(static_cast<float>(sum)) * static_cast<double>(taps.scale);
}

double in_doubles(const std::vector<double>& taps, double zero, const std::vector<int>& samples) {
  double sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) sum += taps[i] * (samples[i] - zero);
  return sum;
}

/// Random samples, and some that the limbs like least.
std::vector<std::vector<int>> samples_for(const U16Taps& taps, int max, std::mt19937& random) {
  std::vector<std::vector<int>> all(6, std::vector<int>(taps.fixed.size()));
  for (std::size_t i = 0; i < taps.fixed.size(); ++i) {
    for (int n = 0; n < 3; ++n) all[n][i] = std::uniform_int_distribution<int>(0, max)(random);
    all[3][i] = taps.limb(0, i) > 0 ? max : 0;
    all[4][i] = taps.limb(0, i) > 0 ? 0 : max;
    all[5][i] = max;
  }
  return all;
}

TEST(U16Taps, RealSumsAreWithinTheirErrorAndNormalisedFiltersAreServed) {
  std::mt19937 random(7);
  int up = 0, down = 0, two_limbs = 0;
  for (const int bits : {9, 10, 12, 15, 16})
    for (const int side : {3, 5, 7, 9, 11, 15, 31})
      for (const double zero : {0.0, std::ldexp(1.0, bits - 1)})
        for (const double low : {0.0, -0.3}) {
          std::vector<double> values(static_cast<std::size_t>(side) * side);
          double sum = 0;
          for (double& v : values) sum += v = std::uniform_real_distribution<double>(low, 1)(random);
          std::vector<convolve::Tap> given;
          for (double& v : values) given.push_back(convolve::Tap::real(v /= sum));
          const convolve::PlanDesc desc = wide_desc(bits, side, zero, given);
          U16Taps taps;
          std::string why;
          ASSERT_TRUE(make_u16_taps(desc, 3, taps, why)) << bits << " bits, " << side << ": " << why;
          EXPECT_TRUE(bits >= 15 || taps.limbs == 2) << bits << " bits, " << side;
          two_limbs += bits == 16 && taps.limbs == 2;
          const int max = (1 << bits) - 1;
          for (const std::vector<int>& samples : samples_for(taps, max, random)) {
            const double wanted = in_doubles(values, zero, samples);
            if (wanted + zero < -1 || wanted + zero > max + 1) continue;  // clamped
            ++(taps.down ? down : up);
            ASSERT_NEAR(by_bytes(taps, bits, samples), wanted, U16Taps::max_error)
                << bits << " bits, " << side << ", from " << zero;
          }
        }
  // Both ways are taken.
  EXPECT_GT(up, 50);
  EXPECT_GT(down, 15);
  // Of 28.
  EXPECT_GE(two_limbs, 20);
}

TEST(U16Taps, IntegerSumsAreExact) {
  std::mt19937 random(8);
  for (const int bits : {9, 10, 12, 16})
    for (const int side : {1, 3, 7, 15})
      for (const int largest : {1, 100, 200, 30000}) {
        const std::size_t count = static_cast<std::size_t>(side) * side;
        if (largest * count * std::ldexp(1.0, bits) >= 0x1p24) continue;  // not of the exact ones
        std::vector<double> values(count);
        std::vector<convolve::Tap> given;
        for (double& v : values) {
          v = std::uniform_int_distribution<int>(-largest, largest)(random);
          given.push_back(convolve::Tap::integer(static_cast<std::int64_t>(v)));
        }
        for (const double zero : {0.0, std::ldexp(1.0, bits - 4), std::ldexp(1.0, bits - 1)}) {
          const convolve::PlanDesc desc = wide_desc(bits, side, zero, given);
          U16Taps taps;
          std::string why;
          ASSERT_TRUE(make_u16_taps(desc, 2, taps, why)) << bits << " bits, " << side << ": " << why;
          EXPECT_TRUE(taps.down && taps.lowest == 0);
          for (const std::vector<int>& samples : samples_for(taps, (1 << bits) - 1, random))
            ASSERT_EQ(by_bytes(taps, bits, samples), in_doubles(values, zero, samples))
                << bits << " bits, " << side << ", up to " << largest << ", from " << zero;
        }
      }
}

TEST(U16Taps, WhatDigitsDoNotHoldIsRefused) {
  std::vector<convolve::Tap> given(225, convolve::Tap::real(0.9 / 224));
  given[112] = convolve::Tap::real(0.1);
  U16Taps taps;
  std::string why;
  EXPECT_FALSE(make_u16_taps(wide_desc(16, 15, 0, given), 2, taps, why));
  EXPECT_EQ(why, "real taps that 2 8-bit limbs do not hold to within 0.95 code values");
  EXPECT_TRUE(make_u16_taps(wide_desc(10, 15, 0, given), 3, taps, why)) << why;
}

}  // namespace
