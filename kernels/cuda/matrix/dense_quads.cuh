// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input rows of a tile of `matrix`, small filters, as in dense_input.cuh, but of one component and laid out so
// that a lane's part of the left matrix is one load: with 5 rows and more, or two limbs, planes of one component that
// come alone were faster so.
//
// Rows and groups of four pixels outside the frame are copied from where the border's rule finds them, so that all
// tiles run the same code; mirrored groups are turned round once they are there.
#pragma once

#include "cuda/common/launch.hpp"
#include "cuda/matrix/dense.cuh"

namespace convolve::cuda {

#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

/// A tile's input rows in shared memory, `rows` of them, each of 34 groups of four pixels, the first 4 pixels to the
/// left of the tile. They lie so that a lane's part of the left matrix is 16 neighbouring bytes:
/// quad j holds groups 2j, 2j + 16, 2j + 1 and 2j + 17, of strips j and j + 8 the first halves, of j - 1 and j + 7 the
/// second.
template <int rows>
struct QuadInput {
  static constexpr int parts = 1;
  static constexpr int group = 4, quads = 9, quad_step = 16;
  static constexpr int pitch = quads * quad_step + 32;  ///< rows of a pair in different banks
  static constexpr int bytes = rows * pitch;

  static __device__ __forceinline__ int at(int quad, int slot) { return quad * quad_step + slot * group; }
  /// The offset of group n as one of the first 18, and as one of the last 18.
  static __device__ __forceinline__ int at_first(int n) { return at(n >> 1, 2 * (n & 1)); }
  static __device__ __forceinline__ int at_last(int n) { return at((n >> 1) - 8, 2 * (n & 1) + 1); }

  /// Starts to copy them once the stream is there. What lies outside the frame comes from where the border's rule finds
  /// it, ghosts from where they lie in memory; the groups beside the frame still want `mend_sides`.
  static __device__ __forceinline__ void start(std::uint8_t* memory, const MatrixPlane& plane,
                                               const MatrixLevels& levels, int2 origin, int radius) {
    const int lane = threadIdx.x, first_row = origin.y - radius;
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(memory));
    const InputRows outer(plane, levels, first_row);
    // A row at a time: groups 1 to 32, in the frame.
    const unsigned to_lane = to + (lane < 17 ? at_first(lane + 1) : at_last(lane + 1));
    const int x = origin.x + 4 * lane;
    // Eight rows at a time: groups 0 and 33, and 16 and 17 where they are among the last.
    const int n = lane & 2 ? 16 + (lane & 1) : 33 * (lane & 1), begin = origin.x + 4 * n - dense_margin,
              eighth = lane >> 2;
    const int x_of_rest = edge_index(plane.across, n == 0 ? begin : begin + 3) & ~3;
    const bool ghost = plane.across.ghost && (begin < 0 || begin >= plane.width);
    const unsigned to_rest = to + (n == 0 ? at_first(n) : at_last(n)) + eighth * pitch;
    const std::uint8_t* inner = plane.in + first_row * plane.in_stride;
    pdl_wait();
    // Both are unrolled: all tiles of a frame run at once, so that none may take longer than the others.
    if (first_row >= 0 && first_row + rows <= plane.height) {
      const std::uint8_t* from = inner + x;
#pragma unroll
      for (int r = 0; r < rows; ++r, from += plane.in_stride) ptx::copy_async<group>(to_lane + r * pitch, from);
      const std::uint8_t* rest = ghost ? outer.ghosts : inner + eighth * plane.in_stride + x_of_rest;
      const std::ptrdiff_t step = ghost ? 0 : 8 * plane.in_stride;
#pragma unroll
      for (int r = 0; r < rows; r += 8, rest += step)
        if (r + 8 <= rows || eighth < rows - r) ptx::copy_async<group>(to_rest + r * pitch, rest);
    } else {
      const std::uint8_t* from = inner + x;
#pragma unroll
      for (int r = 0; r < rows; ++r, from += plane.in_stride)
        ptx::copy_async<group>(to_lane + r * pitch, r >= radius && r < rows - radius ? from : outer.at(r, x, false));
#pragma unroll
      for (int r = 0; r < rows; r += 8)
        if (r + 8 <= rows || eighth < rows - r)
          ptx::copy_async<group>(to_rest + r * pitch, outer.at(r + eighth, x_of_rest, ghost));
    }
  }

  template <int part>
  static __device__ __forceinline__ void wait() {
    ptx::wait_for_all_copies();
    __syncwarp();
  }

  /// Makes the groups beside the frame, where the tile ends at a side.
  static __device__ __forceinline__ void mend_sides(std::uint8_t* memory, const MatrixPlane& plane, int2 origin) {
    const bool left = origin.x == 0, right = origin.x + matrix_tile_width == plane.width;
    if (plane.across.ghost || !(left || right)) return;
    for (int r = threadIdx.x; r < rows; r += 32) {
      std::uint8_t* row = memory + r * pitch;
      if (left) choose_pixels<1>(row + at_first(0), row + at_first(1), row + at_first(0), plane.across.low_selector);
      if (right) choose_pixels<1>(row + at_last(32), row + at_last(33), row + at_last(33), plane.across.high_selector);
    }
    __syncwarp();
  }

  /// The lane's part of a pair of rows.
  static __device__ __forceinline__ void take(const std::uint8_t* memory, int pair, std::uint32_t (&left)[1][4]) {
    const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    const uint4 u =
        *reinterpret_cast<const uint4*>(memory + (t >> 1) * pitch + (g + (t & 1)) * quad_step + 2 * pair * pitch);
    left[0][0] = u.x, left[0][1] = u.y, left[0][2] = u.z, left[0][3] = u.w;
  }
};

#endif

}  // namespace convolve::cuda
