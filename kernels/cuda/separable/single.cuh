// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernel in single precision: a block makes a tile. Its rows are filtered first (single_rows.cuh); what
// comes out stays in shared memory until all of them are there, and each warp filters the columns of some rows of the
// tile, those of all terms summed up together.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/by_components.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/separable/single_rows_planar.cuh"

namespace convolve::cuda {

/// The row pass of so many components and terms, how a row lies in shared memory before it, and how after it.
template <class Sample, int C, int width, int terms, bool copies = false>
struct SinglePass {
  using Rows = RowPass<Sample, C, width, terms>;
  using Row = SingleRow<C, width>;
  using Passed = PassedRow;
};
template <class Sample, int C, int width, int terms, bool copies>
requires(sizeof(Sample) == 2 && (C == 2 || C == 4) && terms == 1) struct SinglePass<Sample, C, width, terms, copies> {
  using Rows = RowPassPlanar<Sample, C, width, terms, copies>;
  using Row = PlanarRow<C, width>;
  using Passed = PlanarPassedRow<C>;
};

/// Floats of shared memory: what comes out of the rows, a row as it comes in for each half of a warp, and, as integers,
/// where its samples are.
template <class Sample, int C, int width>
constexpr int single_shared(int terms) {
  const int row = terms == 1 ? SinglePass<Sample, C, width, 1>::Row::floats : SingleRow<C, width>::floats;
  return terms * (single_rows(terms) + width - 1) * PassedRow::floats + 2 * SingleTile::warps * row +
         SingleRow<C, width>::reached;
}

/// Asks for the tile's own rows of a frame, where there is one. `samples`: of a row.
template <class Sample, int tile_rows>
__device__ __forceinline__ void ask_for_tile(const PlaneView& view, int left, int top, int samples, int height) {
  constexpr int bytes = static_cast<int>(sizeof(Sample));
  if (view.data)
    prefetch_rows<tile_rows, SingleTile::width * bytes / cache_line, SingleTile::threads>(
        row_of<const Sample>(view, top) + left, view.stride, threadIdx.x, height - top, (samples - left) * bytes);
}

/// Values as four neighbouring samples of a row. That it asks for each row whether they have all their 16 bits also
/// keeps rows in order: each is stored while the next one is rounded, not all at the end.
template <class Sample>
__device__ __forceinline__ PixelGroup<Sample, 1, 4> packed_words(const float (&value)[4], const SingleArgs& args) {
  PixelGroup<Sample, 1, 4> group;
  if (args.numbers.max == 65535.f)
    group.put_whole(value);
  else
    group.put(value, args.numbers.max, args.numbers.shift);
  return group;
}

/// A pixel from its sums, each component by its own numbers.
template <class Sample, WordDivision how>
__device__ __forceinline__ PixelGroup<Sample, 1, 4> rounded_apart(const float (&sums)[4], const float (&offset)[4],
                                                                  const SingleArgs& args) {
  float value[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const ComponentNumbers& numbers = args.component[c];
    value[c] = how == WordDivision::remainder ? remainder_value(sums[c], numbers.gain, offset[c], numbers.divisor)
               : how == WordDivision::two_products
                   ? __fmaf_rn(sums[c], numbers.gain, __fmul_rn(sums[c], numbers.gain_low))
                   : __fadd_rn(__fmaf_rn(sums[c], numbers.gain, offset[c]), -args.numbers.rounding_bias);
  }
  return packed_words<Sample>(value, args);
}

/// Calls what(a function that makes four neighbouring samples of a row from their sums), once for all rows.
template <class Sample, int C, bool copies, class What>
__device__ __forceinline__ void by_rounding(const float (&offset)[C], const SingleArgs& args, const What& what) {
  using Group = PixelGroup<Sample, 1, 4>;
  if constexpr (std::is_floating_point_v<Sample>) {
    what([&](const float(&sums)[4]) {
      Group group;
      group.put(sums, args.numbers.max, 0);
      return group;
    });
  } else if constexpr (copies || is_subnormal<Sample>) {
    by_division(args.numbers, [&]<WordDivision how>(std::integral_constant<WordDivision, how>) {
      what([&](const float(&sums)[4]) {
        if constexpr (copies) {
          return rounded_apart<Sample, how>(sums, offset, args);
        } else {
          float value[4];
          divide_words<C, how>(value, sums, offset, args.numbers);
          return packed_words<Sample>(value, args);
        }
      });
    });
  } else {
    what([&](const float(&sums)[4]) { return quantized<Group, C>(sums, offset, args.numbers); });
  }
}

/// Four neighbouring samples, of which there are `count`, or what is left of a row; at once where that is possible.
template <class Sample>
__device__ __forceinline__ PixelGroup<Sample, 1, 4> load_some(const Sample* from, bool at_once, int count) {
  PixelGroup<Sample, 1, 4> group;
  if (at_once)
    group.load(from);
  else
#pragma unroll
    for (int n = 0; n < 4; ++n)
      if (n < count) group.put_one(n, from[n]);
  return group;
}
template <class Sample>
__device__ __forceinline__ void store_some(const PixelGroup<Sample, 1, 4>& group, Sample* to, bool at_once, int count) {
  if (at_once)
    group.store(to);
  else
#pragma unroll
    for (int n = 0; n < 4; ++n)
      if (n < count) to[n] = group.one(n);
}

/// Rounds and stores a lane's four samples from `x` on of each of a warp's rows, of those that the frame has.
/// `first`: the warp's first row in the tile, whose rows begin at `top` and of which the frame has `out_rows`.
template <class Sample, int C, int made, bool copies>
__device__ __forceinline__ void store_rows(const SingleArgs& args, int p, int x, int top, int first, int out_rows,
                                           const float (&offset)[C], const float (&sum)[made][4]) {
  using Group = PixelGroup<Sample, 1, 4>;
  const SamplePlane& plane = args.plane[p];
  const SinglePlane& grid = args.grid[p];
  const int samples = plane.width * C, y = top + first;
  const std::ptrdiff_t stride = args.out[p].stride;
  Sample* const to = row_of<Sample>(args.out[p], y) + x;
  const auto out_row = [&](int j) { return reinterpret_cast<Sample*>(reinterpret_cast<char*>(to) + j * stride); };
  const bool all = x + 4 <= samples;
  const bool whole = all && grid.out_vectors && first + made <= out_rows;
  const bool reads = !copies && plane.has_passthrough;  // the samples to copy
  if (whole && !reads) {
    by_rounding<Sample, C, copies>(offset, args, [&](const auto& rounded) {
#pragma unroll
      for (int j = 0; j < made; ++j) rounded(sum[j]).store(out_row(j));
    });
    return;
  }
  const auto in_row = [&](int j) { return row_of<const Sample>(args.in[args.centre_t][p], y + j) + x; };
  if constexpr (C == 4 && !copies)
    if (whole && grid.vectors) {
      constexpr int batch = 4;
#pragma unroll
      for (int j = 0; j < made; j += batch) {
        Group raw[batch];  // under way at once
#pragma unroll
        for (int i = 0; i < batch; ++i) raw[i].load(in_row(j + i));
#pragma unroll
        for (int i = 0; i < batch; ++i) {
          Group group = quantized<Group, C>(sum[j + i], offset, args.numbers);
          group.take(raw[i], plane.passthrough);
          group.store(out_row(j + i));
        }
      }
      return;
    }
  const auto store = [&](const auto& rounded) {
#pragma unroll
    for (int j = 0; j < made; ++j) {
      if (first + j >= out_rows) break;
      Group group = rounded(sum[j]);
      if (reads) group.take(load_some(in_row(j), all && grid.vectors, samples - x), plane.passthrough);
      store_some(group, out_row(j), all && grid.out_vectors, samples - x);
    }
  };
  if constexpr (sizeof(Sample) == 2 && !copies)  // a function for each division would be much code for little use
    store([&](const float(&sums)[4]) { return quantized<Group, C>(sums, offset, args.numbers); });
  else
    by_rounding<Sample, C, copies>(offset, args, store);
}

template <class Sample, int C, int width, int terms, SingleFrames frames, bool copies = false>
__device__ __forceinline__ void filter_tile(const SingleArgs& args, int p, float* shared) {
  using Pass = SinglePass<Sample, C, width, terms, copies>;
  using Passed = typename Pass::Passed;
  using Row = SingleRow<C, width>;
  constexpr int radius = width / 2, row_floats = Pass::Row::floats, made = SingleTile::made(terms),
                tile_rows = single_rows(terms), passed_rows = tile_rows + 2 * radius;
  const SamplePlane& plane = args.plane[p];
  const SinglePlane& grid = args.grid[p];
  const int tile = blockIdx.x - grid.first_block, tile_y = tile / grid.tiles_x;
  const int left = (tile - tile_y * grid.tiles_x) * SingleTile::width, top = tile_y * tile_rows;
  const int samples = plane.width * C, out_rows = min(tile_rows, plane.height - top);
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  float* const passed = shared;
  float* const cells = passed + terms * passed_rows * PassedRow::floats;
  int* const position = reinterpret_cast<int*>(cells + 2 * SingleTile::warps * row_floats);
  const bool inside = left >= Row::radius && left + SingleTile::width + Row::radius <= samples;
  ask_for_tile<Sample, tile_rows>(args.in[0][p], left, top, samples, plane.height);
  for (int i = threadIdx.x; i < Row::reached; i += SingleTile::threads)
    position[i] = outer_sample<C>(args.border, left - Row::radius + i, plane.width);
  __syncthreads();
  const typename Pass::Rows pass(args, p, passed, cells + first_single_row() * row_floats, position, left, top,
                                 out_rows + 2 * radius, inside);
  pdl_wait();
  pass_rows<frames>(pass, inside && grid.vectors && top >= radius && top + tile_rows + radius <= plane.height);
  __syncthreads();

  // A warp's rows of the tile, four samples of each to a lane. Floats' sums start from their offset, those of subnormal
  // samples from their levels.
  const int first = warp * made;
  if (first >= out_rows) return;
  float offset[C], start[C], sum[made][4];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    offset[c] = plane.offset[c];
    start[c] = std::is_floating_point_v<Sample> ? offset[c] : is_subnormal<Sample> ? plane.start[c] : 0;
  }
#pragma unroll
  for (int j = 0; j < made; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) sum[j][e] = start[e % C];
#pragma unroll
  for (int r = 0; r < terms; ++r)
#pragma unroll
    for (int i = 0; i < made + 2 * radius; ++i) {
      // A warp's first row is an even one.
      const float4 v = Passed::load(passed + (r * passed_rows + first + i) * PassedRow::floats, lane, i % 2 != 0);
      const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int j = 0; j < made; ++j)
        if (i - j >= 0 && i - j < width)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const float tap = copies ? args.component[e].column[i - j] : args.column[r][i - j];
            sum[j][e] = fmaf(tap, four[e], sum[j][e]);
          }
    }

  store_rows<Sample, C, made, copies>(args, p, left + 4 * Passed::group_of(lane), top, first, out_rows, offset, sum);
}

