// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "oracle.hpp"

namespace {

using convolve::Accumulator;
using convolve::Arithmetic;
using convolve::Component;
using convolve::Division;
using convolve::Filter;
using convolve::FrameLayout;
using convolve::Quantizer;
using convolve::SampleType;
using convolve::Tap;
using convolve::TapArray;

FrameLayout layout(int bits, double zero = 0, double bias = 0, double ghost = 0) {
  FrameLayout l;
  l.type = bits > 8 ? SampleType::u16 : SampleType::u8;
  l.bits = bits;
  l.planes = l.plane[0].components = 1;
  l.plane[0].component[0] = Component{.width = 8, .height = 8, .zero = zero, .bias = bias, .ghost = ghost};
  return l;
}

Filter box(int n, Tap tap) {
  return Filter(TapArray{1, n, n, std::vector<Tap>(n * n, tap)});
}

Accumulator accumulator(const Filter& filter, const FrameLayout& l, bool constant_border = false) {
  return choose_arithmetic(filter, l, constant_border).accumulator;
}

double clamp_round(double v, double max) {
  return std::clamp(std::nearbyint(v), 0.0, max);
}

// The ways in which a backend may compute what arithmetic.hpp lays down.
double multiply_then_add(const Quantizer& q, float sum) {
  const volatile float product = sum * q.gain;  // two roundings
  const volatile float snapped = product + (q.offset + q.rounding_bias);
  return clamp_round(snapped - q.rounding_bias, q.max);
}
double fused(const Quantizer& q, float sum) {
  return clamp_round(std::fma(sum, q.gain, q.offset + q.rounding_bias) - q.rounding_bias, q.max);
}
double divided(const Quantizer& q, float sum) {
  return clamp_round(q.wide_value(sum), q.max);
}
double by_two_products(const Quantizer& q, float sum) {
  const volatile float low = sum * q.gain_low;
  const volatile float quotient = std::fma(sum, q.gain, low);
  const volatile float value = quotient + q.offset;
  return clamp_round(value, q.max);
}
double by_remainder(const Quantizer& q, float sum) {
  const double value = convolve::remainder_value(sum, q.gain, q.offset, static_cast<float>(q.divisor));
  EXPECT_EQ(value, std::nearbyint(value));
  return clamp_round(value, q.max);
}

TEST(Quantizer, GivesTheCorrectlyRoundedQuotientTiesIncluded) {
  std::mt19937_64 random(11);
  std::size_t checked = 0, divisions[4] = {};
  std::vector<int> divisors;
  for (int d = 1; d <= 400; ++d) divisors.push_back(d);
  for (const int d : {511, 512, 625, 1000, 1023, 1024, 2048, 3375, 4095, 4096, 9999, 65535, 65536, 100000, 1 << 20,
                      (1 << 22) + 2, (1 << 24) - 2, 1 << 24})
    divisors.push_back(d);
  for (const int bits : {1, 5, 8, 9, 10, 12, 14, 15, 16}) {
    const double max = std::ldexp(1.0, bits) - 1, unit = std::ldexp(1.0, bits - 8);
    for (const auto& levels : {std::pair{0.0, 0.0},
                               {0.0, max / 2},
                               {0.0, -max / 2},
                               {0.0, max},
                               {0.0, -max},
                               {std::ldexp(1.0, bits - 1), 0.0},
                               {std::floor(16 * unit), 0.0},
                               {std::floor(16 * unit), 109.5 * unit},
                               {0.0, 0.25 * max},
                               {0.0, 5 * max}})
      for (const int divisor : divisors) {
        const double zero = levels.first, bias = levels.second;
        Arithmetic arithmetic;
        arithmetic.accumulator = Accumulator::exact;
        arithmetic.divisor = divisor;
        const FrameLayout l = layout(bits, zero, bias);
        const Quantizer q = make_quantizer(arithmetic, l, l.plane[0].component[0]);
        ASSERT_EQ(q.max, max);
        ++divisions[static_cast<int>(q.division)];
        for (int trial = 0; trial < 60; ++trial) {
          // Sums near a tie of the result, over the range and a little beyond.
          const double target =
              std::floor(static_cast<double>(random() % static_cast<std::uint64_t>(max + 4)) - 2) + 0.5;
          const auto nearest = static_cast<std::int64_t>(std::nearbyint((target - zero - bias) * divisor));
          for (std::int64_t sum = nearest - 2; sum <= nearest + 2; ++sum) {
            if (std::abs(sum) >= 1 << 24) continue;
            const double expected =
                std::clamp(static_cast<double>(oracle::rounded_quotient(sum, divisor, zero + bias)), 0.0, max);
            const auto f = static_cast<float>(sum);
            const auto context = [&] {
              return "bits " + std::to_string(bits) + " divisor " + std::to_string(divisor) + " sum " +
                     std::to_string(sum) + " offset " + std::to_string(zero + bias);
            };
            ++checked;
            ASSERT_EQ(divided(q, f), expected) << context();
            if (q.division == Division::doubles) continue;
            ASSERT_EQ(by_remainder(q, f), expected) << context();
            if (q.division == Division::remainder) continue;
            ASSERT_EQ(by_two_products(q, f), expected) << context();
            if (q.division == Division::two_products) continue;
            ASSERT_EQ(multiply_then_add(q, f), expected) << context();
            ASSERT_EQ(fused(q, f), expected) << context();
          }
        }
      }
  }
  EXPECT_GT(checked, 1000000u);
  for (const Division division : {Division::product, Division::two_products, Division::remainder, Division::doubles})
    EXPECT_GT(divisions[static_cast<int>(division)], 500u) << static_cast<int>(division);
}

// What users do must not fall to the slow path: 8 bits, usual divisors and biases.
TEST(Quantizer, UsualFiltersStayInSinglePrecision) {
  for (const int bits : {8, 10, 16})
    for (int n = 1; n <= 15; ++n)
      for (const double bias : {0.0, 0.5}) {
        const FrameLayout l = layout(bits, 0, bias * (std::ldexp(1.0, bits) - 1));
        const Arithmetic arithmetic = choose_arithmetic(box(n, Tap::fraction(1, n * n)), l, false);
        EXPECT_EQ(arithmetic.accumulator, Accumulator::exact);
        EXPECT_LE(make_quantizer(arithmetic, l, l.plane[0].component[0]).division,
                  bits == 16 ? Division::remainder : Division::product)
            << bits << " bits, " << n;
      }
}

TEST(Quantizer, HoldsLargeSumsToTheRange) {
  for (const int divisor : {1, 3, 225}) {
    Arithmetic arithmetic;
    arithmetic.accumulator = Accumulator::exact;
    arithmetic.divisor = divisor;
    for (const int bits : {8, 16}) {
      const FrameLayout l = layout(bits, 0, 0.5 * (std::ldexp(1.0, bits) - 1));
      const Quantizer q = make_quantizer(arithmetic, l, l.plane[0].component[0]);
      for (const float sum : {16777215.f, -16777215.f, 12345678.f}) {
        const double expected = std::clamp(
            static_cast<double>(oracle::rounded_quotient(static_cast<std::int64_t>(sum), divisor, q.wide_offset)), 0.0,
            double{q.max});
        EXPECT_EQ(divided(q, sum), expected);
        EXPECT_EQ(by_remainder(q, sum), expected) << sum << "/" << divisor;
        if (q.division <= Division::two_products) {
          EXPECT_EQ(by_two_products(q, sum), expected) << sum << "/" << divisor;
        }
        if (q.division == Division::product) {
          EXPECT_EQ(multiply_then_add(q, sum), expected) << sum << "/" << divisor;
          EXPECT_EQ(fused(q, sum), expected) << sum << "/" << divisor;
        }
      }
    }
  }
}

TEST(ChooseArithmetic, ExactUpTo24BitsOfSum) {
  const auto tap = [](int n) { return Filter(TapArray{1, 1, 1, {Tap::integer(n)}}); };
  EXPECT_EQ(accumulator(tap(65793), layout(8)), Accumulator::exact);  // 65793 * 255 = 2^24 - 1
  EXPECT_NE(accumulator(tap(65794), layout(8)), Accumulator::exact);
  EXPECT_EQ(accumulator(tap(256), layout(16)), Accumulator::exact);
  EXPECT_NE(accumulator(tap(257), layout(16)), Accumulator::exact);
  // in - z spans half of the range where the zero level is in the middle.
  EXPECT_EQ(accumulator(tap(511), layout(16, 32768)), Accumulator::exact);
  EXPECT_EQ(accumulator(box(15, Tap::integer(127)), layout(8)), Accumulator::exact);
  EXPECT_NE(accumulator(box(3, Tap::real(0.1)), layout(8)), Accumulator::exact);
}

TEST(ChooseArithmetic, GhostsTakePartUnderTheConstantBorderAlone) {
  const Filter filter = box(3, Tap::integer(1));
  EXPECT_EQ(accumulator(filter, layout(8, 0, 0, 127.5), false), Accumulator::exact);
  // A level that is no whole number loosens the samples that see it, and no other.
  EXPECT_EQ(accumulator(filter, layout(8, 0, 0, 127.5), true), Accumulator::exact);
  // One beyond the samples' range makes sums too large.
  EXPECT_EQ(accumulator(filter, layout(8, 0, 0, 3e6), false), Accumulator::exact);
  EXPECT_NE(accumulator(filter, layout(8, 0, 0, 3e6), true), Accumulator::exact);
  EXPECT_EQ(accumulator(filter, layout(8, 0, 0, 255), true), Accumulator::exact);
}

TEST(ChooseArithmetic, CopiedComponentsDoNotMatter) {
  FrameLayout l = layout(8);
  l.plane[0].components = 2;
  l.plane[0].component[1] = Component{.width = 8, .height = 8, .filtered = false, .ghost = 127.5};
  EXPECT_EQ(accumulator(box(3, Tap::integer(1)), l, true), Accumulator::exact);
}

TEST(ChooseArithmetic, CancellationAsksForDoubles) {
  const auto pair = [](double v) { return Filter(TapArray{1, 1, 2, {Tap::real(v + 0.1), Tap::real(-v)}}); };
  EXPECT_EQ(accumulator(pair(1.1), layout(8)), Accumulator::single);
  EXPECT_EQ(accumulator(pair(1e6 + 0.123), layout(8)), Accumulator::double_);
  EXPECT_EQ(accumulator(pair(1000.123), layout(16)), Accumulator::double_);
}

// Single precision is chosen only where its worst rounding leaves the contract's one code value.
TEST(ChooseArithmetic, SinglePrecisionStaysWithinOneCodeValue) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::size_t singles = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const int bits = trial % 2 ? 16 : 8, n = 1 + trial % 15;
    const double strength = std::exp(trial % 100 * 0.1 - 2);
    TapArray taps{1, n, n, {}};
    for (int i = 0; i < n * n; ++i) taps.taps.push_back(Tap::real(strength * uniform(random)));
    const FrameLayout l = layout(bits);
    const Filter filter(taps);
    const Arithmetic arithmetic = choose_arithmetic(filter, l, false);
    if (arithmetic.accumulator != Accumulator::single) continue;
    ++singles;
    const Quantizer q = make_quantizer(arithmetic, l, l.plane[0].component[0]);
    // As they come, of random samples; and the largest taps first, of as large samples as there are.
    std::vector<int> in_order(n * n);
    std::iota(in_order.begin(), in_order.end(), 0);
    std::vector<int> largest_first = in_order;
    std::sort(largest_first.begin(), largest_first.end(),
              [&](int a, int b) { return std::abs(filter.taps()[a]) > std::abs(filter.taps()[b]); });
    for (const bool worst : {false, true}) {
      float sum = 0;
      double exact = 0;
      for (const int i : worst ? largest_first : in_order) {
        const double tap = filter.taps()[i];
        const double in = worst ? (tap > 0 ? q.max : 0) : std::floor((uniform(random) + 1) / 2 * (q.max + 0.999));
        sum += static_cast<float>(arithmetic.coefficients[i]) * static_cast<float>(in);
        exact += tap * in;
      }
      ASSERT_LE(std::abs(sum - exact), 0.95) << "trial " << trial;
      const double value = q.division == Division::doubles ? divided(q, sum) : multiply_then_add(q, sum);
      ASSERT_LE(std::abs(value - clamp_round(exact, q.max)), 1) << "trial " << trial;
    }
  }
  EXPECT_GT(singles, 500u);
}

