// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What separable's stream of rows over several frames computes with, and whether half precision holds it. Host code
// only.
//
//   T = start + sum over the frames of time * byte * 2^-24     halves, each addition rounded
//   V = sum over the rows of column * T                        halves, each addition rounded
//   H = from + sum over the samples of a row of row * V        floats; rounded, the sample
//
// The start takes 128, the middle of a byte, off each frame, so that T is small. A rounding moves a half by less, in
// proportion, the nearer the half is to the power of two above it: T and V are scaled to lie just below one.
#pragma once

#include <vector>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"

namespace convolve::cuda::frame_rows {

struct RowsTaps {
  std::vector<double> time, column;  ///< halves
  std::vector<double> row;           ///< floats
  std::vector<double> weights;       ///< the factors over time as they were asked for
  double space = 0;                  ///< the sum of the taps over one frame, of weight 1
  double column_sum = 0, row_sum = 0;

  /// What T starts at, a half. `missing`: the frames of ghost cells, a bit each, which are not read.
  double start_of(unsigned missing) const;
  /// What H starts at, of a component.
  double from_of(const Component& component, unsigned missing) const;
  /// T and V of ghost cells of that level.
  double combined_ghost_of(double level, unsigned missing) const;
  double ghost_of(double level, unsigned missing) const;
};

/// The taps of a filter tap(t, y, x) = time[t] * column[y] * row[x] of real numbers. False where a result could be off
/// by a code value, and where the case is another.
bool make_rows_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const std::vector<double>& time,
                    const SpaceFactors& space, RowsTaps& taps);

}  // namespace convolve::cuda::frame_rows
