// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Taps as sums of signed 8-bit limbs: which fit, and what rounding to them costs. Shared by the makers of taps of
// `matrix`. Host code only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convolve::cuda {

/// True where all of these whole numbers fit so many limbs.
bool in_limbs(const std::vector<double>& fixed, int limbs);
/// A limb of a whole number, counted from the lowest.
std::int32_t limb_of(std::int32_t fixed, int from_lowest);
std::vector<std::int8_t> limbs_of(const std::vector<std::int32_t>& fixed, int from_lowest);
/// The least and the greatest of some taps, of which there is at least one.
struct TapRange {
  double least, most;
  explicit TapRange(const std::vector<double>& taps);
};
/// True where taps of that range fit so many limbs once they are rounded to multiples of 1 / units, which may add one.
bool rounded_in_limbs(const TapRange& taps, double units, int limbs);

/// Taps as multiples of 1 / units, so rounded that the whole sum is right to half a unit.
struct RoundedTaps {
  std::vector<std::int32_t> fixed;
  double sum = 0, magnitude = 0;  ///< of those
  double off = 0;                 ///< the sum of what taps are above the true ones by, or below, whichever is more
};
RoundedTaps round_taps(const std::vector<double>& taps, double units);

/// Says that so many limbs do not keep samples within `max_error` code values.
std::string too_coarse(int limbs, double max_error);

}  // namespace convolve::cuda
