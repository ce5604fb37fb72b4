// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cached-halo, rebuilt for video: the tile's rows in shared memory, converted once, one plane of floats for each
// component; the halo's rows, which the neighbouring blocks load as their tiles, through the cache. A thread makes 4
// neighbouring outputs in each of several rows, and holds those rows' inputs in registers while it walks down the
// filter. Border modes are paid for in edge tiles alone: elsewhere loads are 16 bytes wide.
//
// The frames of a window follow each other through the tile. Where the filter factors into time x space they are
// combined while the tile is loaded, its halo rows with it so that none is combined twice, and one spatial filter runs.
#include <string>

#include "cuda/cached_halo/args.hpp"
#include "cuda/cached_halo/cached_halo.hpp"
#include "cuda/cached_halo/tile.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/shared_memory.hpp"

namespace convolve::cuda {
namespace {

using namespace cached_halo_tuning;

// A warp makes rows x strip_width outputs of one component.
struct Strip {
  int component, x, y;  ///< of the frame, and the first output
  int tile_y;           ///< the first output's row within the tile
  bool works;
};

__device__ __forceinline__ Strip find_strip(const HaloFrame& args, const Tile& tile) {
  const unsigned warp = threadIdx.x / 32, down = tile.height / rows;
  const int plane = tile.components == 1 ? 0 : warp / down;
  Strip strip;
  strip.component = tile.first + (plane < tile.components ? plane : 0);
  strip.tile_y = (warp - plane * down) * rows;
  strip.x = tile.x;
  strip.y = tile.y + strip.tile_y;
  const ComponentArgs& leader = args.frame.component[tile.first];
  strip.works = plane < tile.components && strip.x < leader.width && strip.y < leader.height;
  return strip;
}

// Adds the filter over the cells of the tile, and over halo rows that pass through the warp's own line, to the sums.
template <class Sample, int radius>
__device__ __forceinline__ void accumulate(const HaloFrame& args, const float* taps, const Tile& tile,
                                           const Strip& strip, Frames frames, const float* cells, float* line,
                                           float (&sum)[rows][4]) {
  constexpr int n = rows, side = margin(radius), width = 2 * radius + 1;
  const int lane = threadIdx.x % 32, height = args.frame.height;
  const int first = strip.tile_y - args.frame.centre_y, end = first + n - 1 + height;  // input rows, in the tile
  const float* const mine =
      cells + (strip.component - tile.first) * tile.plane - tile.top * tile.pitch + tile.side - side;
  const auto in_tile = [&](int row) {
    return static_cast<unsigned>(row - tile.top) < static_cast<unsigned>(tile.rows);
  };
  HaloRow<Sample, side> halo(args, strip.component);
  int places = 0;  // where the input rows lie in the frame: one a lane
  if (!in_tile(first) || !in_tile(end - 1)) {
    const int height = args.frame.component[strip.component].height;
    places = border_index(args.frame.border, tile.y + first + lane, height);
    halo.place(strip.x);
    if (!in_tile(first)) halo.load(frames.first, __shfl_sync(~0u, places, 0));
  }
  float in[n][4 + 2 * radius];
  for (int base = first;; base += n) {
#pragma unroll
    for (int s = 0; s < n; ++s) {
      const int row = base + s;
      const float* from = mine + row * tile.pitch;
      if (!in_tile(row)) {
        halo.store(line);
        from = line;
      }
      if (!in_tile(row + 1) && row + 1 < end) halo.load(frames.first, __shfl_sync(~0u, places, row + 1 - first));
      float cell[4 + 2 * side];
#pragma unroll
      for (int i = 0; i < 4 + 2 * side; i += 4)
        *reinterpret_cast<float4*>(cell + i) = *reinterpret_cast<const float4*>(from + 4 * lane + i);
#pragma unroll
      for (int i = 0; i < 4 + 2 * radius; ++i) in[s][i] = cell[i + side - radius];
      // in[] now ends with the row that the last output row meets with filter row `filter_row`.
      const int filter_row = row - first - (n - 1);
      if (filter_row < 0) continue;
#pragma unroll
      for (int k = 0; k < width; ++k) {
        const float tap = taps[filter_row * width + k];
#pragma unroll
        for (int j = 0; j < n; ++j)
#pragma unroll
          for (int i = 0; i < 4; ++i) sum[j][i] = fmaf(tap, in[(s + 1 + j) % n][i + k], sum[j][i]);
      }
      if (filter_row == height - 1) return;
    }
  }
}

// Planes of one component: straight to the frame.
template <class Sample, int n>
__device__ __forceinline__ void store_strip(const HaloFrame& args, const Strip& strip,
                                            const Samples<Sample, 4> (&code)[n]) {
  const ComponentArgs& component = args.frame.component[strip.component];
  const int x = strip.x + 4 * (threadIdx.x % 32);
  const bool whole = args.out_aligned[component.plane] && component.step == 1 && x + 4 <= component.width;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    if (strip.y + j >= component.height) return;
    Sample* const to = sample_at<Sample>(args.frame.out[component.plane], component, x, strip.y + j);
    if (whole) {
      *reinterpret_cast<Samples<Sample, 4>*>(to) = code[j];
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (x + i < component.width) to[i * component.step] = code[j].value[i];
    }
  }
}

template <class Sample, int n>
__device__ void copy_strip(const HaloFrame& args, const Strip& strip) {
  const ComponentArgs& component = args.frame.component[strip.component];
  for (int j = 0; j < n && strip.y + j < component.height; ++j)
    for (int i = threadIdx.x % 32; i < strip_width && strip.x + i < component.width; i += 32)
      copy_sample<Sample>(args.frame, component, strip.x + i, strip.y + j);
}

// Interleaved planes: the components meet in shared memory, and leave in whole words.
template <class Sample, int n>
__device__ __forceinline__ void interleave_strip(const HaloFrame& args, const Tile& tile, const Strip& strip,
                                                 const Samples<Sample, 4> (&code)[n], Sample* staged) {
  const ComponentArgs& component = args.frame.component[strip.component];
  const int column = 4 * (threadIdx.x % 32), pitch = strip_width * tile.components;
  Sample* to = staged + strip.tile_y * pitch + column * tile.components + component.offset;
  if (component.filtered) {
#pragma unroll
    for (int j = 0; j < n; ++j, to += pitch)
#pragma unroll
      for (int i = 0; i < 4; ++i) to[i * tile.components] = code[j].value[i];
    return;
  }
  const PlaneView& in = args.frame.in[args.frame.centre_t][component.plane];
  for (int j = 0; j < n && strip.y + j < component.height; ++j, to += pitch)
    for (int i = 0; i < 4 && strip.x + column + i < component.width; ++i)
      to[i * tile.components] = *sample_at<const Sample>(in, component, strip.x + column + i, strip.y + j);
}

template <class Sample>
__device__ void store_tile(const HaloFrame& args, const Tile& tile, const Sample* staged) {
  constexpr int wide = 16 / sizeof(Sample);
  const ComponentArgs& leader = args.frame.component[tile.first];
  const PlaneView& out = args.frame.out[leader.plane];
  const int pitch = strip_width * tile.components, pieces = pitch / wide;
  const int first = tile.x * tile.components, end = leader.width * tile.components;  // samples of the frame's row
  for (int i = threadIdx.x; i < pieces * tile.height; i += warps * 32) {
    const int row = i / pieces, at = (i - row * pieces) * wide;
    if (tile.y + row >= leader.height || first + at >= end) continue;
    Sample* to = reinterpret_cast<Sample*>(static_cast<char*>(out.data) + (tile.y + row) * out.stride) + first + at;
    const Sample* from = staged + row * pitch + at;
    if (args.out_aligned[leader.plane] && first + at + wide <= end) {
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
    } else {
      for (int k = 0; k < wide && first + at + k < end; ++k) to[k] = from[k];
    }
  }
}

template <class Sample, int radius, int capacity>
__global__ void __launch_bounds__(warps * 32, blocks)
    cached_halo_kernel(const __grid_constant__ HaloArgs<capacity> args) {
  constexpr int n = rows, side = margin(radius);
  extern __shared__ __align__(16) float cells[];
  __shared__ __align__(16) float lines[warps][HaloRow<Sample, side>::cells];
  const Tile tile = find_tile<Sample, radius>(args, blockIdx.x);
  const Strip strip = find_strip(args, tile);
  const ComponentArgs& component = args.frame.component[strip.component];
  const bool filters = strip.works && component.filtered;
  float sum[n][4] = {};
  const int passes = args.combine ? 1 : args.frame.depth;
  for (int pass = 0; pass < passes; ++pass) {
    const Frames frames = args.combine ? Frames{0, args.frame.depth} : Frames{pass, pass + 1};
    if (pass > 0) __syncthreads();
    fill_tile<Sample, radius>(args, tile, frames, cells);
    __syncthreads();
    if (filters)
      accumulate<Sample, radius>(args, args.taps + pass * args.frame.height * (2 * radius + 1), tile, strip, frames,
                                 cells, lines[threadIdx.x / 32], sum);
  }
  Samples<Sample, 4> code[n];
  if (filters) {
#pragma unroll
    for (int j = 0; j < n; ++j) code[j] = quantize4<Sample>(sum[j], component.quantizer, args.frame.shift);
  }
  if (tile.components == 1) {
    if (filters)
      store_strip<Sample>(args, strip, code);
    else if (strip.works)
      copy_strip<Sample, n>(args, strip);
    return;
  }
  __syncthreads();
  Sample* const staged = reinterpret_cast<Sample*>(cells);
  if (strip.works) interleave_strip<Sample>(args, tile, strip, code, staged);
  __syncthreads();
  store_tile<Sample>(args, tile, staged);
}

// Host side.

template <class Sample, int radius, int capacity>
class CachedHalo final : public Plan {
 public:
  CachedHalo(const PlanDesc& desc, const Arithmetic& arithmetic)
      : planes_(desc.layout.planes), shape_(desc.filter.shape()) {
    tiles_ = fill_halo_args(args_, args_.taps, desc, arithmetic, radius);
    shared_bytes_ =
        cells_with<Sample, radius>(args_.combine ? desc.filter.height() - 1 : 0) * static_cast<int>(sizeof(float));
    // With the lines beside the cells, a block may pass the 48 KB that it has without asking.
    allow_shared_memory(cached_halo_kernel<Sample, radius, capacity>, max_bytes);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    bind_halo(args_, planes_, window, out);
    cached_halo_kernel<Sample, radius, capacity>
        <<<tiles_, warps * 32, shared_bytes_, static_cast<cudaStream_t>(stream)>>>(args_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::cached_halo; }
  std::string describe() const override {
    return "cached-halo " + shape_ + ", " + std::to_string(4 * rows) + " outputs a thread, filter rows of " +
           std::to_string(2 * radius + 1) + (args_.combine ? ", frames combined" : "");
  }

 private:
  static constexpr int max_bytes = cells_with<Sample, radius>(max_taps - 1) * static_cast<int>(sizeof(float));

  int planes_;
  std::string shape_;
  HaloArgs<capacity> args_{};
  int tiles_ = 0, shared_bytes_ = 0;
};

bool serves(const Device& device, const PlanDesc& desc, std::string& why) {
  return serves_cached_halo(device.parameter_bytes, desc, why);
}

template <class Sample, int capacity, std::size_t i = 0>
std::unique_ptr<Plan> make_for(const PlanDesc& desc, const Arithmetic& arithmetic) {
  constexpr bool many_taps = capacity != few_taps;
  if constexpr (compiled(radii[i], sizeof(Sample), many_taps))
    if (radii[i] == compiled_radius(desc.filter, desc.layout.type, many_taps))
      return std::make_unique<CachedHalo<Sample, radii[i], capacity>>(desc, arithmetic);
  if constexpr (i + 1 < radii.size()) return make_for<Sample, capacity, i + 1>(desc, arithmetic);
  return nullptr;
}

template <int capacity>
std::unique_ptr<Plan> make_with(const PlanDesc& desc, const Arithmetic& arithmetic) {
  switch (desc.layout.type) {
    case SampleType::u8:
      return make_for<std::uint8_t, capacity>(desc, arithmetic);
    case SampleType::u16:
      return make_for<std::uint16_t, capacity>(desc, arithmetic);
    case SampleType::f32:
      break;
  }
  return make_for<float, capacity>(desc, arithmetic);
}

std::unique_ptr<Plan> make(const Device&, const PlanDesc& desc) {
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border));
#if CUDART_VERSION >= 12010
  if (has_many_taps(desc.filter, desc.layout.type)) return make_with<max_filter_taps>(desc, arithmetic);
#endif
  return make_with<few_taps>(desc, arithmetic);
}

}  // namespace

const Entry cached_halo{Algorithm::cached_halo, serves, make};

}  // namespace convolve::cuda
