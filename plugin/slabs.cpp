// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "slabs.hpp"

#include <algorithm>
#include <cstddef>

#include "plane_size.hpp"

namespace convolve {
namespace {

// On an H200's link the best of 2 to 24 slabs is 12 for RGBA at 4K (784 us; 2: 987, 24: 816; uncut: 1278) and 2 for
// NV12 at 1080p (140 us; 4: 145; uncut: 162).
constexpr std::size_t bytes_per_slab = 3 << 19;
constexpr int max_slabs = 12;

int subsampling(const FrameLayout& layout, int plane, int height) {
  return (height + rows(layout, plane) - 1) / rows(layout, plane);
}

int round_up(int n, int unit) {
  return (n + unit - 1) / unit * unit;
}

}  // namespace

int plane_row(const FrameLayout& layout, int plane, int height, int y) {
  return y == height ? rows(layout, plane) : y / subsampling(layout, plane, height);
}

PlaneRows plane_rows(const FrameLayout& layout, int height, int first, int last) {
  PlaneRows range;
  for (int p = 0; p < layout.planes; ++p) {
    range.first[p] = plane_row(layout, p, height, first);
    range.last[p] = plane_row(layout, p, height, last);
  }
  return range;
}

PlaneRows all_rows(const FrameLayout& layout) {
  PlaneRows range;
  for (int p = 0; p < layout.planes; ++p) range.last[p] = rows(layout, p);
  return range;
}

std::vector<Slab> cut_into_slabs(const FrameLayout& layout, int height, const Filter& filter, Border border) {
  std::size_t bytes = 0;
  int unit = 1;
  for (int p = 0; p < layout.planes; ++p) {
    bytes += static_cast<std::size_t>(row_bytes(layout, p)) * rows(layout, p);
    unit = std::max(unit, subsampling(layout, p, height));
  }
  // The filter's radius in rows of the frame, where the most subsampled plane has the fewest rows.
  const int radius = unit * std::max(filter.centre_y(), filter.height() - 1 - filter.centre_y());
  const int count = std::min<int>(static_cast<int>(bytes / bytes_per_slab), max_slabs);
  if (count < 2 || (is_periodic(border) && radius > 0)) return {};
  const int step = round_up((height + count - 1) / count, unit);
  if (step <= 2 * radius) return {};

  std::vector<Slab> slabs;
  for (int y = 0; y < height; y += step) {
    // A sliver at the end joins the slab before it.
    const int last = height - (y + step) < step / 2 ? height : y + step;
    slabs.push_back({y, last, std::max(0, y - radius), std::min(height, last + radius)});
    if (last == height) break;
  }
  return slabs;
}

Image from_row(const Image& frame, const FrameLayout& layout, int height, int y) {
  Image image = frame;
  for (int p = 0; p < layout.planes; ++p)
    image.plane[p].data =
        static_cast<std::byte*>(image.plane[p].data) + plane_row(layout, p, height, y) * image.plane[p].stride;
  return image;
}

}  // namespace convolve
