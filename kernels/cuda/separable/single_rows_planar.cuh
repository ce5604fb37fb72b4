// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row pass of separable's kernel in single precision, of two and four components of 16 bits and filters of rank 1:
// as single_rows.cuh has it, but a row lies in shared memory component by component. A lane loads eight samples, of all
// components, and filters eight of one, so that its taps meet 8 + 2 * radius floats; of interleaved samples they would
// meet 8 + 2 * C * radius.
//
//   four components    loads      lane 0: p0 p1     lane 1: p2 p3     ...        16 lanes, 32 pixels
//                      filters    lane 4c + j: component c of pixels 8j .. 8j + 7
//                      `passed`   p0 p8 p16 p24  p1 p9 p17 p25  p2 ...           four floats each
//   two                loads      lane 0: p0 .. p3  ...                          16 lanes, 64 pixels
//                      filters    lane 2j + c: component c of pixels 8j .. 8j + 7
//                      `passed`   p0 p1  p8 p9  p16 p17 ...  p2 p3  p10 p11 ...  two floats each
//
// Of `passed`, an even pixel and the next odd one change places in odd rows (p0 p8 p16 p24 and p1 p9 p17 p25; p0 and
// p1): half warps, which write neighbouring rows, meet different banks then.
#pragma once

#include "cuda/separable/single_rows.cuh"

namespace convolve::cuda {

/// A row of a tile, as floats, each component by itself.
template <int C, int width>
struct PlanarRow {
  static constexpr int radius = width / 2, pixels = SingleTile::width / C;
  static constexpr int margin = (radius + 3) / 4 * 4;  ///< pixels either side, of which the inner ones are used
  /// From component to component: lanes that read two at once meet different banks.
  static constexpr int plane = pixels + 2 * margin + 4, floats = C * plane;
  static_assert(plane % 8 == 4 && 2 * radius <= 16);
  static constexpr int first = margin - radius, window = 8 + 2 * radius;  ///< of what a lane's taps meet
};

/// A row as its taps leave it.
template <int C>
struct PlanarPassedRow {
  /// The group of four samples of the row that a lane of the column pass takes.
  static __device__ constexpr int group_of(int lane) {
    return C == 4 ? 8 * (lane & 3) + (lane >> 2) : 4 * (lane & 7) + (lane >> 3);
  }
  static __device__ __forceinline__ float4 load(const float* row, int lane, bool odd) {
    const float4 v = *reinterpret_cast<const float4*>(row + 4 * (C == 4 && odd ? lane ^ 4 : lane));
    return C == 2 && odd ? float4{v.z, v.w, v.x, v.y} : v;
  }
  /// Where pixel n of a lane's eight lies in an even row, from the first on; in an odd row `swap` farther, or nearer.
  static __device__ constexpr int at(int n) { return C == 4 ? 16 * n : 32 * (n / 2) + 2 * (n % 2); }
  static constexpr int swap = C == 4 ? 16 : 2;
};

/// How a lane reads the samples of the tile's sides: some, or a pixel, which is one load in the place of three or more.
template <int C, int width>
struct PlanarSides {
  static constexpr int few = (2 * (width / 2) * C - 1) / 16 + 1;
  static constexpr bool by_pixel = C == 4 && few >= 3;
  static constexpr int extras = by_pixel ? C : few, places = by_pixel ? 1 : extras;
};

/// `copying`: some components are copied. Of those a row passes on its samples in the place of sums.
template <class Sample, int C, int width, int terms, bool copying = false>
struct RowPassPlanar : RowReader<Sample, C, width, PlanarSides<C, width>::extras> {
  using Row = PlanarRow<C, width>;
  using Passed = PlanarPassedRow<C>;
  using Sides = PlanarSides<C, width>;
  using Reader = RowReader<Sample, C, width, Sides::extras>;
  using Reader::args, Reader::plane, Reader::cells, Reader::lane, Reader::lanes, Reader::span, Reader::side,
      Reader::radius, Reader::ghosts, Reader::zero;
  static constexpr bool by_pixel = Sides::by_pixel, copies = copying, has_inner = true;
  static constexpr int extras = Sides::extras, places = Sides::places;
  /// A lane's samples of a row, on their way.
  struct Samples : Reader::OwnSamples {
    PixelGroup<Sample, 1, 4> pixel;
    Sample extra[extras];  ///< where it is not by_pixel
  };
  int extra[places], extra_cell[places];
  float extra_zero;
  bool copied = false;    ///< the component that this lane filters
  float copy_factor = 1;  ///< what turns its samples into what row passes leave of others'

