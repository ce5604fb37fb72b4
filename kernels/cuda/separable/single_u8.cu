// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernels in single precision for 8-bit samples.
#include "cuda/separable/single_table.cuh"

namespace convolve::cuda {

const SingleKernels single_u8_1 = single_kernels<std::uint8_t, 1>;
const SingleKernels single_u8_3 = single_kernels<std::uint8_t, 3>;
const SingleKernels single_u8_4 = single_kernels<std::uint8_t, 4>;
const SingleKernels single_u8_5 = single_kernels<std::uint8_t, 5>;

}  // namespace convolve::cuda
