// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sums of the bytes of 16-bit samples over several frames, as temporal_u16.cu joins them in 32 bits and in single
// precision, against sums in double precision.
#include "cuda/matrix/u16_byte_taps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace convolve::cuda {
namespace {

PlanDesc desc_of(int bits, int shift, double zero, int side, const std::vector<Tap>& taps) {
  PlanDesc desc;
  desc.layout.type = SampleType::u16;
  desc.layout.bits = bits;
  desc.layout.shift = shift;
  desc.layout.planes = desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0] = Component{.width = 64, .height = 64, .zero = zero};
  desc.filter = Filter(TapArray{5, side, side, taps});
  return desc;
}

/// As the kernel does.
double by_bytes(const MatrixTaps& taps, int shift, const std::vector<int>& samples) {
  std::int64_t low = taps.start[0][0], high = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::int64_t tap = 0;
    for (int d = 0; d < taps.limbs; ++d) tap = tap * 256 + taps.limb(d, i);
    low += tap * (samples[i] << shift & 255);
    high += tap * (samples[i] << shift >> 8);
  }
  if (taps.epilogue == Epilogue::quotient)
    return static_cast<float>(static_cast<std::int32_t>(high * 256 + low)) * taps.gain;
  EXPECT_LE(std::max(std::abs(low), std::abs(high)), std::numeric_limits<std::int32_t>::max());
  return std::fma(static_cast<float>(high), 256 * taps.gain,
                  std::fma(static_cast<float>(low), taps.gain, taps.level[0][0]));
}

double in_doubles(const PlanDesc& desc, const std::vector<double>& taps, const std::vector<int>& samples) {
  double sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    sum += taps[i] * (samples[i] - desc.layout.plane[0].component[0].zero);
  return sum;
}

/// Random samples, and those that leave nothing but positive taps, or negative ones.
std::vector<std::vector<int>> samples_for(const MatrixTaps& taps, int max, std::mt19937& random) {
  std::vector<std::vector<int>> all(4, std::vector<int>(taps.fixed.size()));
  for (std::size_t i = 0; i < taps.fixed.size(); ++i) {
    all[0][i] = std::uniform_int_distribution<int>(0, max)(random);
    all[1][i] = taps.fixed[i] > 0 ? max : 0;
    all[2][i] = taps.fixed[i] > 0 ? 0 : max;
    all[3][i] = max;
  }
  return all;
}

struct Layout {
  int bits, shift;
  double zero;
};
constexpr Layout some_layouts[] = {{10, 6, 512}, {10, 0, 64}, {12, 4, 0}, {16, 0, 0}, {16, 0, 32768}};

TEST(U16ByteTaps, RealSumsAreWithinTheirErrorAndBlursAreServed) {
  std::mt19937 random(11);
  for (const Layout& layout : some_layouts)
    for (const int side : {1, 3, 5, 7}) {
      std::vector<double> values(static_cast<std::size_t>(5 * side * side));
      double sum = 0;
      for (double& v : values) sum += v = std::uniform_real_distribution<double>(0.1, 1)(random);
      std::vector<Tap> given;
      for (double& v : values) given.push_back(Tap::real(v /= sum));
      const PlanDesc desc = desc_of(layout.bits, layout.shift, layout.zero, side, given);
      MatrixTaps taps;
      std::string why;
      ASSERT_TRUE(make_u16_byte_taps(desc, taps, why)) << layout.bits << " bits, side " << side << ": " << why;
      for (const std::vector<int>& samples : samples_for(taps, desc.layout.max_value(), random))
        ASSERT_NEAR(by_bytes(taps, layout.shift, samples), in_doubles(desc, values, samples), max_byte_taps_error);
    }
}

TEST(U16ByteTaps, IntegerSumsAreExact) {
  std::mt19937 random(12);
  for (const Layout& layout : some_layouts)
    for (const int side : {1, 3, 7}) {
      const int count = 5 * side * side, all = (1 << 24) / (1 << layout.bits) - 1;
      std::vector<double> values(static_cast<std::size_t>(count));
      for (double& v : values) v = std::uniform_int_distribution<int>(-all / count, all / count)(random);
      std::vector<Tap> given;
      for (const double v : values) given.push_back(Tap::fraction(static_cast<int>(v), 1));
      const PlanDesc desc = desc_of(layout.bits, layout.shift, layout.zero, side, given);
      MatrixTaps taps;
      std::string why;
      ASSERT_TRUE(make_u16_byte_taps(desc, taps, why)) << layout.bits << " bits, side " << side << ": " << why;
      ASSERT_EQ(taps.epilogue, Epilogue::quotient);
      for (const std::vector<int>& samples : samples_for(taps, desc.layout.max_value(), random))
        ASSERT_EQ(by_bytes(taps, layout.shift, samples), in_doubles(desc, values, samples));
    }
}

TEST(U16ByteTaps, GhostsAndCopiedSamplesAreCutIntoBytes) {
  PlanDesc desc = desc_of(10, 6, 512, 1, std::vector<Tap>(5, Tap::real(0.2)));
  PlaneLayout& plane = desc.layout.plane[0];
  plane.component[0].ghost = 0x2A5;
  plane.component[0].filtered = false;
  const PlaneMasks one = u16_byte_masks(desc.layout, plane, 0);
  EXPECT_EQ(one.ghost, 0xA940A940u);
  EXPECT_EQ(one.passthrough, ~0u);
  EXPECT_EQ(one.passthrough_components, 3);

  plane.components = 4;
  for (int c = 0; c < 4; ++c) plane.component[static_cast<std::size_t>(c)] = {.filtered = c != 2, .ghost = 1.0 * c};
  const PlaneMasks front = u16_byte_masks(desc.layout, plane, 0), back = u16_byte_masks(desc.layout, plane, 4);
  EXPECT_EQ(front.ghost, 0x00400000u);
  EXPECT_EQ(back.ghost, 0x00C00080u);
  EXPECT_EQ(front.passthrough, 0u);
  EXPECT_EQ(back.passthrough, 0x0000FFFFu);
  EXPECT_EQ(back.passthrough_components, 0x30);
}

}  // namespace
}  // namespace convolve::cuda
