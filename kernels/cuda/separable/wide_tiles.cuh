// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How rows of the frame come to shared memory for wide.cuh: a warp has a tile for itself, 16 rows of a strip's window,
// which is one tensor copy (CUDA C++ Programming Guide, Asynchronous data copies using the tensor memory accelerator).
// Where some rows are above or below the frame lanes copy 16 bytes at a time. Rows of a frame bottom-up lie so in a
// tile, too. Left and right of the frame no tap of a strip meets anything, since those of the first and last strips
// have been moved to the pixels of the frame that they meet; but of a border that wraps rows have there what is on the
// other side, and lanes copy that as well.
//
// Samples of three components leave by tensor copies, too, of tiles of as many rows as a warp makes in a step.
#pragma once

#include "cuda/common/frame.cuh"
#include "cuda/common/hopper/ptx.cuh"
#include "cuda/common/hopper/tensor/ptx.cuh"
#include "cuda/separable/wide_input.cuh"
#include "cuda/separable/wide_samples.cuh"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Reads a lane's piece of a row from shared memory: of a ring in the order of the program, so that once a stage's last
/// piece is there, all others are.
template <class S>
__device__ __forceinline__ Piece<S::piece_words> read_piece(std::uint32_t from) {
  if constexpr (S::swizzled) {
    const uint4 v = ptx::load_shared_four_words(from), w = ptx::load_shared_four_words(from ^ 16);
    return {{v.x, v.y, v.z, v.w, w.x, w.y, w.z, w.w}};
  } else if constexpr (S::piece_bytes == 16) {
    const uint4 v = ptx::load_shared_four_words<S::ring>(from);
    return {{v.x, v.y, v.z, v.w}};
  } else {
    const uint2 a = ptx::load_shared_two_words<S::ring>(from), b = ptx::load_shared_two_words<S::ring>(from + 8),
                c = ptx::load_shared_two_words<S::ring>(from + 16);
    return {{a.x, a.y, b.x, b.y, c.x, c.y}};
  }
}

/// As Input.
template <class S>
struct TileInput {
  using P = Piece<S::piece_words>;
  const Plane& plane;
  const CUtensorMap& rows;  ///< the plane
  int window;               ///< the byte of a row with which the strip's window begins
  int next_y;               ///< the first row of this warp's next tile
  std::uint32_t tile;       ///< of this warp, in shared memory
  std::uint32_t piece;      ///< the lane's first one of it
  std::uint32_t copied;     ///< the barrier of the tile's copies, at which all lanes arrive
  unsigned phase = 0;
  bool wraps;             ///< beside the frame is what is on its other side
  bool by_lanes = false;  ///< the tile comes by copies of lanes

  __device__ __forceinline__ TileInput(const Args& args, const Plane& plane, int left, int lane, std::uint32_t memory,
                                       std::uint32_t)
      : plane(plane), rows(args.rows[&plane - args.plane]), window((left - plane.before) * S::C) {
    const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0);
    tile = memory + warp * S::tile_bytes;
    piece = place_of(lane >> 2, (lane & 3) * S::piece_bytes);
    copied = memory + 4 * S::groups * S::tile_bytes + warp * 8;
    wraps = plane.wraps && (window < 0 || window + S::tile_row > plane.row_bytes);
  }

  /// The first of this warp's rows of a step.
  static __device__ __forceinline__ int first_row(int warp, int) { return 16 * warp; }
  __device__ __forceinline__ void set_next_rows(int y) { next_y = y; }
  __device__ __forceinline__ void begin_step(int y) { set_next_rows(y); }
  __device__ __forceinline__ void find_first(const std::uint8_t*) const {
    if ((threadIdx.x & 31) != 0) return;
    ptx::init_barrier(copied, 32);
    ptx::publish_barriers();
    if (plane.described) ptx::prefetch_tensor_map(rows);
  }
  __device__ __forceinline__ void prefetch_first() const {
    if (plane.described && (threadIdx.x & 31) == 0)
      ptx::prefetch_box(rows, window / 4, max(0, min(box_y(), plane.height - 1)));
  }
  __device__ __forceinline__ void load_first() { load(); }
  /// Piece p of a window.
  __device__ __forceinline__ void take(P (&to)[2], int p) {
    if (p == 0) {
      ptx::wait_for_phase(copied, phase);
      phase ^= 1;
    }
#pragma unroll
    for (int h = 0; h < 2; ++h)
      to[h] = read_piece<S>(piece + h * (is_turned() ? -8 : 8) * S::tile_pitch + p * 4 * S::piece_bytes);
  }
  /// Piece p has been taken.
  __device__ __forceinline__ void go_on(int p, bool more) {
    if (p + 1 == S::pieces && more) load();
  }

 private:
  /// Whether rows of tiles lie in reverse, as those of a frame bottom-up.
  __device__ __forceinline__ bool is_turned() const {
    return plane.in_stride < 0;
  }
  /// Where the next tile begins in memory.
  __device__ __forceinline__ int box_y() const {
    return is_turned() ? plane.height - 16 - next_y : next_y;
  }
  /// Where 16 bytes of a row of the tile are.
  __device__ __forceinline__ std::uint32_t place_of(int row, int at) const {
    if (is_turned()) row = 15 - row;
    return tile + row * S::tile_pitch + (S::swizzled ? at ^ (row & 7) * 16 : at);
  }
  /// Asks for the next tile, once all lanes have done with this one.
  __device__ __forceinline__ void load() {
    if (by_lanes) ptx::fence_shared_for_wgmma();  // tensor copies are of another proxy
    by_lanes = wraps || !plane.described || next_y < 0 || next_y + 16 > plane.height;
    __syncwarp();
    if (by_lanes) return copy_vectors();
    if ((threadIdx.x & 31) != 0) return;
    ptx::arrive_at_barrier(copied, 31);
    ptx::expect_bytes(copied, S::tile_bytes);
    ptx::copy_box(tile, rows, window / 4, box_y(), copied);
  }
  /// Eight lanes a row.
  __device__ __forceinline__ void copy_vectors() const {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = 4 * i + (lane >> 3), r = next_y + row;
      const int y = min(max(edge_index(plane.rows, r), 0), plane.height - 1);
      const bool ghost = plane.rows.ghost && y != r;
      const std::uint8_t* const from = ghost ? plane.ghost_row - window : plane.in + y * plane.in_stride;
#pragma unroll
      for (int first = 0; first < S::tile_row; first += 128) {
        const int at = first + 16 * (lane & 7);
        int x = window + at;
        if (wraps) x += x < 0 ? plane.row_bytes : x >= plane.row_bytes ? -plane.row_bytes : 0;
        if (at >= S::tile_row || x < 0 || x >= plane.row_bytes) continue;
        ptx::copy_async_past_l1(place_of(row, at), from + x);
      }
    }
    ptx::arrive_after_copies(copied);
  }
};

