// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers of the row stream in half precision, and where they hold. Host code only.
#include "cuda/register/half_stream.hpp"

#include <cmath>

#include "convolve/is_whole.hpp"
#include "cuda/common/half.hpp"

namespace convolve::cuda {
namespace {

constexpr double middle = 128, whole_halves = 1024;

bool is_byte(double value) {
  return value >= 0 && value <= 255 && is_whole(value);
}

}  // namespace

bool make_half_taps(const PlanDesc& desc, const Arithmetic& arithmetic, HalfTaps& taps) {
  constexpr int width = half_stream_width, radius = width / 2;
  const FrameLayout& layout = desc.layout;
  const Filter& filter = desc.filter;
  if (layout.type != SampleType::u8 || layout.bits != 8 || layout.planes != 1 || plane_mix(layout) != PlaneMix::three ||
      !is_filtered_alike(layout.plane[0]))
    return false;
  if (filter.depth() > 1 || filter.reach_x() > radius || filter.reach_y() > radius) return false;
  if (arithmetic.exact_taps || arithmetic.accumulator != Accumulator::single) return false;
  const Component& component = layout.plane[0].component[0];
  if (has_ghost_cells(desc.border) && !is_byte(component.ghost)) return false;

  const std::vector<double> wanted = spatial_coefficients(filter, arithmetic);
  double sum = 0;
  for (const double tap : wanted) sum += tap;
  const double level = (middle - component.zero) * sum + component.zero + component.bias;
  const double whole = std::nearbyint(level), begin = level - whole;
  taps = {};
  double magnitude = std::abs(begin), error = half_rounding(begin);
  const int left = radius - filter.centre_x(), top = radius - filter.centre_y();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const int x = static_cast<int>(i) % filter.width() + left, y = static_cast<int>(i) / filter.width() + top;
    taps.tap[y * width + x] = half_twice(wanted[i]);
    const double tap = nearest_half(wanted[i]);
    magnitude += middle * std::abs(tap);
    error += middle * std::abs(tap - wanted[i]) + half_rounding(magnitude + error);
  }
  // The sum plus the level is to be above 0, and its halves are whole numbers up to 2048.
  if (!(magnitude + error + std::abs(whole) < whole_halves)) return false;
  taps.begin = half_twice(begin);
  taps.level = half_twice(whole_halves + whole);
  taps.ghost = static_cast<std::uint32_t>(is_byte(component.ghost) ? component.ghost : 0) * 0x01010101u;
  return error < max_sample_error;
}

}  // namespace convolve::cuda
