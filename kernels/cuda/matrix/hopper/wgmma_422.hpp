// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of wgmma.cu for packed 4:2:2 of 8 bits. Their own file: it is compiled beside the other.
#pragma once

#include "cuda/matrix/hopper/input.cuh"

namespace convolve::cuda::wgmma {

/// The shape of those that there are for this filter's, of no more than 15 taps an axis.
WgmmaShape packed_422_shape(WgmmaShape shape);
/// Its kernel; `luma`: the byte of a pair's first.
WgmmaKernel packed_422_wgmma_kernel(WgmmaShape shape, int luma);

}  // namespace convolve::cuda::wgmma
