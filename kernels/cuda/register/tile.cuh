// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The register tile of `register`: a thread keeps the sums of a small tile of outputs in registers, and reads the rows
// that touch it one after the other. It serves any filter and any plane.
//
// Warps whose windows lie inside the frame load whole vectors; the others look up each row and each vector that
// reaches over the side.
#pragma once

#include "cuda/common/by_components.cuh"
#include "cuda/common/frame.cuh"
#include "cuda/common/limits.hpp"
#include "cuda/common/pixels.cuh"
#include "cuda/register/tile_args.hpp"

namespace convolve::cuda {

/// What a thread reads of one row for `4 * groups` pixels of output, and how its groups of pixels lie in it.
template <class Sample, int C, int width>
struct WindowShape {
  static constexpr int groups = register_groups(sizeof(Sample), C), radius = width / 2;
  static constexpr int halo = (radius + 3) / 4;  ///< groups either side
  static constexpr int all = groups + 2 * halo, span = 4 * groups;
  static constexpr int pixels = span + 2 * radius, samples = pixels * C;
  using Group = PixelGroup<Sample, C>;

  /// Pixel o of group `n` lies `at` samples into the window, where that is not negative nor past its end.
  static __host__ __device__ constexpr int at(int n, int o) { return (4 * (n - halo) + o + radius) * C; }
  static __host__ __device__ constexpr bool holds(int n, int o) { return at(n, o) >= 0 && at(n, o) < samples; }

  /// Turns what was read into floats, and takes their zero level away.
  static __device__ __forceinline__ void convert(float (&f)[samples], const Group (&raw)[all], const float* zero,
                                                 int shift) {
#pragma unroll
    for (int n = 0; n < all; ++n)
#pragma unroll
      for (int o = 0; o < 4; ++o)
#pragma unroll
        for (int c = 0; c < C; ++c)
          if (holds(n, o)) f[at(n, o) + c] = raw[n].value(o * C + c, shift, zero[c]);
  }
};

/// How one thread reads the rows of its window.
template <class Sample, int C, int width>
struct Window1D {
  using Shape = WindowShape<Sample, C, width>;
  using Group = typename Shape::Group;
  static constexpr int all = Shape::all, pixels = Shape::pixels, samples = Shape::samples;

  const RegisterTileArgs& args;
  const SamplePlane& plane;
  const int x;  ///< this thread's first output pixel

  __device__ void load_inside(Group (&raw)[all], const PlaneView& view, int y) const {
    const Sample* from = row_of<Sample>(view, y) + static_cast<std::ptrdiff_t>(x - 4 * Shape::halo) * C;
#pragma unroll
    for (int n = 0; n < all; ++n) raw[n].load(from + 4 * n * C);
  }
  __device__ void convert(float (&f)[samples], const Group (&raw)[all]) const {
    Shape::convert(f, raw, plane.zero, args.numbers.shift);
  }
  /// The columns that stand in for this thread's own where its window crosses a side of the frame; -1: ghost cells.
  __device__ void find_columns(int (&column)[pixels]) const {
#pragma unroll
    for (int k = 0; k < pixels; ++k) {
      column[k] = x - Shape::radius + k;
      if (static_cast<unsigned>(column[k]) >= plane.width)
        column[k] = folded_index(args.border, column[k], plane.width);
    }
  }
  /// Any row, any place; `whole`: columns of no interest, vectors may be loaded.
  __device__ void load_anywhere(float (&f)[samples], const PlaneView& view, int y, bool whole,
                                const int (&column)[pixels]) const {
    if (static_cast<unsigned>(y) >= plane.height) y = folded_index(args.border, y, plane.height);
    if (y < 0 || !view.data) {
#pragma unroll
      for (int i = 0; i < samples; ++i) f[i] = plane.ghost[i % C];
    } else if (whole) {
      Group raw[all];
      load_inside(raw, view, y);
      convert(f, raw);
    } else {
      const Sample* row = row_of<Sample>(view, y);
#pragma unroll
      for (int i = 0; i < samples; ++i) {
        const int from = column[i / C];
        f[i] = from < 0 ? plane.ghost[i % C]
                        : static_cast<float>(one_value(__ldg(row + static_cast<std::ptrdiff_t>(from) * C + i % C),
                                                       args.numbers.shift)) -
                              plane.zero[i % C];
      }
    }
  }
};

/// One thread's tile of outputs.
template <class Sample, int C, int width>
struct RegisterTile {
  static constexpr int rows = register_rows(sizeof(Sample), C, width);
  using Window = Window1D<Sample, C, width>;
  static constexpr int samples = 4 * Window::Shape::groups * C;
  float sum[rows][samples];

