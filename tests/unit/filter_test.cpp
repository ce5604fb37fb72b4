// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>

namespace {

using convolve::Filter;
using convolve::FilterOptions;
using convolve::FrameFactors;
using convolve::Tap;
using convolve::TapArray;

TapArray array(int depth, int height, int width, std::vector<Tap> taps) {
  return {depth, height, width, std::move(taps)};
}

TapArray integers(int height, int width, const std::vector<int>& values) {
  TapArray a{1, height, width, {}};
  for (const int v : values) a.taps.push_back(Tap::integer(v));
  return a;
}

TapArray filled(int depth, int height, int width, Tap tap) {
  return {depth, height, width, std::vector<Tap>(static_cast<std::size_t>(depth) * height * width, tap)};
}

std::string refusal(const TapArray& taps, const FilterOptions& options = {}) {
  try {
    Filter filter(taps, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

void expect_exact(const Filter& filter, const std::vector<std::int32_t>& taps, std::int64_t divisor) {
  ASSERT_TRUE(filter.exact().has_value());
  EXPECT_EQ(filter.exact()->taps, taps);
  EXPECT_EQ(filter.exact()->divisor, divisor);
  for (int i = 0; i < filter.count(); ++i)
    EXPECT_EQ(filter.taps()[i], static_cast<double>(taps[i]) / static_cast<double>(divisor));
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << "it says: " << (text)

TEST(FilterErrors, NameTheAxisTheCountAndWhatIsAllowed) {
  EXPECT_SAYS(refusal(filled(1, 256, 1, Tap::integer(1))), "up to 255");
  EXPECT_SAYS(refusal(filled(1, 256, 1, Tap::integer(1))), "256 rows");
  EXPECT_SAYS(refusal(filled(1, 1, 256, Tap::integer(1))), "256 columns");
  TapArray full_rank = filled(1, 32, 3, Tap::integer(1));
  full_rank.at(0, 0, 0) = Tap::integer(2);
  EXPECT_SAYS(refusal(full_rank), "31x31");
  EXPECT_SAYS(refusal(full_rank), "32x3 and does not factor so");
  EXPECT_SAYS(refusal(filled(16, 1, 1, Tap::integer(1))), "16 frames");
  EXPECT_SAYS(refusal(filled(1, 0, 3, Tap::integer(1))), "0 rows");
  EXPECT_SAYS(refusal(filled(0, 3, 3, Tap::integer(1))), "0 frames");
  EXPECT_SAYS(refusal(array(1, 2, 2, {Tap::integer(1)})), "needs 4 values, not 1");
  EXPECT_EQ(refusal(filled(15, 15, 15, Tap::integer(1))), "accepted");
}

TEST(FilterErrors, NameTheTapThatIsNoNumber) {
  TapArray taps = filled(2, 3, 4, Tap::real(0.1));
  taps.at(1, 2, 3) = Tap::real(std::numeric_limits<double>::quiet_NaN());
  EXPECT_SAYS(refusal(taps), "tap 3 of row 2 of frame 1");
  EXPECT_SAYS(refusal(taps), "nan");
  taps.at(1, 2, 3) = Tap::real(-std::numeric_limits<double>::infinity());
  EXPECT_SAYS(refusal(taps), "-inf");
  taps.at(1, 2, 3) = Tap::real(1);
  EXPECT_EQ(refusal(taps), "accepted");
  EXPECT_SAYS(refusal(taps, {.scale = std::numeric_limits<double>::infinity()}), "scale is inf");
}

TEST(FilterErrors, RefuseWhatWouldOverflow) {
  EXPECT_SAYS(refusal(filled(1, 1, 2, Tap::real(1e300))), "magnitudes sum to 2e+300; at most 1e30");
  EXPECT_SAYS(refusal(filled(1, 1, 1, Tap::real(1e20)), {.scale = 1e20}), "at most 1e30");
  EXPECT_SAYS(refusal(filled(1, 1, 2, Tap::real(1e308)), {.normalize = true}), "normalize cannot divide");
  EXPECT_SAYS(refusal(filled(1, 1, 2, Tap::real(1.7e308)), {.scale = 10}), "at most 1e30");
  EXPECT_THROW(Tap::fraction(1, 0), std::invalid_argument);
}

TEST(FilterExact, IntegersFractionsAndShortBinaryFractions) {
  expect_exact(Filter(integers(1, 3, {-1, 0, 2})), {-1, 0, 2}, 1);
  expect_exact(Filter(filled(1, 3, 3, Tap::fraction(1, 9))), std::vector<std::int32_t>(9, 1), 9);
  expect_exact(Filter(array(1, 1, 2, {Tap::fraction(1, 2), Tap::fraction(-1, 3)})), {3, -2}, 6);
  expect_exact(Filter(array(1, 1, 2, {Tap::fraction(2, -4), Tap::integer(3)})), {-1, 6}, 2);
  expect_exact(Filter(array(1, 1, 2, {Tap::real(0.25), Tap::real(-1.5)})), {1, -6}, 4);
  expect_exact(Filter(array(1, 1, 2, {Tap::real(3), Tap::real(0)})), {3, 0}, 1);
  EXPECT_FALSE(Filter(array(1, 1, 2, {Tap::real(0.1), Tap::integer(1)})).exact());
}

TEST(FilterExact, ScaleKeepsIntegersWhereItIsAFraction) {
  expect_exact(Filter(filled(1, 3, 3, Tap::integer(1)), {.scale = 1.0 / 9}), std::vector<std::int32_t>(9, 1), 9);
  expect_exact(Filter(integers(1, 2, {1, 3}), {.scale = 0.5}), {1, 3}, 2);
  expect_exact(Filter(integers(1, 2, {2, 4}), {.scale = -1.0 / 6}), {-1, -2}, 3);
  expect_exact(Filter(integers(1, 2, {1, 3}), {.scale = 4}), {4, 12}, 1);
  expect_exact(Filter(integers(1, 2, {1, 3}), {.scale = 0}), {0, 0}, 1);
  const Filter real(integers(1, 2, {1, 3}), {.scale = 0.3});
  EXPECT_FALSE(real.exact());
  EXPECT_DOUBLE_EQ(real.taps()[1], 0.9);
}

TEST(FilterExact, NormalizeDividesByTheSum) {
  expect_exact(Filter(integers(1, 3, {1, 2, 1}), {.normalize = true}), {1, 2, 1}, 4);
  expect_exact(Filter(integers(1, 3, {2, 4, 2}), {.normalize = true}), {1, 2, 1}, 4);
  expect_exact(Filter(integers(1, 3, {-1, -1, -1}), {.normalize = true}), {1, 1, 1}, 3);
  expect_exact(Filter(integers(1, 3, {-1, 0, 1}), {.normalize = true}), {-1, 0, 1}, 1);
  expect_exact(Filter(integers(1, 3, {1, 2, 1}), {.scale = 2, .normalize = true}), {1, 2, 1}, 2);
  expect_exact(Filter(array(1, 1, 2, {Tap::fraction(1, 2), Tap::fraction(1, 3)}), {.normalize = true}), {3, 2}, 5);
  const Filter real(array(1, 1, 2, {Tap::real(0.1), Tap::real(0.3)}), {.normalize = true});
  EXPECT_DOUBLE_EQ(real.taps()[0], 0.25);
  EXPECT_DOUBLE_EQ(real.sum(), 1);
}

// 0.1 + 0.2 - 0.3 is 5.6e-17 in doubles. What is left by rounding is no sum to divide by.
TEST(FilterExact, DecimalsWhoseSumIsZeroButForRoundingStayAsTheyAre) {
  const Filter zero(array(1, 1, 3, {Tap::real(0.1), Tap::real(0.2), Tap::real(-0.3)}), {.normalize = true});
  EXPECT_DOUBLE_EQ(zero.taps()[0], 0.1);
  EXPECT_DOUBLE_EQ(zero.taps()[2], -0.3);
  const Filter tiny(filled(1, 1, 3, Tap::real(1e-30)), {.normalize = true});
  EXPECT_DOUBLE_EQ(tiny.taps()[0], 1.0 / 3);
  const Filter near(array(1, 1, 2, {Tap::real(0.1), Tap::real(-0.0999)}), {.normalize = true});
  EXPECT_NEAR(near.taps()[0], 1000, 1e-6);
}

TEST(FilterExact, GivesUpWhereTheNumbersGrowTooLarge) {
  EXPECT_FALSE(Filter(integers(1, 2, {1 << 25, 1})).exact());
  EXPECT_FALSE(Filter(array(1, 1, 2, {Tap::fraction(1, 16777213), Tap::fraction(1, 16777199)})).exact());
  EXPECT_DOUBLE_EQ(Filter(integers(1, 2, {1 << 25, 1})).taps()[0], 33554432.0);
}

TEST(FilterExact, SurvivesFractionsOfAnySize) {
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max(),
                         low = std::numeric_limits<std::int64_t>::min();
  for (const auto& [numerator, denominator] : {std::pair{std::int64_t{1}, high},
                                               {high, high},
                                               {low, std::int64_t{-1}},
                                               {std::int64_t{1}, low},
                                               {low, low},
                                               {low, std::int64_t{3}}}) {
    const Filter filter(array(1, 1, 2, {Tap::fraction(numerator, denominator), Tap::fraction(1, 3)}),
                        {.scale = 0.5, .normalize = true});
    EXPECT_FALSE(filter.exact());
    const double value = static_cast<double>(numerator) / static_cast<double>(denominator);
    EXPECT_DOUBLE_EQ(filter.taps()[0], 0.5 * value / (value + 1.0 / 3));
  }
}

TEST(FilterShape, CentreIsHalfOfEachAxis) {
  for (int n = 1; n <= 15; ++n) {
    const Filter filter(filled(n, n, n, Tap::integer(1)));
    EXPECT_EQ(filter.centre_t(), n / 2);
    EXPECT_EQ(filter.centre_y(), n / 2);
    EXPECT_EQ(filter.centre_x(), n / 2);
  }
  EXPECT_EQ(Filter(filled(1, 5, 3, Tap::integer(1))).shape(), "5x3");
  EXPECT_EQ(Filter(filled(3, 7, 5, Tap::integer(1))).shape(), "3x7x5");
}

TEST(FilterShape, ReachIsTheFarthestTapOfAnAxis) {
  for (int n = 1; n <= 15; ++n)
    for (const bool convolve : {false, true}) {
      const Filter filter(filled(1, n, 16 - n, Tap::integer(1)), {.convolve = convolve});
      int rows = 0, pixels = 0;
      for (int y = 0; y < filter.height(); ++y) rows = std::max(rows, std::abs(y - filter.centre_y()));
      for (int x = 0; x < filter.width(); ++x) pixels = std::max(pixels, std::abs(x - filter.centre_x()));
      EXPECT_EQ(filter.reach_y(), rows) << n;
      EXPECT_EQ(filter.reach_x(), pixels) << n;
    }
}

TEST(FilterShape, ConvolveFlipsEveryAxisAndTheCentre) {
  std::vector<int> values;
  for (int i = 0; i < 4 * 2 * 3; ++i) values.push_back(i);
  TapArray taps = integers(1, 24, values);
  taps.depth = 4, taps.height = 2, taps.width = 3;
  const Filter as_written(taps), flipped(taps, {.convolve = true});
  for (int t = 0; t < 4; ++t)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x) EXPECT_EQ(flipped.tap(t, y, x), as_written.tap(3 - t, 1 - y, 2 - x));
  EXPECT_EQ(flipped.centre_t(), 1);
  EXPECT_EQ(flipped.centre_y(), 0);
  EXPECT_EQ(flipped.centre_x(), 1);
  ASSERT_TRUE(flipped.exact());
  EXPECT_EQ(flipped.exact()->taps.front(), 23);
}

TEST(FilterShape, ReversedInTimeFlipsTimeAlone) {
  std::vector<int> values;
  for (int i = 0; i < 4 * 6; ++i) values.push_back(i);
  TapArray taps = integers(1, 24, values);
  taps.depth = 4, taps.height = 2, taps.width = 3;
  const Filter filter(taps), reversed = filter.reversed_in_time();
  for (int t = 0; t < 4; ++t)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x) EXPECT_EQ(reversed.tap(t, y, x), filter.tap(3 - t, y, x));
  EXPECT_EQ(reversed.centre_t(), 1);
  EXPECT_EQ(reversed.centre_x(), filter.centre_x());
  EXPECT_EQ(reversed.exact()->taps[0], 18);
  EXPECT_EQ(reversed.reversed_in_time(), filter);
  EXPECT_EQ(filter.ending_at_newest().centre_t(), 3);
  EXPECT_EQ(filter.ending_at_newest().taps(), filter.taps());
}

TEST(FilterShape, IdentityIsOneOnTheCentre) {
  EXPECT_TRUE(Filter().is_identity());
  EXPECT_TRUE(Filter(integers(3, 3, {0, 0, 0, 0, 1, 0, 0, 0, 0})).is_identity());
  EXPECT_TRUE(Filter(integers(1, 2, {0, 1})).is_identity());
  EXPECT_FALSE(Filter(integers(1, 2, {1, 0})).is_identity());
  EXPECT_TRUE(Filter(integers(1, 2, {0, 1}), {.convolve = true}).is_identity());
  EXPECT_FALSE(Filter(integers(1, 1, {2})).is_identity());
  EXPECT_TRUE(Filter(integers(1, 1, {2}), {.scale = 0.5}).is_identity());
  EXPECT_EQ(Filter(), Filter::identity());
}

TEST(FilterShape, EqualityRegardsTapsShapeAndCentre) {
  const Filter a(integers(1, 4, {1, 2, 2, 1}));
  EXPECT_EQ(a, Filter(integers(1, 4, {1, 2, 2, 1})));
  EXPECT_FALSE(a == Filter(integers(4, 1, {1, 2, 2, 1})));
  EXPECT_FALSE(a == Filter(integers(1, 4, {1, 2, 2, 1}), {.convolve = true}));
  EXPECT_FALSE(a == Filter(integers(1, 4, {1, 2, 2, 2})));
}

TEST(FilterShape, SumsAreOfTheEffectiveTaps) {
  const Filter filter(integers(1, 3, {-1, 5, 2}), {.scale = 0.5});
  EXPECT_DOUBLE_EQ(filter.sum(), 3);
  EXPECT_DOUBLE_EQ(filter.sum_abs(), 4);
}

TEST(FilterFactors, RankOneFiltersFactorExactly) {
  std::mt19937 random(7);
  const auto draw = [&](int n) {
    std::vector<int> v;
    for (int i = 0; i < n; ++i) v.push_back(static_cast<int>(random() % 13) - 5);
    v[random() % n] = 3;
    return v;
  };
  for (int trial = 0; trial < 500; ++trial) {
    const std::vector<int> column = draw(1 + random() % 15), row = draw(1 + random() % 15);
    const int h = static_cast<int>(column.size()), w = static_cast<int>(row.size());
    std::vector<int> values;
    for (const int c : column)
      for (const int r : row) values.push_back(c * r);
    const Filter filter(integers(h, w, values), {.scale = 1.0 / static_cast<double>(1 + random() % 50)});
    ASSERT_TRUE(filter.space_factors() && filter.exact());
    const convolve::SpaceFactors& factors = *filter.space_factors();
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        ASSERT_EQ(factors.exact_column[y] * factors.exact_row[x], filter.exact()->taps[y * w + x]);
        ASSERT_NEAR(factors.column[y] * factors.row[x], filter.tap(0, y, x), 1e-12 * filter.sum_abs());
      }
  }
}

TEST(FilterFactors, RealRankOneFiltersFactor) {
  TapArray taps{1, 5, 7, {}};
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x) taps.taps.push_back(Tap::real(std::exp(-y * 0.3) * std::cos(x * 0.7)));
  const Filter filter(taps);
  ASSERT_TRUE(filter.space_factors());
  EXPECT_TRUE(filter.space_factors()->exact_row.empty());
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x)
      EXPECT_NEAR(filter.space_factors()->column[y] * filter.space_factors()->row[x], filter.tap(0, y, x), 1e-12);
}

