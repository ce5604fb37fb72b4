// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/bank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

#include "convolve/is_whole.hpp"

namespace convolve {
namespace {

constexpr std::int64_t exact_limit = std::int64_t{1} << 24;
constexpr double exact_sums = 1 << 24;

// A single-precision result that is off by less than this, in code values, is within one of the right sample.
constexpr double largest_error = 0.95;

void check_kernel(const TapArray& kernel, const std::string& name) {
  if (kernel.depth > 1)
    throw std::invalid_argument(name + " has " + std::to_string(kernel.depth) +
                                " frames; a bank's kernels, and those of combine, are of one frame");
  for (const auto& [count, axis] : {std::pair{kernel.height, "rows"}, std::pair{kernel.width, "columns"}})
    if (count < 1 || count > max_bank_taps)
      throw std::invalid_argument(name + " has " + std::to_string(count) + " " + axis +
                                  "; a bank's kernels, and those of combine, have 1 to " +
                                  std::to_string(max_bank_taps));
}

// The kernel within a larger one, its tap n/2 on the larger one's.
TapArray padded(const TapArray& kernel, int height, int width) {
  TapArray array{1, height, width, {}};
  array.taps.assign(static_cast<std::size_t>(height) * width, Tap::integer(0));
  const int top = height / 2 - kernel.height / 2, left = width / 2 - kernel.width / 2;
  for (int y = 0; y < kernel.height; ++y)
    for (int x = 0; x < kernel.width; ++x)
      array.at(0, top + y, left + x) = kernel.taps[static_cast<std::size_t>(y) * kernel.width + x];
  return array;
}

struct CommonTaps {
  std::vector<double> taps;  ///< whole numbers, [kernel][row][column]
  double divisor = 1;
  double largest = 0;  ///< the most that an input of 1 makes of a sum that has to be exact
};

// All kernels over one divisor; nothing where one of them is not exact, or where the numbers grow too large.
std::optional<CommonTaps> common_taps(const Bank& bank) {
  std::int64_t divisor = 1;
  for (const Filter& kernel : bank.kernels()) {
    if (!kernel.exact()) return std::nullopt;
    divisor = std::lcm(divisor, kernel.exact()->divisor);
    if (divisor > exact_limit) return std::nullopt;
  }
  CommonTaps common;
  common.divisor = static_cast<double>(divisor);
  for (const Filter& kernel : bank.kernels()) {
    const std::int64_t factor = divisor / kernel.exact()->divisor;  // leaves no remainder
    double magnitude = 0;
    for (const std::int32_t tap : kernel.exact()->taps) {
      common.taps.push_back(tap * static_cast<double>(factor));
      magnitude += std::abs(common.taps.back());
    }
    common.largest =
        bank.combine() == Combine::sum_abs ? common.largest + magnitude : std::max(common.largest, magnitude);
  }
  return common;
}

double most_offset(std::span<const Component* const> components) {
  double most = 0;
  for (const Component* component : components)
    if (component->filtered) most = std::max(most, std::abs(component->zero + component->bias));
  return most;
}

// Whether single precision rounds the magnitude of exact sums as exact arithmetic would. The square root of the whole
// number n is compared with h + 1/2 times the divisor, whose square is a multiple of 1/4 (of 1/16 beside offsets of
// quarters): where they differ, so do their squares by that much at least. n has to be exact itself, below 2^24; roots
// and sums round by 2^-24 of their value each.
bool rounds_magnitude(const CommonTaps& common, const FrameLayout& layout,
                      std::span<const Component* const> components) {
  if (common.divisor != 1 && common.divisor != 2) return false;  // products with 1/divisor have to be exact
  const double offset = most_offset(components);
  const bool quarters = std::all_of(components.begin(), components.end(), [](const Component* c) {
    return !c->filtered || is_whole(4 * (c->zero + c->bias));
  });
  if (offset > layout.max_value() || !quarters) return false;
  const double most = common.divisor * (layout.max_value() + offset + 1);
  return most * most < exact_sums && 1.0 / 16 / (2 * most) > 2 * most * 0x1p-24;
}

Arithmetic in_doubles(Arithmetic arithmetic) {
  arithmetic.accumulator = Accumulator::double_;
  return arithmetic;
}

}  // namespace

Bank::Bank(std::span<const TapArray> kernels, Combine combine, const FilterOptions& options) : combine_(combine) {
  if (kernels.empty() || kernels.size() > max_bank)
    throw std::invalid_argument("the bank has " + std::to_string(kernels.size()) + " kernels; a bank has 1 to " +
                                std::to_string(max_bank));
  if (combine == Combine::none) {
    std::string ways;
    for (const CombineRow& row : combinations)
      if (row.value != Combine::none) ways += (ways.empty() ? "" : ", ") + std::string(row.nick);
    throw std::invalid_argument("combine is none, but the bank has " + std::to_string(kernels.size()) +
                                " kernels; set combine to one of: " + ways);
  }
  int height = 1, width = 1;
  const auto name_of = [&](std::size_t i) {
    return kernels.size() == 1 ? std::string("the kernel") : "kernel " + std::to_string(i + 1) + " of the bank";
  };
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    check_kernel(kernels[i], name_of(i));
    height = std::max(height, kernels[i].height);
    width = std::max(width, kernels[i].width);
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) try {
      // The flip and the sum of taps are those of the kernel alone: zeros around it change neither.
      kernels_.emplace_back(padded(kernels[i], height, width), options);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(name_of(i) + ": " + error.what());
    }
}

std::string Bank::describe() const {
  return "bank of " + std::to_string(kernels_.size()) + " (" + kernels_.front().shape() + "), " + nick(combine_);
}

Arithmetic choose_arithmetic(const Bank& bank, const FrameLayout& layout, bool constant_border,
                             std::span<const Component* const> components) {
  const double input = largest_input(layout, constant_border, components), offset = most_offset(components);
  Arithmetic real;
  double rounding = 0;
  for (const Filter& kernel : bank.kernels()) {
    real.coefficients.insert(real.coefficients.end(), kernel.taps().begin(), kernel.taps().end());
    rounding += roundings(kernel) * input;
  }
  if (layout.type == SampleType::f32) return real;
  // Combining rounds each kernel's part once, and the root and the offset once each, of what the range can hold.
  rounding += (static_cast<double>(bank.kernels().size()) + 3) * 2 * (layout.max_value() + offset);
  const bool in_single = rounding * std::numeric_limits<float>::epsilon() / 2 < largest_error;

  const std::optional<CommonTaps> common = common_taps(bank);
  if (!common) return in_single ? real : in_doubles(real);
  Arithmetic exact;
  exact.coefficients = common->taps;
  exact.divisor = common->divisor;
  exact.exact_taps = true;
  const bool whole_ghosts = !constant_border || std::all_of(components.begin(), components.end(), [](const auto* c) {
    return !c->filtered || is_whole(c->ghost);
  });
  const bool fits = common->largest * input < exact_sums && whole_ghosts;
  if (!fits || (bank.combine() == Combine::magnitude && !rounds_magnitude(*common, layout, components)))
    return in_doubles(exact);
  exact.accumulator = Accumulator::exact;
  return exact;
}

}  // namespace convolve
