// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tiled: the input tile with its halo, converted once, in shared memory; one thread an output; filter in constant
// memory. Both arrangements of threads: the block as input tile and the block as output tile.
#include "cuda/textbook/filter_plan.hpp"
#include "cuda/textbook/textbook.hpp"
#include "cuda/textbook/tiled_tuning.hpp"

namespace convolve::cuda {
namespace {

struct Tuning {
  TileBlock block;
  int block_width, block_height;
  int tile_width, tile_height;  ///< outputs
  std::string describe() const {
    return "block " + std::to_string(block_width) + "x" + std::to_string(block_height) +
           (block == TileBlock::input ? " as input tile" : " as output tile");
  }
};

template <class Sample, class Sum, int capacity>
__global__ void __launch_bounds__(1024)
    tiled_kernel(const __grid_constant__ FilterArgs<Sum, capacity> args, int tile_width, int tile_height) {
  extern __shared__ double shared[];
  Sum* const cells = reinterpret_cast<Sum*>(shared);
  const FrameArgs& frame = args.frame;
  const TileId tile = find_component(frame, blockIdx.x);
  const ComponentArgs& component = frame.component[tile.component];
  const int left = tile.x * tile_width, top = tile.y * tile_height;
  // Where the block is the input tile, the threads past the outputs only load.
  const int column = threadIdx.x, row = threadIdx.y;
  const int x = left + column, y = top + row;
  const bool works = column < tile_width && row < tile_height && x < component.width && y < component.height;
  if (!component.filtered) {
    if (works) copy_sample<Sample>(frame, component, x, y);
    return;
  }

  const int cells_x = tile_width + frame.width - 1, cells_y = tile_height + frame.height - 1;
  Sum sum = 0;
  int tap = 0;
  for (int t = 0; t < frame.depth; ++t) {
    if (t > 0) __syncthreads();
    for (int j = row; j < cells_y; j += blockDim.y) {
      const auto in = row_at<Sum, Sample>(frame, component, t, top - frame.centre_y + j);
      for (int i = column; i < cells_x; i += blockDim.x) cells[j * cells_x + i] = in.at(left - frame.centre_x + i);
    }
    __syncthreads();
    if (!works) continue;
    for (int j = 0; j < frame.height; ++j) {
      const Sum* in = cells + (row + j) * cells_x + column;
      for (int i = 0; i < frame.width; ++i) sum += args.taps.value[tap++] * in[i];
    }
  }
  if (works) store_sum<Sample>(frame, component, x, y, sum);
}

struct Launcher {
  static constexpr Algorithm algorithm = Algorithm::tiled;
  using Tuning = cuda::Tuning;

  template <class Sample, class Sum, int capacity>
  static void launch(const FilterArgs<Sum, capacity>& args, const Tuning& tuning, int tiles, cudaStream_t stream) {
    const std::size_t cells = static_cast<std::size_t>(tuning.tile_width + args.frame.width - 1) *
                              (tuning.tile_height + args.frame.height - 1);
    tiled_kernel<Sample><<<tiles, dim3(tuning.block_width, tuning.block_height), cells * sizeof(Sum), stream>>>(
        args, tuning.tile_width, tuning.tile_height);
  }
};

std::unique_ptr<Plan> make(const Device&, const PlanDesc& desc) {
  const Filter& filter = desc.filter;
  const int side = filter.height() > filter.width() ? filter.height() : filter.width();
  const TiledRow* row = tiled_rows.data();
  while (row->max_side < side) ++row;
  Tuning tuning{row->block, row->block_width, row->block_height, row->block_width, row->block_height};
  if (row->block == TileBlock::input) {
    tuning.tile_width -= filter.width() - 1;
    tuning.tile_height -= filter.height() - 1;
  }
  return make_filter_plan<Launcher>(desc, tuning);
}

}  // namespace

const Entry tiled{Algorithm::tiled, parameters_hold, make, max_dense_taps};

}  // namespace convolve::cuda
