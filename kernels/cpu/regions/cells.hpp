// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Cells: the grid over a region whose means are all that blur and pixelate let through.
//
// Cells are squares of ceil(longer side / cells) pixels, counted from the region's top left, wherever that is; those at
// the right and at the bottom may be cut short. Only the cells that meet the frame are kept. A subsampled sample
// stands where its first pixel does. Means are of the samples in the region, so a cell of an ellipse or of a mask may
// have none: it takes the mean of the nearest that has, the first of equally near ones.
#pragma once

#include <cstdint>
#include <vector>

#include "convolve/region.hpp"
#include "cpu/regions/weights.hpp"

namespace convolve::cpu {

/// One axis of a grid.
class CellAxis {
 public:
  CellAxis() = default;
  /// `begin`, `end`: the region's, in pixels; `frame`: pixels of the frame on this axis.
  CellAxis(std::int64_t begin, std::int64_t end, std::int64_t size, int frame);

  int count() const { return static_cast<int>(last_ - first_) + 1; }  ///< of cells that meet the frame
  /// The cell of a pixel of the frame, or the nearest to it.
  int cell(int pixel) const noexcept;
  /// The first of `samples` samples, `step` pixels each, in this cell or a later one; `cell` up to count().
  int first_sample(int cell, int step, int samples) const noexcept;
  /// The centre of a cell, and the middle of a pixel, in half pixels from the region's begin.
  std::int64_t centre(int cell) const noexcept;
  std::int64_t middle(int pixel) const noexcept { return 2 * (pixel - begin_) + 1; }
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

/// The means of one region's cells, in samples of one sampling: `components` to a cell.
struct CellMeans {
  static constexpr int max_columns = 65;  ///< cells along a side, and one that centres may need beyond

  int components = 1;
  std::vector<double> mean;            ///< [row][column][component]
  std::vector<std::uint16_t> rounded;  ///< likewise: to nearest, ties to even
  std::vector<std::int64_t> count;     ///< [row][column]

  /// Allocates where it takes more than ever before.
  void resize(const CellGrid& grid, int components_of_pixel);
  /// From the sums of a cell's samples.
  void set(int cell, std::int64_t samples, const std::int64_t* sums) noexcept;
  /// Gives cells without samples their neighbours' means.
  void fill_empty(const CellGrid& grid) noexcept;
};

/// What pixels first <= x < last of row `y` become: `components` values a pixel.
void pixelate_row(const CellGrid& grid, const CellMeans& means, const Sampling& sampling, int y, int first, int last,
                  std::uint16_t* values) noexcept;
void blur_row(const CellGrid& grid, const CellMeans& means, const Sampling& sampling, int y, int first, int last,
              std::uint16_t* values) noexcept;

}  // namespace convolve::cpu