  __device__ void clear() {
#pragma unroll
    for (int j = 0; j < rows; ++j)
#pragma unroll
      for (int i = 0; i < samples; ++i) sum[j][i] = 0;
  }
  /// Adds a row of the window, times a row of coefficients, to row j.
  __device__ void add(int j, const float* taps, const float (&f)[Window::samples]) {
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const float tap = taps[k];
#pragma unroll
      for (int i = 0; i < samples; ++i) sum[j][i] = fmaf(tap, f[i + k * C], sum[j][i]);
    }
  }
};

/// A row of every combined frame, weighed and added up, for windows inside the frame: several loads at once.
template <class Sample, int C, int width>
__device__ __forceinline__ void combine_inside(float (&f)[Window1D<Sample, C, width>::samples],
                                               const Window1D<Sample, C, width>& window, const RegisterTileArgs& args,
                                               int p, int y) {
  using Window = Window1D<Sample, C, width>;
  constexpr int batch = register_batch(sizeof(Sample), C);
#pragma unroll
  for (int i = 0; i < Window::samples; ++i) f[i] = 0;
#pragma unroll 1
  for (int t = 0; t < args.combined; t += batch) {
    typename Window::Group raw[batch][Window::all];
#pragma unroll
    for (int k = 0; k < batch; ++k)
      if (t + k < args.combined) window.load_inside(raw[k], args.in[t + k][p], y);
#pragma unroll
    for (int k = 0; k < batch; ++k)
      if (t + k < args.combined) {
        float g[Window::samples];
        window.convert(g, raw[k]);
        const float weight = args.time[t + k];
#pragma unroll
        for (int i = 0; i < Window::samples; ++i) f[i] = fmaf(weight, g[i], f[i]);
      }
  }
}

/// Any number of filter rows and frames, any place.
template <class Sample, int C, int width>
__device__ __forceinline__ void stream_rows(RegisterTile<Sample, C, width>& tile,
                                            const Window1D<Sample, C, width>& window, const RegisterTileArgs& args,
                                            int p, int top, bool inside) {
  using Window = Window1D<Sample, C, width>;
  constexpr int rows = RegisterTile<Sample, C, width>::rows;
  const int last = args.height + rows - 1, start = top - args.centre_y;
  const bool simple = inside && args.combined == 1;
  bool whole = true;
  int column[Window::pixels];
  typename Window::Group next[Window::all];
  if (simple) {
    window.load_inside(next, args.in[0][p], start);
  } else if (!inside) {
    whole = args.grid[p].vectors && window.x >= 4 * Window::Shape::halo &&
            window.x + 4 * (Window::Shape::groups + Window::Shape::halo) <= window.plane.width;
    if (!whole) window.find_columns(column);
  }
  const float* taps = args.taps;
#pragma unroll 1
  for (int t = 0; t < args.sums; ++t, taps += args.height * width)
#pragma unroll 1
    for (int i = 0; i < last; ++i) {
      float f[Window::samples];
      if (simple) {
        window.convert(f, next);
        if (i + 1 < last)
          window.load_inside(next, args.in[t][p], start + i + 1);
        else if (t + 1 < args.sums)
          window.load_inside(next, args.in[t + 1][p], start);
      } else if (inside) {
        combine_inside<Sample, C, width>(f, window, args, p, start + i);
      } else {
        window.load_anywhere(f, args.in[t][p], start + i, whole, column);
        if (args.combined > 1) {
#pragma unroll
          for (int k = 0; k < Window::samples; ++k) f[k] *= args.time[0];
#pragma unroll 1
          for (int c = 1; c < args.combined; ++c) {
            float g[Window::samples];
            window.load_anywhere(g, args.in[c][p], start + i, whole, column);
#pragma unroll
            for (int k = 0; k < Window::samples; ++k) f[k] = fmaf(args.time[c], g[k], f[k]);
          }
        }
      }
#pragma unroll
      for (int j = 0; j < rows; ++j)
        if (i >= j && i - j < args.height) tile.add(j, taps + (i - j) * width, f);
    }
}

