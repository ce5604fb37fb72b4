// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/half.hpp"

#include <algorithm>
#include <cmath>

namespace convolve::cuda {

std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), -14);
  if (exponent > 15) return sign | 0x7C00;
  // 1024 to 2048 of the last place; fewer of subnormal halves.
  const int places = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + places));
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? INFINITY
                                            : std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

double nearest_half(double value) {
  return half_value(half_bits(value));
}

std::uint32_t half_twice(double value) {
  return half_bits(value) * 0x10001u;
}

double half_rounding(double magnitude) {
  return magnitude == 0 ? 0 : std::ldexp(1.0, std::max(std::ilogb(magnitude) - 11, -25));
}

}  // namespace convolve::cuda
