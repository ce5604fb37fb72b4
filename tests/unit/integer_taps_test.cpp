// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Taps in integers: exact ones stay as they are, real ones move no result by more than a quarter of a code value, and
// what cannot be had in integers is refused. The worst frame of bytes is written down tap by tap.
#include "cpu/engine/integer_taps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <vector>

namespace {

using namespace convolve;
using convolve::cpu::IntegerTaps;

FrameLayout gray() {
  FrameLayout layout;
  layout.planes = 1;
  layout.plane[0].components = 1;
  layout.plane[0].component[0] = {.offset = 0, .step = 1, .width = 8, .height = 8};
  return layout;
}

std::optional<IntegerTaps> taps_of(const FrameLayout& layout, Accumulator accumulator, const std::vector<double>& taps,
                                   int largest, Border border = Border::replicate, double weight = 1) {
  const Arithmetic arithmetic{.accumulator = accumulator, .coefficients = taps};
  return cpu::make_integer_taps(arithmetic, layout, border, make_component_groups(layout).front(), largest, weight);
}

std::optional<IntegerTaps> byte_taps_of(Accumulator accumulator, const std::vector<double>& taps,
                                        cpu::ByteTaps preferred, std::optional<std::size_t> wide = std::nullopt) {
  const Arithmetic arithmetic{.accumulator = accumulator, .coefficients = taps};
  const FrameLayout layout = gray();
  return cpu::make_byte_taps(arithmetic, layout, Border::replicate, make_component_groups(layout).front(), preferred,
                             wide);
}

// The largest difference that any bytes make: all that pull it one way are 255, all others 0.
double worst_error(const IntegerTaps& integers, const std::vector<double>& taps) {
  double up = 0, down = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double error = 255 * (integers.gain * integers.taps[i] - taps[i]);
    (error > 0 ? up : down) += error;
  }
  return std::max(up, -down);
}

TEST(IntegerTaps, OfExactFiltersAreTheirOwn) {
  const auto taps = taps_of(gray(), Accumulator::exact, {1, -2, 127, 0, -127}, 127);
  ASSERT_TRUE(taps);
  EXPECT_EQ(taps->taps, (std::vector<std::int32_t>{1, -2, 127, 0, -127}));
  EXPECT_EQ(taps->gain, 1);
  EXPECT_EQ(taps->sum, -1);
  EXPECT_FALSE(taps_of(gray(), Accumulator::exact, {1, 128}, 127));
  EXPECT_FALSE(taps_of(gray(), Accumulator::exact, {1, -128}, 127));
}

TEST(IntegerTaps, OfRealFiltersStayWithinAQuarterOfACodeValue) {
  std::mt19937 random(20);
  std::uniform_real_distribution<double> any(-1, 1);
  int served = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<double> taps(1 + random() % 225);
    for (double& tap : taps) tap = any(random);
    const int largest = round % 2 ? 127 : 32767;
    const auto integers = taps_of(gray(), Accumulator::single, taps, largest);
    if (!integers) continue;
    ++served;
    EXPECT_LE(worst_error(*integers, taps), 0.25 + 1e-9);
    std::int64_t magnitude = 0, sum = 0;
    for (const std::int32_t tap : integers->taps) {
      EXPECT_LE(std::abs(tap), largest);
      magnitude += std::abs(tap);
      sum += tap;
    }
    EXPECT_EQ(integers->sum, sum);
    EXPECT_LE(magnitude * 255, INT32_MAX);
  }
  EXPECT_GE(served, 50);
}

// Of bytes the divisor is a whole number, and a level frame stays level, as nearly as whole taps can say it.
TEST(ByteTaps, OfRealFiltersStayWithinACodeValueAndKeepTheirSum) {
  std::mt19937 random(21);
  std::uniform_real_distribution<double> any(-0.3, 0.9);
  int served = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<double> taps(1 + random() % 225);
    double sum = 0;
    for (double& tap : taps) sum += tap = any(random);
    if (round % 4 == 0) sum *= 0.7;
    for (double& tap : taps) tap /= sum;
    for (const auto preferred : {cpu::ByteTaps::nearest, cpu::ByteTaps::small}) {
      const auto bytes = byte_taps_of(Accumulator::single, taps, preferred);
      if (!bytes) continue;
      ++served;
      EXPECT_LE(worst_error(*bytes, taps), cpu::max_byte_error + 1e-9);
      EXPECT_EQ(bytes->divisor, std::floor(bytes->divisor));
      EXPECT_EQ(bytes->gain, 1 / bytes->divisor);
      std::int64_t all = 0;
      for (const std::int32_t tap : bytes->taps) {
        EXPECT_LE(std::abs(tap), 127);
        all += tap;
      }
      EXPECT_EQ(bytes->sum, all);
      EXPECT_LE(std::abs(static_cast<double>(all) - bytes->divisor * (round % 4 == 0 ? 1 / 0.7 : 1)), 0.5 + 1e-6);
    }
  }
  EXPECT_GE(served, 300);
}

