// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Separable filters, and sums of a few of them, in floating point.
#pragma once

#include <vector>

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// What a sum consists of, for describe().
enum class FloatSum : std::uint8_t { one_term, low_rank, with_centre, each_frame };

/// A filter whose frames are the sums of these terms, as many for each: `frames` has those of each frame, or one list
/// where frames are combined while they are staged. Rows and columns that start or end with zeros cost what lies
/// between. `centre`: one more tap beside the only term of one frame, which the kernel takes as it makes the output.
Engine make_float_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                            const std::vector<std::vector<SpaceFactors>>& frames, FloatSum sum = FloatSum::one_term,
                            double centre = 0);

}  // namespace convolve::cpu
