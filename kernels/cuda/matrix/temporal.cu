// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters over several frames of 8-bit samples: temporal.cuh makes the sums. What is not aligned is made one
// sample to a thread.
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "cuda/matrix/right_matrices.hpp"
#include "cuda/matrix/temporal.cuh"

namespace convolve::cuda {
namespace {

using namespace temporal;

constexpr int max_rows = 10;  ///< of a tile

/// Rows of a warp's tile, as measured. `most`: components of a plane.
constexpr int tile_rows(int radius, int limbs, int most) {
  return radius <= 1 && (limbs == 2) == (most < 4) ? max_rows : 8;
}

/// Blocks that an SM is to hold: bounds the registers of a thread. `most`: components of a plane.
constexpr int blocks_resident(int radius, int limbs, int most) {
  if (limbs == 1) return radius <= 1 ? 6 : 5;
  return radius <= 1 && most != 2 ? 5 : 4;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

template <int limbs, int C, int rows>
__device__ __forceinline__ void finish_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                            const TemporalLane<std::uint8_t, C>& lane, const TemporalSums<rows>& sum) {
  const int x = origin.x / C, y = origin.y, t = lane.t, first = lane.first;
  with_epilogue<limbs>(args, plane, lane, [&](const auto& value_of) {
    std::uint8_t* out = plane.out + (y + (t >> 1)) * plane.out_stride;
#pragma unroll
    for (int s = 0; s < rows / 2; ++s, out += 2 * plane.out_stride)
      store<C, 16>(args, plane, p, first, x + 8 * lane.strip + 4 * (t & 1), y + 2 * s + (t >> 1), out,
                   [&](int i, int half) {
                     const int q = i / 2, e = 2 * half + i % 2;
                     return value_of(sum[s][q][e], half);
                   });
  });
}

template <int radius, int limbs, int C, int rows>
__device__ __forceinline__ void make_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                          std::uint8_t* memory) {
  temporal::make_tile<std::uint8_t, radius, limbs, C, rows>(
      args, plane, p, origin, memory, [&](const TemporalLane<std::uint8_t, C>& lane, const TemporalSums<rows>& sum) {
        finish_tile<limbs, C, rows>(args, plane, p, origin, lane, sum);
      });
}

#endif

/// `most`: the most components of a plane; 4 comes alone, and 1 is one plane.
template <int radius, int limbs, int most>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_resident(radius, limbs, most))
    temporal_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr int rows = tile_rows(radius, limbs, most);
  // Tiles take as many bytes with any number of components.
  __shared__ __align__(16) std::uint8_t memory[warps_per_block][held * TemporalInput<1, rows + 2 * radius>::bytes];
  std::uint8_t* const mine = memory[threadIdx.y];
  for_tile<most == 1>(args, warps_per_block, rows, [&](const TilePlane& plane, unsigned p, int2 origin) {
    if constexpr (most != 2)
      make_tile<radius, limbs, most, rows>(args, plane, p, origin, mine);
    else if (plane.components == 2)
      make_tile<radius, limbs, 2, rows>(args, plane, p, origin, mine);
    else
      make_tile<radius, limbs, 1, rows>(args, plane, p, origin, mine);
  });
#endif
}

void (*kernel_for(int radius, int limbs, int most))(TileArgs) {
  return with_radius_and_limbs<2>(radius, limbs, [&]<int r, int l>() {
    return most == 1 ? temporal_kernel<r, l, 1> : most == 2 ? temporal_kernel<r, l, 2> : temporal_kernel<r, l, 4>;
  });
}

/// The taps as lanes hold them: [frame][row pair][limb].
std::vector<uint4> right_matrices(const Filter& filter, const MatrixTaps& taps, int radius) {
  const std::size_t area = static_cast<std::size_t>(filter.height()) * static_cast<std::size_t>(filter.width());
  std::vector<std::vector<std::int8_t>> limbs;
  for (int d = 0; d < taps.limbs; ++d) limbs.push_back(taps.limbs_from_highest(d));
  std::vector<uint4> right;
  right.reserve(static_cast<std::size_t>(filter.depth() * (radius + 1) * taps.limbs * 32));
  for (std::size_t frame = 0; frame < static_cast<std::size_t>(filter.depth()); ++frame) {
    std::vector<CentredLimb> centred;
    for (const auto& limb : limbs) centred.emplace_back(filter, std::span(limb).subspan(frame * area, area), radius);
    for (int pair = 0; pair <= radius; ++pair)
      for (const CentredLimb& limb : centred) limb.append(pair, right);
  }
  return right;
}

}  // namespace

bool temporal::fits_window(const Filter& filter, std::string& why) {
  const bool fits = filter.reach_x() <= margin && filter.reach_y() <= max_radius;
  if (!fits) why = "filters over several frames of more than 7x9 taps";
  return fits;
}

TileKernel temporal::window_kernel(const Device& device, const Filter& filter, const MatrixTaps& taps,
                                   void (*run)(TileArgs), int rows, int resident, const char* name) {
  return {run,
          rows,
          warps_per_block,
          right_matrices(filter, taps, filter.reach_y()),
          name,
          device.capability,
          static_cast<unsigned>(device.multiprocessors * resident)};
}

bool serves_matrix_temporal(const PlanDesc& desc, std::string& why) {
  if (!fits_window(desc.filter, why)) return false;
  if (desc.layout.planes > 1 && max_components_of(desc.layout) == 3) {
    why = "several planes of three components";
    return false;
  }
  return holds_tiles(desc, max_rows, why);
}

std::unique_ptr<Plan> make_matrix_temporal(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  if (max_components_of(desc.layout) == 3) return make_matrix_temporal_triples(device, desc, taps);
  const int radius = desc.filter.reach_y();
  const int most = std::max(max_components_of(desc.layout), desc.layout.planes == 1 ? 1 : 2);
  return make_tile_plan(
      device, desc, taps,
      window_kernel(device, desc.filter, taps, kernel_for(radius, taps.limbs, most),
                    tile_rows(radius, taps.limbs, most), blocks_resident(radius, taps.limbs, most), "window"));
}

}  // namespace convolve::cuda
