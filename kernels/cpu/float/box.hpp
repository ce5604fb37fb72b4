// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Box filters: all taps are equal, so that the cost of a sample does not grow with the size of the box.
//
// Along the row, a sum of n samples is put together from sums of 4, 16, 64 neighbours. Down the columns, a running sum
// takes a row in and the row that leaves the box out. All sums are of whole numbers and exact in the element type,
// which is what allows sums to run: no rounding is carried on.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// `column` and `row`: the factors of the filter, or of its part in space where frames are combined while they are
/// staged. Returns false, and leaves the engine unusable, where taps differ or elements would not be whole numbers.
bool make_float_box(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                    const std::vector<double>& column, const std::vector<double>& row);

}  // namespace convolve::cpu
