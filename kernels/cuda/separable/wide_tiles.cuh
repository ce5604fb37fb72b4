// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How rows of the frame come to shared memory for wide.cuh: a warp has 16 rows of a strip's window for itself, in tiles
// side by side, each of which is one tensor copy (CUDA C++ Programming Guide, Asynchronous data copies using TMA). Such
// a copy takes some 50 ns of the copy engine whatever its size, and one of a row 6 (measured on one H100, 2026-11-26):
// so tiles are as large as memory allows, and rows are copied one by one where some are beside the frame. Left and
// right of the frame no tap of a strip meets anything, since those of the first and last strips have been moved to the
// pixels of the frame that they meet; but of a border that wraps rows have there what is on the other side.
#pragma once

#include "cuda/common/frame.cuh"
#include "cuda/common/hopper/ptx.cuh"
#include "cuda/common/hopper/tensor_copy.cuh"
#include "cuda/separable/wide_input.cuh"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// As Input.
template <class S>
struct TileInput {
  using P = Piece<S::piece_words>;
  const Args& args;
  const Plane& plane;
  int window;                     ///< the byte of a row with which the strip's window begins
  int y, next_y;                  ///< the first rows of this warp's of this step and the next
  std::uint32_t memory, arrived;  ///< of this warp's tiles, and their barriers
  std::uint32_t of_lane;          ///< the lane's first piece of the first tile
  int first = 0;                  ///< the place of this step's first tile
  unsigned phases = 0;            ///< bit by bit, the parity of the phase that a place's barrier is in
  bool rows_alone;                ///< rows are copied one by one

