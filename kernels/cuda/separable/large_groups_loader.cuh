// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the warpgroup that loads brings the rows of a strip to shared memory: see large_groups.cuh.
//
// A step's rows lie there as pieces of 16 pixels: 64 rows of a piece one behind the other, so that 8 of them are a
// block as products read it. What stands beside the frame is then made from what has arrived: the cells beside a row
// from the row itself, rows above and below that repeat one from that one, which is read once: strips side by side that
// all read one row again and again would queue for it.
#pragma once

#include "cuda/common/frame.cuh"
#include "cuda/common/hopper/ptx.cuh"
#include "cuda/separable/large_groups.hpp"

namespace convolve::cuda::large_groups {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr unsigned loader_barrier = 1;
__device__ __forceinline__ void loaders_meet() {
  ptx::wait_at_block_barrier<128>(loader_barrier);
}

template <int units>
struct Loader {
  static constexpr Shape shape{units};
  static constexpr int pieces = 2 * units, window = shape.window();
  const Args& args;
  const Plane& plane;
  int x0;       ///< the window's first pixel
  int y0;       ///< of the frame: row 0 of step 0
  bool beside;  ///< parts of the window are beside the frame
  int thread;

  __device__ Loader(const Args& args, const Plane& plane, int left, int top)
      : args(args),
        plane(plane),
        x0(left - args.before_x),
        y0(top - args.centre_y),
        beside(x0 < 0 || x0 + window > plane.width || !plane.wide),
        thread(threadIdx.x & 127) {}

  /// The first and last row of a step that are not copies of those. `y`: its first one in the frame.
  __device__ int first_own(int y) const { return min(max(-y, 0), step_rows - 1); }
  __device__ int last_own(int y) const { return max(min(plane.height - 1 - y, step_rows - 1), 0); }

  /// The frame's row for row r of a step that begins at row y of the frame, null where it is not read.
  __device__ __forceinline__ const std::uint8_t* row_of(int y, int r) const {
    int at = y + r;
    if (y < 0 || y + step_rows > plane.height) at = edge_row(y, r);
    return at < 0 ? nullptr : plane.in + at * plane.in_stride;
  }
  __device__ __forceinline__ int edge_row(int y, int r) const {
    int at = y + r;
    if (static_cast<unsigned>(at) >= static_cast<unsigned>(plane.height)) {
      if (plane.rows.ghost || (args.repeats && r != min(max(r, first_own(y)), last_own(y)))) return -1;
      at = min(max(edge_index(plane.rows, at), 0), plane.height - 1);
    }
    return at;
  }
  /// Copies 16 bytes, of the window's byte `at` on, as far as the frame has them.
  __device__ __forceinline__ void copy_edge(std::uint32_t to, const std::uint8_t* row, int at) const {
    const int first = x0 + at, byte = passed_round(first), there = plane.row_bytes - byte;
    if (!plane.wide)
      copy_bytes(to, row, first);
    else if (byte >= 0 && there > 0)
      ptx::copy_async_past_l1(to, row + byte, min(there, 16));
  }
  __device__ __forceinline__ int passed_round(int byte) const {
    const int length = plane.row_bytes;
    return !args.passes_round ? byte : byte < 0 ? byte + length : byte >= length ? byte - length : byte;
  }
  /// The same where addresses are no multiples of 16.
  __device__ __forceinline__ void copy_bytes(std::uint32_t to, const std::uint8_t* row, int first) const {
    std::uint32_t word[4] = {};
#pragma unroll
    for (int b = 0; b < 16; ++b) {
      const int byte = passed_round(first + b);
      if (byte >= 0 && byte < plane.row_bytes) word[b / 4] |= std::uint32_t{__ldg(row + byte)} << b % 4 * 8;
    }
    ptx::store_shared(to, {word[0], word[1], word[2], word[3]});
  }

  /// Sends a step's rows to their stage.
  __device__ __forceinline__ void send_step(std::uint32_t stage, int step) const {
    const int warp = thread >> 5, lane = thread & 31, own = lane >> 3, y = y0 + step * step_rows;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = 8 * (warp + 4 * h) + (lane & 7);
      const std::uint8_t* const row = row_of(y, r);
      const std::uint32_t to = stage + own * shape.piece_bytes() + 16 * r;
      if (!row) continue;
      if (!beside) {
        const std::uint8_t* const from = row + x0 + 16 * own;
#pragma unroll
        for (int p = 0; p < pieces; p += 4)
          if (p + 4 <= pieces || p + own < pieces) ptx::copy_async_past_l1(to + p * shape.piece_bytes(), from + 16 * p);
      } else {
#pragma unroll 1
        for (int p = 0; p < pieces; p += 4)
          if (p + own < pieces) copy_edge(to + p * shape.piece_bytes(), row, 16 * (p + own));
      }
    }
  }

