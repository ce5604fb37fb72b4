// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/fused_product.hpp"

#include <algorithm>
#include <cmath>

#include "convolve/is_whole.hpp"

namespace convolve::cuda {
namespace {

/// The least distance from a tie of quotients of whole sums, with `offset` added, that are no ties themselves.
double distance_from_tie(double divisor, double offset = 0) {
  const bool has_ties = std::fmod(divisor, 2) == 0 || !is_whole(offset);
  return (has_ties ? 1 : 0.5) / divisor;
}

}  // namespace

std::optional<float> fused_product_bias(const Arithmetic& arithmetic, const FrameLayout& layout,
                                        const Component& component) {
  const double offset = component.zero + component.bias, divisor = arithmetic.divisor, max = layout.max_value();
  if (layout.type == SampleType::f32 || arithmetic.accumulator != Accumulator::exact || divisor < 2 ||
      std::abs(offset) > max || !is_whole(2 * offset))
    return {};
  int exponent = 0;
  if (std::frexp(divisor, &exponent) == 0.5) {  // values in range are multiples of 1 / divisor
    if (divisor * (max + 1) <= 0x1p24) return 0.f;
    return {};
  }
  const double gain_error = std::abs(static_cast<double>(static_cast<float>(1 / divisor)) * divisor - 1);
  const double error = gain_error * std::max(std::abs(offset), std::abs(max - offset));
  const double half_grid = std::ldexp(1.0, layout.bits - 24);
  if (half_grid > error && distance_from_tie(divisor, offset) > half_grid + error) return static_cast<float>(max + 1);
  return {};
}

bool two_products_divide(const Arithmetic& arithmetic, const FrameLayout& layout, const Component& component) {
  const double divisor = arithmetic.divisor;
  if (layout.type == SampleType::f32 || arithmetic.accumulator != Accumulator::exact || divisor < 2 ||
      component.zero + component.bias != 0)
    return false;
  const double half_grid = std::ldexp(1.0, layout.bits - 25);  // of quotients in range
  return distance_from_tie(divisor) > half_grid * (1 + 0x1p-16);
}

bool two_products_divide_before_offset(const Arithmetic& arithmetic, const FrameLayout& layout,
                                       const Component& component) {
  const double offset = component.zero + component.bias, divisor = arithmetic.divisor, max = layout.max_value();
  if (arithmetic.accumulator != Accumulator::exact || divisor < 8 || !is_whole(divisor) || std::fmod(offset, 2) != 0 ||
      std::abs(offset) > max)
    return false;
  int exponent = 0;
  std::frexp(std::max(offset, max - offset) + 0.5, &exponent);
  const double rounding = std::ldexp(1 + 0x1p-10, exponent - 25);  // half a unit of quotients that are in range
  return distance_from_tie(divisor) > rounding;
}

bool two_products_divide_with_offset(const Arithmetic& arithmetic, const Component& c, double centre) {
  const double divisor = arithmetic.divisor, offset = (c.zero + c.bias) * divisor;
  const bool far_from_ties = divisor < 0x1p16 || std::exp2(std::ilogb(divisor)) == divisor;
  return far_from_ties && is_whole(offset) && 256 * (divisor + std::abs(centre)) <= 0x1p24 && std::abs(offset) < 0x1p24;
}

}  // namespace convolve::cuda
