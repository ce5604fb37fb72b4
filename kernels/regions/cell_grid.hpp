// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Cells: the grid over a region whose means are all that blur and pixelate let through.
//
// Cells are squares of ceil(longer side / cells) pixels, counted from the region's top left, wherever that is; those at
// the right and at the bottom may be cut short. Only the cells that meet the frame are kept. A subsampled sample
// stands where its first pixel does.
#pragma once

#include <algorithm>
#include <cstdint>

#include "convolve/host_device.hpp"
#include "convolve/region.hpp"

namespace convolve {

/// One axis of a grid. Kernels hold copies of it.
class CellAxis {
 public:
  CellAxis() = default;
  /// `begin`, `end`: the region's, in pixels; `frame`: pixels of the frame on this axis.
  CellAxis(std::int64_t begin, std::int64_t end, std::int64_t size, int frame);

  /// How many cells meet the frame.
  CONVOLVE_HD int count() const { return static_cast<int>(last_ - first_) + 1; }
  /// The cell of a pixel of the frame, or the nearest to it.
  CONVOLVE_HD int cell(int pixel) const noexcept {
    const std::int64_t at = std::clamp<std::int64_t>(pixel, begin_, end_ - 1) - begin_;
    // A division of 32 bits is several times faster where there is none in hardware, as on GPUs.
    const bool small = at < std::int64_t{1} << 31 && size_ < std::int64_t{1} << 31;
    const std::int64_t cell = small ? static_cast<std::uint32_t>(at) / static_cast<std::uint32_t>(size_) : at / size_;
    return static_cast<int>(std::clamp(cell, first_, last_) - first_);
  }
  /// The first of `samples` samples, `step` pixels each, in this cell or a later one; `cell` up to count().
  int first_sample(int cell, int step, int samples) const noexcept;
  /// The centre of a cell, and the middle of a pixel, in half pixels from the region's begin.
  CONVOLVE_HD std::int64_t centre(int cell) const noexcept {
    const std::int64_t at = first_ + cell;
    return at * size_ + std::min((at + 1) * size_, end_ - begin_);
  }
  CONVOLVE_HD std::int64_t middle(int pixel) const noexcept { return 2 * (pixel - begin_) + 1; }
  std::int64_t begin() const { return begin_; }  ///< of the region, in pixels
  std::int64_t size() const { return size_; }    ///< of a cell, in pixels
  std::int64_t first() const { return first_; }  ///< kept cell, counted from the region's begin
  /// The first sample whose middle is not before the centre of a cell.
  int first_from_centre(int cell, int step, int samples) const noexcept;

 private:
  std::int64_t begin_ = 0, end_ = 1, size_ = 1;
  std::int64_t first_ = 0, last_ = 0;
};

struct CellGrid {
  CellAxis x, y;

  CellGrid() = default;
  CellGrid(const Region& box, int cells, int frame_width, int frame_height);
};

}  // namespace convolve
