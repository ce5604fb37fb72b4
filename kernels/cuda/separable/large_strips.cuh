// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Both passes of separable's kernels for large filters in one kernel, for up to 65 taps an axis: see large.cuh.
#pragma once

#include "cuda/separable/large_columns.cuh"
#include "cuda/separable/large_rows.cuh"

namespace convolve::cuda::large {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Where V of a row of a strip lies in shared memory: rings of 64 columns side by side.
__device__ __forceinline__ std::uint8_t* ring_place(std::uint8_t* ring, int row, int piece) {
  const int at = row & (Strip::ring - 1);
  return ring + (piece / sums_pieces * Strip::ring + at) * sums_pitch + (piece % sums_pieces ^ at % 8) * 16;
}

/// A block goes down a strip of `Strip::bytes`, 64 rows a step: V of the rows 64 further on, into the ring, then the
/// outputs. V's row 0 is the first that the strip's first row of outputs reads.
template <class Numbers, int C>
__device__ __forceinline__ void filter_strip(const Args& args, const Plane& plane, std::uint8_t* shared) {
  using Tile = RowTile<C>;
  constexpr int width = Strip::bytes / C, across = width / Tile::pixels;
  static_assert(across * (Strip::step / Tile::rows) == Strip::warps);
  const int tile = blockIdx.x - plane.first_strip, tile_y = tile / plane.strips_x;
  const int left = (tile - tile_y * plane.strips_x) * width, top = tile_y * args.steps * Strip::step;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2;
  const int steps = min(args.steps, (plane.height - top + Strip::step - 1) / Strip::step);
  Samples8 samples{args, plane, left * C + 32 * warp + 8 * (lane & 3), top + g};
  if (plane.passthrough == ~0u) {
    pdl_wait();
    for (int step = 0; step < steps; ++step, samples.y += Strip::step) copy_columns(samples);
    return;
  }
  std::uint8_t* const input = shared + Strip::ring_bytes;
  const int window = row_window(Numbers::unit, args.row_units, args.centre_x, width, C), pitch = row_pitch(window, C);
  const int first = warp / across * Tile::rows, x = warp % across * Tile::pixels;
  const SumsView<Strip::ring / 16> view{ptx::address_in_shared(shared) + warp / 2 * (Strip::ring * sums_pitch),
                                        4 * (warp % 2), 0};
  ask_for_rows<C, 2 * Strip::step, Strip::warps>(args, plane, left, top - args.centre_y, window);
  pdl_wait();
  load_rows<C, Strip::step, Strip::warps>(args, plane, input, left, top - args.centre_y, window, pitch);
#pragma unroll 1
  for (int step = -1; step < steps; ++step) {
    const int row = (step + 1) * Strip::step;  // the first of V that is made
    ptx::wait_for_all_copies();
    __syncthreads();
    if (left + x < plane.width)
      filter_rows<Numbers, C>(args, plane, input, pitch, first, x, Strip::step, [&](int below, int piece) {
        return ring_place(shared, row + first + g + below, x * C / 8 + piece);
      });
    __syncthreads();
    if (step + 1 < steps) {
      const int next = top - args.centre_y + row + Strip::step;
      load_rows<C, Strip::step, Strip::warps>(args, plane, input, left, next, window, pitch);
      if (step + 2 < steps) ask_for_rows<C, Strip::step, Strip::warps>(args, plane, left, next + Strip::step, window);
    }
    if (step < 0) continue;
    SumsView<Strip::ring / 16> sums = view;
    sums.first = step * (Strip::step / 16);
    if (left * C + 32 * warp < plane.row_bytes)
      filter_columns(Numbers{}, args, sums, plane.column_taps + lane, samples);
    samples.y += Strip::step;
  }
}

#endif

template <class Numbers, int components>
__global__ void __launch_bounds__(Strip::threads, Strip::resident) strip_kernel(const __grid_constant__ Args args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) std::uint8_t shared[];
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_strip) ++p;
  const Plane& plane = args.plane[p];
  if constexpr (components == 4) {
    filter_strip<Numbers, 4>(args, plane, shared);
  } else if constexpr (components == 3) {
    if (plane.components == 1)
      filter_strip<Numbers, 1>(args, plane, shared);
    else
      filter_strip<Numbers, 2>(args, plane, shared);
  } else {
    filter_strip<Numbers, 1>(args, plane, shared);
  }
#endif
}

}  // namespace convolve::cuda::large
