// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/matrix/u16_byte_taps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "convolve/is_whole.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/matrix/limbs.hpp"

namespace convolve::cuda {
namespace {

constexpr int max_limbs = 3;

bool exact_byte_taps(const PlanDesc& desc, const Arithmetic& arithmetic, MatrixTaps& taps, std::string& why) {
  const std::vector<double>& values = arithmetic.coefficients;
  while (taps.limbs < max_limbs && !in_limbs(values, taps.limbs)) ++taps.limbs;
  if (!in_limbs(values, taps.limbs)) {
    why = "integer taps that need more than 24 bits";
    return false;
  }
  taps.epilogue = Epilogue::quotient;
  taps.fixed.assign(values.begin(), values.end());
  taps.gain = static_cast<float>(std::ldexp(1.0, -desc.layout.shift));
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const bool fit = all_filtered(desc.layout, [&](const Component& k, int p, int c) {
    // Exact sums are of 24 bits and stand 8 bits higher at the most; what they start from may take one more bit.
    const double start = -std::ldexp(k.zero, desc.layout.shift) * sum;
    if (!is_whole(start) || std::abs(start) >= 0x1p31) return false;
    taps.start[p][c] = static_cast<std::int32_t>(start);
    return true;
  });
  if (!fit) why = "integer taps with levels that are no whole numbers of 32 bits";
  return fit;
}

/// Makes taps that are multiples of 1 / units, in taps.limbs limbs. Returns what a sample may then be off by, or
/// infinity where the taps or their sums do not fit.
double round_byte_taps(const PlanDesc& desc, const std::vector<double>& values, double units, MatrixTaps& taps) {
  if (!rounded_in_limbs(TapRange(values), units, taps.limbs)) return std::numeric_limits<double>::infinity();
  const RoundedTaps rounded = round_taps(values, units);
  // No partial sum of either sign may leave 32 bits, nor those of the higher limbs alone.
  if ((rounded.magnitude + std::abs(rounded.sum)) / 2 * 255 >= 0x1p31 - 0x1p24)
    return std::numeric_limits<double>::infinity();
  taps.fixed = rounded.fixed;
  taps.gain = static_cast<float>(std::ldexp(1 / units, -desc.layout.shift));
  all_filtered(desc.layout, [&](const Component& k, int p, int c) {
    taps.level[p][c] = static_cast<float>(-k.zero * rounded.sum / units);
    return true;
  });
  // The tap errors at their worst; and both sums as floats, two multiply-adds, the gain and the level, each to 2^-24.
  const double max = desc.layout.max_value();
  return max * rounded.off + max * (rounded.magnitude / units + 1) * 0x1p-22;
}

bool real_byte_taps(const PlanDesc& desc, const Arithmetic& arithmetic, MatrixTaps& taps, std::string& why) {
  const std::vector<double>& values = arithmetic.coefficients;
  taps.epilogue = Epilogue::scaled;
  for (taps.limbs = 2; taps.limbs <= max_limbs; ++taps.limbs) {
    const auto error_of = [&](double power) { return round_byte_taps(desc, values, std::exp2(power), taps); };
    int shift = 30;
    while (shift > 0 && std::isinf(error_of(shift))) --shift;
    if (error_of(shift) <= max_byte_taps_error) return true;
    // Where the finest power of two is not enough, the finest scale that there is room for may be.
    constexpr int steps = 16;  // from one power to the next
    for (int step = steps - 1; step > 0; --step)
      if (error_of(shift + step / static_cast<double>(steps)) <= max_byte_taps_error) return true;
  }
  why = "real taps that " + std::to_string(max_limbs) +
        " 8-bit limbs and sums of 32 bits do not hold to within a code value";
  return false;
}

}  // namespace

PlaneMasks u16_byte_masks(const FrameLayout& layout, const PlaneLayout& plane, int first) {
  PlaneMasks masks;
  for (int b = 0; b < 4; ++b) {
    const int c = (first + b) / 2 % plane.components;
    const Component& component = plane.component[c];
    const double ghost = std::clamp(component.ghost, 0.0, 1.0 * layout.max_value());
    const unsigned word = static_cast<unsigned>(ghost) << layout.shift;
    masks.ghost |= (word >> 8 * (b % 2) & 255) << 8 * b;
    if (!component.filtered) masks.passthrough |= 0xFFu << 8 * b;
  }
  for (int c = 0; c < plane.components; ++c)
    if (!plane.component[c].filtered) masks.passthrough_components |= static_cast<std::uint8_t>(3u << 2 * c);
  return masks;
}

bool make_u16_byte_taps(const PlanDesc& desc, MatrixTaps& taps, std::string& why) {
  taps = {};
  const Arithmetic arithmetic = u16_arithmetic(desc);
  const bool exact = arithmetic.accumulator == Accumulator::exact;
  if (arithmetic.exact_taps && !exact) {
    why = "components that are exact beside others whose sums need double precision";
    return false;
  }
  if (!has_sample_planes(desc.layout, arithmetic, why)) return false;
  for (int p = 0; p < desc.layout.planes; ++p) {
    const SamplePlane plane = make_sample_plane(desc.layout, desc.layout.plane[p], arithmetic);
    for (int c = 0; c < plane.components; ++c) taps.base[p][c] = plane.offset[c];
  }
  return exact ? exact_byte_taps(desc, arithmetic, taps, why) : real_byte_taps(desc, arithmetic, taps, why);
}

}  // namespace convolve::cuda
