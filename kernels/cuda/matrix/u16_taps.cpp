// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// U16Taps (taps.hpp): how they are chosen.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "convolve/arithmetic.hpp"
#include "convolve/is_whole.hpp"
#include "cuda/matrix/limbs.hpp"
#include "cuda/matrix/taps.hpp"

namespace convolve::cuda {
namespace {

// How far samples are moved up, and the levels of the low byte then.
int u16_shift(const FrameLayout& layout) {
  return 16 - layout.bits;
}
int largest_low_byte(const FrameLayout& layout) {
  const int shift = u16_shift(layout);
  return shift < 8 ? 256 - (1 << shift) : 0;
}

// The least and the greatest sum of samples that are moved up: taps above 0 meet the largest, or those below do. What
// leaves 32 bits on the way comes back.
bool u16_sums_fit(const std::vector<double>& taps, double start) {
  double above = 0, below = 0;
  for (const double t : taps) (t > 0 ? above : below) += t;
  return above * 65535 + start < 2147483647.0 && below * 65535 + start > -2147483648.0;
}

// Taps that are integers, as they are.
bool integer_u16_taps(const PlanDesc& desc, const ExactTaps& exact, int max_limbs, U16Taps& taps) {
  const std::vector<double> values(exact.taps.begin(), exact.taps.end());
  taps.down = true;
  taps.limbs = 1;
  taps.lowest = 0;
  while (taps.limbs < max_limbs && !in_limbs(values, taps.limbs)) ++taps.limbs;
  taps.fixed = exact.taps;
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return in_limbs(values, taps.limbs) && all_filtered(desc.layout, [&](const Component& k, int p, int c) {
           const double start = -std::ldexp(k.zero, u16_shift(desc.layout)) * sum;
           taps.start[p][c] = static_cast<std::int32_t>(std::clamp(start, -0x1p31, 0x1p31 - 1));
           return is_whole(start) && std::abs(start) < 0x1p31 && u16_sums_fit(values, start);
         });
}

// Taps as multiples of 1 / units. Returns how far off a sample can be, in code values.
double round_u16_taps(const PlanDesc& desc, const std::vector<double>& values, double units, U16Taps& taps) {
  const int up = u16_shift(desc.layout), max = desc.layout.max_value();
  const int last = taps.down ? taps.lowest : taps.limbs;
  // One unit of a sum of this weight, in code values.
  const auto unit = [&](int weight) { return std::ldexp(1 / units, 8 * weight - up); };
  const RoundedTaps rounded = round_taps(values, units);
  taps.fixed = rounded.fixed;
  taps.scale = static_cast<float>(unit(last));
  double low_sum = 0, low_magnitude = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    low_sum += taps.limb(0, i);
    low_magnitude += std::abs(taps.limb(0, i));
  }
  // The taps' own error, and what rounding the sum and the scale as floats, their product and the value takes.
  double error = max * rounded.off + max * 0x1p-22;
  for (int weight = taps.lowest + 1; weight <= last; ++weight) error += 0.5 * unit(weight);
  // Low bytes by low limbs, as if all were in the middle of their range.
  const double middle = taps.lowest > 0 ? largest_low_byte(desc.layout) / 2.0 : 0;
  error += middle * low_magnitude * unit(0);
  double start_error = 0;
  all_filtered(desc.layout, [&](const Component& k, int p, int c) {
    const double start = (middle * low_sum * unit(0) - k.zero * rounded.sum / units) / unit(last);
    taps.start[p][c] = static_cast<std::int32_t>(std::llround(start));
    start_error = std::max(start_error, std::abs(taps.start[p][c] - start) * unit(last));
    return true;
  });
  error += start_error;
  return error;
}

// Chooses the units for the limbs and products that `taps` asks for: a power of two where that is exact enough, else
// the finest units tried up to twice that for which the roundings together stay within max_error.
bool choose_u16_units(const PlanDesc& desc, const TapRange& range, double magnitude, U16Taps& taps) {
  const std::vector<double>& values = desc.filter.taps();
  // Levels are no larger than sums can be.
  const auto fit = [&](double units) {
    return rounded_in_limbs(range, units, taps.limbs) &&
           (!taps.down || 2 * magnitude * units * std::ldexp(65535, -8 * taps.lowest) < 2147483647.0);
  };
  double power = 0x1p30;
  while (power > 1 && !fit(power)) power /= 2;
  if (!fit(power)) return false;
  const double error = round_u16_taps(desc, values, power, taps);
  if (error <= U16Taps::max_error) return true;
  constexpr double hopeless = 3;  // units up to twice as fine, and some luck, do not make up for more
  if (error > hopeless * U16Taps::max_error) return false;
  const int tries = std::clamp(32768 / static_cast<int>(values.size()), 128, 1024);
  for (int n = tries - 1; n > 0; --n) {
    const double units = power + power / tries * n;
    if (fit(units) && round_u16_taps(desc, values, units, taps) <= U16Taps::max_error) return true;
  }
  return false;
}

bool real_u16_taps(const PlanDesc& desc, int max_limbs, U16Taps& taps) {
  const double magnitude = magnitude_of(desc.filter.taps());
  const TapRange range(desc.filter.taps());
  for (taps.limbs = 2; taps.limbs <= max_limbs; ++taps.limbs)
    for (taps.lowest = 1; taps.lowest >= 0; --taps.lowest)
      for (const bool down : {false, true}) {
        taps.down = down;
        if (choose_u16_units(desc, range, magnitude, taps)) return true;
      }
  return false;
}

}  // namespace

std::int32_t U16Taps::limb(int d, std::size_t tap) const {
  return limb_of(fixed[tap], d);
}

std::vector<std::int8_t> U16Taps::limbs_from_highest(int d) const {
  return limbs_of(fixed, limbs - 1 - d);
}

Arithmetic u16_arithmetic(const PlanDesc& desc) {
  Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border));
  if (arithmetic.accumulator == Accumulator::double_) arithmetic.accumulator = Accumulator::single;
  return arithmetic;
}

bool make_u16_taps(const PlanDesc& desc, int max_limbs, U16Taps& taps, std::string& why) {
  taps = {};
  const Arithmetic arithmetic = u16_arithmetic(desc);
  if (arithmetic.exact_taps && arithmetic.accumulator != Accumulator::exact) {
    why = "components that are exact beside others whose sums need double precision";
    return false;
  }
  const bool exact = arithmetic.accumulator == Accumulator::exact;
  const auto& integers = desc.filter.exact();
  if (integers && integer_u16_taps(desc, *integers, max_limbs, taps)) {
    // Else a float is near enough to the sum.
    const double divisor = exact ? 1 : static_cast<double>(integers->divisor);
    taps.scale = static_cast<float>(std::ldexp(1 / divisor, -u16_shift(desc.layout)));
    return true;
  }
  if (exact)
    why = "integer taps or sums beyond 32 bits";
  else if (real_u16_taps(desc, max_limbs, taps))
    return true;
  else
    why = too_coarse(max_limbs, U16Taps::max_error);
  return false;
}

}  // namespace convolve::cuda
