// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// loaded_windows: 3x3, 5x5, 7x7 and 9x9 filters of one component by dot products of bytes in long vectors, whose
// windows are loaded from where they lie in the row, without a shuffle.
#pragma once

#include <cstdint>

#include "cpu/dot/loaded_taps.hpp"
#include "cpu/engine/integer_taps.hpp"

namespace convolve::cpu {

namespace dot {

/// How sums become code values: they are ones, but for clamping; or a product with the gain is rounded to an integer,
/// or to fewer bits first, so that exact ties stay ties.
enum class Rounding : std::uint8_t { saturation, once, twice };

}  // namespace dot

/// Whether it serves these taps on this target, AVX-512 with dot-product instructions; those of two bytes are
/// max_two_byte_tap at the most. `engine` is then complete, but for its staging.
bool make_dot_loaded_windows(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                             const ComponentGroup& group, const IntegerTaps& taps, dot::LoadedForm form);

}  // namespace convolve::cpu
