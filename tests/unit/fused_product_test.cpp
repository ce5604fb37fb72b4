// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/fused_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

Arithmetic exact_sums(int divisor) {
  Arithmetic arithmetic;
  arithmetic.accumulator = Accumulator::exact;
  arithmetic.divisor = divisor;
  return arithmetic;
}

/// The reciprocal of a divisor, and what it lacks.
struct Gain {
  float gain, low;
  explicit Gain(double divisor)
      : gain(static_cast<float>(1 / divisor)), low(static_cast<float>(1 / divisor - double{gain})) {}
  float quotient(std::int64_t sum) const {
    const volatile float lacking = static_cast<float>(sum) * low;
    return std::fma(static_cast<float>(sum), gain, lacking);
  }
};

/// Compares value_of(sum) with what the contract asks, for sums whose results lie near ties: beside either end of the
/// range, and at random. Returns how many were compared.
template <class ValueOf>
std::size_t check_near_ties(std::mt19937_64& random, int divisor, double offset, double max, const ValueOf& value_of) {
  std::size_t checked = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const double target = trial == 0   ? max - 0.5
                          : trial == 1 ? 0.5
                                       : std::floor(max * (random() % 65536 / 65535.0)) + 0.5;
    const auto nearest = static_cast<std::int64_t>(std::nearbyint((target - offset) * divisor));
    for (std::int64_t sum = nearest - 2; sum <= nearest + 2; ++sum) {
      if (std::abs(sum) >= 1 << 24) continue;
      const auto expected = static_cast<double>(oracle::rounded_quotient(sum, divisor, offset));
      EXPECT_EQ(std::clamp(std::nearbyint(double{value_of(sum)}), 0.0, max), std::clamp(expected, 0.0, max))
          << sum << "/" << divisor << " + " << offset << ", up to " << max;
      ++checked;
    }
  }
  return checked;
}

TEST(FusedProduct, IsRightWhereItIsSaidToDivide) {
  std::mt19937_64 random(12);
  std::size_t checked = 0, odd = 0, even = 0;
  for (const int bits : {9, 10, 12, 14, 15, 16})
    for (const double zero : {0.0, std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 4), std::ldexp(1.0, bits) - 1})
      for (const double bias : {0.0, -0.5, std::ldexp(-1.0, bits - 1)})
        for (int divisor = 2; divisor <= 8192 && !HasFailure(); divisor += divisor < 1100 ? 1 : 997) {
          const FrameLayout l = layout(bits, zero, bias);
          const auto rounding_bias = fused_product_bias(exact_sums(divisor), l, l.plane[0].component[0]);
          if (!rounding_bias) continue;
          ++(divisor % 2 ? odd : even);
          const float offset = static_cast<float>(zero + bias) + *rounding_bias;
          checked += check_near_ties(random, divisor, zero + bias, l.max_value(), [&](std::int64_t sum) {
            const volatile float biased = std::fma(static_cast<float>(sum), Gain(divisor).gain, offset);
            return biased - *rounding_bias;
          });
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
  for (const int bits : {10, 12, 16})
    for (int divisor = 2; divisor <= 4096 && !HasFailure(); ++divisor) {
      const FrameLayout l = layout(bits, 0);
      if (!two_products_divide(exact_sums(divisor), l, l.plane[0].component[0])) continue;
      const Gain gain(divisor);
      checked += check_near_ties(random, divisor, 0, l.max_value(), [&](auto sum) { return gain.quotient(sum); });
    }
  EXPECT_GT(checked, 1000000u);
}

// The offset is added to a quotient that has become a whole number.
TEST(TwoProducts, AreRightBeforeAnOffset) {
  constexpr float whole = 0x1.8p23f;
  std::mt19937_64 random(14);
  std::size_t checked = 0;
  for (const int bits : {10, 12, 16})
    for (const double zero : {0.0, std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 4)})
      for (const double bias : {0.0, 2.0, std::ldexp(-1.0, bits - 1)})
        for (int divisor = 8; divisor <= 4096 && !HasFailure(); divisor += divisor < 600 ? 1 : 97) {
          const FrameLayout l = layout(bits, zero, bias);
          if (!two_products_divide_before_offset(exact_sums(divisor), l, l.plane[0].component[0])) continue;
          const Gain gain(divisor);
          const float offset = static_cast<float>(zero + bias) - whole;
          checked += check_near_ties(random, divisor, zero + bias, l.max_value(), [&](auto sum) {
            const volatile float rounded = gain.quotient(sum) + whole;
            return rounded + offset;
          });
        }
  EXPECT_GT(checked, 1000000u);
}

// Sums of bytes have the offset in them, times the divisor.
TEST(TwoProducts, AreRightOfSumsThatHoldTheOffset) {
  std::mt19937_64 random(15);
  std::size_t checked = 0;
  for (const double offset : {0.0, 16.0, 128.0, -64.0})
    for (int divisor = 1; divisor <= 65535 && !HasFailure(); divisor += divisor < 1000 ? 1 : 331) {
      if (!two_products_divide_with_offset(exact_sums(divisor), Component{.zero = offset}, 0)) continue;
      const Gain gain(divisor);
      checked += check_near_ties(random, divisor, 0, 255, [&](auto sum) { return gain.quotient(sum); });
    }
  EXPECT_GT(checked, 1000000u);
}

TEST(TwoProducts, RefuseWhatTheyWouldRoundTwice) {
  const FrameLayout l = layout(16, 0), odd = layout(16, 1), half = layout(16, 0, 0.5);
  const auto before_offset = [](int divisor, const FrameLayout& of) {
    return two_products_divide_before_offset(exact_sums(divisor), of, of.plane[0].component[0]);
  };
  EXPECT_TRUE(before_offset(225, l));
  EXPECT_FALSE(before_offset(7, l)) << "the quotient may be larger than whole numbers that are added to it";
  EXPECT_FALSE(before_offset(225, odd)) << "ties go to the even sample, and not to the even quotient";
  EXPECT_FALSE(before_offset(225, half));
  const auto with_offset = [](int divisor, double zero, double centre) {
    return two_products_divide_with_offset(exact_sums(divisor), Component{.zero = zero}, centre);
  };
  EXPECT_TRUE(with_offset(65025, 16, 0)) << "a box of 255x255";
  EXPECT_TRUE(with_offset(65536, 0, 0)) << "a power of two";
  EXPECT_FALSE(with_offset(65536, 0, 1)) << "sums have more than 24 bits";
  EXPECT_FALSE(with_offset(3, 0.5, 0)) << "the offset is no whole number in sums";
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
