// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// real: staging, row passes and kernels in floating point, of every SIMD target. f32 where Arithmetic allows it.
#pragma once

#include "cpu/engine.hpp"

namespace convolve::cpu {

/// Indexed by SampleType and by "double precision"; null: no such case.
struct RealFunctions {
  decltype(Staging::run) stage[3][2];
  decltype(RowPass::run) row_pass[2];
  decltype(Kernel::run) kernel[3][2];
};

/// Those of the SIMD target in force.
RealFunctions real_functions();

}  // namespace convolve::cpu
