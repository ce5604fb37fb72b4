// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/separable/byte_factors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cuda/common/byte_planes.hpp"

namespace convolve::cuda {

double sum_of(const std::vector<double>& taps) {
  return std::accumulate(taps.begin(), taps.end(), 0.0);
}

double ghost_rounding(const PlanDesc& desc, const SpaceFactors& factors) {
  double largest = 0;
  if (has_ghost_cells(desc.border))
    all_filtered(desc.layout, [&](const Component& c, int, int) {
      largest = std::max(largest, std::abs(std::nearbyint(c.ghost) - c.ghost));
      return true;
    });
  return largest * magnitude_of(factors.column) * magnitude_of(factors.row);
}

bool is_of_bytes(const PlanDesc& desc, const Arithmetic& arithmetic, const SpaceFactors& factors) {
  const FrameLayout& layout = desc.layout;
  if (layout.type != SampleType::u8 || layout.bits != 8 || layout.shift != 0) return false;
  if (arithmetic.accumulator == Accumulator::double_) return false;
  if (magnitude_of(factors.column) == 0 || magnitude_of(factors.row) == 0) return false;
  return !has_ghost_cells(desc.border) || all_filtered(layout, [](const Component& c, int, int) {
    return std::nearbyint(c.ghost) >= 0 && std::nearbyint(c.ghost) <= 255;
  });
}

}  // namespace convolve::cuda
