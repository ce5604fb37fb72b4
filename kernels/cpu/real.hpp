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
  decltype(Kernel::run) (*kernel)(SampleType type, bool wide, int height, int width);
};

/// Those of the SIMD target in force.
RealFunctions real_functions();

/// Fills in what every engine with this kernel has: ring elements, coefficients [depth][height][width], quantization.
void make_real_kernel(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
                      const std::vector<double>& coefficients, int depth, int height, int width);

/// Staging to ring elements; several frames at once where the filter factors over time, see combines_frames().
void make_real_staging(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group);

/// Frames are combined while they are staged where the filter factors into time x space.
bool combines_frames(const Filter& filter);

}  // namespace convolve::cpu
