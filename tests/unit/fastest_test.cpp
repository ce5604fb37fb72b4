// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/fastest.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "convolve/backend.hpp"

namespace {

using convolve::Algorithm;
using convolve::FrameLayout;
using convolve::Plan;
using convolve::PlanDesc;
using convolve::cpu::FastestPlans;

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

/// A plan that runs nothing and has a name.
class Named final : public Plan {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  const char* enqueue(const convolve::Window&, const convolve::Image&, void*) noexcept override { return nullptr; }
  Algorithm algorithm() const override { return Algorithm::direct; }
  std::string describe() const override { return name_; }

 private:
  std::string name_;
};

std::vector<std::unique_ptr<Plan>> plans(const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<Plan>> made;
  for (const std::string& name : names) made.push_back(std::make_unique<Named>(name));
  return made;
}

TEST(Fastest, EachCaseIsTimedOnce) {
  FastestPlans fastest;
  int measured = 0;
  const auto second_is_best = [&](Plan& plan) {
    ++measured;
    return plan.describe() == "b" ? 1.0 : 2.0;
  };
  const auto three = plans({"a", "b", "c"});
  EXPECT_EQ(fastest.choose(three, gray(64, 48), second_is_best), 1u);
  EXPECT_EQ(measured, 3);
  EXPECT_EQ(fastest.choose(three, gray(64, 48), second_is_best), 1u);
  EXPECT_EQ(measured, 3);
  // Another size, other plans: other cases.
  EXPECT_EQ(fastest.choose(three, gray(64, 49), second_is_best), 1u);
  EXPECT_EQ(measured, 6);
  EXPECT_EQ(fastest.choose(plans({"b", "c"}), gray(64, 48), second_is_best), 0u);
  EXPECT_EQ(measured, 8);
}

TEST(Fastest, OnePlanIsNotTimed) {
  FastestPlans fastest;
  const auto measure = [](Plan&) -> double {
    ADD_FAILURE() << "a single plan was timed";
    return 0;
  };
  EXPECT_EQ(fastest.choose(plans({"a"}), gray(8, 8), measure), 0u);
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
