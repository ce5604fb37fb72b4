// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/fastest.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "convolve/backend.hpp"

namespace {

using convolve::Algorithm;
using convolve::FrameLayout;
using convolve::PlanDesc;

convolve::Filter box(int side) {
  return convolve::Filter(convolve::TapArray{
      1, side, side, std::vector<convolve::Tap>(side * side, convolve::Tap::fraction(1, side * side))});
}

FrameLayout gray(int width, int height) {
  FrameLayout layout;
  layout.bits = 8;
  layout.planes = 1;
  layout.plane[0].components = 1;
  layout.plane[0].component[0] = {.width = width, .height = height};
  return layout;
}

TEST(Fastest, EachCaseIsTimedOnce) {
  convolve::TimedCases cases;
  int measured = 0;
  const auto measure = [&](std::size_t candidate) {
    ++measured;
    return candidate == 1 ? 1.0 : 2.0;
  };
  const std::vector<double> wanted{2, 1, 2};
  EXPECT_EQ(cases.times("a", 3, measure), wanted);
  EXPECT_EQ(measured, 3);
  EXPECT_EQ(cases.times("a", 3, measure), wanted);
  EXPECT_EQ(measured, 3);
  EXPECT_EQ(cases.times("b", 3, measure), wanted);
  EXPECT_EQ(measured, 6);
}

TEST(Fastest, WhatCouldNotRunIsTimedAgainWhereNothingCould) {
  constexpr double never = std::numeric_limits<double>::infinity();
  convolve::TimedCases cases;
  int measured = 0;
  double second = never;
  const auto measure = [&](std::size_t candidate) {
    ++measured;
    return candidate == 1 ? second : never;
  };
  EXPECT_EQ(cases.times("a", 2, measure), (std::vector<double>{never, never}));
  second = 3;
  EXPECT_EQ(cases.times("a", 2, measure), (std::vector<double>{never, 3}));
  EXPECT_EQ(measured, 4);
  EXPECT_EQ(cases.times("a", 2, measure), (std::vector<double>{never, 3}));
  EXPECT_EQ(measured, 4);
}

TEST(Fastest, TheTextOfALayoutTellsWhatSpeedDependsOn) {
  const std::string text = text_of(gray(64, 48));
  EXPECT_EQ(text, text_of(gray(64, 48)));
  EXPECT_NE(text, text_of(gray(64, 49)));
  FrameLayout other = gray(64, 48);
  other.plane[0].component[0].filtered = false;
  EXPECT_NE(text, text_of(other));
  other = gray(64, 48);
  other.shift = 1;
  EXPECT_NE(text, text_of(other));
  other = gray(64, 48);
  other.plane[1] = other.plane[0];
  other.planes = 2;
  EXPECT_NE(text, text_of(other));
}

TEST(Fastest, ThePlanIsOfOneOfTheAlgorithmsThatServe) {
  const auto backend = convolve::make_cpu_backend(1);
  PlanDesc desc;
  desc.layout = gray(200, 100);
  desc.filter = box(5);
  desc.algorithm = Algorithm::fastest;
  EXPECT_TRUE(backend->serves(Algorithm::fastest, desc));
  const auto plan = backend->make_plan(desc);
  EXPECT_TRUE(plan->algorithm() == Algorithm::direct || plan->algorithm() == Algorithm::separable ||
              plan->algorithm() == Algorithm::matrix);
}

// Of 31 taps a side one algorithm sums 961 products, another 62: no machine is in doubt.
TEST(Fastest, ALargeSeparableFilterRunsByItsFactors) {
  const auto backend = convolve::make_cpu_backend(1);
  PlanDesc desc;
  desc.layout = gray(640, 360);
  desc.filter = box(31);
  desc.algorithm = Algorithm::fastest;
  EXPECT_EQ(backend->make_plan(desc)->algorithm(), Algorithm::separable);
}

}  // namespace