  __device__ __forceinline__ RowPassPlanar(const SingleArgs& args, int p, float* passed, float* cells,
                                           const int* position, int left, int top, int rows, bool inside)
      : Reader(args, p, passed, cells, position, left, top, rows, inside) {
#pragma unroll
    for (int k = 0; k < places; ++k) {
      const int n = by_pixel ? C * min(lane, 2 * radius - 1) : min(lane + lanes * k, 2 * side - 1), pixel = n / C;
      const int from = position[n < side ? n : n + SingleTile::width];
      if (from < 0) ghosts |= 1u << (span + k);
      extra[k] = max(from, 0);
      extra_cell[k] = n % C * Row::plane + (pixel < radius ? Row::first : Row::margin + Row::pixels - radius) + pixel;
    }
    extra_zero = plane.zero[lane % C];
    if constexpr (copies) copied = args.component[lane >> 2].copied;
    if constexpr (copies && is_subnormal<Sample>)
      if (args.frames == 1) copy_factor = unshifted_factor;  // of several frames their weights have it
  }

  /// Row i of a frame.
  template <bool inner>
  __device__ __forceinline__ void load(Samples& to, const PlaneView& view, int i) const {
    const Sample* row = this->template load_own<inner>(to, view, i);
    if (by_pixel && (inner || args.grid[this->p].vectors))
      to.pixel.load(row + extra[0]);
    else
#pragma unroll
      for (int k = 0; k < extras; ++k) {
        if (by_pixel)
          to.pixel.put_one(k, load_one(row + extra[0] + k));
        else
          to.extra[k] = load_one(row + extra[k]);
      }
  }
  /// As floats less their zero level.
  template <bool inner>
  __device__ __forceinline__ void convert(float (&f)[span], float (&g)[extras], const Samples& from) const {
    const int shift = args.numbers.shift;
    this->convert_own(f, from);
    auto pixel = from.pixel;
    if constexpr (by_pixel && is_subnormal<Sample>) pixel.clear_padding(padding_mask(shift));
#pragma unroll
    for (int k = 0; k < extras; ++k)
      g[k] = by_pixel ? pixel.value(k, shift, zero[k % C]) : float_of(from.extra[k], shift, extra_zero);
    if (!inner && from.ghosts) {
      this->put_own_ghosts(f, from.ghosts);
#pragma unroll
      for (int k = 0; k < extras; ++k)
        if (from.ghosts >> (span + (by_pixel ? 0 : k)) & 1) g[k] = plane.ghost[by_pixel ? k : lane % C];
    }
  }
  __device__ __forceinline__ void put(const float (&f)[span], const float (&g)[extras]) const {
#pragma unroll
    for (int c = 0; c < C; ++c)
      if constexpr (C == 4)
        *reinterpret_cast<float2*>(cells + c * Row::plane + Row::margin + 2 * lane) = {f[c], f[4 + c]};
      else
        *reinterpret_cast<float4*>(cells + c * Row::plane + Row::margin + 4 * lane) = {f[c], f[2 + c], f[4 + c],
                                                                                       f[6 + c]};
#pragma unroll
    for (int k = 0; k < extras; ++k)
      if (by_pixel) {
        if (lane < 2 * radius) cells[extra_cell[0] + k * Row::plane] = g[k];
      } else if (lane + lanes * k < 2 * side) {
        cells[extra_cell[k]] = g[k];
      }
  }
  /// Filters the row that is in the cells.
  __device__ __forceinline__ void filter(int i) const {
    const int j = C == 4 ? lane & 3 : lane >> 1, c = C == 4 ? lane >> 2 : lane & 1;
    const float* const from = cells + c * Row::plane + 8 * j;
    float h[terms][span] = {}, own[span];
    add_row_products<Row, 1, width>(h, args, [&](int q) {
      const float4 v = *reinterpret_cast<const float4*>(from + 4 * q);
      if constexpr (copies) {
        const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (const int n = 4 * q + e - Row::margin; n >= 0 && n < span) own[n] = four[e];
      }
      return v;
    });
    if constexpr (copies) {
#pragma unroll
      for (int n = 0; n < span; ++n) h[0][n] = !copied ? h[0][n] : is_subnormal<Sample> ? own[n] * copy_factor : own[n];
    }
    const int swap = threadIdx.x & lanes ? Passed::swap : 0;  // odd rows are the second half warp's
#pragma unroll
    for (int r = 0; r < terms; ++r) {
      float* const to = this->passed + (r * (single_rows(terms) + 2 * radius) + i) * PassedRow::floats + 4 * j + c;
#pragma unroll
      for (int n = 0; n < span; ++n) to[Passed::at(n) + (n % 2 == 0 ? swap : -swap)] = h[r][n];
    }
  }
};

}  // namespace convolve::cuda
