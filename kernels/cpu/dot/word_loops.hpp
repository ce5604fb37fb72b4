// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// word_loops: 9x9 to 15x15 filters of one component in multiply-adds of bytes whose sums stay in 16 bits, as
// dot/word_sums.cpp has them for small ones.
#pragma once

#include "cpu/engine/integer_taps.hpp"

namespace convolve::cpu {

/// As make_dot_word_sums(), for 9x9, 11x11, 13x13 and 15x15.
bool make_dot_word_loops(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                         const ComponentGroup& group, const IntegerTaps& taps);

}  // namespace convolve::cpu