TEST(ChooseArithmetic, LargeFiltersOf16BitsNeedNoDoubles) {
  // Each partial sum is as large as all taps only if the largest come first.
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-0.3, 0.9);
  TapArray taps{1, 15, 15, {}};
  for (int i = 0; i < 225; ++i) taps.taps.push_back(Tap::real(uniform(random)));
  const Filter filter(taps, {.normalize = true});
  EXPECT_GT((225 + 2) * filter.sum_abs() * 65535 * 0x1p-24, 0.95);
  EXPECT_EQ(accumulator(filter, layout(16)), Accumulator::single);
  taps.taps[0] = Tap::real(1000);
  EXPECT_EQ(accumulator(Filter(taps, {.normalize = true}), layout(16)), Accumulator::single);
  taps.taps[1] = Tap::real(-980);
  EXPECT_EQ(accumulator(Filter(taps, {.normalize = true}), layout(16)), Accumulator::double_);
}

TEST(LowRankArithmetic, IsThatOfAllTapsAtOnceWhereThereIsNoSum) {
  const FrameLayout l = layout(16);
  const auto of = [&](const Filter& filter) {
    return low_rank_arithmetic(filter, choose_arithmetic(filter, l, false), l, false).accumulator;
  };
  EXPECT_EQ(of(box(5, Tap::integer(1))), Accumulator::exact);
  EXPECT_EQ(of(box(5, Tap::real(0.1))), Accumulator::single);
  // Of rank 1: its factors are no sum of terms.
  EXPECT_EQ(of(Filter(TapArray{1, 1, 2, {Tap::real(1000.223), Tap::real(-1000.123)}})), Accumulator::double_);
}

