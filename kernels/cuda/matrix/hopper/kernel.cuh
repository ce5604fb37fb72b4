// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel of wgmma.cu, wgmma_422.cu and wgmma_long.cu: what a block's warpgroups do, and when. Two of them, the
// makers, multiply and make samples; the others, the loaders, bring input to shared memory. What a maker makes of a
// tile is in u8_tile.cuh and u16_tile.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include "cuda/common/launch.hpp"
#include "cuda/matrix/hopper/u16_tile.cuh"
#include "cuda/matrix/hopper/u8_tile.cuh"

namespace convolve::cuda::wgmma {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Calls what(std::integral_constant of the plane's bytes a pixel): the most of a plane, or half of them where there
/// are planes of one component beside others of two.
template <class Sample, int most, class What>
__device__ __forceinline__ void by_bytes(const Tile& tile, const What& what) {
  constexpr int pair = 2 * sizeof(Sample);
  if constexpr (most == pair)
    if (tile.plane->components != most) return what(std::integral_constant<int, pair / 2>{});
  what(std::integral_constant<int, most>{});
}

#endif

/// height, margin: of the shape, since kernels have no parameters of a class. `most`: the most bytes of a pixel; 3,
/// 8, and 4 of 8-bit samples, come alone.
template <class Sample, int height, int margin, int most>
__global__ void __launch_bounds__(block_threads({height, margin}, most), tuning({height, margin}, most).blocks_resident)
    wgmma_kernel(const __grid_constant__ WgmmaArgs args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(128) std::uint8_t memory[];
  constexpr WgmmaShape shape{height, margin};
  constexpr int loaders = tuning(shape, most).loaders, threads = block_threads(shape, most);
  constexpr int depth = tuning(shape, most).stages, stage_bytes = most * shape.input_bytes();
  std::uint8_t* taps = memory + depth * stage_bytes;
  Stage<depth> stage;
  // The block's first tiles are asked for, a warpgroup each, and the first is loaded by all: all wait for it.
  const Tile first(args, blockIdx.x);
  const unsigned second = blockIdx.x + gridDim.x;
  if (const unsigned number = blockIdx.x + threadIdx.y * gridDim.x; threadIdx.y < makers && number < args.tiles) {
    const Tile tile(args, number);
    by_bytes<Sample, most>(tile, [&](auto C) { Input<Sample, shape, C, 0, makers>::prefetch_tile(tile); });
  }
  const int id = static_cast<int>(threadIdx.y * 128 + threadIdx.x);
  for (int i = id; i < args.limbs * shape.taps_bytes() / 16; i += threads)
    ptx::copy_async<16>(ptx::address_in_shared(taps) + 16 * i, args.taps + i);
  pdl_wait();
  by_bytes<Sample, most>(first, [&](auto C) { Input<Sample, shape, C, 0, makers + loaders>::load(memory, first); });
  ptx::commit_copies();
  publish_to_products<0>();
  __syncthreads();
  if (threadIdx.y >= makers) {
    ptx::give_registers<tuning(shape, most).loader_registers>();
    unsigned loaded = 1, arriving = 0;  // barrier of the stage that is on its way
    stage.advance();
#pragma unroll 1
    for (unsigned number = second; number < args.tiles; number += gridDim.x, ++loaded, stage.advance()) {
      const Tile tile(args, number);
      by_bytes<Sample, most>(tile, [&](auto C) { Input<Sample, shape, C, makers, loaders>::prefetch(tile); });
      if (loaded >= depth) ptx::wait_at_block_barrier<threads>(stage.empty());
      std::uint8_t* to = memory + stage.now * stage_bytes;
      by_bytes<Sample, most>(tile, [&](auto C) {
        if (C > 1 && arriving) {
          publish_to_products<0>();
          ptx::arrive_at_block_barrier<threads>(arriving);
        }
        Input<Sample, shape, C, makers, loaders>::load(to, tile);
        ptx::commit_copies();
        if (C > 1 || arriving) {
          publish_to_products<C == 1 ? 1 : 0>();
          ptx::arrive_at_block_barrier<threads>(C == 1 ? arriving : stage.full());
        }
        arriving = C == 1 ? stage.full() : 0;
      });
    }
    if (arriving) {
      publish_to_products<0>();
      ptx::arrive_at_block_barrier<threads>(arriving);
    }
  } else {
    ptx::take_registers<tuning(shape, most).maker_registers>();
    if (threadIdx.y == 1) pass_turn();
    const MatrixDescriptor right = describe_matrix(ptx::address_in_shared(taps), 128, 256);
#pragma unroll 1
    for (unsigned number = blockIdx.x; number < args.tiles; number += gridDim.x, stage.advance()) {
      const Tile tile(args, number);
      const bool wanted = number + depth * gridDim.x < args.tiles;  // the stage, once more
      if (number != blockIdx.x) ptx::wait_at_block_barrier<threads>(stage.full());
      by_bytes<Sample, most>(tile, [&](auto C) {
        const auto done = [&] {
          if (wanted) ptx::arrive_at_block_barrier<threads>(stage.empty());
        };
        const std::uint8_t* input = memory + stage.now * stage_bytes;
        if constexpr (sizeof(Sample) == 1)
          make_tile<Sample, shape, C>(args, tile, input, right, done);
        else
          make_u16_tile<shape, C>(args, tile, input, right, done);
      });
    }
  }
#endif
}

/// The kernel of a shape for planes of 8-bit samples, the most components of a plane being so many.
template <WgmmaShape shape>
WgmmaKernel u8_kernel(int components) {
  return components == 1   ? wgmma_kernel<std::uint8_t, shape.height, shape.margin, 1>
         : components == 2 ? wgmma_kernel<std::uint8_t, shape.height, shape.margin, 2>
         : components == 3 ? wgmma_kernel<std::uint8_t, shape.height, shape.margin, 3>
                           : wgmma_kernel<std::uint8_t, shape.height, shape.margin, 4>;
}

/// The kernel of a shape for planes of 16-bit samples, the most bytes of a pixel being so many.
template <WgmmaShape shape>
WgmmaKernel u16_kernel(int bytes) {
  if constexpr (!shape.has_long_windows())
    if (bytes == 8) return wgmma_kernel<std::uint16_t, shape.height, shape.margin, 8>;
  return bytes == 2 ? wgmma_kernel<std::uint16_t, shape.height, shape.margin, 2>
                    : wgmma_kernel<std::uint16_t, shape.height, shape.margin, 4>;
}

/// of.template operator()<s>() for the shape s of `shapes` that is `shape`; null where none is.
template <const auto& shapes, class Of>
WgmmaKernel kernel_among(WgmmaShape shape, const Of& of) {
  WgmmaKernel kernel = nullptr;
  [&]<std::size_t... n>(std::index_sequence<n...>) {
    ((shapes[n] == shape ? void(kernel = of.template operator()<shapes[n]>()) : void()), ...);
  }
  (std::make_index_sequence<std::size(shapes)>{});
  return kernel;
}

}  // namespace convolve::cuda::wgmma
