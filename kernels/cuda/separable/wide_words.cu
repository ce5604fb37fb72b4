// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for 16-bit samples and 16 to 31 taps an axis, one frame of rank 1: the kernel of single.cuh, samples being
// read as subnormal floats, but for its tile. A row of the tile is filtered by half a warp and stays in shared memory
// as floats; then each warp filters the columns of 16 rows, for which 46 rows are read once. Two blocks of 158 rows
// each are resident: a tile of 64 rows would filter half as many again beyond its own.
#include <algorithm>

#include "cuda/separable/single.cuh"
#include "cuda/separable/wide_words.hpp"

namespace convolve::cuda {
namespace {

/// A row of a tile, and how lanes of the column pass find theirs, by the components of a pixel.
template <int C, int width>
struct WideRow {
  using Passed = PassedRow;
  static constexpr int floats = SingleRow<1, width>::floats;
};
/// Of two components each lies by itself, as in single_rows_planar.cuh.
template <int width>
struct WideRow<2, width> {
  using Passed = PlanarPassedRow<2>;
  static constexpr int radius = width / 2, pixels = SingleTile::width / 2, margin = (radius + 3) / 4 * 4;
  static constexpr int plane = pixels + 2 * margin + 4, floats = 2 * plane;
  static_assert(plane % 8 == 4);  // lanes that read either component at once meet different banks
  static constexpr int first = margin - radius, window = 8 + 2 * radius;  ///< of what a lane's taps meet
};

/// Adds up the products of the row's taps with what a lane's taps meet, from float `first` on. load(q): four of them.
template <int first, int width, class Load>
__device__ __forceinline__ void add_wide_products(float (&h)[8], const WideArgs& wide, const Load& load) {
#pragma unroll
  for (int q = first / 4; q <= (first + width + 6) / 4; ++q) {
    const float4 v = load(q);
    const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int e = 0; e < 4; ++e)
#pragma unroll
      for (int n = 0; n < 8; ++n)
        if (const int tap = 4 * q + e - first - n; tap >= 0 && tap < width) h[n] = fmaf(wide.row[tap], four[e], h[n]);
  }
}

/// The row pass, its taps being those of WideArgs.
template <int C, int width>
struct WidePass : RowPass<SubnormalWord, 1, width, 1> {
  using Base = RowPass<SubnormalWord, 1, width, 1>;
  static constexpr int rows_of_tile = WideTile::rows + 2 * (width / 2);
  const WideArgs& wide;

  __device__ __forceinline__ WidePass(const WideArgs& wide, int p, float* passed, float* cells, const int* position,
                                      int left, int top, int rows, bool inside)
      : Base(wide.single, p, passed, cells, position, left, top, rows, inside), wide(wide) {}

  /// Filters the row that is in the cells.
  __device__ __forceinline__ void filter(int i) const {
    float h[8] = {};
    add_wide_products<Base::Row::first, width>(h, wide, [&](int q) { return *this->group(q); });
#pragma unroll
    for (int q = 0; q < 2; ++q)
      *reinterpret_cast<float4*>(this->passed + i * PassedRow::floats + PassedRow::at(this->lane, q)) = {
          h[4 * q], h[4 * q + 1], h[4 * q + 2], h[4 * q + 3]};
  }
};

/// The samples of the sides that a lane reads.
template <int width>
constexpr int extras_of_pairs = (4 * (width / 2) - 1) / 16 + 1;

/// Of two components: as RowPassPlanar.
template <int width>
struct WidePass<2, width> : RowReader<SubnormalWord, 2, width, extras_of_pairs<width>> {
  using Base = RowReader<SubnormalWord, 2, width, extras_of_pairs<width>>;
  using Row = WideRow<2, width>;
  using Base::cells, Base::lane, Base::lanes, Base::span, Base::side, Base::radius;
  static constexpr int extras = extras_of_pairs<width>, rows_of_tile = WideTile::rows + 2 * radius;
  /// A lane's samples of a row, on their way.
  struct Samples : Base::OwnSamples {
    SubnormalWord extra[extras];
  };
  const WideArgs& wide;
  int extra[extras], extra_cell[extras];

  __device__ __forceinline__ WidePass(const WideArgs& wide, int p, float* passed, float* cells, const int* position,
                                      int left, int top, int rows, bool inside)
      : Base(wide.single, p, passed, cells, position, left, top, rows, inside), wide(wide) {
#pragma unroll
    for (int k = 0; k < extras; ++k) {
      const int n = min(lane + lanes * k, 2 * side - 1), pixel = n / 2;
      const int from = position[n < side ? n : n + SingleTile::width];
      if (from < 0) this->ghosts |= 1u << (span + k);
      extra[k] = max(from, 0);
      extra_cell[k] = n % 2 * Row::plane + (pixel < radius ? Row::first : Row::margin + Row::pixels - radius) + pixel;
    }
  }

