// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row pass of separable's kernel in single precision; of two and four components of 16 bits it is that of
// single_rows_planar.cuh. Half a warp takes a row of the tile, adds up the window's frames while it loads them, shares
// its samples through shared memory and filters it. A filter of rank 2 or 3 is a sum of so many products: a row is
// filtered by the row factors of all at once. A row is samples of any component: horizontal taps lie C samples apart.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/limits.hpp"
#include "cuda/common/pixels.cuh"
#include "cuda/separable/single.hpp"
#include "cuda/separable/tuning.hpp"

namespace convolve::cuda {

/// A row of a tile, as floats: each lane's span, and either side what the filter reaches. A span's two groups of four
/// floats lie in two planes, so that lanes that read or write the same group of theirs do so in different banks.
template <int C, int width>
struct SingleRow {
  static constexpr int span = 8, lanes = SingleTile::width / span, radius = width / 2 * C;
  static constexpr int sides = (radius + span - 1) / span;  ///< spans either side, the outermost in part
  static constexpr int plane = span / 2 * (lanes + 2 * sides), floats = 2 * plane;
  static constexpr int first = span * sides - radius, window = span + 2 * radius;  ///< of what a lane's taps meet
  static constexpr int reached = SingleTile::width + 2 * radius;
  static constexpr int extras = (2 * radius - 1) / lanes + 1;  ///< samples of the sides, for a lane
  static_assert(lanes == 16);
  /// The offset of group g of four floats.
  static __device__ constexpr int at(int g) { return (g & 1) * plane + (g >> 1) * 4; }
};

/// A row as its taps leave it, likewise without sides.
struct PassedRow {
  static constexpr int plane = SingleTile::width / 2, floats = SingleTile::width;
  /// Group q of a lane of the row pass.
  static __device__ constexpr int at(int lane, int q) { return q * plane + 4 * lane; }
  /// The group of the row that a lane of the column pass takes.
  static __device__ constexpr int group_of(int lane) { return lane < 16 ? 2 * lane : 2 * (lane - 16) + 1; }
  static __device__ __forceinline__ float4 load(const float* row, int lane, bool) {
    return *reinterpret_cast<const float4*>(row + 4 * lane);
  }
};

/// The sample that stands at position `at` of a row of `width` pixels, or -1. Farther out than any tap: any.
template <int C>
__device__ __forceinline__ int outer_sample(Border border, int at, int width) {
  if (at >= 0 && at < width * C) return at;
  const int pixel = (at + C * max_taps) / C - max_taps;
  const int x = index_at(border, min(pixel, width - 1 + max_taps), width);
  return x < 0 ? x : (x - pixel) * C + at;
}

/// What the row passes share: where a half warp stands in a tile, and how a lane reads its own eight samples of a row.
/// Beside those a lane reads `extras` samples of the tile's sides, which each pass arranges by itself.
template <class Sample, int C, int width, int extras>
struct RowReader {
  static constexpr int span = 8, lanes = 16, radius = width / 2, side = radius * C;  ///< side: samples either side
  static constexpr unsigned all_ghosts = (1u << (span + extras)) - 1;
  /// A lane's own samples of a row, on their way.
  struct OwnSamples {
    PixelGroup<Sample, 1, span> own;
    unsigned ghosts;  ///< which of them and of the extras are, its own ones first
  };
  const SingleArgs& args;
  const int p;
  const SamplePlane& plane;
  float* const passed;
  float* const cells;         ///< of the row at hand
  const int* const position;  ///< of the samples that a row reaches, -1: ghosts
  const int lane, top, rows;  ///< the first of the tile's rows, and how many its columns reach
  int own;                    ///< where this lane's span begins
  bool whole;                 ///< it may be read at once
  unsigned ghosts = 0;
  float zero[C] = {};

  __device__ __forceinline__ RowReader(const SingleArgs& args, int p, float* passed, float* cells, const int* position,
                                       int left, int top, int rows, bool inside)
      : args(args),
        p(p),
        plane(args.plane[p]),
        passed(passed),
        cells(cells),
        position(position),
        lane(threadIdx.x & (lanes - 1)),
        top(top),
        rows(rows) {
    own = left + span * lane;
    whole = args.grid[p].vectors && own + span <= plane.width * C;
    if (!inside)
#pragma unroll
      for (int n = 0; n < span; ++n) ghosts |= static_cast<unsigned>(at_own(n) < 0) << n;
    if constexpr (!std::is_floating_point_v<Sample> && !is_subnormal<Sample>)
#pragma unroll
      for (int c = 0; c < C; ++c) zero[c] = plane.zero[c];
  }
  __device__ __forceinline__ int at_own(int n) const {
    return position[side + span * lane + n];
  }

