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
#include "regions/cell_grid.hpp"
#include "regions/weights.hpp"

namespace convolve::cpu {

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

/// Makes pixels first <= x < last of row `y` from the means of cells: `components` values a pixel.
using RowOfMeans = void(const CellGrid& grid, const CellMeans& means, const Sampling& sampling, int y, int first,
                        int last, std::uint16_t* values) noexcept;
RowOfMeans pixelate_row, blur_row;

}  // namespace convolve::cpu
