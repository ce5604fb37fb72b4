// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where a warp of a row stream is, and where its rows lie: each lane looks up one row of the strip beforehand, so that
// the loop over the rows knows no border mode.
#pragma once

#include <cstddef>

#include "cuda/common/prefetch.cuh"
#include "cuda/common/row_stream.hpp"

namespace convolve::cuda {

/// The plane that this block belongs to: a launch has the blocks of one plane after the other.
template <class Args>
__device__ __forceinline__ int row_stream_plane(const Args& args) {
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.grid[p + 1].first_block) ++p;
  return p;
}

/// The number of this warp among those of its plane. The last block may have some more than grid.warps.
__device__ __forceinline__ int row_stream_warp(const RowStreamPlane& grid) {
  // From the shuffle the compiler knows that a warp agrees on it.
  return (blockIdx.x - grid.first_block) * row_stream_warps + __shfl_sync(~0u, threadIdx.x >> 5, 0);
}

/// The strip that a warp goes down, and its range of rows. Filters reach `radius` rows up and down, threads make `span`
/// pixels of a row.
template <int span, int radius, int pixel_bytes>
struct StripPlace {
  int lane, begin;        ///< begin: the strip's first column
  int mine, x;            ///< this thread's first column, and where it reads: within the plane
  int top, rows;          ///< the first row that is made; the rows that are read, from `radius` above it on
  std::ptrdiff_t offset;  ///< this lane's row of the strip, in bytes from the plane's first
  unsigned ghosts;        ///< bit i: row i of the strip is one of ghost cells

  /// `rows_made`: by a warp, of which this is number `warp`.
  __device__ __forceinline__ StripPlace(const RowStreamPlane& grid, const SamplePlane& plane, std::ptrdiff_t stride,
                                        int rows_made, int warp)
      : lane(threadIdx.x & 31) {
    const int range = warp / grid.strips;
    begin = (warp - range * grid.strips) * 32 * span;
    mine = begin + lane * span;
    x = min(mine, plane.width - span);
    top = range * rows_made;
    rows = min(rows_made, plane.height - top) + 2 * radius;
    const int y = min(top - radius + lane, plane.height - 1 + radius);
    offset = edge_index(grid.rows, y) * stride;
    ghosts = __ballot_sync(~0u, grid.rows.ghost && static_cast<unsigned>(y) >= static_cast<unsigned>(plane.height));
  }

  /// The strip has a side of a plane of so many columns.
  __device__ __forceinline__ bool has_side(int width) const { return begin == 0 || begin + 32 * span >= width; }
  __device__ __forceinline__ bool is_ghost(int row) const { return ghosts >> row & 1; }
  /// Where a row of the strip lies, in bytes from the plane's first. All of the warp ask at once.
  __device__ __forceinline__ std::ptrdiff_t row_offset(int row) const {
    return static_cast<std::ptrdiff_t>(__shfl_sync(~0u, static_cast<long long>(offset), row));
  }

  /// Ask the second level cache for the strip's first rows, or for one (the last, where it has not so many), of a plane
  /// from `in` on that is `width` pixels wide. More rows at first would crowd out those of other warps, which wait.
  __device__ __forceinline__ void prefetch_first_rows(const char* in, int width) const {
#pragma unroll
    for (int i = 0; i < row_stream_prefetch; i += 32 / lines) {
      const char* const row = in + row_offset(min(i + lane / lines, rows - 1));
      if (line() < width * pixel_bytes) prefetch_line(row + line());
    }
  }
  __device__ __forceinline__ void prefetch_row(int i, const char* in, int width) const {
    const std::ptrdiff_t down = row_offset(min(i, rows - 1));
    if (lane < lines && line() < width * pixel_bytes) prefetch_line(in + down + line());
  }

 private:
  static constexpr int lines = (32 * span * pixel_bytes - 1) / cache_line + 1;
  /// This lane's cache line of a row.
  __device__ __forceinline__ int line() const {
    return begin * pixel_bytes + lane % lines * cache_line;
  }
};

}  // namespace convolve::cuda
