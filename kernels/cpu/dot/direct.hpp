// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Engines over 8-bit samples by dot-product instructions (AVX-512 VNNI, AVX-VNNI), four 8-bit taps or two 16-bit
// taps in one; or by the multiply-adds of AVX-512 and AVX2 that these grew from. Sums are exact. Each returns false,
// and leaves the engine unusable, where the SIMD target in force has neither or the case cannot be served.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// Any filter, with integer taps or real ones that 16 bits are enough for.
bool make_dot_direct(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group);

}  // namespace convolve::cpu