TEST(FilterFactors, TermsOfLowRankSumToTheFilter) {
  for (int rank = 1; rank <= 4; ++rank) {
    TapArray taps{1, 9, 7, {}};
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 7; ++x) {
        double tap = 0;
        for (int i = 0; i < rank; ++i) tap += std::cos(0.4 * (i + 1) * y) * std::exp(-0.2 * i * x) * (i % 2 ? -3 : 1);
        taps.taps.push_back(Tap::real(tap));
      }
    const Filter filter(taps);
    const auto terms = filter.space_terms(3);
    ASSERT_EQ(terms.size(), rank <= 3 ? rank : 0);
    EXPECT_EQ(filter.rank(), rank);
    for (int i = 0; i < 9 * 7 && rank <= 3; ++i) {
      double sum = 0;
      for (const auto& term : terms) sum += term.column[i / 7] * term.row[i % 7];
      EXPECT_NEAR(sum, filter.taps()[i], 1e-11);
    }
  }
  EXPECT_TRUE(Filter(integers(2, 2, {0, 0, 0, 0})).space_terms(3).empty());
  EXPECT_EQ(Filter(integers(3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0})).space_terms(3).size(), 2);
}

TEST(FilterFactors, TheRankOfSeveralFramesIsThatOfTheirSpace) {
  TapArray taps{2, 2, 2, {}};
  for (const int tap : {1, 2, 2, 1, 3, 6, 6, 3}) taps.taps.push_back(Tap::integer(tap));
  EXPECT_EQ(Filter(taps).rank(), 2);
  taps.at(1, 1, 1) = Tap::integer(4);
  EXPECT_EQ(Filter(taps).rank(), Filter::unknown_rank);
}