  /// Starts to load this lane's own samples of row i of a frame. Returns the row; of one of ghosts, any. `inner`: all
  /// that the tile reaches is in the frame, and may be read at once.
  template <bool inner>
  __device__ __forceinline__ const Sample* load_own(OwnSamples& to, const PlaneView& view, int i) const {
    int y = top - radius + i;
    if constexpr (inner) {
      const Sample* row = row_of<const Sample>(view, y);
      to.own.load(row + own);
      return row;
    }
    to.ghosts = ghosts;
    if (static_cast<unsigned>(y) >= static_cast<unsigned>(plane.height)) {
      y = index_at(args.border, y, plane.height);
      if (y < 0) to.ghosts = all_ghosts;
      y = max(y, 0);
    }
    const Sample* row = row_of<const Sample>(view, y);
    if (whole)
      to.own.load(row + own);
    else
#pragma unroll
      for (int n = 0; n < span; ++n) to.own.put_one(n, load_one(row + max(at_own(n), 0)));
    return row;
  }
  /// Turns what was read into floats less their zero level; put_own_ghosts() then has those that are ghosts.
  __device__ __forceinline__ void convert_own(float (&f)[span], const OwnSamples& from) const {
    auto samples = from.own;
    if constexpr (is_subnormal<Sample>) samples.clear_padding(padding_mask(args.numbers.shift));
#pragma unroll
    for (int n = 0; n < span; ++n) f[n] = samples.value(n, args.numbers.shift, zero[n % C]);
  }
  __device__ __forceinline__ void put_own_ghosts(float (&f)[span], unsigned which) const {
#pragma unroll
    for (int n = 0; n < span; ++n)
      if (which >> n & 1) f[n] = plane.ghost[n % C];
  }
};

/// Adds up the products of all terms' row factors with what a lane's taps meet. `load`(q): group q of four floats of
/// that. `step`: floats from one tap to the next.
template <class Row, int step, int width, int terms, class Load>
__device__ __forceinline__ void add_row_products(float (&h)[terms][8], const SingleArgs& args, const Load& load) {
#pragma unroll
  for (int q = Row::first / 4; q <= (Row::first + Row::window - 1) / 4; ++q) {
    const float4 v = load(q);
    const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int e = 0; e < 4; ++e)
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        const int distance = 4 * q + e - Row::first - n;
        if (distance >= 0 && distance % step == 0 && distance / step < width)
#pragma unroll
          for (int r = 0; r < terms; ++r) h[r][n] = fmaf(args.row[r][distance / step], four[e], h[r][n]);
      }
  }
}

/// The row pass: from the frames to `passed`, all rows of a term before those of the next. What takes a half warp from
/// row to row is below.
template <class Sample, int C, int width, int terms>
struct RowPass : RowReader<Sample, C, width, SingleRow<C, width>::extras> {
  using Row = SingleRow<C, width>;
  using Reader = RowReader<Sample, C, width, Row::extras>;
  using Reader::args, Reader::plane, Reader::cells, Reader::lane, Reader::lanes, Reader::span, Reader::ghosts;
  static constexpr bool copies = false, has_inner = sizeof(Sample) == 2 && terms == 1;
  static constexpr int extras = Row::extras;
  /// A lane's samples of a row, on their way.
  struct Samples : Reader::OwnSamples {
    Sample extra[extras];
  };
  int extra[extras], extra_cell[extras];
  float extra_zero[extras] = {};

  __device__ __forceinline__ RowPass(const SingleArgs& args, int p, float* passed, float* cells, const int* position,
                                     int left, int top, int rows, bool inside)
      : Reader(args, p, passed, cells, position, left, top, rows, inside) {
#pragma unroll
    for (int k = 0; k < extras; ++k) {
      const int n = min(lane + lanes * k, 2 * Row::radius - 1), beyond = n < Row::radius ? n : n + SingleTile::width;
      const int from = position[beyond], cell = Row::first + beyond;
      if (from < 0) ghosts |= 1u << (span + k);
      extra[k] = max(from, 0);
      extra_cell[k] = Row::at(cell / 4) + cell % 4;
    }
    if constexpr (!std::is_floating_point_v<Sample> && !is_subnormal<Sample>)
#pragma unroll
      for (int k = 0; k < extras; ++k) extra_zero[k] = plane.zero[component_of(k)];
  }
  /// Tiles begin with the first component, or with any where all are alike.
  __device__ __forceinline__ int component_of(int k) const {
    return C == 3 ? 0 : extra_cell[k] % C;
  }
  /// Sample k of the sides is this lane's. Others know of one that is not theirs.
  __device__ __forceinline__ bool has_extra(int k) const {
    return lane + lanes * k < 2 * Row::radius;
  }
  /// Group g, counted from this lane's leftmost.
  __device__ __forceinline__ float4* group(int g) const {
    return reinterpret_cast<float4*>(cells + 4 * lane + Row::at(g));
  }

