// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/preset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

namespace {

using convolve::Bank;
using convolve::Combine;
using convolve::Filter;
using convolve::make_preset;
using convolve::make_preset_kernels;
using convolve::Preset;
using convolve::PresetParameters;
using convolve::PresetRow;
using convolve::presets;
using convolve::TapArray;

// Calls what it is given for every kernel of every preset and a spread of parameters.
template <class Check>
void for_all(Check check) {
  for (const PresetRow& row : presets())
    for (int radius = 0; radius <= 7; ++radius)
      for (const int temporal : {0, 1, 2, 7})
        for (const double angle : {0.0, 30.0, 45.0, 90.0, -200.0})
          for (const bool causal : {false, true}) {
            PresetParameters p;
            p.radius = radius;
            p.temporal_radius = temporal;
            p.angle = angle;
            p.causal = causal;
            p.amount = 0.5 + radius * 0.7;
            p.sigma = radius % 2 == 0 ? 0 : 0.8 * radius;
            SCOPED_TRACE(std::string(row.nick) + " radius " + std::to_string(radius) + " temporal " +
                         std::to_string(temporal) + " angle " + std::to_string(angle) + (causal ? " causal" : ""));
            for (const TapArray& kernel : make_preset_kernels(row.value, p).kernels) check(row, p, Filter(kernel));
            if (::testing::Test::HasFailure()) return;
          }
}

std::vector<double> taps(Preset preset, const PresetParameters& p = {}) {
  return Filter(make_preset(preset, p)).taps();
}

using Taps = std::vector<double>;

TEST(Preset, TableHasOneRowEachInTheEnumsOrder) {
  std::set<std::string> nicks;
  for (std::size_t i = 0; i < presets().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(presets()[i].value), i);
    EXPECT_TRUE(nicks.insert(presets()[i].nick).second);
    EXPECT_GT(std::string(presets()[i].description).size(), 5u);
  }
}

TEST(Preset, TapsSumToWhatTheTableSays) {
  for_all([](const PresetRow& row, const PresetParameters&, const Filter& filter) {
    if (!row.sum) return;
    EXPECT_NEAR(filter.sum(), *row.sum, 1e-12 * (1 + filter.sum_abs()));
  });
}

TEST(Preset, FitsItsRadii) {
  for_all([](const PresetRow& row, const PresetParameters& p, const Filter& filter) {
    const int reach = std::max(p.radius, 1);
    EXPECT_LE(filter.height(), 2 * reach + 1);
    EXPECT_LE(filter.width(), 2 * reach + 1);
    const bool temporal = std::string(row.nick).starts_with("temporal");
    EXPECT_LE(filter.depth(), temporal ? 2 * std::max(p.temporal_radius, 1) + 1 : 1);
    EXPECT_EQ(filter.height() % 2, row.value == Preset::roberts ? 0 : 1);
    EXPECT_EQ(filter.width() % 2, row.value == Preset::roberts ? 0 : 1);
  });
}

TEST(Preset, BlursHaveNoNegativeTap) {
  for_all([](const PresetRow& row, const PresetParameters&, const Filter& filter) {
    const bool blur = std::string(row.nick).ends_with("blur") || row.value == Preset::temporal_mean ||
                      row.value == Preset::temporal_denoise;
    if (!blur) return;
    for (const double tap : filter.taps()) EXPECT_GE(tap, 0);
    EXPECT_NEAR(filter.sum_abs(), 1, 1e-12);
  });
}

// What a half turn does: +1 leaves the taps as they are, -1 changes their signs.
TEST(Preset, HalfTurnSymmetry) {
  const std::set<Preset> odd{Preset::sobel_x,   Preset::sobel_y, Preset::scharr_x, Preset::scharr_y, Preset::prewitt_x,
                             Preset::prewitt_y, Preset::sobel,   Preset::scharr,   Preset::prewitt,  Preset::robinson};
  for_all([&](const PresetRow& row, const PresetParameters& p, const Filter& filter) {
    if (row.value == Preset::emboss || row.value == Preset::temporal_difference) return;
    if (row.value == Preset::temporal_denoise && p.causal) return;
    if (row.value == Preset::roberts || row.value == Preset::kirsch) return;
    const double sign = odd.contains(row.value) ? -1 : 1;
    for (int i = 0; i < filter.count(); ++i)
      EXPECT_NEAR(filter.taps()[i], sign * filter.taps()[filter.count() - 1 - i], 1e-12);
  });
}

