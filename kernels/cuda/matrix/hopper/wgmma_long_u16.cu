// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// wgmma_long.cu's kernels for samples of 16 bits, of one and two components: the input of four, a byte each by itself,
// has no room in shared memory beside the taps.
#include <iterator>
#include <utility>

#include "cuda/matrix/hopper/kernel.cuh"
#include "cuda/matrix/hopper/wgmma_long.hpp"

namespace convolve::cuda::group {
namespace {

/// `number`: of the shape.
template <std::size_t... number>
WgmmaKernel kernel_for(WgmmaShape shape, int bytes, std::index_sequence<number...>) {
  WgmmaKernel kernel = nullptr;
  ((long_windows[number] == shape ? void(kernel = u16_kernel<long_windows[number]>(bytes)) : void()), ...);
  return kernel;
}

}  // namespace

WgmmaKernel u16_long_windows_kernel(WgmmaShape shape, int bytes) {
  return kernel_for(shape, bytes, std::make_index_sequence<std::size(long_windows)>{});
}

}  // namespace convolve::cuda::group