  template <bool inner>
  __device__ __forceinline__ void load(Samples& to, const PlaneView& view, int i) const {
    const SubnormalWord* row = this->template load_own<inner>(to, view, i);
#pragma unroll
    for (int k = 0; k < extras; ++k) to.extra[k] = load_one(row + extra[k]);
  }
  template <bool inner>
  __device__ __forceinline__ void convert(float (&f)[span], float (&g)[extras], const Samples& from) const {
    this->convert_own(f, from);
#pragma unroll
    for (int k = 0; k < extras; ++k) g[k] = float_of(from.extra[k], this->args.numbers.shift, 0.f);
    if (!inner && from.ghosts) {
      this->put_own_ghosts(f, from.ghosts);
#pragma unroll
      for (int k = 0; k < extras; ++k)
        if (from.ghosts >> (span + k) & 1) g[k] = this->plane.ghost[lane % 2];
    }
  }
  __device__ __forceinline__ void put(const float (&f)[span], const float (&g)[extras]) const {
#pragma unroll
    for (int c = 0; c < 2; ++c)
      *reinterpret_cast<float4*>(cells + c * Row::plane + Row::margin + 4 * lane) = {f[c], f[2 + c], f[4 + c],
                                                                                     f[6 + c]};
#pragma unroll
    for (int k = 0; k < extras; ++k)
      if (lane + lanes * k < 2 * side) cells[extra_cell[k]] = g[k];
  }
  /// Filters the row that is in the cells.
  __device__ __forceinline__ void filter(int i) const {
    using Passed = typename Row::Passed;
    const int j = lane >> 1, c = lane & 1;
    const float* const from = cells + c * Row::plane + 8 * j;
    float h[span] = {};
    add_wide_products<Row::first, width>(h, wide,
                                         [&](int q) { return *reinterpret_cast<const float4*>(from + 4 * q); });
    const int swap = threadIdx.x & lanes ? Passed::swap : 0;  // odd rows are the second half warp's
    float* const to = this->passed + i * PassedRow::floats + 4 * j + c;
#pragma unroll
    for (int n = 0; n < span; ++n) to[Passed::at(n) + (n % 2 == 0 ? swap : -swap)] = h[n];
  }
};

template <int C, int width>
constexpr int wide_shared() {
  return (WideTile::rows + width - 1) * PassedRow::floats + 2 * SingleTile::warps * WideRow<C, width>::floats +
         SingleTile::width + 2 * C * (width / 2);
}

template <int C, int width>
__device__ __forceinline__ void filter_wide_tile(const WideArgs& wide, int p, float* shared) {
  using Row = WideRow<C, width>;
  using Passed = typename Row::Passed;
  constexpr int radius = width / 2, side = C * radius, reached = SingleTile::width + 2 * side, made = WideTile::made,
                passed_rows = WideTile::rows + 2 * radius;
  const SingleArgs& args = wide.single;
  const SamplePlane& plane = args.plane[p];
  const SinglePlane& grid = args.grid[p];
  const int tile = blockIdx.x - grid.first_block, tile_y = tile / grid.tiles_x;
  const int left = (tile - tile_y * grid.tiles_x) * SingleTile::width, top = tile_y * WideTile::rows;
  const int samples = plane.width * C, out_rows = min(WideTile::rows, plane.height - top);
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  float* const passed = shared;
  float* const cells = passed + passed_rows * PassedRow::floats;
  int* const position = reinterpret_cast<int*>(cells + 2 * SingleTile::warps * Row::floats);
  const bool inside = left >= side && left + SingleTile::width + side <= samples;
  for (int i = threadIdx.x; i < reached; i += SingleTile::threads)
    position[i] = outer_sample<C>(args.border, left - side + i, plane.width);
  ask_for_tile<SubnormalWord, WideTile::rows>(args.in[0][p], left, top, samples, plane.height);
  __syncthreads();
  const WidePass<C, width> pass(wide, p, passed, cells + first_single_row() * Row::floats, position, left, top,
                                out_rows + 2 * radius, inside);
  pdl_wait();
  if (inside && grid.vectors && top >= radius && top + WideTile::rows + radius <= plane.height)
    filter_rows<WidePass<C, width>::rows_of_tile>(pass);
  else
    filter_rows<0>(pass);
  __syncthreads();

  const int first = warp * made;
  if (first >= out_rows) return;
  float offset[C], sum[made][4];
#pragma unroll
  for (int c = 0; c < C; ++c) offset[c] = plane.offset[c];
#pragma unroll
  for (int j = 0; j < made; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) sum[j][e] = plane.start[e % C];
#pragma unroll
  for (int i = 0; i < made + 2 * radius; ++i) {
    const float4 v = Passed::load(passed + (first + i) * PassedRow::floats, lane, i % 2 != 0);
    const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < made; ++j)
      if (i - j >= 0 && i - j < width)
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[j][e] = fmaf(wide.column[i - j], four[e], sum[j][e]);
  }
  store_rows<SubnormalWord, C, made, false>(args, p, left + 4 * Passed::group_of(lane), top, first, out_rows, offset,
                                            sum);
}

/// `most`: the most components of a plane.
template <int most, int width>
__global__ void __launch_bounds__(SingleTile::threads, WideTile::blocks)
    wide_kernel(const __grid_constant__ WideArgs args) {
  extern __shared__ __align__(16) float shared[];
  int p = 0;
  while (p + 1 < args.single.planes && static_cast<int>(blockIdx.x) >= args.single.grid[p + 1].first_block) ++p;
  if constexpr (most == 2)
    if (args.single.plane[p].components == 2) return filter_wide_tile<2, width>(args, p, shared);
  filter_wide_tile<1, width>(args, p, shared);
}

template <int most, int width>
constexpr WideKernel wide_kernel_of() {
  return {width, wide_kernel<most, width>, 4 * std::max(wide_shared<1, width>(), wide_shared<most, width>())};
}

}  // namespace

const std::array<WideKernel, 2> wide_words_one{wide_kernel_of<1, 23>(), wide_kernel_of<1, 31>()};
const std::array<WideKernel, 2> wide_words_one_and_two{wide_kernel_of<2, 23>(), wide_kernel_of<2, 31>()};

}  // namespace convolve::cuda
