// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "regions/area_merger.hpp"

#include <algorithm>

#include "regions/pixel_rects.hpp"

namespace convolve {
void AreaMerger::mark(const PixelRect& area, int columns) {
  for (int y = area.top / tile; y * tile < area.bottom; ++y)
    for (int x = area.left / tile; x * tile < area.right; ++x) {
      PixelRect& bounds = tiles_[static_cast<std::size_t>(y) * columns + x];
      bounds = bounds_of(bounds, {std::max(area.left, x * tile), std::max(area.top, y * tile),
                                  std::min(area.right, (x + 1) * tile), std::min(area.bottom, (y + 1) * tile)});
    }
}

std::span<const PixelRect> AreaMerger::merge(std::span<const PixelRect> areas, int width, int height) {
  const int columns = (width + tile - 1) / tile, rows = (height + tile - 1) / tile;
  tiles_.assign(static_cast<std::size_t>(columns) * rows, {});
  merged_.clear();
  above_.clear();
  for (const PixelRect& area : areas) {
    const auto up = [](int value) { return (value + step - 1) / step * step; };
    const PixelRect on_frame{std::max(area.left, 0) / step * step, std::max(area.top, 0) / step * step,
                             std::min(up(std::min(area.right, width)), width),
                             std::min(up(std::min(area.bottom, height)), height)};
    if (!is_empty(on_frame)) mark(on_frame, columns);
  }
  for (int y = 0; y < rows; ++y) {
    row_.clear();
    auto before = above_.begin();
    for (int x = 0; x < columns; ++x) {
      const PixelRect* tiles = tiles_.data() + static_cast<std::size_t>(y) * columns;
      if (is_empty(tiles[x])) continue;
      PixelRect bounds;
      const int first = x;
      for (; x < columns && !is_empty(tiles[x]); ++x) bounds = bounds_of(bounds, tiles[x]);
      while (before != above_.end() && before->first < first) ++before;
      if (before != above_.end() && before->first == first && before->last == x) {
        merged_[before->index] = bounds_of(merged_[before->index], bounds);
        row_.push_back(*before);
      } else {
        row_.push_back({first, x, merged_.size()});
        merged_.push_back(bounds);
      }
    }
    std::swap(above_, row_);
  }
  return merged_;
}

}  // namespace convolve
