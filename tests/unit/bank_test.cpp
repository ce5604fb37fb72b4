// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/bank.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "convolve/backend.hpp"

namespace {

using convolve::Accumulator;
using convolve::Arithmetic;
using convolve::Bank;
using convolve::Combine;
using convolve::Component;
using convolve::Filter;
using convolve::FilterOptions;
using convolve::FrameLayout;
using convolve::Tap;
using convolve::TapArray;

TapArray kernel(int height, int width, const std::vector<int>& taps, int divisor = 1) {
  TapArray array{1, height, width, {}};
  for (const int tap : taps) array.taps.push_back(Tap::fraction(tap, divisor));
  return array;
}

const TapArray diagonal = kernel(2, 2, {1, 0, 0, -1}), row = kernel(1, 3, {-1, 0, 1});

std::string refusal(const std::vector<TapArray>& kernels, Combine combine, const FilterOptions& options = {}) {
  try {
    Bank(kernels, combine, options);
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

FrameLayout gray(int bits) {
  FrameLayout layout;
  layout.type = bits > 8 ? convolve::SampleType::u16 : convolve::SampleType::u8;
  layout.bits = bits;
  layout.planes = 1;
  layout.plane[0].components = 1;
  layout.plane[0].component[0] = {.width = 8, .height = 8};
  return layout;
}

Accumulator chosen(const std::vector<TapArray>& kernels, Combine combine, int bits, double scale = 1) {
  const FrameLayout layout = gray(bits);
  const Component* component = &layout.plane[0].component[0];
  return choose_arithmetic(Bank(kernels, combine, {.scale = scale}), layout, false, {&component, 1}).accumulator;
}

TEST(Bank, KernelsOfUnlikeSizesLieAboutOneCentre) {
  const Bank bank(std::vector{diagonal, row}, Combine::max);
  ASSERT_EQ(bank.kernels().size(), 2u);
  EXPECT_EQ(bank.kernels()[0].taps(), (std::vector<double>{1, 0, 0, 0, -1, 0}));
  EXPECT_EQ(bank.kernels()[1].taps(), (std::vector<double>{0, 0, 0, -1, 0, 1}));
  for (const Filter& filter : bank.kernels()) {
    EXPECT_EQ(filter.shape(), "2x3");
    EXPECT_EQ(filter.centre_y(), 1);
    EXPECT_EQ(filter.centre_x(), 1);
  }
}

TEST(Bank, FlipsEachKernelAboutItsOwnCentre) {
  const Bank bank(std::vector{diagonal, row}, Combine::max, {.convolve = true});
  EXPECT_EQ(bank.kernels()[0].taps(), (std::vector<double>{0, -1, 0, 0, 0, 1}));
  EXPECT_EQ(bank.kernels()[0].centre_y(), 0);
  EXPECT_EQ(bank.kernels()[0].centre_x(), 1);
  EXPECT_EQ(bank.kernels()[1].taps(), (std::vector<double>{1, 0, -1, 0, 0, 0}));
}

TEST(Bank, NormalizesEachKernelByItsOwnSum) {
  const Bank bank(std::vector{kernel(1, 2, {1, 1}), kernel(1, 2, {1, 3})}, Combine::sum_abs, {.normalize = true});
  EXPECT_EQ(bank.kernels()[0].taps(), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(bank.kernels()[1].taps(), (std::vector<double>{0.25, 0.75}));
}

TEST(Bank, RefusalsNameTheKernelTheValueAndWhatIsAllowed) {
  EXPECT_EQ(refusal({}, Combine::max), "the bank has 0 kernels; a bank has 1 to 16");
  EXPECT_EQ(refusal(std::vector(17, row), Combine::max), "the bank has 17 kernels; a bank has 1 to 16");
  EXPECT_EQ(refusal({row, diagonal}, Combine::none),
            "combine is none, but the bank has 2 kernels; set combine to one of: magnitude, sum-abs, max-abs, max");
  const TapArray wide = kernel(1, 16, std::vector<int>(16, 1)), tall = kernel(16, 1, std::vector<int>(16, 1));
  EXPECT_EQ(refusal({row, wide}, Combine::max),
            "kernel 2 of the bank has 16 columns; a bank's kernels, and those of combine, have 1 to 15");
  EXPECT_EQ(refusal({tall}, Combine::max),
            "the kernel has 16 rows; a bank's kernels, and those of combine, have 1 to 15");
  const TapArray deep{2, 1, 1, {Tap::integer(1), Tap::integer(1)}};
  EXPECT_EQ(refusal({deep}, Combine::max),
            "the kernel has 2 frames; a bank's kernels, and those of combine, are of one frame");
  TapArray huge = row;
  huge.taps[0] = Tap::real(1e300);
  const std::string text = refusal({row, huge}, Combine::max, {.scale = 1e10});
  EXPECT_TRUE(text.starts_with("kernel 2 of the bank: ")) << text;
}

// A bank of fractions over unlike divisors is exact over the common one.
TEST(Bank, IsExactOverTheCommonDivisor) {
  const Bank bank(std::vector{kernel(1, 2, {1, -1}, 6), kernel(1, 2, {3, -1}, 4)}, Combine::sum_abs);
  const FrameLayout layout = gray(8);
  const Component* component = &layout.plane[0].component[0];
  const Arithmetic arithmetic = choose_arithmetic(bank, layout, false, {&component, 1});
  EXPECT_EQ(arithmetic.accumulator, Accumulator::exact);
  EXPECT_TRUE(arithmetic.exact_taps);
  EXPECT_EQ(arithmetic.divisor, 12);
  EXPECT_EQ(arithmetic.coefficients, (std::vector<double>{2, -2, 9, -3}));
}

TEST(Bank, TakesSinglePrecisionWhereItIsExactAndDoubleElsewhere) {
  const std::vector<TapArray> pair{kernel(1, 3, {-1, 0, 1}), kernel(3, 1, {-1, 0, 1})};
  for (const Combine combine : {Combine::magnitude, Combine::sum_abs, Combine::max_abs, Combine::max})
    EXPECT_EQ(chosen(pair, combine, 8), Accumulator::exact);
  // A root of sums of 16-bit samples has more digits than a float.
  EXPECT_EQ(chosen(pair, Combine::magnitude, 16), Accumulator::double_);
  EXPECT_EQ(chosen(pair, Combine::max, 16), Accumulator::exact);
  EXPECT_EQ(chosen(pair, Combine::magnitude, 8, 1.0 / 3), Accumulator::double_);
  // 2 * 128 * 65535 reaches 24 bits where both kernels are added up, and not where the larger counts.
  const std::vector<TapArray> strong{kernel(1, 2, {-64, 64}), kernel(2, 1, {-64, 65})};
  EXPECT_EQ(chosen(strong, Combine::sum_abs, 16), Accumulator::double_);
  EXPECT_EQ(chosen(strong, Combine::max_abs, 16), Accumulator::exact);
}

// Only `direct` knows banks: what does not, refuses them and names it.
TEST(Bank, IsRefusedByAlgorithmsThatKnowNone) {
  const auto cpu = convolve::make_cpu_backend(1);
  convolve::PlanDesc desc;
  desc.layout = gray(8);
  desc.bank = Bank(std::vector{row, row}, Combine::max);
  desc.filter = desc.bank.kernels().front();
  EXPECT_EQ(cpu->make_plan(desc)->algorithm(), convolve::Algorithm::direct);
  desc.algorithm = convolve::Algorithm::separable;
  EXPECT_FALSE(cpu->serves(desc.algorithm, desc));
  try {
    cpu->make_plan(desc);
    FAIL() << "a plan was made";
  } catch (const convolve::PlanError& error) {
    EXPECT_NE(std::string(error.what()).find("it can with: direct"), std::string::npos) << error.what();
  }
  desc.algorithm = convolve::Algorithm::automatic;
  desc.filter = Filter();
  EXPECT_THROW(cpu->make_plan(desc), convolve::PlanError);
}

}  // namespace