TEST(Preset, DerivativesInYAreThoseInXTransposed) {
  for (int radius = 1; radius <= 7; ++radius)
    for (const auto& [in_x, in_y] : {std::pair{Preset::sobel_x, Preset::sobel_y},
                                     {Preset::scharr_x, Preset::scharr_y},
                                     {Preset::prewitt_x, Preset::prewitt_y}}) {
      PresetParameters p;
      p.radius = radius;
      const Filter x(make_preset(in_x, p)), y(make_preset(in_y, p));
      ASSERT_EQ(x.height(), y.width());
      for (int i = 0; i < x.height(); ++i)
        for (int j = 0; j < x.width(); ++j) EXPECT_EQ(x.tap(0, i, j), y.tap(0, j, i));
      ASSERT_TRUE(x.exact() && x.space_factors());
    }
}

// A ramp that rises by 1 a sample: a derivative answers with the sum of its weights, of the ramp's own sign.
TEST(Preset, DerivativesRiseWithTheRamp) {
  for (const Preset preset : {Preset::sobel_x, Preset::scharr_x, Preset::prewitt_x}) {
    const Filter filter(make_preset(preset, {}));
    double answer = 0;
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 3; ++x) answer += filter.tap(0, y, x) * x;
    EXPECT_GT(answer, 0);
  }
}

// The gradients are the pairs that have presets of their own, whatever the radius.
TEST(Preset, GradientsAreBanksOfBothDirections) {
  for (const auto& [bank, x, y] : {std::tuple{Preset::sobel, Preset::sobel_x, Preset::sobel_y},
                                   {Preset::scharr, Preset::scharr_x, Preset::scharr_y},
                                   {Preset::prewitt, Preset::prewitt_x, Preset::prewitt_y}})
    for (const int radius : {1, 2, 7}) {
      PresetParameters p;
      p.radius = radius;
      const auto made = make_preset_kernels(bank, p);
      EXPECT_EQ(made.combine, Combine::magnitude);
      ASSERT_EQ(made.kernels.size(), 2u);
      EXPECT_EQ(Filter(made.kernels[0]).taps(), taps(x, p));
      EXPECT_EQ(Filter(made.kernels[1]).taps(), taps(y, p));
      EXPECT_THROW(make_preset(bank, p), std::invalid_argument);
    }
}

TEST(Preset, RobertsIsThePairOfDiagonals) {
  const auto made = make_preset_kernels(Preset::roberts, {});
  EXPECT_EQ(made.combine, Combine::magnitude);
  ASSERT_EQ(made.kernels.size(), 2u);
  const Filter down(made.kernels[0]), up(made.kernels[1]);
  EXPECT_EQ(down.taps(), (Taps{1, 0, 0, -1}));
  EXPECT_EQ(up.taps(), (Taps{0, 1, -1, 0}));
  EXPECT_EQ(down.centre_y(), 1);
  EXPECT_EQ(down.centre_x(), 1);
}