TEST(FilterFactors, HigherRanksAndZeroDoNotFactor) {
  EXPECT_FALSE(Filter(integers(2, 2, {1, 0, 0, 1})).space_factors());
  EXPECT_FALSE(Filter(integers(3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0})).space_factors());
  EXPECT_FALSE(Filter(integers(2, 2, {0, 0, 0, 0})).space_factors());
  EXPECT_FALSE(Filter(integers(2, 2, {100, 100, 100, 101})).space_factors());
  EXPECT_TRUE(Filter(integers(1, 5, {1, 2, -3, 4, 5})).space_factors());
}

TEST(FilterFactors, TimeByRectangleFactors) {
  const std::vector<int> time{1, -2, 3}, space{0, 1, 2, 3, -4, 5};
  TapArray taps{3, 2, 3, {}};
  for (const int t : time)
    for (const int s : space) taps.taps.push_back(Tap::fraction(t * s, 7));
  const Filter filter(taps);
  ASSERT_EQ(filter.exact_time_factor().size(), 3u);
  ASSERT_EQ(filter.time_factor().size(), 3u);
  const Filter flat = filter.space_filter();
  EXPECT_EQ(flat.depth(), 1);
  EXPECT_EQ(flat.centre_y(), filter.centre_y());
  EXPECT_EQ(flat.centre_x(), filter.centre_x());
  ASSERT_TRUE(flat.exact());
  EXPECT_EQ(flat.exact()->divisor, filter.exact()->divisor);
  for (int t = 0; t < 3; ++t)
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(filter.exact_time_factor()[t] * flat.exact()->taps[i], filter.exact()->taps[t * 6 + i]);
      EXPECT_NEAR(filter.time_factor()[t] * flat.taps()[i], filter.taps()[t * 6 + i], 1e-12);
    }
  taps.taps[4] = Tap::integer(9);
  EXPECT_TRUE(Filter(taps).time_factor().empty());
  EXPECT_TRUE(Filter(taps).exact_time_factor().empty());
}

