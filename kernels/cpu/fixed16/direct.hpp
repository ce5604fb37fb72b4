// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Filters of 8-bit samples, real taps, all at once in 16-bit fixed point, for every SIMD target with vectors.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// Returns false, and leaves the engine unusable, where the target has no vectors, where taps are exact, or where the
/// rounding of taps and products could move a result by more than 0.45 code values: of some 60 taps at the most.
bool make_fixed16_direct(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                         const ComponentGroup& group);

}  // namespace convolve::cpu
