// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// real: staging, row passes and kernels in floating point, of every SIMD target. f32 where Arithmetic allows it.
#pragma once

#include "cpu/engine.hpp"

namespace convolve::cpu {

/// What makes ring rows, of the SIMD target in force. Indexed by SampleType and by "double precision"; null: no such
/// case.
struct RowFunctions {
  decltype(Staging::run) stage[3][2];
  decltype(Staging::run) copy[3];  ///< samples as they are
  decltype(RowPass::run) pass[2];
};
RowFunctions row_functions();

struct KernelFunctions {
  decltype(Kernel::run) (*kernel)(SampleType type, bool wide, int height, int width);
  decltype(Kernel::run) (*samples)(SampleType type, int shift, int side);  ///< null: no such case
};

/// Fills in what every engine with this kernel has: ring elements, coefficients [depth][height][width], quantization.
void make_real_kernel(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
                      const std::vector<double>& coefficients, int depth, int height, int width);

/// An f32 kernel over samples as they are, read in place, with its staging. False where there is none for the case.
bool make_sample_kernel(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group);

/// Staging for rings of samples as they are: 8 and 16 bits.
Staging make_copy_staging(const PlanDesc& desc, const Group& group);

/// Staging to ring elements; several frames at once where the filter factors over time, see combines_frames().
void make_real_staging(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group);

/// Frames are combined while they are staged where the filter factors into time x space.
bool combines_frames(const Filter& filter);

/// What they are summed with, integers where the arithmetic is exact; empty where they are not combined.
std::vector<double> frame_weights(const Filter& filter, const Arithmetic& arithmetic);

}  // namespace convolve::cpu
