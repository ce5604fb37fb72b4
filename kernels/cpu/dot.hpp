// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// dot: kernels over rings of bytes by dot-product instructions (AVX-512 VNNI and VBMI): four 8-bit taps or two 16-bit
// taps in one instruction. Sums are exact.
#pragma once

#include "cpu/engine.hpp"
#include "cpu/integer_taps.hpp"

namespace convolve::cpu {

inline constexpr int dot_block_rows = 4;

/// Fills in engine.kernel's packed taps and function. The kernel's shape and quantization are set already. Only where
/// use_vnni(). `taps` of at most 8 bits (signed), or of 16.
void make_dot_kernel(Kernel& kernel, const IntegerTaps& taps, const Group& group);

/// Engine::reads_past of that kernel, with so many groups of taps in a filter row.
int dot_reads_past(int groups, bool pairs, const Group& group);

/// An engine for a separable filter over 8-bit samples: both passes in dot products, 16 bits between them. False where
/// it cannot be exact, or within bounds.
bool make_dot_separable(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
                        const std::vector<double>& column, const std::vector<double>& row);

}  // namespace convolve::cpu
