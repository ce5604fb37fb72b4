// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cached-halo-seed: the tile alone in shared memory, one output a thread, and the halo, which neighbouring blocks
// load as their tiles, read from global memory through the cache. The form in which the kernel is taught, kept for
// comparison; cached_halo.cu is the same idea made for video.
#include "cuda/textbook/filter_plan.hpp"
#include "cuda/textbook/textbook.hpp"

namespace convolve::cuda {
namespace {

constexpr int side = 32;

struct Tuning {
  int tile_width = side, tile_height = side;
  std::string describe() const { return "tile 32x32"; }
};

template <class Sample, class Sum, int capacity>
__global__ void __launch_bounds__(side* side)
    cached_halo_seed_kernel(const __grid_constant__ FilterArgs<Sum, capacity> args) {
  __shared__ Sum cells[side][side];
  const FrameArgs& frame = args.frame;
  const TileId tile = find_component(frame, blockIdx.x);
  const ComponentArgs& component = frame.component[tile.component];
  // Signed, so that positions left of and above the tile compare as what they are.
  const int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int x = tile.x * side + column, y = tile.y * side + row;
  const bool works = x < component.width && y < component.height;
  if (!component.filtered) {
    if (works) copy_sample<Sample>(frame, component, x, y);
    return;
  }

  Sum sum = 0;
  int tap = 0;
  for (int t = 0; t < frame.depth; ++t) {
    if (t > 0) __syncthreads();
    cells[row][column] = row_at<Sum, Sample>(frame, component, t, y).at(x);
    __syncthreads();
    if (!works) continue;
    for (int j = -frame.centre_y; j < frame.height - frame.centre_y; ++j) {
      const auto in = row_at<Sum, Sample>(frame, component, t, y + j);
      const bool row_in_tile = row + j >= 0 && row + j < side;
      for (int i = -frame.centre_x; i < frame.width - frame.centre_x; ++i) {
        // Cells of the tile past the frame's edge hold what the border mode puts there.
        const bool in_tile = row_in_tile && column + i >= 0 && column + i < side;
        sum += args.taps.value[tap++] * (in_tile ? cells[row + j][column + i] : in.at(x + i));
      }
    }
  }
  if (works) store_sum<Sample>(frame, component, x, y, sum);
}

struct Launcher {
  static constexpr Algorithm algorithm = Algorithm::cached_halo_seed;
  using Tuning = cuda::Tuning;

  template <class Sample, class Sum, int capacity>
  static void launch(const FilterArgs<Sum, capacity>& args, const Tuning& tuning, int tiles, cudaStream_t stream) {
    cached_halo_seed_kernel<Sample><<<tiles, dim3(tuning.tile_width, tuning.tile_height), 0, stream>>>(args);
  }
};

std::unique_ptr<Plan> make(const Device&, const PlanDesc& desc) {
  return make_filter_plan<Launcher>(desc, {});
}

}  // namespace

const Entry cached_halo_seed{Algorithm::cached_halo_seed, parameters_hold, make};

}  // namespace convolve::cuda
