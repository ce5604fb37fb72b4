// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// word_sums: 3x3, 5x5 and 7x7 filters of components that have the same levels, in multiply-adds of bytes whose sums
// stay in 16 bits, and are divided there.
#pragma once

#include "cpu/engine/integer_taps.hpp"

namespace convolve::cpu {

/// Whether it serves taps of 8 bits on this target, AVX2 without dot-product instructions: most of those that are not
/// large, over whole numbers that are not small. `engine` is then complete, but for its staging.
bool make_dot_word_sums(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                        const IntegerTaps& taps);

}  // namespace convolve::cpu
