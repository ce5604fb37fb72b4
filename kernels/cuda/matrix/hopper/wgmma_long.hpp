// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of wgmma_long.cu and wgmma_long_u16.cu.
#pragma once

#include "cuda/matrix/hopper/input.cuh"

namespace convolve::cuda::wgmma {

/// `shape`: one of `long_windows`; components: the most of a plane.
WgmmaKernel long_windows_kernel(WgmmaShape shape, int components);
/// The kernel for 16-bit samples. `bytes`: the most of a pixel, 2 or 4.
WgmmaKernel u16_long_windows_kernel(WgmmaShape shape, int bytes);

}  // namespace convolve::cuda::wgmma
