// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of wgmma_long.cu.
#pragma once

#include "cuda/matrix/hopper/input.cuh"

namespace convolve::cuda::group {

/// `shape`: one of `long_windows`; components: the most of a plane.
WgmmaKernel long_windows_kernel(WgmmaShape shape, int components);

}  // namespace convolve::cuda::group
