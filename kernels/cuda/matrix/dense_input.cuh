// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input rows of a tile of `matrix`, small filters: from the frame into shared memory, borders made on the way.
//
// Rows and groups of four pixels outside the frame are copied from where the border's rule finds them, so that all
// tiles run the same code; mirrored groups are turned round once they are there.
#pragma once

#include "cuda/common/launch.hpp"
#include "cuda/matrix/dense.cuh"

namespace convolve::cuda {

#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

/// A tile's input rows in shared memory, `rows` of them, each of 34 groups of four pixels, the first 4 pixels to the
/// left of the tile. They are waited for in parts, so that a tile's first rows are made while its last are on their
/// way: the first part is of `first` rows, each other of two. One part is all rows.
template <int C, int rows, int first = rows>
struct Input {
  static constexpr int more = 2;
  static constexpr int group = 4 * C, groups = 34;
  static constexpr int pitch = C == 1 ? 176 : C == 2 ? 320 : 560;  ///< rows of a pair in different banks
  static constexpr int bytes = rows * pitch;
  static constexpr int parts = 1 + (rows - first) / more;

  /// Starts to copy them once the stream is there. What lies outside the frame comes from where the border's rule finds
  /// it, ghosts from where they lie in memory; the groups beside the frame still want `mend_sides`.
  static __device__ __forceinline__ void start(std::uint8_t* memory, const MatrixPlane& plane,
                                               const MatrixLevels& levels, int2 origin, int radius) {
    const int lane = threadIdx.x, first_row = origin.y - radius;
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(memory));
    const InputRows outer(plane, levels, first_row);
    // A row at a time: groups 1 to 32, in the frame.
    const unsigned to_lane = to + (lane + 1) * group;
    const int x = (origin.x + 4 * lane) * C;
    // Sixteen rows at a time: groups 0 and 33.
    const int n = 33 * (lane & 1), begin = origin.x + 4 * n - dense_margin, sixteenth = lane >> 1;
    const int x_of_rest = (edge_index(plane.across, n == 0 ? begin : begin + 3) & ~3) * C;
    const bool ghost = plane.across.ghost && (begin < 0 || begin >= plane.width);
    const unsigned to_rest = to + n * group + sixteenth * pitch;
    const std::uint8_t* inner = plane.in + first_row * plane.in_stride;
    pdl_wait();
    // Both are unrolled: all tiles of a frame run at once, so that none may take longer than the others.
    if (first_row >= 0 && first_row + rows <= plane.height) {
      const std::uint8_t *from = inner + x,
                         *rest = ghost ? outer.ghosts : inner + sixteenth * plane.in_stride + x_of_rest;
      const std::ptrdiff_t step = ghost ? 0 : 16 * plane.in_stride;
      copy_all([&](int r) { ptx::copy_async<group>(to_lane + r * pitch, from), from += plane.in_stride; },
               [&](int r) { ptx::copy_async<group>(to_rest + r * pitch, rest), rest += step; });
    } else {
      const std::uint8_t* from = inner + x;
      copy_all(
          [&](int r) {
            ptx::copy_async<group>(to_lane + r * pitch,
                                   r >= radius && r < rows - radius ? from : outer.at(r, x, false));
            from += plane.in_stride;
          },
          [&](int r) { ptx::copy_async<group>(to_rest + r * pitch, outer.at(r + sixteenth, x_of_rest, ghost)); });
    }
  }

  /// row(r): one row; rest(r): the other groups of 16 rows. They are as many lines of the cache as two rows each, which
  /// is why they come last where nothing is made before all is there.
  template <class Row, class Rest>
  static __device__ __forceinline__ void copy_all(const Row& row, const Rest& rest) {
    const int sixteenth = threadIdx.x >> 1;
    const auto rest_of = [&](int r) {
      if (r + 16 <= rows || sixteenth < rows - r) rest(r);
    };
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (parts > 1 && r % 16 == 0) rest_of(r);
      row(r);
      if (parts == 1 && (r % 16 == 15 || r == rows - 1)) rest_of(r / 16 * 16);
      if (r + 1 == rows || (r + 1 >= first && (r + 1 - first) % more == 0)) ptx::commit_copies();
    }
  }

  /// Waits for the rows of a part.
  template <int part>
  static __device__ __forceinline__ void wait() {
    ptx::wait_for_copies<parts - 1 - part>();
    __syncwarp();
  }

  /// Makes the groups beside the frame, where the tile ends at a side, once all rows are there.
  static __device__ __forceinline__ void mend_sides(std::uint8_t* memory, const MatrixPlane& plane, int2 origin) {
    const bool left = origin.x == 0, right = origin.x + matrix_tile_width == plane.width;
    if (plane.across.ghost || !(left || right)) return;
    wait<parts - 1>();
    for (int r = threadIdx.x; r < rows; r += 32) {
      std::uint8_t* row = memory + r * pitch;
      std::uint8_t* const last = row + 33 * group;
      if (left) choose_pixels<C>(row, row + group, row, plane.across.low_selector);
      if (right) choose_pixels<C>(last - group, last, last, plane.across.high_selector);
    }
    __syncwarp();
  }

  static __device__ __forceinline__ void read_two(const std::uint8_t* from, std::uint32_t& a, std::uint32_t& b) {
    const uint2 u = *reinterpret_cast<const uint2*>(from);
    a = u.x, b = u.y;
  }
  static __device__ __forceinline__ void read_two(const std::uint8_t* from, uint2& a, uint2& b) {
    const uint4 u = *reinterpret_cast<const uint4*>(from);
    a = {u.x, u.y}, b = {u.z, u.w};
  }
  static __device__ __forceinline__ void read_two(const std::uint8_t* from, uint4& a, uint4& b) {
    a = *reinterpret_cast<const uint4*>(from), b = *reinterpret_cast<const uint4*>(from + 16);
  }

  /// The lane's part of a pair of rows, of each component.
  static __device__ __forceinline__ void take(const std::uint8_t* memory, int pair, std::uint32_t (&left)[C][4]) {
    const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    const std::uint8_t* from = memory + (t >> 1) * pitch + 2 * (g + (t & 1)) * group + 2 * pair * pitch;
    Word<C> word[4];
    read_two(from, word[0], word[2]);
    read_two(from + 16 * group, word[1], word[3]);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      std::uint32_t c[C];
      planar(word[k], c);
#pragma unroll
      for (int j = 0; j < C; ++j) left[j][k] = c[j];
    }
  }
};

#endif

}  // namespace convolve::cuda