  /// Row i of a frame.
  template <bool inner>
  __device__ __forceinline__ void load(Samples& to, const PlaneView& view, int i) const {
    const Sample* row = this->template load_own<inner>(to, view, i);
#pragma unroll
    for (int k = 0; k < extras; ++k) to.extra[k] = load_one(row + extra[k]);
  }
  /// Turns what was read into floats, and takes their zero level away.
  template <bool inner>
  __device__ __forceinline__ void convert(float (&f)[span], float (&g)[extras], const Samples& from) const {
    this->convert_own(f, from);
#pragma unroll
    for (int k = 0; k < extras; ++k) g[k] = float_of(from.extra[k], args.numbers.shift, extra_zero[k]);
    if (!inner && from.ghosts) {
      this->put_own_ghosts(f, from.ghosts);
#pragma unroll
      for (int k = 0; k < extras; ++k)
        if (from.ghosts >> (span + k) & 1) g[k] = plane.ghost[component_of(k)];
    }
  }
  static constexpr int own_group = 2 * Row::sides;  ///< as group() counts
  __device__ __forceinline__ void put(const float (&f)[span], const float (&g)[extras]) const {
#pragma unroll
    for (int q = 0; q < 2; ++q) *group(own_group + q) = {f[4 * q], f[4 * q + 1], f[4 * q + 2], f[4 * q + 3]};
#pragma unroll
    for (int k = 0; k < extras; ++k)
      if (has_extra(k)) cells[extra_cell[k]] = g[k];
  }
  /// Filters the row that is in the cells.
  __device__ __forceinline__ void filter(int i) const {
    float h[terms][span] = {};
    add_row_products<Row, C, width>(h, args, [&](int q) { return *group(q); });
#pragma unroll
    for (int r = 0; r < terms; ++r)
#pragma unroll
      for (int q = 0; q < 2; ++q)
        *reinterpret_cast<float4*>(this->passed + (r * (single_rows(terms) + width - 1) + i) * PassedRow::floats +
                                   PassedRow::at(lane, q)) = {h[r][4 * q], h[r][4 * q + 1], h[r][4 * q + 2],
                                                              h[r][4 * q + 3]};
  }
};

/// Rows that a block takes at a time, and this half warp's first.
constexpr int single_step = 2 * SingleTile::warps;
__device__ __forceinline__ int first_single_row() {
  return threadIdx.x / (32 / 2);
}

/// All rows of a tile of one frame, two of a warp's pairs under way. `inner_rows`: those of a tile that reaches beyond
/// no edge, which are known; else 0.
template <int inner_rows, bool inner = inner_rows != 0, class Pass>
__device__ __forceinline__ void filter_rows(const Pass& pass) {
  constexpr int step = single_step;
  const PlaneView view = pass.args.in[0][pass.p];
  const int i = first_single_row(), rows = inner ? inner_rows : pass.rows;
  typename Pass::Samples next[2];
  pass.template load<inner>(next[0], view, i);
  pass.template load<inner>(next[1], view, i + step);
  // Halves of a warp go on together, and past the last row: there is room.
#pragma unroll 1
  for (int n = 0; n < rows; n += 2 * step)
#pragma unroll
    for (int a = 0; a < 2; ++a) {
      const int at = n + a * step;
      if ((i & ~1) + at >= rows) break;
      float f[Pass::span], g[Pass::extras];
      pass.template convert<inner>(f, g, next[a]);
      __syncwarp();  // the row before has been read by all
      pass.put(f, g);
      if constexpr (inner)
        pass.template load<true>(next[a], view, min(i + at + 2 * step, rows - 1));
      else if ((i & ~1) + at + 2 * step < rows)
        pass.template load<false>(next[a], view, i + at + 2 * step);
      __syncwarp();
      pass.filter(i + at);
    }
}

/// Filters the rows of a tile that reaches nothing beyond the frame. Loads know no condition, for what is read under
/// one is waited for at once; the last ones may be of a row that was read before.
template <class Pass>
__device__ __forceinline__ void filter_inner_rows(const Pass& pass) {
  constexpr int step = single_step, all_rows = single_rows(1) + 2 * Pass::radius, steps = (all_rows - 1) / step + 1;
  const PlaneView view = pass.args.in[0][pass.p];
  const int i = first_single_row();
  typename Pass::Samples next[2];
  pass.template load<true>(next[0], view, i);
  pass.template load<true>(next[1], view, i + step);
#pragma unroll
  for (int n = 0; n < steps; ++n) {
    if (n == steps - 1 && (i & ~1) + n * step >= all_rows) break;
    float f[Pass::span], g[Pass::extras];
    pass.template convert<true>(f, g, next[n % 2]);
    __syncwarp();  // the row before has been read by all
    pass.put(f, g);
    if (n + 2 < steps) pass.template load<true>(next[n % 2], view, min(i + (n + 2) * step, all_rows - 1));
    __syncwarp();
    pass.filter(i + n * step);
  }
}