  /// Makes what stands beside the frame of a step that has arrived.
  __device__ __forceinline__ void mend(std::uint32_t stage, int step) const {
    const int y = y0 + step * step_rows;
    const bool above = y < 0 || y + step_rows > plane.height;
    if (beside && !args.passes_round) {
      loaders_meet();
      mend_columns(stage);
    }
    if (above && (args.repeats || plane.rows.ghost)) {
      loaders_meet();
      mend_rows(stage, y);
    }
  }

 private:
  /// Pieces that are wholly beside the frame, and then one that is so in part.
  __device__ __forceinline__ void mend_columns(std::uint32_t stage) const {
    // Hidden, so that nothing that is made of them takes a register elsewhere.
    int x0 = this->x0, thread = this->thread;
    ptx::hide_here(x0);
    ptx::hide_here(thread);
    const int inside = min(max(plane.width - x0, 0), window), left = min(max(-x0, 0) / 16, pieces);
    const int right = (inside + 15) / 16, end = (min(window, max(plane.width - x0 + args.reach_x, 0)) + 15) / 16;
    const int count = left + max(end - right, 0);
    const EdgeAxis& axis = plane.columns;
    const int low = axis.low_offset - x0, high = axis.high_offset - x0;
    const bool turned = axis.low_scale != 0, ghost = axis.ghost;
    const std::uint32_t level = level_beside();
#pragma unroll 1
    for (int i = thread; i < step_rows * count; i += 128) {
      const std::uint32_t row = stage + 16 * (i & (step_rows - 1));
      const int n = i / step_rows, p = n < left ? n : right + n - left, offset = n < left ? low : high;
      uint4 piece = {level, level, level, level};
      if (!ghost) piece = turned ? turned_piece(row, offset - x0 - 16 * p - 15) : repeated(row, offset);
      ptx::store_shared(row + p * shape.piece_bytes(), piece);
    }
    if (inside % 16 != 0 && inside < window && thread < step_rows) {
      const std::uint32_t row = stage + 16 * thread;
      std::uint32_t byte[16], word[4] = {};
#pragma unroll
      for (int b = 0; b < 16; ++b) {
        const int x = inside / 16 * 16 + b;
        byte[b] = ptx::load_shared_byte(place_of(row, x < inside ? x : turned ? high - x0 - x : high));
        if (ghost && x >= inside) byte[b] = level & 255;
      }
#pragma unroll
      for (int b = 0; b < 16; ++b) word[b / 4] |= byte[b] << b % 4 * 8;
      ptx::store_shared(row + inside / 16 * shape.piece_bytes(), {word[0], word[1], word[2], word[3]});
    }
  }
  /// Four ghost cells.
  __device__ __forceinline__ std::uint32_t level_beside() const {
    return (plane.ghost & 255) * 0x01010101u;
  }
  /// Where a pixel of the window lies, of a row; the nearest one for pixels outside of it, which no output meets.
  static __device__ __forceinline__ std::uint32_t place_of(std::uint32_t row, int x) {
    x = min(max(x, 0), window - 1);
    return row + (x >> 4) * shape.piece_bytes() + (x & 15);
  }
  static __device__ __forceinline__ uint4 repeated(std::uint32_t row, int x) {
    const std::uint32_t word = ptx::load_shared_byte(place_of(row, x)) * 0x01010101u;
    return {word, word, word, word};
  }
  /// Sixteen pixels from x on, the last one first.
  static __device__ __forceinline__ uint4 turned_piece(std::uint32_t row, int x) {
    std::uint32_t word[5];
#pragma unroll
    for (int w = 0; w < 5; ++w) word[w] = ptx::load_shared_word(place_of(row, (x & ~3) + 4 * w) & ~3u);
    const std::uint32_t selector = 0x0123u + (x & 3) * 0x1111u;
    return {__byte_perm(word[3], word[4], selector), __byte_perm(word[2], word[3], selector),
            __byte_perm(word[1], word[2], selector), __byte_perm(word[0], word[1], selector)};
  }
  __device__ __forceinline__ void mend_rows(std::uint32_t stage, int y) const {
    int thread = this->thread;
    ptx::hide_here(thread);
    const int low = first_own(y), high = last_own(y);
#pragma unroll 1
    for (int i = thread; i < step_rows * pieces; i += 128) {
      const int r = i & (step_rows - 1), from = min(max(r, low), high);
      const std::uint32_t piece = stage + i / step_rows * shape.piece_bytes();
      if (plane.rows.ghost) {
        const std::uint32_t level = level_beside();
        if (static_cast<unsigned>(y + r) >= static_cast<unsigned>(plane.height))
          ptx::store_shared(piece + 16 * r, {level, level, level, level});
      } else if (from != r) {
        ptx::store_shared(piece + 16 * r, ptx::load_shared(piece + 16 * from));
      }
    }
  }
};

#endif

}  // namespace convolve::cuda::large_groups
