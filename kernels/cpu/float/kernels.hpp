// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernels in floating point, of every SIMD target: single precision where Arithmetic allows it.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

struct KernelFunctions {
  decltype(Kernel::run) (*kernel)(SampleType type, bool wide, int height, int width);
  decltype(Kernel::run) (*centred)(SampleType type, bool wide, int height);
  decltype(Kernel::run) (*samples)(SampleType type, int shift, int side);  ///< null: no such case
};

/// The functions of the SIMD target that runs.
KernelFunctions float_kernels();

/// Fills in what every engine with this kernel has: ring elements, coefficients [depth][height][width], quantization.
void make_float_kernel(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                       const std::vector<double>& coefficients, int depth, int height, int width);

/// An f32 kernel over samples as they are, read in place, with its staging. False where there is none for the case.
bool make_sample_kernel(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                        const ComponentGroup& group);

}  // namespace convolve::cpu
