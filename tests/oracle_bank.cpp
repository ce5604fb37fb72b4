// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oracle_bank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace oracle {
namespace {

using Real = long double;

// Divisors of kernels are below 2^24 each: their common multiple stays far from the end of 64 bits.
constexpr std::int64_t max_divisor = std::int64_t{1} << 36;

// The sum of one kernel at one sample, times `divisor`.
Real sum_at(const Kernel& kernel, std::int64_t divisor, const Plane& in, Edge edge, const Levels& levels, int x,
            int y) {
  Real sum = 0;
  std::size_t tap = 0;
  for (int j = 0; j < kernel.height; ++j)
    for (int i = 0; i < kernel.width; ++i, ++tap) {
      const Real weight = kernel.divisor == 0 ? static_cast<Real>(kernel.taps[tap]) * divisor
                                              : static_cast<Real>(kernel.integers[tap]) * divisor / kernel.divisor;
      if (weight == 0) continue;
      const std::int64_t row = fold(edge, y + j - kernel.centre_y, in.height);
      const std::int64_t column = fold(edge, x + i - kernel.centre_x, in.width);
      const bool ghost = row < 0 || column < 0;
      const Real value = ghost ? levels.ghost : in.samples[row * in.width + column];
      sum += weight * (value - static_cast<Real>(levels.zero));
    }
  return sum;
}

Real combined(Combination combination, const std::vector<Real>& sums) {
  Real result = 0;
  switch (combination) {
    case Combination::magnitude:
      for (const Real sum : sums) result += sum * sum;
      return std::sqrt(result);
    case Combination::sum_abs:
      for (const Real sum : sums) result += std::abs(sum);
      return result;
    case Combination::max_abs:
      for (const Real sum : sums) result = std::max(result, std::abs(sum));
      return result;
    case Combination::max:
      return *std::max_element(sums.begin(), sums.end());
  }
  return result;
}

}  // namespace

Plane filter_bank(const std::vector<Kernel>& bank, Combination combination, const Plane& in, Edge edge,
                  const Levels& levels) {
  std::int64_t divisor = 1;
  for (const Kernel& kernel : bank)
    if (kernel.divisor > 0 && divisor < max_divisor) divisor = std::lcm(divisor, kernel.divisor);
  if (divisor >= max_divisor) divisor = 1;  // not exact: each weight is then divided by itself
  Plane out{in.width, in.height, {}};
  std::vector<Real> sums(bank.size());
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      for (std::size_t k = 0; k < bank.size(); ++k) sums[k] = sum_at(bank[k], divisor, in, edge, levels, x, y);
      Real result = combined(combination, sums) / divisor + static_cast<Real>(levels.zero + levels.offset);
      if (levels.bits > 0) result = std::clamp(std::nearbyint(result), Real{0}, std::ldexp(Real{1}, levels.bits) - 1);
      out.samples.push_back(static_cast<double>(result));
    }
  return out;
}

}  // namespace oracle
