// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of wgmma.cu for packed 4:2:2 of 8 bits, whose tiles are 128 pairs of pixels: the luma of such a tile is
// two components, each of them as wide as the chroma.
#include "cuda/matrix/hopper/kernel.cuh"
#include "cuda/matrix/hopper/wgmma_422.hpp"

namespace convolve::cuda::wgmma {
namespace {

constexpr WgmmaShape low{7, 8}, middle{11, 8}, high{15, 8};

template <WgmmaShape shape>
WgmmaKernel kernel_for(int luma) {
  return luma == 0 ? wgmma_kernel<PairSample<0>, shape.height, shape.margin, 4>
                   : wgmma_kernel<PairSample<1>, shape.height, shape.margin, 4>;
}

}  // namespace

WgmmaShape packed_422_shape(WgmmaShape shape) {
  return shape.height <= low.height ? low : shape.height <= middle.height ? middle : high;
}

WgmmaKernel packed_422_wgmma_kernel(WgmmaShape shape, int luma) {
  return shape == low ? kernel_for<low>(luma) : shape == middle ? kernel_for<middle>(luma) : kernel_for<high>(luma);
}

}  // namespace convolve::cuda::wgmma
