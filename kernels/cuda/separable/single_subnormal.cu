// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernels in single precision for 16-bit samples that are read as subnormal floats, planes of one
// component.
#include "cuda/separable/single_table.cuh"

namespace convolve::cuda {

const SingleKernels single_subnormal_one = single_kernels<SubnormalWord, PlaneMix::one>;

}  // namespace convolve::cuda
