// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Running sums of boxes, against the oracle: at the ends of their range, and for every number of components, on each
// SIMD target of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "convolve/backend.hpp"
#include "cpu/simd/targets.hpp"
#include "oracle.hpp"

namespace {

using namespace convolve;

Filter box(int height, int width, int depth = 1) {
  const int count = depth * height * width;
  TapArray taps{.depth = depth, .height = height, .width = width, .taps = {}};
  taps.taps.assign(static_cast<std::size_t>(count), Tap::fraction(1, count));
  return Filter(taps);
}

PlanDesc desc_of(SampleType type, int bits, int components, int width, int height) {
  PlanDesc desc;
  desc.algorithm = Algorithm::separable;
  desc.layout = {.type = type, .bits = bits, .planes = 1};
  desc.layout.plane[0].components = components;
  for (int c = 0; c < components; ++c)
    desc.layout.plane[0].component[c] = {.offset = c, .step = components, .width = width, .height = height};
  return desc;
}

// Runs a plan of one plane of interleaved samples, the same in all frames, and gives what it describes itself as.
template <class Sample>
std::string run(const PlanDesc& desc, std::vector<Sample>& in, std::vector<Sample>& out) {
  const PlaneLayout& plane = desc.layout.plane[0];
  const auto stride = static_cast<std::ptrdiff_t>(plane.component[0].width * plane.components * sizeof(Sample));
  out.assign(in.size(), Sample{0x5a});
  Image from, to;
  from.plane[0] = {in.data(), stride};
  to.plane[0] = {out.data(), stride};
  const std::unique_ptr<Plan> plan = make_cpu_backend(1)->make_plan(desc);
  Window window{desc.filter.depth(), {}};
  std::fill_n(window.image, window.depth, &from);
  EXPECT_EQ(plan->enqueue(window, to, nullptr), nullptr);
  return plan->describe();
}

// The largest difference from the oracle, of all components, with the border `replicate`.
template <class Sample>
double difference(const PlanDesc& desc, const std::vector<Sample>& in, const std::vector<Sample>& out) {
  const PlaneLayout& plane = desc.layout.plane[0];
  const int height = desc.filter.height(), width = desc.filter.width();
  oracle::Kernel kernel;
  kernel.height = height;
  kernel.width = width;
  kernel.centre_y = height / 2;
  kernel.centre_x = width / 2;
  kernel.integers.assign(static_cast<std::size_t>(height * width), 1);
  kernel.divisor = height * width;
  double most = 0;
  for (int c = 0; c < plane.components; ++c) {
    const Component& component = plane.component[c];
    oracle::Plane samples{component.width, component.height, {}};
    const auto step = static_cast<std::size_t>(plane.components);
    for (auto i = static_cast<std::size_t>(c); i < in.size(); i += step) samples.samples.push_back(in[i]);
    const oracle::Levels levels{desc.layout.bits, component.zero, component.bias, component.ghost};
    const oracle::Plane expected = oracle::filter(kernel, {&samples}, oracle::Edge::replicate, levels);
    for (std::size_t i = 0; i < expected.samples.size(); ++i)
      most = std::max(most, std::abs(expected.samples[i] - out[i * step + static_cast<std::size_t>(c)]));
  }
  return most;
}

class Box : public testing::Test {
 protected:
  static void on_each_target(const std::function<void()>& work) {
    for (const cpu::SimdTarget& target : cpu::simd_targets()) {
      if (!target.available) continue;
      SCOPED_TRACE(target.name);
      ASSERT_TRUE(cpu::force_simd_target(target.name));
      work();
    }
  }
  void TearDown() override { cpu::force_simd_target(nullptr); }
};

TEST_F(Box, OfBytesIsExactForEachNumberOfComponents) {
  std::mt19937 random(1);
  on_each_target([&] {
    for (int components = 1; components <= 4; ++components)
      for (const int taps : {17, 18, 40}) {
        PlanDesc desc = desc_of(SampleType::u8, 8, components, 150, 11);
        desc.filter = box(taps, taps + 3);
        std::vector<std::uint8_t> in(static_cast<std::size_t>(150 * 11 * components)), out;
        for (std::uint8_t& sample : in) sample = static_cast<std::uint8_t>(random());
        EXPECT_NE(run(desc, in, out).find("running sums"), std::string::npos);
        EXPECT_EQ(difference(desc, in, out), 0) << components << " components, " << taps << " taps";
      }
  });
}

TEST_F(Box, OfTheLargestSamplesFits) {
  on_each_target([] {
    PlanDesc desc = desc_of(SampleType::u8, 8, 1, 40, 3);
    desc.filter = box(255, 255);
    std::vector<std::uint8_t> in(40 * 3, 255), out;
    EXPECT_NE(run(desc, in, out).find("running sums"), std::string::npos);
    EXPECT_EQ(out, in);
  });
}

// Of 16 bits, 181x181 samples fit 31 bits and 182x181 do not; zero levels at the ends of the range and between.
TEST_F(Box, OfWordsIsWithinACodeValueWhateverTheZeroLevel) {
  std::mt19937 random(2);
  on_each_target([&] {
    for (const int height : {1, 181, 182, 255})
      for (const double zero : {0.0, 32768.0, 65535.0}) {
        PlanDesc desc = desc_of(SampleType::u16, 16, 1, 5, 2);
        desc.layout.plane[0].component[0].zero = zero;
        desc.filter = box(height, height == 255 ? 255 : 181);
        for (const unsigned mask : {0u, 0xffffu}) {  // noise, and nothing but the largest sample
          std::vector<std::uint16_t> in(5 * 2), out;
          for (std::uint16_t& sample : in) sample = static_cast<std::uint16_t>(random() | mask);
          EXPECT_NE(run(desc, in, out).find("running sums"), std::string::npos);
          EXPECT_LE(difference(desc, in, out), 1) << height << " rows, zero level " << zero;
        }
      }
  });
}

// Sums of the first component do not fit 24 bits, those of the others do.
TEST_F(Box, OverTimeIsRightWhereOneComponentAloneIsTooLargeToBeExact) {
  std::mt19937 random(3);
  on_each_target([&] {
    PlanDesc desc = desc_of(SampleType::u16, 12, 4, 70, 9);
    for (int c = 1; c < 4; ++c) desc.layout.plane[0].component[c].zero = 2048;
    desc.filter = box(31, 31, 5);
    std::vector<std::uint16_t> in(static_cast<std::size_t>(70 * 9 * 4)), out;
    for (std::uint16_t& sample : in) sample = static_cast<std::uint16_t>(random() & 0xfff);
    EXPECT_NE(run(desc, in, out).find("running sums"), std::string::npos);
    EXPECT_LE(difference(desc, in, out), 1);
  });
}

TEST_F(Box, WithAFractionalGhostLevelIsNoSumOfIntegers) {
  PlanDesc desc = desc_of(SampleType::u8, 8, 1, 40, 3);
  desc.filter = box(33, 33);
  desc.border = Border::constant;
  desc.layout.plane[0].component[0].ghost = 127.5;
  std::vector<std::uint8_t> in(40 * 3, 1), out;
  EXPECT_EQ(run(desc, in, out).find("running sums"), std::string::npos);
}

}  // namespace
