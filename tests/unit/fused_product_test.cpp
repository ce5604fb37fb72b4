// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/fused_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "oracle.hpp"

namespace convolve::cuda {
namespace {

FrameLayout layout(int bits, double zero, double bias = 0) {
  FrameLayout l;
  l.type = SampleType::u16;
  l.bits = bits;
  l.planes = l.plane[0].components = 1;
  l.plane[0].component[0] = Component{.width = 8, .height = 8, .zero = zero, .bias = bias};
  return l;
}

// Sums near ties of the result.
TEST(FusedProduct, IsRightWhereItIsSaidToDivide) {
  std::mt19937_64 random(12);
  std::size_t checked = 0, odd = 0, even = 0;
  for (const int bits : {9, 10, 12, 14, 15, 16})
    for (const double zero : {0.0, std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 4), std::ldexp(1.0, bits) - 1})
      for (const double bias : {0.0, -0.5, std::ldexp(-1.0, bits - 1)})
        for (int divisor = 2; divisor <= 8192; divisor += divisor < 1100 ? 1 : 997) {
          Arithmetic arithmetic;
          arithmetic.accumulator = Accumulator::exact;
          arithmetic.divisor = divisor;
          const FrameLayout l = layout(bits, zero, bias);
          const std::optional<float> rounding_bias = fused_product_bias(arithmetic, l, l.plane[0].component[0]);
          if (!rounding_bias) continue;
          ++(divisor % 2 ? odd : even);
          const double max = l.max_value();
          for (int trial = 0; trial < 200; ++trial) {
            const double target = trial == 0   ? max - 0.5
                                  : trial == 1 ? 0.5
                                               : std::floor(max * (random() % 65536 / 65535.0)) + 0.5;
            const auto nearest = static_cast<std::int64_t>(std::nearbyint((target - zero - bias) * divisor));
            for (std::int64_t sum = nearest - 2; sum <= nearest + 2; ++sum) {
              if (std::abs(sum) >= 1 << 24) continue;
              const auto offset = static_cast<float>(zero + bias);
              const volatile float biased =
                  std::fma(static_cast<float>(sum), static_cast<float>(1.0 / divisor), offset + *rounding_bias);
              const volatile float value = biased - *rounding_bias;
              ASSERT_EQ(std::clamp(std::nearbyint(double{value}), 0.0, max),
                        std::clamp(static_cast<double>(oracle::rounded_quotient(sum, divisor, zero + bias)), 0.0, max))
                  << bits << " bits, " << sum << "/" << divisor << " + " << offset;
              ++checked;
            }
          }
        }
  EXPECT_GT(checked, 1000000u);
  EXPECT_GT(odd, 1000u);
  EXPECT_GT(even, 50u);
}

TEST(FusedProduct, ServesBoxesAndTrianglesOf16Bits) {
  Arithmetic arithmetic;
  arithmetic.accumulator = Accumulator::exact;
  const auto bias = [&](double divisor, double offset) {
    arithmetic.divisor = divisor;
    const FrameLayout l = layout(16, offset);
    return fused_product_bias(arithmetic, l, l.plane[0].component[0]);
  };
  for (const double offset : {0, 32768}) {
    EXPECT_EQ(bias(256, offset), 0);
    for (const double divisor : {25, 36, 49, 81, 100}) EXPECT_EQ(bias(divisor, offset), 65536) << divisor;
  }
  EXPECT_EQ(bias(225, 0), std::nullopt) << "rounds too much";
  EXPECT_EQ(bias(512, 32768), std::nullopt) << "has more than 24 bits";
  EXPECT_EQ(bias(100, 0.25), std::nullopt) << "does not keep to halves";
}

TEST(TwoProducts, AreRightWhereTheyAreSaidToDivide) {
  std::mt19937_64 random(13);
  std::size_t checked = 0;
  for (const int bits : {10, 12, 16}) {
    const FrameLayout l = layout(bits, 0);
    for (int divisor = 2; divisor <= 4096; ++divisor) {
      Arithmetic arithmetic;
      arithmetic.accumulator = Accumulator::exact;
      arithmetic.divisor = divisor;
      if (!two_products_divide(arithmetic, l, l.plane[0].component[0])) continue;
      const auto gain = static_cast<float>(1.0 / divisor), gain_low = static_cast<float>(1.0 / divisor - double{gain});
      const double max = l.max_value();
      for (int trial = 0; trial < 200; ++trial) {
        const double target = trial == 0 ? max - 0.5 : std::floor(max * (random() % 65536 / 65535.0)) + 0.5;
        const auto nearest = static_cast<std::int64_t>(std::nearbyint(target * divisor));
        for (std::int64_t sum = nearest - 2; sum <= nearest + 2; ++sum) {
          if (std::abs(sum) >= 1 << 24) continue;
          const volatile float low = static_cast<float>(sum) * gain_low;
          const float value = std::fma(static_cast<float>(sum), gain, low);
          ASSERT_EQ(std::clamp(std::nearbyint(double{value}), 0.0, max),
                    std::clamp(static_cast<double>(oracle::rounded_quotient(sum, divisor, 0)), 0.0, max))
              << bits << " bits, " << sum << "/" << divisor;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 1000000u);
}

TEST(TwoProducts, ServeBoxesOf15x15) {
  Arithmetic arithmetic;
  arithmetic.accumulator = Accumulator::exact;
  const auto divide = [&](double divisor, double offset) {
    arithmetic.divisor = divisor;
    const FrameLayout l = layout(16, offset);
    return two_products_divide(arithmetic, l, l.plane[0].component[0]);
  };
  EXPECT_TRUE(divide(225, 0));
  EXPECT_TRUE(divide(300, 0));
  EXPECT_FALSE(divide(257, 0)) << "quotients are too near to ties";
  EXPECT_FALSE(divide(225, 32768)) << "the offset is rounded by itself";
}

}  // namespace
}  // namespace convolve::cuda
