// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix on compute capability 9.0, filters of 16 to 31 taps on the longer axis: as in wgmma.cu, but that a window of
// 48 pixels holds what the 16 outputs in its middle can reach. A product takes 32 pixels of a window. Two rows
// therefore take three products: the first 32 pixels of one, those of the other, and the last 16 of both, which lie as
// far from each other as the rows.
#include "cuda/matrix/hopper/kernel.cuh"
#include "cuda/matrix/hopper/wgmma_long.hpp"

namespace convolve::cuda::wgmma {

WgmmaKernel long_windows_kernel(WgmmaShape shape, int components) {
  return kernel_among<long_windows>(shape, [&]<WgmmaShape s>() { return u8_kernel<s>(components); });
}

}  // namespace convolve::cuda::wgmma
