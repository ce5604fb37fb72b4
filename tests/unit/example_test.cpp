// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The worked examples of the design, along x, y and time, by the oracle and by every algorithm of the CPU backend.
#include <gtest/gtest.h>

#include <vector>

#include "convolve/backend.hpp"
#include "oracle.hpp"

namespace {

using convolve::Algorithm;
using convolve::Image;

struct Example {
  std::vector<std::uint8_t> in;
  std::vector<int> taps;
  std::vector<std::uint8_t> out;
};

const Example examples[] = {
    {{8, 2, 5, 4, 1, 7, 3}, {1, 3, 5, 3, 1}, {51, 53, 52, 47, 46, 51, 37}},
    {{4, 1, 3, 2, 3}, {2, 1, 4}, {8, 21, 13, 20, 7}},
};

enum class Axis { x, y, time };

convolve::PlanDesc describe(const Example& example, Axis axis) {
  const int n = static_cast<int>(example.in.size()), taps = static_cast<int>(example.taps.size());
  convolve::TapArray array;
  (axis == Axis::x ? array.width : axis == Axis::y ? array.height : array.depth) = taps;
  for (const int tap : example.taps) array.taps.push_back(convolve::Tap::integer(tap));
  convolve::PlanDesc desc;
  desc.filter = convolve::Filter(array);
  desc.border = convolve::Border::constant;
  desc.layout.planes = desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0] = {.width = axis == Axis::x ? n : 1, .height = axis == Axis::y ? n : 1};
  return desc;
}

std::vector<std::uint8_t> run(convolve::Plan& plan, const Example& example, Axis axis) {
  std::vector<std::uint8_t> in = example.in, out(in.size(), 0xee);
  const int n = static_cast<int>(in.size()), depth = static_cast<int>(example.taps.size());
  if (axis != Axis::time) {
    Image from, to;
    from.plane[0] = {in.data(), axis == Axis::x ? n : 1};
    to.plane[0] = {out.data(), axis == Axis::x ? n : 1};
    convolve::Window window{1, {&from}};
    EXPECT_EQ(plan.enqueue(window, to, nullptr), nullptr);
    return out;
  }
  std::vector<Image> frames(n);
  for (int t = 0; t < n; ++t) frames[t].plane[0] = {&in[t], 1};
  for (int t = 0; t < n; ++t) {
    convolve::Window window;
    window.depth = depth;
    for (int i = 0; i < depth; ++i) {
      const int from = t + i - depth / 2;
      window.image[i] = from < 0 || from >= n ? nullptr : &frames[from];
    }
    Image to;
    to.plane[0] = {&out[t], 1};
    EXPECT_EQ(plan.enqueue(window, to, nullptr), nullptr);
  }
  return out;
}

TEST(WorkedExamples, HoldOnTheCpuAlongEveryAxis) {
  const auto cpu = convolve::make_cpu_backend(2);
  for (const Example& example : examples)
    for (const Axis axis : {Axis::x, Axis::y, Axis::time}) {
      convolve::PlanDesc desc = describe(example, axis);
      std::vector<Algorithm> all{Algorithm::automatic};
      for (const Algorithm algorithm : cpu->algorithms())
        if (cpu->serves(algorithm, desc)) all.push_back(algorithm);
      EXPECT_GE(all.size(), 2u);
      for (const Algorithm algorithm : all) {
        desc.algorithm = algorithm;
        EXPECT_EQ(run(*cpu->make_plan(desc), example, axis), example.out)
            << nick(algorithm) << " axis " << static_cast<int>(axis);
      }
    }
}

TEST(WorkedExamples, HoldInTheOracle) {
  for (const Example& example : examples) {
    oracle::Kernel kernel;
    kernel.width = static_cast<int>(example.taps.size());
    kernel.centre_x = kernel.width / 2;
    const oracle::Plane in{static_cast<int>(example.in.size()), 1, {example.in.begin(), example.in.end()}};
    const std::vector<double> expected(example.out.begin(), example.out.end());
    kernel.integers.assign(example.taps.begin(), example.taps.end());
    kernel.divisor = 1;
    EXPECT_EQ(oracle::filter(kernel, {&in}, oracle::Edge::constant, {}).samples, expected);
    kernel.taps.assign(example.taps.begin(), example.taps.end());
    kernel.divisor = 0;
    EXPECT_EQ(oracle::filter(kernel, {&in}, oracle::Edge::constant, {}).samples, expected);

    oracle::Kernel in_time = kernel;
    std::swap(in_time.depth, in_time.width);
    std::swap(in_time.centre_t, in_time.centre_x);
    std::vector<oracle::Plane> frames;
    for (const std::uint8_t v : example.in) frames.push_back({1, 1, {static_cast<double>(v)}});
    const auto out =
        oracle::filter_sequence(in_time, frames, oracle::Edge::constant, oracle::Edge::constant, oracle::Levels{});
    for (std::size_t t = 0; t < out.size(); ++t) EXPECT_EQ(out[t].samples[0], expected[t]);
  }
}

TEST(Oracle, RoundsExactTiesToEven) {
  EXPECT_EQ(oracle::rounded_quotient(1, 2, 0), 0);
  EXPECT_EQ(oracle::rounded_quotient(3, 2, 0), 2);
  EXPECT_EQ(oracle::rounded_quotient(-1, 2, 0), 0);
  EXPECT_EQ(oracle::rounded_quotient(-3, 2, 0), -2);
  EXPECT_EQ(oracle::rounded_quotient(-5, 2, 0), -2);
  EXPECT_EQ(oracle::rounded_quotient(7, 3, 0), 2);
  EXPECT_EQ(oracle::rounded_quotient(8, 3, 0), 3);
  EXPECT_EQ(oracle::rounded_quotient(-8, 3, 0), -3);
  EXPECT_EQ(oracle::rounded_quotient(2, 4, 127.5), 128);
  EXPECT_EQ(oracle::rounded_quotient(4, 4, 127.5), 128);
  EXPECT_EQ(oracle::rounded_quotient(8388607, 16777214, 1), 2);  // 1.5 exactly
  EXPECT_EQ(oracle::rounded_quotient(8388606, 16777214, 1), 1);
}

TEST(Oracle, AppliesZeroLevelBiasAndGhosts) {
  oracle::Kernel kernel;
  kernel.width = 3;
  kernel.centre_x = 1;
  kernel.taps = {-1, 0, 1};
  const oracle::Plane flat{3, 1, {50, 50, 50}};
  // A flat luma plane of limited range: black inside, the step to the ghosts at the sides.
  const oracle::Levels luma{8, 16, 0.5, 235};
  EXPECT_EQ(oracle::filter(kernel, {&flat}, oracle::Edge::replicate, luma).samples, (std::vector<double>{16, 16, 16}));
  EXPECT_EQ(oracle::filter(kernel, {&flat}, oracle::Edge::constant, luma).samples, (std::vector<double>{0, 16, 202}));
  const oracle::Levels chroma{10, 512, 0, 512};
  EXPECT_EQ(oracle::filter(kernel, {&flat}, oracle::Edge::constant, chroma).samples,
            (std::vector<double>{512 + 50 - 512, 512, 512 + 512 - 50}));
}

}  // namespace