TEST(ByteTaps, OfRealFiltersAreSmallOrTheNearest) {
  const std::vector<double> taps{0.1113173, 0.2291319, 0.3191016, 0.2291319, 0.1113173};
  const auto nearest = byte_taps_of(Accumulator::single, taps, cpu::ByteTaps::nearest);
  const auto smallest = byte_taps_of(Accumulator::single, taps, cpu::ByteTaps::small);
  ASSERT_TRUE(nearest && smallest);
  EXPECT_LT(smallest->divisor, nearest->divisor);
  EXPECT_LE(worst_error(*nearest, taps), worst_error(*smallest, taps));
  EXPECT_FALSE(byte_taps_of(Accumulator::single, {0, 0}, cpu::ByteTaps::nearest));
  EXPECT_FALSE(byte_taps_of(Accumulator::single, {200.5, 1}, cpu::ByteTaps::nearest));
  EXPECT_FALSE(byte_taps_of(Accumulator::single, {100, 0.5, 0.5, 0.5, 0.5}, cpu::ByteTaps::small));
}

TEST(ByteTaps, OfExactFiltersAreTheirOwn) {
  const auto taps = byte_taps_of(Accumulator::exact, {1, -2, 127}, cpu::ByteTaps::small);
  ASSERT_TRUE(taps);
  EXPECT_EQ(taps->taps, (std::vector<std::int32_t>{1, -2, 127}));
  EXPECT_EQ(taps->divisor, 1);
  EXPECT_FALSE(byte_taps_of(Accumulator::exact, {1, 128}, cpu::ByteTaps::small));
}

// As bytes alone these real taps would be 127 and -1 to -10, which is too far off.
TEST(ByteTaps, MayHaveOneOfSixteenBits) {
  const std::vector<double> taps{-0.0235, -0.0512, -0.0391, 1.6913, -0.1523, -0.2117, -0.1146, -0.0989};
  EXPECT_FALSE(byte_taps_of(Accumulator::single, taps, cpu::ByteTaps::nearest));
  EXPECT_FALSE(byte_taps_of(Accumulator::single, taps, cpu::ByteTaps::nearest, 2));
  const auto wide = byte_taps_of(Accumulator::single, taps, cpu::ByteTaps::nearest, 3);
  ASSERT_TRUE(wide);
  EXPECT_LE(worst_error(*wide, taps), cpu::max_byte_error + 1e-9);
  EXPECT_GT(wide->taps[3], 127);
  for (std::size_t i = 0; i < taps.size(); ++i) EXPECT_LE(std::abs(wide->taps[i]), i == 3 ? 32767 : 127);

  EXPECT_TRUE(byte_taps_of(Accumulator::exact, {-1, 32767, 127}, cpu::ByteTaps::nearest, 1));
  EXPECT_FALSE(byte_taps_of(Accumulator::exact, {-1, 32768, 127}, cpu::ByteTaps::nearest, 1));
  EXPECT_FALSE(byte_taps_of(Accumulator::exact, {-1, 300, 128}, cpu::ByteTaps::nearest, 1));
}

// In steps of 1/127 the smaller tap is half a step off, about one code value; in steps of 1/32767 it is 129.0039 steps,
// so that 255 * 0.0039 / 32767 is lost: 0.15 of a code value where a later pass multiplies it by 5000.
TEST(IntegerTaps, AreRefusedWhereRoundingMovesAResultTooFar) {
  EXPECT_FALSE(taps_of(gray(), Accumulator::single, {1, 0.5 / 127}, 127));
  EXPECT_TRUE(taps_of(gray(), Accumulator::single, {1, 0.5 / 127}, 32767));
  EXPECT_TRUE(taps_of(gray(), Accumulator::single, {1, 0.5 / 127}, 32767, Border::replicate, 5000));
  EXPECT_FALSE(taps_of(gray(), Accumulator::single, {1, 0.5 / 127}, 32767, Border::replicate, 10000));
}

TEST(IntegerTaps, AreRefusedWhereSumsDoNotFitOrThereIsNoTap) {
  const std::vector<double> too_many(300, 32767);  // 300 * 32767 * 255 is over 2^31
  EXPECT_FALSE(taps_of(gray(), Accumulator::exact, too_many, 32767));
  EXPECT_TRUE(taps_of(gray(), Accumulator::exact, std::vector<double>(200, 32767), 32767));
  EXPECT_FALSE(taps_of(gray(), Accumulator::single, {0, 0}, 32767));
  EXPECT_FALSE(taps_of(gray(), Accumulator::double_, {1, 2}, 32767));
}

TEST(IntegerTaps, NeedBytesWithLevelsThatAreBytes) {
  const auto serves = [](const FrameLayout& layout, Border border) {
    return taps_of(layout, Accumulator::exact, {1, 2}, 127, border).has_value();
  };
  FrameLayout layout = gray();
  layout.plane[0].component[0].ghost = 127.5;
  EXPECT_TRUE(serves(layout, Border::replicate));
  EXPECT_FALSE(serves(layout, Border::constant));
  layout = gray();
  layout.plane[0].component[0].zero = 0.5;
  EXPECT_FALSE(serves(layout, Border::replicate));
  layout = gray();
  layout.plane[0].component[0].ghost = 256;
  EXPECT_FALSE(serves(layout, Border::constant));
  layout = gray();
  layout.type = SampleType::u16;
  EXPECT_FALSE(serves(layout, Border::replicate));
}

}  // namespace
