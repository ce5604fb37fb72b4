// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The means of a region's cells, and the rows that blur and pixelate make of them. Means are of the samples in the
// region, so a cell of an ellipse or of a mask may have none: it takes the mean of the nearest that has, the first of
// equally near ones.
#pragma once

#include <cstdint>
#include <vector>

#include "convolve/region.hpp"
#include "cpu/regions/samples.hpp"
#include "regions/cell_grid.hpp"
#include "regions/weights.hpp"

namespace convolve::cpu {

/// The means of one region's cells, in samples of one sampling: `components` to a cell.
struct CellMeans {
  static constexpr int max_columns = 65;  ///< cells along a side, and one that centres may need beyond

  int components = 1;
  bool exact = true;                   ///< there are means, else rounded ones
  std::vector<double> mean;            ///< [row][column][component], and room for one cell more
  std::vector<std::uint16_t> rounded;  ///< likewise: to nearest, ties to even
  std::vector<std::int64_t> count;     ///< [row][column]

  /// Allocates where it takes more than ever before.
  void resize(const CellGrid& grid, int components_of_pixel, bool exact_means);
  /// From the sums of a cell's samples.
  void set(int cell, std::int64_t samples, const std::int64_t* sums) noexcept;
  /// Gives cells without samples their neighbours' means.
  void fill_empty(const CellGrid& grid) noexcept;
};

/// Makes pixels first <= x < last of row `y` from the means of cells: `components` values a pixel.
void pixelate_row(const CellGrid& grid, const CellMeans& means, const Sampling& sampling, int y, int first, int last,
                  std::uint16_t* values) noexcept;

/// Two rows of cells, blurred along the row alone: what the rows of pixels between their centres are made of. Kept from
/// row to row, for as long as these are between the same two.
struct BlurredCells {
  std::vector<double> above, below;  ///< room for the samples of a row
  std::vector<BetweenCells> at;      ///< of its pixels
  const CellMeans* means = nullptr;  ///< that they are of; null: of none
  int upper = 0, first = 0, last = 0;
};
/// The same between the cells' centres.
void blur_row(const CellGrid& grid, const CellMeans& means, const Sampling& sampling, int y, int first, int last,
              BlurredCells& cells, std::uint16_t* values) noexcept;

}  // namespace convolve::cpu