// The eight masks as the literature writes them, from the north clockwise, in any order.
TEST(Preset, CompassOperatorsAreTheEightMasksOfTheLiterature) {
  const std::set<Taps> kirsch{{5, 5, 5, -3, 0, -3, -3, -3, -3}, {-3, 5, 5, -3, 0, 5, -3, -3, -3},
                              {-3, -3, 5, -3, 0, 5, -3, -3, 5}, {-3, -3, -3, -3, 0, 5, -3, 5, 5},
                              {-3, -3, -3, -3, 0, -3, 5, 5, 5}, {-3, -3, -3, 5, 0, -3, 5, 5, -3},
                              {5, -3, -3, 5, 0, -3, 5, -3, -3}, {5, 5, -3, 5, 0, -3, -3, -3, -3}};
  const std::set<Taps> robinson{{1, 2, 1, 0, 0, 0, -1, -2, -1}, {0, 1, 2, -1, 0, 1, -2, -1, 0},
                                {-1, 0, 1, -2, 0, 2, -1, 0, 1}, {-2, -1, 0, -1, 0, 1, 0, 1, 2},
                                {-1, -2, -1, 0, 0, 0, 1, 2, 1}, {0, -1, -2, 1, 0, -1, 2, 1, 0},
                                {1, 0, -1, 2, 0, -2, 1, 0, -1}, {2, 1, 0, 1, 0, -1, 0, -1, -2}};
  for (const auto& [preset, masks] : {std::pair{Preset::kirsch, kirsch}, {Preset::robinson, robinson}}) {
    const auto made = make_preset_kernels(preset, {});
    EXPECT_EQ(made.combine, Combine::max);
    ASSERT_EQ(made.kernels.size(), 8u);
    std::set<Taps> found;
    for (const TapArray& kernel : made.kernels) found.insert(Filter(kernel).taps());
    EXPECT_EQ(found, masks);
  }
}

TEST(Preset, DifferenceOfGaussiansIsOneGaussianLessAnother) {
  PresetParameters p;
  p.radius = 4;
  p.sigma = 1.3;
  for (const double sigma2 : {0.0, 2.9}) {
    p.sigma2 = sigma2;
    PresetParameters narrow = p, wide = p;
    wide.sigma = sigma2 > 0 ? sigma2 : 1.6 * p.sigma;
    const Taps found = taps(Preset::difference_of_gaussians, p), a = taps(Preset::gaussian_blur, narrow),
               b = taps(Preset::gaussian_blur, wide);
    ASSERT_EQ(found.size(), 81u);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], a[i] - b[i], 1e-15);
  }
}

TEST(Preset, GaborIsACosineUnderAGaussian) {
  PresetParameters p;
  p.radius = 3;
  p.sigma = 1.7;
  p.wavelength = 2.5;
  for (const double degrees : {0.0, 30.0, 90.0, -120.0}) {
    p.angle = degrees;
    const Filter filter(make_preset(Preset::gabor, p));
    EXPECT_NEAR(filter.sum_abs(), 1, 1e-12);
    const double radians = degrees * 3.14159265358979323846 / 180;
    for (int y = -3; y <= 3; ++y)
      for (int x = -3; x <= 3; ++x) {
        const double up = -y, along = x * std::cos(radians) + up * std::sin(radians);
        const double wanted = std::exp(-(x * x + y * y) / (2 * 1.7 * 1.7)) *
                              std::cos(2 * 3.14159265358979323846 * along / 2.5) * filter.tap(0, 3, 3);
        EXPECT_NEAR(filter.tap(0, y + 3, x + 3), wanted, 1e-14) << degrees << ": " << x << ", " << y;
      }
  }
}

TEST(Preset, KnownTaps) {
  EXPECT_EQ(taps(Preset::identity), Taps{1});
  EXPECT_EQ(taps(Preset::sobel_x), (Taps{-1, 0, 1, -2, 0, 2, -1, 0, 1}));
  EXPECT_EQ(taps(Preset::sobel_y), (Taps{-1, -2, -1, 0, 0, 0, 1, 2, 1}));
  EXPECT_EQ(taps(Preset::scharr_x), (Taps{-3, 0, 3, -10, 0, 10, -3, 0, 3}));
  EXPECT_EQ(taps(Preset::prewitt_x), (Taps{-1, 0, 1, -1, 0, 1, -1, 0, 1}));
  EXPECT_EQ(taps(Preset::laplacian), (Taps{0, 1, 0, 1, -4, 1, 0, 1, 0}));
  EXPECT_EQ(taps(Preset::sharpen), (Taps{0, -1, 0, -1, 5, -1, 0, -1, 0}));
  EXPECT_EQ(taps(Preset::emboss), (Taps{-1, 0, 1, -1, 1, 1, -1, 0, 1}));
  EXPECT_EQ(taps(Preset::temporal_mean), (Taps{1.0 / 3, 1.0 / 3, 1.0 / 3}));
  // As OpenCV has it for 5 taps.
  PresetParameters two;
  two.radius = 2;
  const Taps sobel5 = taps(Preset::sobel_x, two);
  EXPECT_EQ(Taps(sobel5.begin() + 10, sobel5.begin() + 15), (Taps{-6, -12, 0, 12, 6}));
}

