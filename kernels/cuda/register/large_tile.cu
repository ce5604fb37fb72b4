// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The large tile of `register`: filters of up to 31x31 taps. A block loads a tile with its halo into shared memory, as
// floats; a thread keeps the sums of 4 neighbouring outputs in each of 8 rows in registers. Each group of cells that it
// reads serves up to 128 multiply-adds, with taps from the kernel's parameters, which are constant memory. Frames that
// share their spatial taps are combined while the tile is loaded.
#include <algorithm>
#include <string>
#include <vector>

#include "cuda/common/dispatch.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/register/large_tile.hpp"

namespace convolve::cuda {
namespace {

constexpr int warps = 4, outputs_x = 4, outputs_y = 8;  ///< of a block; of a thread
constexpr int tile_width = 32 * outputs_x, tile_height = warps * outputs_y;
constexpr int padded_width = 32;  ///< taps of a row, with zeros behind
constexpr int cells_x = tile_width + padded_width, cells_y = tile_height + max_dense_taps - 1;

/// `rows`: of taps, over all frames.
template <int rows>
struct LargeTileArgs {
  FrameArgs frame;
  bool combine;
  float weight[max_depth];  ///< of each frame, where they are combined
  alignas(16) float taps[rows][padded_width];
};
constexpr int one_frame = max_dense_taps, several_frames = 7 * max_dense_taps;

template <class Sample, int rows>
__device__ void fill(const LargeTileArgs<rows>& args, const ComponentArgs& component, int t, int left, int top,
                     float (&cells)[cells_y][cells_x]) {
  const FrameArgs& frame = args.frame;
  for (int j = threadIdx.y; j < tile_height + frame.height - 1; j += warps) {
    const int y = top - frame.centre_y + j, x = left - frame.centre_x;
    if (!args.combine) {
      const auto row = row_at<float, Sample>(frame, component, t, y);
      for (int i = threadIdx.x; i < cells_x; i += 32) cells[j][i] = row.at(x + i);
      continue;
    }
    float sum[cells_x / 32] = {};
    for (int f = 0; f < frame.depth; ++f) {
      const auto row = row_at<float, Sample>(frame, component, f, y);
#pragma unroll
      for (int i = 0; i < cells_x / 32; ++i) sum[i] = fmaf(args.weight[f], row.at(x + 32 * i + threadIdx.x), sum[i]);
    }
#pragma unroll
    for (int i = 0; i < cells_x / 32; ++i) cells[j][32 * i + threadIdx.x] = sum[i];
  }
}

template <class Sample, int rows>
__global__ void __launch_bounds__(32 * warps) large_tile_kernel(const __grid_constant__ LargeTileArgs<rows> args) {
  __shared__ __align__(16) float cells[cells_y][cells_x];
  const FrameArgs& frame = args.frame;
  const TileId tile = find_component(frame, blockIdx.x);
  const ComponentArgs& component = frame.component[tile.component];
  const int left = tile.x * tile_width, top = tile.y * tile_height;
  const int x = left + outputs_x * threadIdx.x, y = top + outputs_y * threadIdx.y;
  if (!component.filtered) {
    for (int j = 0; j < outputs_y && y + j < component.height; ++j)
      for (int i = 0; i < outputs_x && x + i < component.width; ++i)
        copy_sample<Sample>(frame, component, x + i, y + j);
    return;
  }
  float sum[outputs_y][outputs_x] = {};
  for (int t = 0; t < (args.combine ? 1 : frame.depth); ++t) {
    if (t > 0) __syncthreads();
    fill<Sample>(args, component, t, left, top, cells);
    __syncthreads();
    const float(*taps)[padded_width] = args.taps + t * frame.height;
    for (int i = 0; i < frame.height + outputs_y - 1; ++i) {
      const float* from = cells[outputs_y * threadIdx.y + i] + outputs_x * threadIdx.x;
      float cell[8];
      *reinterpret_cast<float4*>(cell + 4) = *reinterpret_cast<const float4*>(from);
      for (int k = 0; k < frame.width; k += 4) {
#pragma unroll
        for (int n = 0; n < 4; ++n) cell[n] = cell[n + 4];
        *reinterpret_cast<float4*>(cell + 4) = *reinterpret_cast<const float4*>(from + k + 4);
#pragma unroll
        for (int j = 0; j < outputs_y; ++j) {
          // Input row i meets output row j with row i - j of the filter.
          if (i < j || i - j >= frame.height) continue;
          const float4 four = *reinterpret_cast<const float4*>(&taps[i - j][k]);
          const float tap[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
          for (int n = 0; n < 4; ++n)
#pragma unroll
            for (int o = 0; o < outputs_x; ++o) sum[j][o] = fmaf(tap[n], cell[n + o], sum[j][o]);
        }
      }
    }
  }
#pragma unroll
  for (int j = 0; j < outputs_y; ++j) {
    if (y + j >= component.height) return;
    const Samples<Sample, 4> code = quantize4<Sample>(sum[j], component.quantizer, frame.shift);
#pragma unroll
    for (int o = 0; o < outputs_x; ++o)
      if (x + o < component.width)
        *sample_at<Sample>(frame.out[component.plane], component, x + o, y + j) = code.value[o];
  }
}

int rows_of(const Filter& filter) {
  return combines_frames(filter) ? filter.height() : filter.depth() * filter.height();
}

template <class Sample, int rows>
class LargeTilePlan final : public Plan {
 public:
  LargeTilePlan(const PlanDesc& desc, const Arithmetic& arithmetic)
      : planes_(desc.layout.planes), shape_(desc.filter.shape()) {
    const Filter& filter = desc.filter;
    args_.frame = make_frame_args(desc, arithmetic);
    tiles_ = set_tiles(args_.frame, tile_width, tile_height);
    args_.combine = combines_frames(filter);
    const std::vector<double> taps = spatial_coefficients(filter, arithmetic),
                              weights = frame_weights(filter, arithmetic);
    std::copy(weights.begin(), weights.end(), args_.weight);
    for (std::size_t i = 0; i < taps.size(); ++i)
      args_.taps[i / filter.width()][i % filter.width()] = static_cast<float>(taps[i]);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    bind(args_.frame, planes_, window, out);
    large_tile_kernel<Sample, rows><<<tiles_, dim3(32, warps), 0, static_cast<cudaStream_t>(stream)>>>(args_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::register_; }
  std::string describe() const override {
    return "register " + shape_ + ", tile in shared memory, 32 outputs a thread" +
           (args_.combine ? ", frames combined while loading" : "");
  }

 private:
  int planes_, tiles_ = 0;
  std::string shape_;
  LargeTileArgs<rows> args_{};
};

template <int rows>
std::unique_ptr<Plan> make_for(const PlanDesc& desc, const Arithmetic& arithmetic) {
  switch (desc.layout.type) {
    case SampleType::u8:
      return std::make_unique<LargeTilePlan<std::uint8_t, rows>>(desc, arithmetic);
    case SampleType::u16:
      return std::make_unique<LargeTilePlan<std::uint16_t, rows>>(desc, arithmetic);
    case SampleType::f32:
      break;
  }
  return std::make_unique<LargeTilePlan<float, rows>>(desc, arithmetic);
}

}  // namespace

bool serves_large_tile(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, std::string& why) {
  const int rows = rows_of(desc.filter);
  const std::size_t bytes = rows > one_frame ? sizeof(LargeTileArgs<several_frames>) : sizeof(LargeTileArgs<one_frame>);
  if (arithmetic.accumulator == Accumulator::double_)
    why = "its sums need double precision";
  else if (rows > several_frames)
    why = "a filter of " + desc.filter.shape() + " taps that is no product of time and space";
  else if (CUDART_VERSION < 12010 || bytes > device.parameter_bytes)
    why = "over " + std::to_string(few_taps) + " taps need CUDA 12.1 or later, at build time and of the driver";
  else
    return true;
  return false;
}

std::unique_ptr<Plan> make_large_tile(const PlanDesc& desc, const Arithmetic& arithmetic) {
#if CUDART_VERSION >= 12010
  if (rows_of(desc.filter) > one_frame) return make_for<several_frames>(desc, arithmetic);
  return make_for<one_frame>(desc, arithmetic);
#else
  static_cast<void>(desc), static_cast<void>(arithmetic);
  return nullptr;
#endif
}

}  // namespace convolve::cuda
