// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers of register's row stream in half precision: what the kernel does with them, done here step by step in
// halves of the test's own, stays within one code value of the sum in double precision; other cases are refused.
#include "cuda/register/half_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using namespace convolve;
using cuda::HalfTaps;

/// To the nearest value of eleven significant bits, ties to even; none here is large or small enough for more.
double rounded(double value) {
  if (std::abs(value) < 0x1p-14) return std::nearbyint(value * 0x1p24) * 0x1p-24;
  const double place = std::ldexp(1.0, std::ilogb(value) - 10);
  return std::nearbyint(value / place) * place;
}
double half_of(std::uint32_t word) {
  EXPECT_EQ(word & 0xFFFF, word >> 16);
  const int exponent = static_cast<int>(word >> 10 & 31), fraction = static_cast<int>(word & 1023);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return word & 0x8000 ? -magnitude : magnitude;
}

Filter filter_of(const std::vector<double>& taps, int side) {
  TapArray array{.depth = 1, .height = side, .width = side, .taps = {}};
  for (const double tap : taps) array.taps.push_back(Tap::real(tap));
  return Filter(array, {});
}
PlanDesc desc_of(Filter filter, const Component& level = {}, Border border = Border::replicate) {
  PlanDesc desc;
  desc.layout.bits = 8;
  desc.layout.planes = 1;
  PlaneLayout& plane = desc.layout.plane[0];
  plane.components = 3;
  for (int c = 0; c < 3; ++c) {
    plane.component[c] = level;
    plane.component[c].offset = c, plane.component[c].step = 3;
    plane.component[c].width = plane.component[c].height = 16;
  }
  desc.border = border;
  desc.filter = std::move(filter);
  return desc;
}
bool make(const PlanDesc& desc, HalfTaps& taps) {
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border));
  return make_half_taps(desc, arithmetic, taps);
}

std::vector<double> random_taps(std::mt19937& random, int side, double least, double most, bool to_one) {
  std::uniform_real_distribution<double> value(least, most);
  std::vector<double> taps(static_cast<std::size_t>(side) * side);
  double sum = 0;
  for (double& tap : taps) sum += tap = value(random);
  if (to_one)
    for (double& tap : taps) tap /= sum;
  return taps;
}

/// Samples at random, and such that errors of one direction come together.
std::vector<int> samples_for(std::mt19937& random, const std::vector<double>& taps, int trial) {
  std::vector<int> samples;
  for (const double tap : taps)
    samples.push_back(trial == 0   ? (tap > 0 ? 255 : 0)
                      : trial == 1 ? (tap > 0 ? 0 : 255)
                                   : static_cast<int>(random() % 256));
  return samples;
}

int code_of(const HalfTaps& taps, const std::vector<int>& samples) {
  double sum = half_of(taps.begin);
  for (std::size_t i = 0; i < samples.size(); ++i) sum = rounded(half_of(taps.tap[i]) * (samples[i] - 128) + sum);
  return static_cast<int>(std::clamp(rounded(sum + half_of(taps.level)), 1024.0, 1279.0)) - 1024;
}

TEST(HalfStream, ResultsAreWithinOneCodeValue) {
  std::mt19937 random(1);
  int served = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<double> taps = random_taps(random, 3, round % 3 ? -0.3 : -0.7, 0.9, round % 2);
    const Component level{.zero = round % 5 == 4 ? 128.0 : 0.0, .bias = round % 7 * 3.3};
    HalfTaps made{};
    if (!make(desc_of(filter_of(taps, 3), level), made)) continue;
    ++served;
    for (int trial = 0; trial < 40; ++trial) {
      const std::vector<int> samples = samples_for(random, taps, trial);
      double sum = level.zero + level.bias;
      for (std::size_t i = 0; i < taps.size(); ++i) sum += taps[i] * (samples[i] - level.zero);
      const int exact = static_cast<int>(std::clamp(std::nearbyint(sum), 0.0, 255.0));
      ASSERT_LE(std::abs(code_of(made, samples) - exact), 1) << "round " << round << ", sum " << sum;
    }
  }
  EXPECT_GT(served, 200);
}

TEST(HalfStream, TapsStandWhereTheCentreAsks) {
  TapArray array{.depth = 1, .height = 2, .width = 3, .taps = {}};
  for (int i = 1; i <= 6; ++i) array.taps.push_back(Tap::real(i / 16.0 + 0x1p-20));
  HalfTaps made{};
  ASSERT_TRUE(make(desc_of(Filter(array, {})), made));
  for (int i = 0; i < 9; ++i) EXPECT_EQ(half_of(made.tap[i]), i < 6 ? (i + 1) / 16.0 : 0) << i;
}

TEST(HalfStream, AGhostIsAByte) {
  const std::vector<double> taps(9, 0.1234567);
  HalfTaps made{};
  ASSERT_TRUE(make(desc_of(filter_of(taps, 3), {.ghost = 77}, Border::constant), made));
  EXPECT_EQ(made.ghost, 77u * 0x01010101u);
  EXPECT_FALSE(make(desc_of(filter_of(taps, 3), {.ghost = 77.5}, Border::constant), made));
  EXPECT_FALSE(make(desc_of(filter_of(taps, 3), {.ghost = 256}, Border::constant), made));
  EXPECT_TRUE(make(desc_of(filter_of(taps, 3), {.ghost = 77.5}), made));
}

TEST(HalfStream, OtherCasesAreRefused) {
  HalfTaps made{};
  // Sums of magnitudes that come to 6 can be off by over a code value, and larger ones leave the whole halves.
  EXPECT_FALSE(make(desc_of(filter_of(std::vector<double>(9, 0.7000001), 3)), made));
  EXPECT_FALSE(make(desc_of(filter_of(std::vector<double>(1, 9.00001), 1)), made));
  EXPECT_FALSE(make(desc_of(filter_of(std::vector<double>(25, 0.0400001), 5)), made));
  TapArray whole{.depth = 1, .height = 3, .width = 3, .taps = std::vector<Tap>(9, Tap::integer(1))};
  EXPECT_FALSE(make(desc_of(Filter(whole, {})), made));
  PlanDesc desc = desc_of(filter_of(std::vector<double>(9, 0.1234567), 3));
  ASSERT_TRUE(make(desc, made));
  desc.layout.plane[0].component[1].filtered = false;
  EXPECT_FALSE(make(desc, made));
}

}  // namespace