template <class Sample, PlaneMix mix, SingleFrames frames>
constexpr bool is_four_over_time = (mix == PlaneMix::four) && sizeof(Sample) == 2 && frames == SingleFrames::several;

template <class Sample, PlaneMix mix, int width, int terms, SingleFrames frames>
__global__ void __launch_bounds__(SingleTile::threads, is_four_over_time<Sample, mix, frames>
                                                           ? SingleTile::blocks_of_frames(width)
                                                           : SingleTile::blocks(sizeof(Sample), terms))
    single_kernel(const __grid_constant__ SingleArgs args) {
  extern __shared__ __align__(16) float shared[];
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.grid[p + 1].first_block) ++p;
  by_components<mix>(args.plane[p].components,
                     [&](auto C) { filter_tile<Sample, C, width, terms, frames>(args, p, shared); });
}

/// The kernel of one plane of four components of which some are copied.
template <class Sample, int width, SingleFrames frames>
__global__ void __launch_bounds__(SingleTile::threads, is_four_over_time<Sample, PlaneMix::four, frames>
                                                           ? SingleTile::blocks_of_frames(width)
                                                           : SingleTile::blocks(sizeof(Sample), 1))
    single_copying_kernel(const __grid_constant__ SingleArgs args) {
  extern __shared__ __align__(16) float shared[];
  filter_tile<Sample, 4, width, 1, frames, true>(args, 0, shared);
}

}  // namespace convolve::cuda
