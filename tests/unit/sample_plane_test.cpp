// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the CUDA kernels that sum 16-bit samples in floats compute with.
#include "cuda/common/sample_plane.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(odd.rounding_bias, 65536);
  EXPECT_EQ(odd.gain, 1 / 81.f);
  EXPECT_EQ(offset, 32768 + 65536);
  const SampleNumbers exact = numbers(126, 0, offset);
  EXPECT_EQ(exact.divisor, 0);
  EXPECT_EQ(exact.rounding_bias, 0);
  EXPECT_EQ(offset, 32768);
  const SampleNumbers remainder = numbers(223, 0, offset);
  EXPECT_EQ(remainder.divisor, 225);
  EXPECT_EQ(offset, 32768);
  const SampleNumbers small = numbers(8, 0, offset);
  EXPECT_EQ(small.divisor, 0);
  EXPECT_GT(small.rounding_bias, 0);
  EXPECT_EQ(offset, 32768 + small.rounding_bias);
}

}  // namespace
}  // namespace convolve::cuda
