// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The magnitude of a gradient of bytes in 16-bit integers, on x86 with AVX2 or more: twice the samples a vector that
// f32 has. Sums are exact, their squares are added up by multiply-adds of pairs, and the root is f32's:
//
//   rows of words ──along rows, down columns──> x, y ──interleaved──> x*x + y*y ──> f32, root, rounding ──> bytes
//
// Every figure is that of the f32 form to the bit: a square is at most 2^24, which f32 holds exactly, and the sum of
// two is rounded to f32 once in either form.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// Two 3x3 kernels that factor, as the gradients do: the first has no tap in the middle of its row factor, the second
/// none in the middle of its column factor.
struct GradientTaps {
  double first_row[3], first_column[3], second_row[3], second_column[3];
};

/// Makes `engine`, a bank's in f32, one in 16-bit integers where the group's components are alike and sums are small;
/// else leaves it as it is.
void use_gradient16(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                    const GradientTaps& taps);

}  // namespace convolve::cpu