/// Filters rows of all frames, which are combined while they are loaded, two under way; missing ones are ghosts.
template <class Pass>
__device__ __forceinline__ void combine_rows(const Pass& pass) {
  int next_frame = 0, next_row = first_single_row();
  const auto load_next = [&](typename Pass::Samples& to) {
    if ((next_row & ~1) >= pass.rows) return;
    const PlaneView view = pass.args.in[next_frame][pass.p];
    to.ghosts = Pass::all_ghosts;
    if (view.data) pass.template load<false>(to, view, next_row);
    if (++next_frame == pass.args.frames) next_frame = 0, next_row += single_step;
  };
  typename Pass::Samples now, next;
  load_next(now);
  load_next(next);
#pragma unroll 1
  for (int i = first_single_row(); (i & ~1) < pass.rows; i += single_step) {
    float sum[Pass::span] = {}, side[Pass::extras] = {};
#pragma unroll 1
    for (int t = 0; t < pass.args.frames; ++t) {
      float f[Pass::span], g[Pass::extras];
      pass.template convert<false>(f, g, now);
      now = next;
      load_next(next);
      const float weight = pass.args.time[t];
#pragma unroll
      for (int n = 0; n < Pass::span; ++n) {
        const float own = Pass::copies ? pass.args.component[n % 4].time[t] : weight;
        sum[n] = fmaf(own, f[n], sum[n]);
      }
#pragma unroll
      for (int k = 0; k < Pass::extras; ++k) side[k] = fmaf(weight, g[k], side[k]);
    }
    __syncwarp();  // the row before has been read by all
    pass.put(sum, side);
    __syncwarp();
    pass.filter(i);
  }
}

/// Adds up frames of a tile that reaches nothing beyond the frame. Frames of all rows are one sequence, of which two
/// are under way: each step adds one and asks for the one after the next.
template <class Pass>
__device__ __forceinline__ void combine_inner_rows(const Pass& pass) {
  constexpr int all_rows = single_rows(1) + 2 * Pass::radius;
  const int frames = pass.args.frames;
  int next_frame = 0, next_row = first_single_row(), t = 0, i = first_single_row();
  const auto load_next = [&](typename Pass::Samples& to) {
    pass.template load<true>(to, pass.args.in[next_frame][pass.p], min(next_row, all_rows - 1));
    ++next_frame;
    next_row += next_frame == frames ? single_step : 0;
    next_frame = next_frame == frames ? 0 : next_frame;
  };
  float sum[Pass::span] = {}, side[Pass::extras] = {};
  const auto add = [&](typename Pass::Samples& samples) {
    float f[Pass::span], g[Pass::extras];
    pass.template convert<true>(f, g, samples);
    load_next(samples);
    const float weight = pass.args.time[t];
#pragma unroll
    for (int n = 0; n < Pass::span; ++n)
      sum[n] = fmaf(Pass::copies ? pass.args.component[n % 4].time[t] : weight, f[n], sum[n]);
#pragma unroll
    for (int k = 0; k < Pass::extras; ++k) side[k] = fmaf(weight, g[k], side[k]);
    if (++t < frames) return false;
    __syncwarp();  // the row before has been read by all
    pass.put(sum, side);
    __syncwarp();
    pass.filter(i);
#pragma unroll
    for (int n = 0; n < Pass::span; ++n) sum[n] = 0;
#pragma unroll
    for (int k = 0; k < Pass::extras; ++k) side[k] = 0;
    t = 0, i += single_step;
    return (i & ~1) >= all_rows;
  };
  typename Pass::Samples one, other;
  load_next(one);
  load_next(other);
  while (!add(one) && !add(other)) {
  }
}

/// All rows of a tile. `inner`: it reaches beyond no edge; `Pass::has_inner`: that is worth a path of its own.
template <SingleFrames frames, class Pass>
__device__ __forceinline__ void pass_rows(const Pass& pass, bool inner) {
  if (frames == SingleFrames::several && Pass::has_inner && inner)
    combine_inner_rows(pass);
  else if (frames == SingleFrames::several || (frames == SingleFrames::any && pass.args.frames > 1))
    combine_rows(pass);
  else if (Pass::has_inner && inner)
    filter_inner_rows(pass);
  else
    filter_rows<0>(pass);
}

}  // namespace convolve::cuda
