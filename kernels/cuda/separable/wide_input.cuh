// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the lanes of wide.cuh load rows of the frame, and take them apart into the left matrices of the row pass.
//
// Of 16 rows that a warp filters a lane has two, and of a row four lanes have pieces side by side. The order of pixels
// in a product is free where that of the taps is the same: a lane's halves are of its own pieces. Beside the frame
// stands another piece of the frame, and the strip's taps are in such an order that they meet what they should.
#pragma once

#include "cuda/common/frame.cuh"
#include "cuda/common/hopper/ptx.cuh"
#include "cuda/separable/wide.hpp"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

template <int words>
struct Piece {
  std::uint32_t word[words];
};

/// Pixels 4 j + 2 h and the next one of a piece, component c, as subnormal halves.
template <class S>
__device__ __forceinline__ std::uint32_t halves_of(const Piece<S::piece_words>& v, int j, int h, int c) {
  const std::uint32_t* const w = v.word;
  if constexpr (S::C == 1) return __byte_perm(w[j], 0, h ? 0x4342 : 0x4140);
  if constexpr (S::C == 2) return __byte_perm(w[2 * j + h], 0, c ? 0x4341 : 0x4240);
  if constexpr (S::C == 3) {
    if (c == 2 * h) return __byte_perm(w[3 * j + 2 * h], 0, 0x4340);
    const std::uint32_t two = __byte_perm(w[3 * j + h], w[3 * j + h + 1], h ? 0x6352 : 0x5241);
    return __byte_perm(two, 0, c == 1 - h ? 0x4140 : 0x4342);
  }
  const std::uint32_t two = __byte_perm(w[2 * h], w[2 * h + 1], c < 2 ? 0x5140 : 0x7362);
  return __byte_perm(two, 0, c & 1 ? 0x4342 : 0x4140);
}

/// Loads the piece that is `at` bytes behind a place; of three components as vectors_at() in wide_tables.cpp says.
/// `first`: right behind pdl_wait().
template <class S, bool first>
__device__ __forceinline__ Piece<S::piece_words> load_piece(const std::uint8_t* from, int at) {
  if constexpr (S::piece_bytes == 16) {
    const uint4 v = first ? ptx::load_near_in_order(from + at) : ptx::load_near(from + at);
    return {{v.x, v.y, v.z, v.w}};
  } else {
    const std::uint8_t* const four = from + (at & ~15);
    const std::uint8_t* const two = four + (at & 15) * 8 - 8;
    uint4 v;
    uint2 w;
    if constexpr (first)
      v = ptx::load_near_in_order(four), w = ptx::load_two_words_in_order(two);
    else
      v = __ldg(reinterpret_cast<const uint4*>(four)), w = __ldg(reinterpret_cast<const uint2*>(two));
    return {{v.x, v.y, v.z, v.w, w.x, w.y}};
  }
}
/// Of three components every other piece begins in the middle of 16 bytes, and is loaded as its last 16 bytes and the
/// 8 before.
template <class S>
__device__ __forceinline__ Piece<S::piece_words> in_order(const Piece<S::piece_words>& v, bool middle) {
  if constexpr (S::C == 3) {
    const std::uint32_t* const w = v.word;
    return {{middle ? w[4] : w[0], middle ? w[5] : w[1], middle ? w[0] : w[2], middle ? w[1] : w[3],
             middle ? w[2] : w[4], middle ? w[3] : w[5]}};
  }
  return v;
}

/// Loads a piece in the place of piece p, which has been taken: of this step, or of the next one where there is one.
template <class S, class In>
__device__ __forceinline__ void load_behind(In& input, int p, bool more) {
  if (p + S::ahead < S::pieces)
    input.load(p % S::ahead, input.now, p + S::ahead);
  else if (more)
    input.load(p % S::ahead, input.next, p + S::ahead - S::pieces);
}

/// A lane's two rows of a step, from the strip's window on.
struct LaneRows {
  const std::uint8_t* at[2];
};

template <class S>
struct Input {
  using P = Piece<S::piece_words>;
  const Plane& plane;
  int window;             ///< the byte of a row with which the strip's window begins
  std::uint32_t offsets;  ///< in shared memory: where the lane's pieces are, as load_piece() takes it
  LaneRows now, next;
  P piece[S::ahead][2];

  __device__ __forceinline__ Input(const Args& args, const Plane& plane, int left, int lane, std::uint32_t,
                                   std::uint32_t offsets)
      : plane(plane), window((left - plane.before) * S::C), offsets(offsets + 4 * (lane & 3)) {}

  /// The first of a lane's two rows of a step.
  static __device__ __forceinline__ int first_row(int warp, int lane) { return 16 * warp + (lane >> 2); }
  /// Row `y` of the frame and that 8 below are the lane's next ones.
  __device__ __forceinline__ void set_next_rows(int y) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = y + 8 * h, at = min(max(edge_index(plane.rows, r), 0), plane.height - 1);
      next.at[h] = plane.rows.ghost && at != r ? plane.ghost_row : plane.in + at * plane.in_stride + window;
    }
  }
  /// Where the first pieces are, of a table in global memory.
  __device__ __forceinline__ void find_first(const std::uint8_t* of_table) {
#pragma unroll
    for (int p = 0; p < S::ahead; ++p)
      piece[p][0].word[0] = __ldg(reinterpret_cast<const std::uint32_t*>(of_table + 4 * (threadIdx.x & 3) + 16 * p));
  }
  __device__ __forceinline__ void load_first() {
#pragma unroll
    for (int p = 0; p < S::ahead; ++p) load_from<true>(p, next, static_cast<int>(piece[p][0].word[0]));
  }
  /// The next step begins; `y`: the lane's first row of that behind it.
  __device__ __forceinline__ void begin_step(int y) {
    now = next;
    set_next_rows(y);
  }
  /// Loads piece p of a window to place `to`.
  __device__ __forceinline__ void load(int to, const LaneRows& rows, int p) {
    load_from<false>(to, rows, static_cast<int>(ptx::load_shared_word(offsets + 16 * p)));
  }
  /// Piece p of a window.
  __device__ __forceinline__ void take(P (&to)[2], int p) const {
    bool middle = false;
    if constexpr (S::C == 3) middle = (ptx::load_shared_word(offsets + 16 * p) & 1) == 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) to[h] = in_order<S>(piece[p % S::ahead][h], middle);
  }
  __device__ __forceinline__ void go_on(int p, bool more) {
    load_behind<S>(*this, p, more);
  }

 private:
  template <bool first>
  __device__ __forceinline__ void load_from(int to, const LaneRows& rows, int at) {
#pragma unroll
    for (int h = 0; h < 2; ++h) piece[to][h] = load_piece<S, first>(rows.at[h], at);
  }
};

#endif

}  // namespace convolve::cuda::wide