// Where single precision is chosen for terms, and only doubles would do for all taps at once, sums along the rows and
// then along the columns stay within the contract's one code value.
TEST(LowRankArithmetic, SinglePrecisionOfTermsStaysWithinOneCodeValue) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const FrameLayout l = layout(16);
  std::size_t singles = 0, doubles = 0;
  for (int trial = 0; trial < 400; ++trial) {
    // A centre less a blur, both of some strength: an unsharp mask.
    const int n = 7 + 2 * (trial % 5);
    const double strength = std::exp(trial * 0.02 - 1);
    std::vector<double> blur(n);
    for (double& b : blur) b = 1 + uniform(random) / 2;
    const double sum = std::accumulate(blur.begin(), blur.end(), 0.0);
    TapArray taps{1, n, n, {}};
    for (int i = 0; i < n * n; ++i) taps.taps.push_back(Tap::real(-strength * blur[i / n] * blur[i % n] / (sum * sum)));
    Tap& centre = taps.taps[n * n / 2];
    centre = Tap::real(centre.value + 1 + strength);
    const Filter filter(taps);
    const Arithmetic direct = choose_arithmetic(filter, l, false);
    const Arithmetic arithmetic = low_rank_arithmetic(filter, direct, l, false);
    if (direct.accumulator != Accumulator::double_) continue;
    if (arithmetic.accumulator == Accumulator::double_) {
      ++doubles;
      continue;
    }
    ASSERT_EQ(arithmetic.accumulator, Accumulator::single) << "trial " << trial;
    ++singles;
    const auto terms = low_rank_terms(filter, arithmetic, l, false);
    ASSERT_EQ(terms.size(), 2u) << "trial " << trial;
    for (const bool worst : {false, true}) {
      float all = 0;
      double exact = 0;
      std::vector<double> in(n * n);
      for (int i = 0; i < n * n; ++i) {
        in[i] = worst ? (filter.taps()[i] > 0 ? 65535 : 0) : std::floor((uniform(random) + 1) / 2 * 65535.999);
        exact += filter.taps()[i] * in[i];
      }
      for (const auto& term : terms)
        for (int y = 0; y < n; ++y) {
          float row = 0;
          for (int x = 0; x < n; ++x) row += static_cast<float>(term.row[x]) * static_cast<float>(in[y * n + x]);
          all += static_cast<float>(term.column[y]) * row;
        }
      ASSERT_LE(std::abs(all - exact), 0.95) << "trial " << trial;
    }
  }
  EXPECT_GT(singles, 20u);
  EXPECT_GT(doubles, 20u);
}

}  // namespace
