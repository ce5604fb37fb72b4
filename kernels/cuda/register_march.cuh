// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// march: a warp goes down its strip row by row. A thread keeps the sums of the rows that the row at hand touches; the
// oldest is then complete and leaves, the others move up by the first multiply-add's writing elsewhere than where it
// reads. The next row's words are under way meanwhile. Taps are operands of the multiply-adds.
//
// Edges are data, not code: each lane looks up one row of the march beforehand, and a thread's group of pixels beside
// the frame is a group within it, with its pixels in another order.
#pragma once

#include "cuda/register_window.cuh"

namespace convolve::cuda {

/// The pixels of a window that lie in the group `raw`, number n, in the order that `selector` says.
template <class Shape, int C>
__device__ __forceinline__ void reorder(float (&f)[Shape::samples], const typename Shape::Group& raw, int n,
                                        std::uint32_t selector, const float* zero, int shift) {
  float value[4 * C];
#pragma unroll
  for (int i = 0; i < 4 * C; ++i) value[i] = raw.value(i, shift, zero[i % C]);
#pragma unroll
  for (int o = 0; o < 4; ++o)
    if (Shape::holds(n, o)) {
      const bool odd = selector >> (4 * o) & 1, upper = selector >> (4 * o) & 2;
#pragma unroll
      for (int c = 0; c < C; ++c) {
        const float low = odd ? value[C + c] : value[c], high = odd ? value[3 * C + c] : value[2 * C + c];
        f[Shape::at(n, o) + c] = upper ? high : low;
      }
    }
}

template <class Sample, int C, int width>
__device__ __forceinline__ void march(const MarchArgs& args, int p) {
  using Shape = WindowShape<Sample, C, width>;
  using Group = typename Shape::Group;
  constexpr int span = Shape::span, reach = Shape::reach, last = Shape::all - 1;
  static_assert(Shape::halo == 1);
  const RegisterPlane& plane = args.plane[p];
  const MarchPlane& grid = args.grid[p];
  const PlaneView in = args.in[p];
  const int shift = args.numbers.shift;
  float zero[C] = {};
  if constexpr (!std::is_floating_point_v<Sample>)
    for (int c = 0; c < C; ++c) zero[c] = plane.zero[c];
  // From the shuffle the compiler knows that a warp agrees on it.
  const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0), lane = threadIdx.x & 31;
  const int place = (blockIdx.x - grid.first_block) * march_warps + warp, band = place / grid.strips;
  if (band >= grid.bands) return;
  const int strip = (place - band * grid.strips) * 32 * span, mine = strip + lane * span;
  const int x = min(mine, plane.width - span), top = band * args.rows;
  const int count = min(args.rows, plane.height - top), rows = count + 2 * reach;

  const int y = min(top - reach + lane, plane.height - 1 + reach);
  const int row = edge_index(grid.rows, y);
  const unsigned ghosts =
      __ballot_sync(~0u, grid.rows.ghost && static_cast<unsigned>(y) >= static_cast<unsigned>(plane.height));
  // Of the groups beside a window, those that lie next to it.
  const EdgeGroup left = edge_group(grid.columns, x - 4), right = edge_group(grid.columns, x + span);
  const bool edges = strip == 0 || strip + 32 * span >= plane.width || ghosts;

  const auto load = [&](Group(&raw)[Shape::all], int i) {
    const Sample* from = row_of<const Sample>(in, __shfl_sync(~0u, row, i));
    raw[0].load(from + left.last * C);
#pragma unroll
    for (int n = 0; n < Shape::groups; ++n) raw[1 + n].load(from + (x + 4 * n) * C);
    raw[last].load(from + right.first * C);
  };
  const auto mend = [&](float(&f)[Shape::samples], const Group(&raw)[Shape::all], int i) {
    reorder<Shape, C>(f, raw[0], 0, left.selector, zero, shift);
    reorder<Shape, C>(f, raw[last], last, right.selector, zero, shift);
    if (!grid.columns.ghost) return;
    const bool ghost = ghosts >> i & 1;
#pragma unroll
    for (int k = 0; k < Shape::pixels; ++k)
      if (ghost || (k < reach && x == 0) || (k >= reach + span && x + span == plane.width))
#pragma unroll
        for (int c = 0; c < C; ++c) f[k * C + c] = plane.ghost[c];
  };

  float sum[width][span * C] = {};
  Group next[Shape::all];
  load(next, 0);
  Sample* to = row_of<Sample>(args.out[p], top) + static_cast<std::ptrdiff_t>(x) * C;
#pragma unroll 1
  for (int i = 0; i < rows; ++i) {
    float f[Shape::samples];
    Shape::convert(f, next, zero, shift);
    if (edges) mend(f, next, i);
    load(next, min(i + 1, rows - 1));
    // Sums of rows before the band and after it are not worth their multiply-adds.
    [[maybe_unused]] const unsigned live = ~0u << max(2 * reach - i, 0) & ~(~0u << min(rows - i, width));
#pragma unroll
    for (int j = 0; j < width; ++j)
      if (!march_skips(width) || live >> j & 1) {
#pragma unroll
        for (int n = 0; n < span * C; ++n) sum[j][n] = j + 1 < width ? sum[j + 1][n] : 0;
#pragma unroll
        for (int k = 0; k < width; ++k)
#pragma unroll
          for (int n = 0; n < span * C; ++n)
            sum[j][n] = fmaf(args.taps[(width - 1 - j) * width + k], f[n + k * C], sum[j][n]);
      }
    if (i >= 2 * reach) {
      if (mine < plane.width) {
#pragma unroll
        for (int n = 0; n < Shape::groups; ++n) {
          Group group = quantized<Sample, C>(sum[0] + 4 * C * n, plane, args.numbers);
          if (keeps<C>(plane)) {
            Group from;
            from.load(row_of<const Sample>(in, top + i - 2 * reach) + static_cast<std::ptrdiff_t>(x + 4 * n) * C);
            keep(group, from, plane.filtered);
          }
          group.store(to + 4 * C * n);
        }
      }
      to = reinterpret_cast<Sample*>(reinterpret_cast<char*>(to) + args.out[p].stride);
    }
  }
}

/// `components`: the sum of the numbers of components that the frame's planes have, each counted once; but 5 stands
/// for three components.
template <class Sample, int components, int width>
__global__ void __launch_bounds__(32 * march_warps, march_blocks(sizeof(Sample), components, width))
    march_kernel(const __grid_constant__ MarchArgs args) {
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.grid[p + 1].first_block) ++p;
  if constexpr (components == 1) {
    march<Sample, 1, width>(args, p);
  } else if constexpr (components == 3) {
    if (args.plane[p].components == 1)
      march<Sample, 1, width>(args, p);
    else
      march<Sample, 2, width>(args, p);
  } else {
    march<Sample, components == 5 ? 3 : 4, width>(args, p);
  }
}

}  // namespace convolve::cuda
