// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernels in single precision for 8-bit samples.
#include "cuda/separable/single_table.cuh"

namespace convolve::cuda {

const SingleKernels single_u8_one = single_kernels<std::uint8_t, PlaneMix::one>;
const SingleKernels single_u8_one_and_two = single_kernels<std::uint8_t, PlaneMix::one_and_two>;
const SingleKernels single_u8_four = single_kernels<std::uint8_t, PlaneMix::four>;
const SingleKernels single_u8_three = single_kernels<std::uint8_t, PlaneMix::three>;

}  // namespace convolve::cuda
