// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix on compute capability 9.0, filters of 16 to 31 taps on the longer axis: as in wgmma.cu, but that a window of
// 48 pixels holds what the 16 outputs in its middle can reach. A product takes 32 pixels of a window. Two rows
// therefore take three products: the first 32 pixels of one, those of the other, and the last 16 of both, which lie as
// far from each other as the rows.
#include <iterator>
#include <utility>

#include "cuda/matrix/hopper/kernel.cuh"
#include "cuda/matrix/hopper/wgmma_long.hpp"

namespace convolve::cuda::group {
namespace {

/// `number`: of the shape.
template <std::size_t... number>
WgmmaKernel kernel_for(WgmmaShape shape, int components, std::index_sequence<number...>) {
  WgmmaKernel kernel = nullptr;
  ((long_windows[number] == shape ? void(kernel = u8_kernel<long_windows[number]>(components)) : void()), ...);
  return kernel;
}

}  // namespace

WgmmaKernel long_windows_kernel(WgmmaShape shape, int components) {
  return kernel_for(shape, components, std::make_index_sequence<std::size(long_windows)>{});
}

}  // namespace convolve::cuda::group
