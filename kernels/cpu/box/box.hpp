// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Box filters: all taps are equal, so that the cost of a sample does not grow with the size of the box.
//
//   along a row    sum(x) = sum(x - 1) + sample that enters - sample that leaves, many at once (running_sum-inl.hpp)
//   down columns   sum(y) = sum(y - 1) + row sum that enters - row sum that leaves
//
// All sums are integers, of 16 bits along the rows where they fit, else of 32: no rounding is carried on, and what
// overflows on the way comes out right where the result fits.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// `column` and `row`: the factors of the filter, or of its part in space where frames are combined while they are
/// staged. Returns false, and leaves the engine unusable, for floats, where taps differ or are 0, where frames are
/// combined with taps that are not exact, where a zero or ghost level is no whole number or, of one frame, a ghost
/// level no sample, and where sums would not fit 32 bits or be rounded by too much.
bool make_box(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
              const std::vector<double>& column, const std::vector<double>& row);

}  // namespace convolve::cpu