TEST(Preset, BoxIsExact) {
  for (int radius = 0; radius <= 7; ++radius) {
    PresetParameters p;
    p.radius = radius;
    const int n = 2 * radius + 1;
    const Filter box(make_preset(Preset::box_blur, p));
    ASSERT_TRUE(box.exact());
    EXPECT_EQ(box.exact()->divisor, n * n);
    EXPECT_EQ(box.exact()->taps, std::vector<std::int32_t>(n * n, 1));
    p.temporal_radius = radius;
    const Filter mean(make_preset(Preset::temporal_mean, p));
    ASSERT_TRUE(mean.exact());
    EXPECT_EQ(mean.exact()->divisor, n);
    EXPECT_EQ(mean.shape(), n == 1 ? "1x1" : std::to_string(n) + "x1x1");
  }
}

TEST(Preset, GaussianIsGaussianAndSeparable) {
  for (int radius = 1; radius <= 7; ++radius)
    for (const double sigma : {0.0, 0.5, 3.0}) {
      PresetParameters p;
      p.radius = radius;
      p.sigma = sigma;
      const double s = sigma > 0 ? sigma : (2 * radius + 1) / 6.0;
      const Filter filter(make_preset(Preset::gaussian_blur, p));
      const double centre = filter.tap(0, radius, radius);
      for (int y = -radius; y <= radius; ++y)
        for (int x = -radius; x <= radius; ++x)
          EXPECT_NEAR(filter.tap(0, y + radius, x + radius) / centre, std::exp(-(x * x + y * y) / (2 * s * s)), 1e-12);
      EXPECT_TRUE(filter.space_factors());
    }
}

// Deviations so small that their squares, or they themselves, are lost beside 0.
TEST(Preset, AGaussianOfNoWidthIsItsCentre) {
  for (const double sigma : {1e-2, 1e-155, 1e-170, 1e-300, 5e-324}) {
    PresetParameters p;
    p.radius = 2;
    p.sigma = sigma;
    const auto expect = [&](Preset preset, double centre) {
      const TapArray made = make_preset(preset, p);
      ASSERT_EQ(made.taps.size(), 25U);
      for (std::size_t i = 0; i < 25; ++i) EXPECT_EQ(made.taps[i].value, i == 12 ? centre : 0) << sigma;
    };
    for (const Preset preset : {Preset::gaussian_blur, Preset::unsharp, Preset::gabor}) expect(preset, 1);
    expect(Preset::difference_of_gaussians, 0);
    p.temporal_radius = 0;
    expect(Preset::temporal_denoise, 1);
  }
}

TEST(Preset, ALaplacianOfAGaussianOfNoWidthIsRefused) {
  PresetParameters p;
  p.radius = 2;
  for (const double sigma : {1e-15, 1e-300, 5e-324}) {
    p.sigma = sigma;
    try {
      make_preset(Preset::laplacian_of_gaussian, p);
      ADD_FAILURE() << sigma;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("sigma is "), std::string::npos) << error.what();
    }
  }
  p.sigma = 1e-14;
  EXPECT_NO_THROW(Filter(make_preset(Preset::laplacian_of_gaussian, p)));
}

TEST(Preset, MotionBlurFollowsItsAngle) {
  PresetParameters p;
  p.radius = 3;
  EXPECT_EQ(taps(Preset::motion_blur, p), Taps(7, 1.0 / 7));
  EXPECT_EQ(Filter(make_preset(Preset::motion_blur, p)).shape(), "1x7");
  p.angle = 90;
  EXPECT_EQ(Filter(make_preset(Preset::motion_blur, p)).shape(), "7x1");
  // Counter-clockwise: 45 degrees runs from the lower left to the upper right.
  p.angle = 45;
  const Filter filter(make_preset(Preset::motion_blur, p));
  const int c = filter.centre_x();
  EXPECT_GT(filter.tap(0, c - 1, c + 1), 0.01);
  EXPECT_GT(filter.tap(0, c - 1, c + 1), filter.tap(0, c + 1, c + 1));
}

