// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/region.hpp"

#include <algorithm>
#include <cmath>

#include "convolve/backend.hpp"

namespace convolve {
namespace {

// Far beyond any frame, and small enough for products of two in 128 bits.
constexpr double farthest = 0x1p40;

double draw_in(double number) {
  return std::clamp(number, -farthest, farthest);
}

std::int64_t whole_pixels(double edge) {
  return static_cast<std::int64_t>(std::nearbyint(draw_in(edge)));
}

}  // namespace

Region make_region(double x, double y, double width, double height, double grow, RegionShape shape) {
  Region region;
  region.shape = shape;
  // Comparisons with NaN are false.
  if (!(width > 0 && height > 0) || std::isnan(x) || std::isnan(y)) return region;
  x = draw_in(x);
  y = draw_in(y);
  width = draw_in(width);
  height = draw_in(height);
  region.left = whole_pixels(x - grow * width);
  region.right = whole_pixels(x + width + grow * width);
  region.top = whole_pixels(y - grow * height);
  region.bottom = whole_pixels(y + height + grow * height);
  return region;
}

std::unique_ptr<RegionPlan> Backend::make_region_plan(const RegionDesc&) {
  throw PlanError(std::string("regions are not treated by the ") + name() + " backend; the cpu backend treats them");
}

}  // namespace convolve