/// As Samples. Where the frame is bottom-up, so is a tile.
template <class S>
struct TileSamples : Samples<S> {
  using L = LaneWords<S>;
  using typename Samples<S>::Words;
  const Args& args;
  const Plane& plane;
  int left;            ///< byte of a row with which the strip begins
  int first_row;       ///< of a warp's rows of a step
  std::uint32_t tile;  ///< of this warp, in shared memory

  __device__ __forceinline__ TileSamples(const Args& args, const Plane& plane, int left, int lane, std::uint32_t memory)
      : Samples<S>(args, plane, left, lane, memory), args(args), plane(plane), left(left * S::C) {
    static_assert(S::C == 3);
    const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0);
    tile = memory + S::tiles_bytes + warp * S::out_bytes;
    first_row = made_row_of(warp & 3, 0) - 8;
  }

  template <bool reading, bool whole>
  __device__ __forceinline__ void store(const typename S::Sum (&sum)[S::columns / 2], const Words& of_frame,
                                        int step_row) const {
    const int lane = threadIdx.x & 31, turn = plane.bottom_up ? S::out_rows - 1 : 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (h == 0 || S::out_rows == 8) {
        end();
        __syncwarp();
      }
      const int row = (S::out_rows == 8 || h == 1 ? 0 : 8) + (lane >> 2);
      const std::uint32_t words = tile + (row ^ turn) * S::columns + L::at(0, lane);
#pragma unroll
      for (int k = 0; k < L::words; k += 2)
        ptx::store_shared_two_words(words + 4 * k, this->make.template make<reading>(sum, h, k, of_frame[h][k]),
                                    this->make.template make<reading>(sum, h, k + 1, of_frame[h][k + 1]));
      if (h == 1 || S::out_rows == 8) store_tile<whole>(step_row + first_row + (S::out_rows == 8 && h == 0 ? 8 : 0));
    }
  }
  /// No more samples come: waits until shared memory has been read.
  __device__ __forceinline__ void end() const {
    if ((threadIdx.x & 31) == 0) ptx::wait_for_reads_of_boxes();
  }

 private:
  /// Stores the tile whose first row is y.
  template <bool whole>
  __device__ __forceinline__ void store_tile(int y) const {
    if (plane.bottom_up) y = plane.height - S::out_rows - y;
    if (y < 0) return copy_bytes(y);
    ptx::fence_shared_for_wgmma();  // tensor copies are of another proxy
    __syncwarp();
    if ((threadIdx.x & 31) == 0 && (whole || left < (plane.row_bytes & ~15)))
      ptx::store_box(args.samples, left, y, tile);
    if (!whole && plane.row_bytes % 16 != 0) store_ends(y);
  }
  /// Where a row ends within 16 bytes tensor copies would store all of them (one H100, CUDA 13.0, 2026-11-26): their
  /// rows end before these, which lanes store.
  __device__ __forceinline__ void store_ends(int y) const {
    const int lane = threadIdx.x & 31, n = plane.row_bytes & 15, r = y + lane, at = plane.row_bytes - n - left;
    if (lane >= S::out_rows || r >= plane.height) return;
    const uint4 v = ptx::load_shared_four_words(tile + lane * S::columns + at);
    const std::uint32_t words[4] = {v.x, v.y, v.z, v.w};
    this->template store_end<16>(words, row_at(r) + at, n);
  }
  /// Stores what is of the frame, where a tensor copy cannot: above its first row in memory (of a bottom-up frame). The
  /// tile's row y is that of memory.
  __device__ __forceinline__ void copy_bytes(int y) const {
    const int bytes = min(S::columns, plane.row_bytes - left), lane = threadIdx.x & 31;
    __syncwarp();
#pragma unroll 1
    for (int row = -y; row < S::out_rows; ++row)
      if (y + row < plane.height)
        for (int b = lane; b < bytes; b += 32) row_at(y + row)[b] = ptx::load_shared_byte(tile + row * S::columns + b);
  }
  /// The strip's part of a row of memory.
  __device__ __forceinline__ std::uint8_t* row_at(int r) const {
    return plane.out + (plane.bottom_up ? plane.height - 1 - r : r) * plane.out_stride + left;
  }
};

#endif

}  // namespace convolve::cuda::wide
