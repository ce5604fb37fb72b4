// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernels in single precision for floats.
#include "cuda/separable/single_table.cuh"

namespace convolve::cuda {

const SingleKernels single_f32_one = single_kernels<float, PlaneMix::one>;

}  // namespace convolve::cuda
