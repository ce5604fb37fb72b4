// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// wgmma_long.cu's kernels for samples of 16 bits, of one and two components: the input of four, a byte each by itself,
// has no room in shared memory beside the taps.
#include "cuda/matrix/hopper/kernel.cuh"
#include "cuda/matrix/hopper/wgmma_long.hpp"

namespace convolve::cuda::wgmma {

WgmmaKernel u16_long_windows_kernel(WgmmaShape shape, int bytes) {
  return kernel_among<long_windows>(shape, [&]<WgmmaShape s>() { return u16_kernel<s>(bytes); });
}

}  // namespace convolve::cuda::wgmma