TEST(FrameFactors, OfABoxPlusACentreTapInIntegers) {
  TapArray taps = filled(1, 255, 127, Tap::fraction(-1, 1000));
  taps.at(0, 127, 63) = Tap::fraction(2000, 1000);
  const Filter filter(taps);
  EXPECT_FALSE(filter.space_factors().has_value());
  ASSERT_EQ(filter.frame_factors().size(), 1u);
  const FrameFactors& frame = filter.frame_factors()[0];
  EXPECT_EQ(frame.exact_centre, 2001);
  EXPECT_DOUBLE_EQ(frame.centre, 2.001);
  EXPECT_EQ(frame.factors.exact_column[0] * frame.factors.exact_row[0], -1);
}

// What factors leave may be 2^-40 of the largest tap, and no more.
TEST(FrameFactors, ToleranceIsOfTheLargestTap) {
  for (const auto& [off, factors] : {std::pair{0x1p-41, true}, std::pair{0x1p-38, false}}) {
    TapArray taps = filled(1, 33, 33, Tap::real(0.3));
    taps.at(0, 2, 5) = Tap::real(0.3 * (1 + off));
    const auto make = [&] { return Filter(taps); };
    if (factors)
      EXPECT_NO_THROW(make()) << off;
    else
      EXPECT_THROW(make(), std::invalid_argument) << off;
  }
}

TEST(FrameFactors, OfEachFrameApart) {
  TapArray taps = filled(2, 40, 3, Tap::real(0.1));
  for (int y = 0; y < 40; ++y) taps.at(1, y, 0) = Tap::real(0.7);
  taps.at(1, 20, 1) = Tap::real(3);
  const Filter filter(taps);
  EXPECT_TRUE(filter.time_factor().empty());
  ASSERT_EQ(filter.frame_factors().size(), 2u);
  EXPECT_EQ(filter.frame_factors()[0].centre, 0);
  EXPECT_NEAR(filter.frame_factors()[1].centre, 2.9, 1e-12);
}

}  // namespace