/// The place of block `i` of a grid whose edges come first: they take the longest, and the rest hides them.
__device__ __forceinline__ int2 perimeter_first(int i, int columns, int rows) {
  if (columns < 3 || rows < 3) return {i % columns, i / columns};
  if (i < columns) return {i, 0};
  if (i < 2 * columns) return {i - columns, rows - 1};
  i -= 2 * columns;
  if (i < 2 * (rows - 2)) return {(i & 1) * (columns - 1), 1 + (i >> 1)};
  i -= 2 * (rows - 2);
  return {1 + i % (columns - 2), 1 + i / (columns - 2)};
}

template <class Sample, int C, int width>
__device__ __forceinline__ void filter_register_tile(const RegisterTileArgs& args, int p) {
  using Own = RegisterTile<Sample, C, width>;
  using Window = Window1D<Sample, C, width>;
  using Shape = typename Window::Shape;
  using Group = typename Shape::Group;
  constexpr int span = Shape::span;
  const SamplePlane& plane = args.plane[p];
  const RegisterTilePlane& grid = args.grid[p];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int2 block = perimeter_first(blockIdx.x - grid.first_block, grid.blocks_x, grid.blocks_y);
  const int warp_x = block.x * 32 * span, x = warp_x + lane * span;
  const int top = (block.y * register_warps + warp) * Own::rows;
  if (x >= plane.width || top >= plane.height) return;
  // All lanes of a warp agree on `inside`.
  const bool inside = grid.vectors && warp_x >= 4 * Shape::halo &&
                      warp_x + 32 * span + 4 * Shape::halo <= plane.width && top >= args.centre_y &&
                      top - args.centre_y + args.height + Own::rows - 1 <= plane.height;
  const Window window{args, plane, x};
  Own tile;
  tile.clear();
  stream_rows<Sample, C, width>(tile, window, args, p, top, inside);

  const PlaneView& out = args.out[p];
  const PlaneView& centre = args.in[args.centre_t][p];
#pragma unroll
  for (int j = 0; j < Own::rows; ++j) {
    if (top + j >= plane.height) break;
#pragma unroll
    for (int n = 0; n < Shape::groups; ++n) {
      const int left = x + 4 * n;
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(left) * C;
      Sample* to = row_of<Sample>(out, top + j) + at;
      const Sample* from = row_of<Sample>(centre, top + j) + at;
      Group group = quantized<Group, C, false>(tile.sum[j] + 4 * C * n, plane.offset, args.numbers);
      const bool vectors = grid.vectors && left + 4 <= plane.width;
      if (plane.has_passthrough) {
        Group raw;
        if (vectors)
          raw.load(from);
        else
          for (int i = 0; i < min(4, plane.width - left) * C; ++i) raw.put_one(i, from[i]);
        group.take(raw, plane.passthrough);
      }
      if (vectors && grid.out_vectors) {
        group.store(to);
      } else {
#pragma unroll
        for (int i = 0; i < 4 * C; ++i)
          if (left + i / C < plane.width) to[i] = group.one(i);
      }
    }
  }
}

template <class Sample, PlaneMix mix, int width>
__global__ void __launch_bounds__(32 * register_warps, register_blocks(sizeof(Sample), max_components_of(mix), width))
    register_tile_kernel(const __grid_constant__ RegisterTileArgs args) {
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.grid[p + 1].first_block) ++p;
  by_components<mix>(args.plane[p].components, [&](auto C) { filter_register_tile<Sample, C, width>(args, p); });
}

}  // namespace convolve::cuda
