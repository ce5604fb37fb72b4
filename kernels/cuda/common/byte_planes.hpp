// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the plans of `matrix` and of `separable` on the tensor cores share: their 8-bit planes as the kernels see them,
// and when a quotient is one product. Host code only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "convolve/plane.hpp"

namespace convolve::cuda {

constexpr std::int32_t float_bits = 0x4B000000;  ///< of 2^23: float_bits + n reads as the float 2^23 + n

inline int max_components_of(const FrameLayout& layout) {
  int most = 1;
  for (int p = 0; p < layout.planes; ++p) most = std::max(most, layout.plane[p].components);
  return most;
}

/// Visits (component, plane, number) of what is filtered, for as long as visit() is true; true where it always was.
template <class Visit>
bool all_filtered(const FrameLayout& layout, Visit&& visit) {
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c)
      if (layout.plane[p].component[c].filtered && !visit(layout.plane[p].component[c], p, c)) return false;
  return true;
}

inline bool fits(const std::vector<double>& taps, double low, double high) {
  return std::all_of(taps.begin(), taps.end(), [&](double t) { return t >= low && t <= high; });
}

/// True where sum * gain, rounded once, rounds to the sample that sum / divisor does: ties, of even divisors, have to
/// stay ties, and nothing else may become one.
inline bool one_product_divides(double divisor, float gain) {
  const double off = std::abs(static_cast<double>(gain) * divisor - 1);
  return divisor <= 16384 && (off < 0x1p-25 || std::fmod(divisor, 2) == 1);
}

/// A plane's components as they lie in a word of four bytes.
struct PlaneMasks {
  std::uint32_t ghost = 0,
                passthrough = 0;  ///< Levels of ghost cells as whole code values; bytes of components that are copied.
  std::uint8_t passthrough_components = 0;  ///< The same as a bit mask of components.
};
inline PlaneMasks plane_masks(const PlaneLayout& layout) {
  PlaneMasks masks;
  for (int b = 0; b < 4; ++b) {
    const int c = b % layout.components;
    const Component& component = layout.component[c];
    if (!component.filtered)
      masks.passthrough_components |= static_cast<std::uint8_t>(1u << c), masks.passthrough |= 0xFFu << 8 * b;
    masks.ghost |= static_cast<unsigned>(std::nearbyint(std::clamp(component.ghost, 0.0, 255.0))) << 8 * b;
  }
  return masks;
}

}  // namespace convolve::cuda
