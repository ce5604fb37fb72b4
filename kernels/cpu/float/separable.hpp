// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Separable filters, and sums of a few of them, in floating point.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// A filter that is the sum of `terms`: at least one, at most max_terms.
Engine make_float_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                            const std::vector<SpaceFactors>& terms);

}  // namespace convolve::cpu
