// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which kernel of the GPU's row stream a bank takes, and the taps, gains and masks that it is given.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convolve/preset.hpp"
#include "cuda/bank/stream.hpp"

namespace {

using namespace convolve;
using cuda::BankPlanes;
using cuda::BankStreamCase;
using cuda::BankSum;
using cuda::BankTaps;

FrameLayout interleaved(SampleType type, int bits, int components, double bias = 0) {
  FrameLayout layout{.type = type, .bits = bits, .planes = 1};
  layout.plane[0].components = components;
  for (int c = 0; c < components; ++c)
    layout.plane[0].component[c] = {.offset = c, .step = components, .width = 64, .height = 8, .bias = bias};
  return layout;
}

FrameLayout packed_422(int luma, int width) {
  FrameLayout layout{.planes = 1};
  layout.plane[0].components = 3;
  layout.plane[0].component[0] = {.offset = luma, .step = 2, .width = width, .height = 8, .zero = 16, .ghost = 16};
  for (int c = 0; c < 2; ++c)
    layout.plane[0].component[1 + c] = {
        .offset = 1 - luma + 2 * c, .step = 4, .width = (width + 1) / 2, .height = 8, .zero = 128, .ghost = 128};
  return layout;
}

PlanDesc desc_of(const FrameLayout& layout, const Bank& bank) {
  PlanDesc desc;
  desc.layout = layout;
  desc.bank = bank;
  desc.filter = bank.kernels().front();
  return desc;
}

Bank preset_bank(Preset preset, double scale = 1) {
  const PresetKernels made = make_preset_kernels(preset, {});
  return {made.kernels, made.combine, FilterOptions{.scale = scale}};
}

TapArray square(int side, int tap) {
  TapArray array{1, side, side, {}};
  array.taps.assign(static_cast<std::size_t>(side) * side, Tap::integer(tap));
  return array;
}

BankStreamCase case_of(const FrameLayout& layout, const Bank& bank) {
  std::string why;
  const auto found = cuda::make_bank_stream_case(desc_of(layout, bank), why);
  EXPECT_TRUE(found) << why;
  return found.value_or(BankStreamCase{});
}

std::string refusal(const FrameLayout& layout, const Bank& bank) {
  std::string why;
  EXPECT_FALSE(cuda::make_bank_stream_case(desc_of(layout, bank), why));
  return why;
}

TEST(BankStream, TakesSobelAsGradientsWithAnExactRootOf16Bits) {
  const BankStreamCase found = case_of(interleaved(SampleType::u16, 16, 1), preset_bank(Preset::sobel));
  EXPECT_EQ(found.planes, BankPlanes::one);
  EXPECT_EQ(found.taps, BankTaps::gradients);
  EXPECT_EQ(found.sum, BankSum::exact_root);
  EXPECT_EQ(found.args.middle, 2);
  EXPECT_EQ(found.args.kernels, 2);
}

TEST(BankStream, TakesAnApproximateRootOf8BitsOfFloatsAndOfRealTaps) {
  EXPECT_EQ(case_of(interleaved(SampleType::u8, 8, 3), preset_bank(Preset::sobel)).sum, BankSum::root);
  EXPECT_EQ(case_of(interleaved(SampleType::f32, 8, 1), preset_bank(Preset::sobel)).sum, BankSum::root);
  const BankStreamCase scaled = case_of(interleaved(SampleType::u16, 16, 4), preset_bank(Preset::prewitt, 0.3));
  EXPECT_EQ(scaled.planes, BankPlanes::four);
  EXPECT_EQ(scaled.taps, BankTaps::gradients);
  EXPECT_EQ(scaled.sum, BankSum::root);
  EXPECT_EQ(scaled.args.middle, 1);
  EXPECT_FLOAT_EQ(scaled.args.numbers.gain, 0.3F);
}

TEST(BankStream, SumsScharrAndRobertsTapByTap) {
  const BankStreamCase scharr = case_of(interleaved(SampleType::u16, 12, 1), preset_bank(Preset::scharr));
  EXPECT_EQ(scharr.taps, BankTaps::any);
  const BankStreamCase roberts = case_of(interleaved(SampleType::u16, 12, 1), preset_bank(Preset::roberts));
  EXPECT_EQ(roberts.taps, BankTaps::any);
  // Kernels of 2x2 about their tap (1, 1) fill the upper left of a square.
  float below_or_right = 0, all = 0;
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 9; ++i) {
      const float tap = std::abs(roberts.args.taps[n * 9 + i]);
      all += tap;
      if (i / 3 == 2 || i % 3 == 2) below_or_right += tap;
    }
  EXPECT_EQ(all, 4);
  EXPECT_EQ(below_or_right, 0);
}

