// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Separable filters of 8-bit samples in 16 bits from end to end, for every SIMD target with vectors.
//
// Integer taps without signs whose sums fit 16 bits are exact. Real taps are fixed-point fractions, and so is what each
// pass leaves: every product is rounded, and the sum of all that rounding is bounded when the engine is made. Neither
// has to widen a sum, and taps that mirror each other share a product.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// Frames of a filter that factors over time are combined while they are staged. `centre`: one more tap on the centre
/// of a filter of one frame, 0: none; real taps alone have it. Returns false, and leaves the engine
/// unusable, where the target has no vectors, an axis has more taps than kernels are compiled for (packing.hpp), or the
/// case cannot be served within 0.45 code values.
bool make_fixed16_separable(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                            const ComponentGroup& group, const std::vector<double>& column,
                            const std::vector<double>& row, double centre = 0);

}  // namespace convolve::cpu
