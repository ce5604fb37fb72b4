// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "regions/cell_grid.hpp"

#include <algorithm>

namespace convolve {
namespace {

int clamp_to(std::int64_t value, std::int64_t high) {
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, high));
}

}  // namespace

template <>
int CellAxis::first_from_centre(int cell, int step, int samples) const noexcept {
  // 2 * (i * step - begin) + 1 >= centre; divided by a power of two, up.
  const std::int64_t from = centre(cell) - 1 + 2 * begin_;
  return clamp_to((from + 2 * std::int64_t{step} - 1) >> (1 + log2(step)), samples);
}

}  // namespace convolve