TEST(BankStream, TellsGradientsFromWhatOnlyLooksLikeThem) {
  const PresetKernels sobel = make_preset_kernels(Preset::sobel, {});
  const FrameLayout layout = interleaved(SampleType::u16, 10, 1);
  EXPECT_EQ(case_of(layout, Bank(std::vector{sobel.kernels[1], sobel.kernels[0]}, Combine::magnitude)).taps,
            BankTaps::gradients);
  EXPECT_EQ(case_of(layout, Bank(std::vector{sobel.kernels[0], sobel.kernels[0]}, Combine::magnitude)).taps,
            BankTaps::any);
  EXPECT_EQ(case_of(layout, Bank(sobel.kernels, Combine::sum_abs)).taps, BankTaps::any);
  const PresetKernels prewitt = make_preset_kernels(Preset::prewitt, {});
  EXPECT_EQ(case_of(layout, Bank(std::vector{sobel.kernels[0], prewitt.kernels[1]}, Combine::magnitude)).taps,
            BankTaps::any);
}

TEST(BankStream, TakesTheMagnitudeOfOneKernelForItsAbsoluteValue) {
  const BankStreamCase found =
      case_of(interleaved(SampleType::u16, 16, 1), Bank(std::vector{square(3, 1)}, Combine::magnitude));
  EXPECT_EQ(found.sum, BankSum::linear);
  EXPECT_EQ(found.args.combine, Combine::max_abs);
}

TEST(BankStream, RefusesWhatItWouldNotRoundRight) {
  const std::string rounding = "round right";
  const Bank sobel = preset_bank(Preset::sobel);
  // A half of a code value is added; magnitudes over a divisor; sums of 2^22 and more.
  EXPECT_NE(refusal(interleaved(SampleType::u16, 16, 1, 0.5), sobel).find(rounding), std::string::npos);
  EXPECT_NE(refusal(interleaved(SampleType::u8, 8, 3, 0.5), sobel).find(rounding), std::string::npos);
  EXPECT_NE(refusal(interleaved(SampleType::u16, 16, 1), preset_bank(Preset::sobel, 1.0 / 9)).find(rounding),
            std::string::npos);
  EXPECT_NE(refusal(interleaved(SampleType::u16, 16, 1), Bank(std::vector(2, square(3, 100)), Combine::magnitude))
                .find(rounding),
            std::string::npos);
}

TEST(BankStream, RefusesLargerKernelsAndUnevenComponents) {
  EXPECT_NE(
      refusal(interleaved(SampleType::u8, 8, 3), Bank(std::vector(2, square(5, 1)), Combine::max)).find("one row"),
      std::string::npos);
  EXPECT_NE(refusal(packed_422(0, 63), preset_bank(Preset::sobel)).find("uneven"), std::string::npos);
}

TEST(BankStream, SeesPacked422AsPairsInTheirOwnOrder) {
  FrameLayout layout = packed_422(1, 64);
  layout.plane[0].component[2].filtered = false;  // U0 Y0 V0 Y1: V is copied
  const BankStreamCase uyvy = case_of(layout, preset_bank(Preset::sobel));
  EXPECT_EQ(uyvy.planes, BankPlanes::chroma_first);
  EXPECT_EQ(uyvy.args.plane[0].width, 32);
  EXPECT_EQ(uyvy.args.luma_columns.length, 64);
  const std::vector<float> zero(uyvy.args.plane[0].zero, uyvy.args.plane[0].zero + 4);
  EXPECT_EQ(zero, (std::vector<float>{128, 16, 128, 16}));
  EXPECT_EQ(uyvy.args.plane[0].passthrough[0], 0x00FF0000U);
  EXPECT_EQ(case_of(packed_422(0, 64), preset_bank(Preset::sobel)).planes, BankPlanes::luma_first);
}

}  // namespace
