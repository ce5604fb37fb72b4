// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "regions/cell_grid.hpp"

#include <algorithm>

namespace convolve {
namespace {

int clamp_to(std::int64_t value, std::int64_t high) {
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, high));
}

// a / b of numbers that are not negative. Of 32 bits, as nearly all are, a division takes a fraction of the time.
std::int64_t divided(std::int64_t a, std::int64_t b) {
  if (((a | b) >> 32) == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}

}  // namespace

template <>
CellAxis::BasicCellAxis(std::int64_t begin, std::int64_t end, std::int64_t size, int frame)
    : begin_(begin), end_(end), size_(size) {
  const auto cell_of = [&](std::int64_t pixel) { return divided(std::clamp(pixel, begin, end - 1) - begin, size); };
  first_ = begin < 0 ? cell_of(0) : 0;
  last_ = cell_of(frame - 1);
}

template <>
int CellAxis::first_from_centre(int cell, int step, int samples) const noexcept {
  // 2 * (i * step - begin) + 1 >= centre; divided by a power of two, up.
  const std::int64_t from = centre(cell) - 1 + 2 * begin_;
  return clamp_to((from + 2 * std::int64_t{step} - 1) >> (1 + log2(step)), samples);
}

CellGrid::CellGrid(const Region& box, int cells, int frame_width, int frame_height) {
  const std::int64_t longer = std::max(box.right - box.left, box.bottom - box.top);
  const std::int64_t size = divided(longer + cells - 1, cells);
  x = CellAxis(box.left, box.right, size, frame_width);
  y = CellAxis(box.top, box.bottom, size, frame_height);
}

}  // namespace convolve
