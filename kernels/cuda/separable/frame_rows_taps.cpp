// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/separable/frame_rows_taps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/half.hpp"
#include "cuda/separable/byte_factors.hpp"

namespace convolve::cuda::frame_rows {
namespace {

constexpr double sample = 0x1p-24;  ///< of a byte that is read as a half
constexpr double middle = 128;      ///< of a byte

/// The factor that brings a magnitude just below 2^exponent; the room that it leaves is for the magnitude's error.
double scale_below(double magnitude, int exponent) {
  return std::ldexp(1 - 0x1p-8, exponent) / magnitude;
}

/// A sum as the kernel makes it: how large it may become, and how far it may be off.
struct Bound {
  double magnitude = 0, error = 0;
  void round() { error += half_rounding(magnitude + error); }
};

/// The frames' sum, in units of `scale`. It starts at -128 times what comes, so that it never passes its magnitude.
Bound combine(const std::vector<double>& time, double scale, std::vector<double>& halves) {
  Bound sum{middle * magnitude_of(time) * scale, 0};
  sum.round();  // the start
  for (const double t : time) {
    const double wanted = t * scale / sample;
    halves.push_back(nearest_half(wanted));
    sum.error += middle * sample * std::abs(halves.back() - wanted);
    sum.round();
  }
  return sum;
}

/// The sum of rows of those, the first row first.
Bound filter(const std::vector<double>& column, double scale, const Bound& row, std::vector<double>& halves) {
  Bound sum;
  for (const double c : column) {
    const double wanted = c * scale;
    halves.push_back(nearest_half(wanted));
    sum.magnitude += std::abs(wanted) * row.magnitude;
    sum.error += std::abs(halves.back()) * row.error + std::abs(halves.back() - wanted) * row.magnitude;
    sum.round();
  }
  return sum;
}

}  // namespace

bool make_rows_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const std::vector<double>& time,
                    const SpaceFactors& space, RowsTaps& taps) {
  if (!is_of_bytes(desc, arithmetic, space) || magnitude_of(time) == 0) return false;
  if (arithmetic.exact_taps || arithmetic.accumulator != Accumulator::single) return false;
  taps = {};
  const double combined_scale = scale_below(middle * magnitude_of(time), -3);  // taps over time then stay below 2^16
  const Bound combined = combine(time, combined_scale, taps.time);
  const double column_scale = scale_below(combined.magnitude * magnitude_of(space.column), 0);
  const Bound columns = filter(space.column, column_scale, combined, taps.column);
  double row_magnitude = 0;
  for (const double r : space.row) {
    taps.row.push_back(r / (combined_scale * column_scale));
    row_magnitude += std::abs(taps.row.back());
  }
  taps.weights = time;
  taps.space = sum_of(space.column) * sum_of(space.row);
  taps.column_sum = sum_of(taps.column), taps.row_sum = sum_of(taps.row);
  return all_filtered(desc.layout, [&](const Component& component, int, int) {
    const double rounded = (columns.magnitude * row_magnitude + std::abs(taps.from_of(component, 0))) * 0x1p-20;
    return columns.error * row_magnitude + rounded < max_sample_error;
  });
}

double RowsTaps::start_of(unsigned missing) const {
  double sum = 0;
  for (std::size_t t = 0; t < time.size(); ++t)
    if (!(missing >> t & 1)) sum -= middle * time[t] * sample;
  return nearest_half(sum);
}

double RowsTaps::from_of(const Component& component, unsigned missing) const {
  double exact_start = 0, level = 0, ghosts = 0;
  for (std::size_t t = 0; t < time.size(); ++t) {
    const bool is_ghost = missing >> t & 1;
    if (!is_ghost) exact_start -= middle * time[t] * sample;
    level += (is_ghost ? 0 : middle) * weights[t] - component.zero * weights[t];
    ghosts += is_ghost ? component.ghost * weights[t] : 0;
  }
  return component.zero + component.bias + (level + ghosts) * space -
         (start_of(missing) - exact_start) * column_sum * row_sum;
}

double RowsTaps::combined_ghost_of(double level, unsigned missing) const {
  double sum = start_of(missing);
  for (std::size_t t = 0; t < time.size(); ++t)
    if (!(missing >> t & 1)) sum += time[t] * level * sample;
  return nearest_half(sum);
}

double RowsTaps::ghost_of(double level, unsigned missing) const {
  return nearest_half(combined_ghost_of(level, missing) * column_sum);
}

}  // namespace convolve::cuda::frame_rows
