// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// constant: one thread an output, filter in constant memory, frames in global memory. Borders are tested once a
// row: rows that lie inside the frame are walked by a plain pointer.
#include "cuda/textbook/filter_plan.hpp"
#include "cuda/textbook/textbook.hpp"

namespace convolve::cuda {
namespace {

struct Tuning {
  int tile_width = 32, tile_height = 8;  ///< the block, one thread an output
  std::string describe() const { return "block " + std::to_string(tile_width) + "x" + std::to_string(tile_height); }
};

template <class Sample, class Sum, int capacity>
__global__ void __launch_bounds__(256) constant_kernel(const __grid_constant__ FilterArgs<Sum, capacity> args) {
  const FrameArgs& frame = args.frame;
  const TileId tile = find_component(frame, blockIdx.x);
  const ComponentArgs& component = frame.component[tile.component];
  const int x = tile.x * blockDim.x + threadIdx.x, y = tile.y * blockDim.y + threadIdx.y;
  if (x >= component.width || y >= component.height) return;
  if (!component.filtered) return copy_sample<Sample>(frame, component, x, y);

  const int left = x - frame.centre_x, top = y - frame.centre_y;
  const bool whole = left >= 0 && left + frame.width <= component.width;
  Sum sum = 0;
  int tap = 0;
  for (int t = 0; t < frame.depth; ++t)
    for (int j = 0; j < frame.height; ++j) {
      const auto row = row_at<Sum, Sample>(frame, component, t, top + j);
      if (whole && row.samples) {
        const Sample* in = row.samples + static_cast<std::ptrdiff_t>(left) * component.step;
        for (int i = 0; i < frame.width; ++i, in += component.step)
          sum += args.taps.value[tap++] * from_sample<Sum>(__ldg(in), frame.shift, component.zero);
      } else {
        for (int i = 0; i < frame.width; ++i) sum += args.taps.value[tap++] * row.at(left + i);
      }
    }
  store_sum<Sample>(frame, component, x, y, sum);
}

struct Launcher {
  static constexpr Algorithm algorithm = Algorithm::constant;
  using Tuning = cuda::Tuning;

  template <class Sample, class Sum, int capacity>
  static void launch(const FilterArgs<Sum, capacity>& args, const Tuning& tuning, int tiles, cudaStream_t stream) {
    constant_kernel<Sample><<<tiles, dim3(tuning.tile_width, tuning.tile_height), 0, stream>>>(args);
  }
};

std::unique_ptr<Plan> make(const Device&, const PlanDesc& desc) {
  return make_filter_plan<Launcher>(desc, {});
}

}  // namespace

const Entry constant{Algorithm::constant, parameters_hold, make};

}  // namespace convolve::cuda