TEST(Preset, UnsharpAndSharpenScaleWithTheirAmount) {
  PresetParameters p;
  p.radius = 2;
  const Filter blur(make_preset(Preset::gaussian_blur, p));
  p.amount = 1.75;
  const Filter unsharp(make_preset(Preset::unsharp, p));
  for (int i = 0; i < unsharp.count(); ++i)
    EXPECT_NEAR(unsharp.taps()[i], (i == 12 ? 2.75 : 0) - 1.75 * blur.taps()[i], 1e-12);
  p.amount = 0;
  EXPECT_TRUE(Filter(make_preset(Preset::sharpen, p)).is_identity());
  EXPECT_TRUE(Filter(make_preset(Preset::unsharp, p)).is_identity());
  EXPECT_TRUE(Filter(make_preset(Preset::emboss, p)).is_identity());
}

TEST(Preset, TemporalDifferenceTakesAnEarlierFrameFromThisOne) {
  for (int radius = 1; radius <= 7; ++radius)
    for (const bool causal : {false, true}) {
      PresetParameters p;
      p.temporal_radius = radius;
      p.causal = causal;
      Filter filter(make_preset(Preset::temporal_difference, p));
      if (causal) filter = filter.ending_at_newest();
      EXPECT_EQ(filter.tap(filter.centre_t(), 0, 0), 1);
      EXPECT_EQ(filter.tap(filter.centre_t() - radius, 0, 0), -1);
      EXPECT_EQ(filter.sum_abs(), 2);
    }
}

TEST(Preset, CausalDenoiseWeighsTheNewestFrameMost) {
  PresetParameters p;
  p.temporal_radius = 2;
  p.causal = true;
  const Filter filter(make_preset(Preset::temporal_denoise, p));
  ASSERT_EQ(filter.depth(), 5);
  for (int t = 1; t < 5; ++t) EXPECT_GT(filter.tap(t, 1, 1), filter.tap(t - 1, 1, 1));
  EXPECT_FALSE(filter.time_factor().empty());
}

TEST(Preset, RefusesRadiiOutOfRange) {
  for (const PresetRow& row : presets())
    for (const bool low : {false, true}) {
      PresetParameters space, time;
      space.radius = low ? -1 : 128;
      time.temporal_radius = low ? -1 : 8;
      EXPECT_THROW(make_preset(row.value, space), std::invalid_argument) << row.nick;
      EXPECT_THROW(make_preset(row.value, time), std::invalid_argument) << row.nick;
    }
}

// Each radius either makes a filter whose taps sum to what the table says, or an error that names a limit.
TEST(Preset, LargeRadiiMakeFiltersOrNameTheLimit) {
  for (const PresetRow& row : presets())
    for (const int radius : {8, 15, 16, 31, 63, 127}) {
      PresetParameters p;
      p.radius = radius;
      p.angle = 30;
      try {
        const auto made = make_preset_kernels(row.value, p);
        if (row.make_bank) Bank(made.kernels, made.combine);
        for (const TapArray& kernel : made.kernels) {
          const Filter filter(kernel);
          if (row.sum) {
            EXPECT_NEAR(filter.sum(), *row.sum, 1e-12 * filter.sum_abs() + 1e-9) << row.nick << " " << radius;
          }
        }
      } catch (const std::invalid_argument& error) {
        const std::string text = error.what();
        if (row.make_bank) {
          EXPECT_NE(text.find("have 1 to 15"), std::string::npos) << row.nick << " " << radius << ": " << text;
          continue;
        }
        EXPECT_TRUE(text.find("31x31") != std::string::npos || text.find("1e30") != std::string::npos)
            << row.nick << " " << radius << ": " << text;
        EXPECT_GT(radius, 15) << row.nick << ": " << text;
      }
    }
  for (const Preset preset : {Preset::box_blur, Preset::gaussian_blur, Preset::unsharp}) {
    PresetParameters p;
    p.radius = 127;
    EXPECT_NO_THROW(Filter(make_preset(preset, p)));
  }
}

}  // namespace
