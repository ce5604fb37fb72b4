// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the CUDA kernels that sum 16-bit samples in floats compute with.
#include "cuda/common/sample_plane.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace convolve::cuda {
namespace {

/// Luma and chroma of 16 bits under a row of 3 taps, the middle one `centre`: chroma's sums are half as large.
PlanDesc luma_beside_chroma(int centre) {
  PlanDesc desc;
  desc.layout = {.type = SampleType::u16, .bits = 16, .planes = 1};
  desc.layout.plane[0].components = 2;
  for (int c = 0; c < 2; ++c)
    desc.layout.plane[0].component[c] = {
        .offset = c, .step = 2, .width = 8, .height = 8, .zero = c == 0 ? 4096.0 : 32768.0};
  desc.filter =
      Filter(TapArray{1, 1, 3, {Tap::integer(1), Tap::integer(centre), Tap::integer(1)}}, {.normalize = true});
  return desc;
}

TEST(FloatsArithmetic, SumsIntegersWhereSomeComponentsAloneGoBeyond24Bits) {
  const auto accumulators = [](const PlanDesc& desc) {
    const Arithmetic direct = choose_arithmetic(desc.filter, desc.layout, false);
    return std::pair{direct.accumulator, floats_arithmetic(desc, direct).accumulator};
  };
  EXPECT_EQ(accumulators(luma_beside_chroma(200)), std::pair(Accumulator::exact, Accumulator::exact));
  EXPECT_EQ(accumulators(luma_beside_chroma(400)), std::pair(Accumulator::double_, Accumulator::exact));
  EXPECT_EQ(accumulators(luma_beside_chroma(600)), std::pair(Accumulator::single, Accumulator::single));
  // Taps that cancel round too much for luma.
  PlanDesc cancelling = luma_beside_chroma(0);
  cancelling.filter =
      Filter(TapArray{1, 1, 3, {Tap::integer(-190), Tap::integer(3), Tap::integer(190)}}, {.normalize = true});
  EXPECT_EQ(accumulators(cancelling), std::pair(Accumulator::double_, Accumulator::double_));
}

TEST(SampleNumbers, DivideByOneProductWhereThatIsRight) {
  const auto numbers = [](int centre, double chroma_bias, float& offset) {
    PlanDesc desc = luma_beside_chroma(centre);
    desc.layout.plane[0].component[1].bias = chroma_bias;
    const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, false);
    offset = make_sample_plane(desc.layout, desc.layout.plane[0], arithmetic).offset[1];
    return make_sample_numbers(desc.layout, arithmetic);
  };
  float offset = 0;
  const SampleNumbers odd = numbers(79, 0, offset);
  EXPECT_EQ(odd.divisor, 0);
  EXPECT_EQ(odd.division(), Division::product);
  EXPECT_EQ(odd.rounding_bias, 65536);
  EXPECT_EQ(odd.gain, 1 / 81.f);
  EXPECT_EQ(offset, 32768 + 65536);
  const SampleNumbers exact = numbers(126, 0, offset);
  EXPECT_EQ(exact.divisor, 0);
  EXPECT_EQ(exact.rounding_bias, 0);
  EXPECT_EQ(offset, 32768);
  const SampleNumbers remainder = numbers(223, 0, offset);
  EXPECT_EQ(remainder.divisor, 225);
  EXPECT_EQ(remainder.division(), Division::remainder);
  EXPECT_EQ(remainder.gain_low, 0);
  EXPECT_EQ(offset, 32768);
  const SampleNumbers small = numbers(8, 0, offset);
  EXPECT_EQ(small.divisor, 0);
  EXPECT_GT(small.rounding_bias, 0);
  EXPECT_EQ(offset, 32768 + small.rounding_bias);
}

TEST(SampleMask, KeepsTheBitsAboveThePadding) {
  EXPECT_EQ(sample_mask(0), 0xFFFFu);
  EXPECT_EQ(sample_mask(6), 0xFFC0u);
}

TEST(FoldedPlanes, HaveLevelsInWhatSumsStartFrom) {
  const auto folded = [](const PlanDesc& desc) {
    return folded_planes(desc, choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border)), 5);
  };
  // Taps that add up to the divisor leave every level where it is.
  PlanDesc desc = luma_beside_chroma(98);
  desc.layout.plane[0].component[1].bias = 7;
  std::optional<FoldedPlanes> planes = folded(desc);
  ASSERT_TRUE(planes);
  EXPECT_EQ(planes->numbers.rounding_bias, 65536);
  for (int c = 0; c < 2; ++c) {
    EXPECT_EQ(planes->plane[0].zero[c], 0);
    EXPECT_EQ(planes->plane[0].offset[c], 65536);
    EXPECT_EQ(planes->plane[0].start[c], c == 0 ? 0 : 700);
  }
  // Others do not: an edge is at the level itself.
  desc.filter = Filter(TapArray{1, 1, 3, {Tap::integer(-1), Tap::integer(0), Tap::integer(1)}}, {});
  planes = folded(desc);
  ASSERT_TRUE(planes);
  EXPECT_EQ(planes->plane[0].start[0], 4096);
  EXPECT_EQ(planes->plane[0].start[1], 32775);
  // Sums of plain samples may need more bits than those of samples less their level.
  EXPECT_TRUE(folded(luma_beside_chroma(240)));
  EXPECT_FALSE(folded(luma_beside_chroma(262)));
  // A box's quotient is one of two products.
  planes = folded(luma_beside_chroma(223));
  ASSERT_TRUE(planes);
  EXPECT_EQ(planes->numbers.divisor, -225);
  EXPECT_EQ(planes->numbers.division(), Division::two_products);
  EXPECT_EQ(planes->numbers.rounding_bias, 0);
  EXPECT_NE(planes->numbers.gain_low, 0);
  const SampleNumbers remainder = by_remainder(planes->numbers);
  EXPECT_EQ(remainder.divisor, 225);
  EXPECT_EQ(remainder.gain_low, 0);
}

TEST(FoldedPlanes, KeepToGhostsThatSubnormalFloatsHold) {
  PlanDesc desc = luma_beside_chroma(98);
  desc.border = Border::constant;
  const auto folded = [&](double ghost, int bits, int shift) {
    desc.layout.bits = bits, desc.layout.shift = shift;
    for (int c = 0; c < 2; ++c) {
      desc.layout.plane[0].component[c].zero = 64;
      desc.layout.plane[0].component[c].ghost = ghost;
    }
    return folded_planes(desc, choose_arithmetic(desc.filter, desc.layout, true), 5);
  };
  const std::optional<FoldedPlanes> planes = folded(1000, 16, 0);
  ASSERT_TRUE(planes);
  EXPECT_EQ(planes->plane[0].ghost[0] * first_factor(0) * second_factor, 1000);
  EXPECT_FALSE(folded(1000.5, 16, 0));
  const std::optional<FoldedPlanes> shifted = folded(100.5, 10, 6);
  if (shifted) {
    EXPECT_EQ(shifted->plane[0].ghost[0] * first_factor(6) * second_factor, 100.5);
  }
}

}  // namespace
}  // namespace convolve::cuda
