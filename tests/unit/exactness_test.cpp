// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Exactness is each component's own: neither a fractional ghost level nor a component that does not fit 24 bits may
// loosen samples and components that have nothing to do with it.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "convolve/arithmetic.hpp"
#include "convolve/backend.hpp"

namespace {

using namespace convolve;

Filter ones_over(int width, std::int64_t divisor) {
  TapArray taps{1, 1, width, {}};
  taps.taps.assign(width, Tap::fraction(1, divisor));
  return Filter(taps);
}

PlanDesc row_of(int width, int components) {
  PlanDesc desc;
  desc.layout.planes = 1;
  desc.layout.plane[0].components = components;
  for (int c = 0; c < components; ++c)
    desc.layout.plane[0].component[c] = {.offset = c, .step = components, .width = width, .height = 1};
  return desc;
}

std::vector<std::uint8_t> filtered(const PlanDesc& desc, std::vector<std::uint8_t> in) {
  const auto stride = static_cast<std::ptrdiff_t>(in.size());
  std::vector<std::uint8_t> out(in.size());
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const std::unique_ptr<Plan> plan = backend->make_plan(desc);
  Image from, to;
  from.plane[0] = {in.data(), stride};
  to.plane[0] = {out.data(), stride};
  Window window;
  window.depth = 1;
  window.image[0] = &from;
  EXPECT_EQ(plan->enqueue(window, to, nullptr), nullptr);
  return out;
}

TEST(Exactness, HoldsInsideOfAFrameWithAFractionalGhostLevel) {
  PlanDesc desc = row_of(6, 1);
  desc.filter = ones_over(6, 6);
  desc.border = Border::constant;
  desc.layout.plane[0].component[0].ghost = 127.5;
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::direct, Algorithm::separable}) {
    desc.algorithm = algorithm;
    // Sample 3 sees all six: 675 / 6 = 112.5, a tie, which goes to the even 112.
    EXPECT_EQ(filtered(desc, {1, 178, 116, 129, 239, 12})[3], 112) << nick(algorithm);
  }
}

// What plans that sum all components alike, as CUDA's do, compute with.
TEST(Exactness, OfAWholeFrameDoesNotHangOnItsGhostLevels) {
  PlanDesc desc = row_of(6, 1);
  desc.filter = ones_over(6, 6);
  desc.layout.plane[0].component[0].ghost = 127.5;
  EXPECT_EQ(choose_arithmetic(desc.filter, desc.layout, true).accumulator, Accumulator::exact);
  // 2^17 of magnitude: single precision could not hold the sums of ghosts, doubles hold those of integers exactly.
  desc.filter = Filter(TapArray{1, 1, 2, {Tap::fraction(-32769, 2), Tap::fraction(32765, 2)}});
  const Arithmetic wide = choose_arithmetic(desc.filter, desc.layout, true);
  EXPECT_TRUE(wide.exact_taps);
}

TEST(Exactness, OfChromaBesideAnAlphaThatDoesNotFit) {
  // Taps of magnitude 2^17: samples around 128 give sums below 2^24, those up to 255 do not.
  PlanDesc desc = row_of(4, 2);
  TapArray taps{1, 1, 2, {Tap::fraction(-65537, 2), Tap::fraction(65533, 2)}};
  desc.filter = Filter(taps);
  desc.layout.plane[0].component[0].zero = 128;
  const std::array<const Component*, 2> both{&desc.layout.plane[0].component[0], &desc.layout.plane[0].component[1]};
  EXPECT_TRUE(choose_arithmetic(desc.filter, desc.layout, false).exact_taps);
  EXPECT_TRUE(choose_arithmetic(desc.filter, desc.layout, false, both).exact_taps);
  EXPECT_EQ(choose_arithmetic(desc.filter, desc.layout, false, both).accumulator, Accumulator::double_);
  EXPECT_EQ(choose_arithmetic(desc.filter, desc.layout, false, std::span(both).first(1)).accumulator,
            Accumulator::exact);
  EXPECT_FALSE(choose_arithmetic(desc.filter, desc.layout, false, std::span(both).last(1)).exact_taps);
  // 127 * (65533 - 65537) / 2 = -254 from the zero level; one step more in the right sample and all is clamped.
  const std::vector<std::uint8_t> out = filtered(desc, {255, 0, 129, 0, 129, 0, 127, 9});
  EXPECT_EQ(out[2 * 2], 126) << "(129 - 128) * (65533 - 65537) / 2 = -2";
  EXPECT_EQ(out[2 * 1], 0);
}

}  // namespace