  __device__ __forceinline__ TileInput(const Args& args, const Plane& plane, int left, int lane, std::uint32_t memory,
                                       std::uint32_t)
      : args(args), plane(plane) {
    const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0);
    window = (left - plane.before) * S::C;
    rows_alone = plane.wraps && (window < 0 || window + S::window * S::C > plane.row_bytes);
    this->memory = memory + warp * (S::tiles_ahead * S::tile_bytes);
    arrived = memory + 4 * S::groups * S::tiles_ahead * S::tile_bytes + warp * (8 * S::tiles_ahead);
    of_lane = this->memory + (lane >> 2) * S::tile_pitch + (lane & 3) * S::piece_bytes;
  }

  /// The first of this warp's rows of a step.
  static __device__ __forceinline__ int first_row(int warp, int) { return 16 * warp; }
  __device__ __forceinline__ void set_next_rows(int row) { next_y = row; }
  __device__ __forceinline__ void begin_step(int row) {
    if constexpr (S::tiles_ahead < S::row_tiles) first = (first + S::row_tiles) % S::tiles_ahead;
    y = next_y;
    set_next_rows(row);
  }
  __device__ __forceinline__ void find_first(const std::uint8_t*) {
    if ((threadIdx.x & 31) != 0) return;
#pragma unroll
    for (int i = 0; i < S::tiles_ahead; ++i) ptx::init_barrier(arrived + 8 * i, 1);
    ptx::publish_barriers();
    ptx::prefetch_tensor_map(args.rows);
  }
  __device__ __forceinline__ void prefetch_first() const {}
  __device__ __forceinline__ void load_first() {
    // The first step begins as if it followed another one.
    if constexpr (S::tiles_ahead < S::row_tiles) first = S::tiles_ahead - S::row_tiles % S::tiles_ahead;
#pragma unroll
    for (int t = 0; t < S::tiles_ahead; ++t) load(t, next_y, t);
  }
  /// Piece p of a window.
  __device__ __forceinline__ void take(P (&to)[2], int p) {
    const int place = place_of(p / S::tile_pieces);
    if (p % S::tile_pieces == 0) {
      ptx::wait_for_phase(arrived + 8 * place, phases >> place & 1);
      phases ^= 1u << place;
    }
    const std::uint32_t from = of_lane + place * S::tile_bytes + p % S::tile_pieces * (4 * S::piece_bytes);
#pragma unroll
    for (int h = 0; h < 2; ++h) to[h] = read(from + h * 8 * S::tile_pitch);
  }
  /// Piece p has been taken.
  __device__ __forceinline__ void go_on(int p, bool more) {
    if ((p + 1) % S::tile_pieces != 0) return;
    const int tile = p / S::tile_pieces, next = tile + S::tiles_ahead;
    if (next < S::row_tiles)
      load(place_of(tile), y, next);
    else if (more)
      load(place_of(tile), next_y, next - S::row_tiles);
  }

 private:
  __device__ __forceinline__ int place_of(int tile) const {
    if constexpr (S::tiles_ahead < S::row_tiles) return (first + tile) % S::tiles_ahead;
    return tile;
  }
  static __device__ __forceinline__ P read(std::uint32_t from) {
    if constexpr (S::piece_bytes == 16) {
      const uint4 v = ptx::load_shared_four_words(from);
      return {{v.x, v.y, v.z, v.w}};
    } else {
      const uint2 a = ptx::load_shared_two_words(from), b = ptx::load_shared_two_words(from + 8),
                  c = ptx::load_shared_two_words(from + 16);
      return {{a.x, a.y, b.x, b.y, c.x, c.y}};
    }
  }
  /// Asks for a tile of 16 rows from `row` on, which all lanes have done with.
  __device__ __forceinline__ void load(int place, int row, int tile) {
    const bool alone = rows_alone || row < 0 || row + 16 > plane.height;
    const std::uint32_t to = memory + place * S::tile_bytes, barrier = arrived + 8 * place;
    const int at = window + tile * S::tile_row;
    __syncwarp();
    if (alone) return copy_rows(to, row, at, barrier);
    if ((threadIdx.x & 31) != 0) return;
    ptx::expect_bytes(barrier, S::tile_bytes);
    ptx::copy_box(to, args.rows, at / 4, row, barrier);
  }
  /// The same, a lane a row. `at`: the byte of a row that the tile begins with.
  __device__ __forceinline__ void copy_rows(std::uint32_t to, int row, int at, std::uint32_t barrier) const {
    const int lane = threadIdx.x & 31;
    // Bytes that are left of the row, of it, and right of it.
    const int before = min(max(-at, 0), S::tile_row);
    const int behind = min(max(at + S::tile_row - plane.row_bytes, 0), S::tile_row - before);
    const int of_row = S::tile_row - before - behind, vectors = S::C == 3 ? of_row & ~15 : of_row;
    if (lane == 0) ptx::expect_bytes(barrier, 16 * (plane.wraps ? S::tile_row : vectors));
    __syncwarp();
    if (lane < 16) {
      const int r = row + lane, y = min(max(edge_index(plane.rows, r), 0), plane.height - 1);
      const std::uint8_t *const whole = plane.in + y * plane.in_stride, *in = whole + max(at, 0);
      if (plane.rows.ghost && y != r) in = plane.ghost_row;
      to += lane * S::tile_pitch;
      if (vectors > 0) ptx::copy_bulk(to + before, in, vectors, barrier);
      if (of_row > vectors) copy_last(to + before + vectors, in + vectors);
      if (plane.wraps && before > 0) ptx::copy_bulk(to, whole + plane.row_bytes + at, before, barrier);
      if (plane.wraps && behind > 0)
        ptx::copy_bulk(to + before + of_row, whole + max(at - plane.row_bytes, 0), behind, barrier);
    }
    __syncwarp();
  }
  /// The last 8 bytes of a row, which are no 16. Tensor copies that follow are of another proxy.
  static __device__ __forceinline__ void copy_last(std::uint32_t to, const std::uint8_t* from) {
    ptx::store_shared_two_words(to, __ldg(reinterpret_cast<const uint2*>(from)));
    ptx::fence_shared_for_wgmma();
  }
};

#endif

}  // namespace convolve::cuda::wide
