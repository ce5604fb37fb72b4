// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the lanes of wide.cuh load rows of the frame, and take them apart into the left matrices of the row pass.
//
// Of 16 rows that a warp filters a lane has two, and of a row four lanes have pieces side by side. The order of pixels
// in a product is free where that of the taps is the same: a lane's halves are of its own pieces. Beside the frame
// stands a piece of the frame, in another order or one pixel of it: it is loaded in its place, and made right when it
// is taken apart, so that no lane waits for what it loads.
#pragma once

#include "cuda/common/frame.cuh"
#include "cuda/separable/wide.hpp"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

template <int words>
struct Piece {
  std::uint32_t word[words];
};

/// A lane's two rows of a step.
struct LaneRows {
  const std::uint8_t* at[2];  ///< where byte 0 of the frame's row is
  bool ghost[2];
};

template <class S>
struct Input {
  using P = Piece<S::piece_words>;
  const Plane& plane;
  int window;   ///< the byte of a row with which the strip's window begins
  int x;        ///< and that of the lane's first piece
  bool beside;  ///< parts of the window, or rows, may be beside the frame
  LaneRows now, next;
  P piece[S::ahead][2];

  __device__ __forceinline__ Input(const Plane& plane, int left, int lane)
      : plane(plane),
        window((left - plane.before) * S::C),
        x(window + S::piece_bytes * (lane & 3)),
        beside(!plane.wide || plane.rows.ghost || window < 0 || window + S::window * S::C > plane.row_bytes) {}

  /// Row `y` of the frame and that 8 below are the lane's next ones.
  __device__ __forceinline__ void set_next_rows(int y) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = y + 8 * h, at = min(max(edge_index(plane.rows, r), 0), plane.height - 1);
      next.ghost[h] = plane.rows.ghost && at != r;
      next.at[h] = plane.in + at * plane.in_stride;
    }
  }
  __device__ __forceinline__ void load_first() {
#pragma unroll
    for (int p = 0; p < S::ahead; ++p) load(p, next, p);
  }
  /// Loads piece p of a window to place `to`.
  __device__ __forceinline__ void load(int to, const LaneRows& rows, int p) {
    const int at = x + S::of_pieces * S::C * p;
    if (!beside || (plane.wide && is_inside(p))) {
#pragma unroll
      for (int h = 0; h < 2; ++h) piece[to][h] = load_piece(rows.at[h] + at);
    } else if (plane.whole) {
      int from = at < 0 ? plane.low_scale * at + plane.low_offset : at;
      from = at >= plane.row_bytes ? plane.high_scale * at + plane.high_offset : from;
      from = min(max(from, 0), plane.row_bytes - S::piece_bytes);
#pragma unroll
      for (int h = 0; h < 2; ++h) piece[to][h] = load_piece(rows.at[h] + from);
    } else {
#pragma unroll
      for (int h = 0; h < 2; ++h) piece[to][h] = load_bytes(rows.at[h], at);
    }
  }
  /// Makes what stands beside the frame of piece p, at place `at`, of what was loaded for it.
  __device__ __forceinline__ void mend(int at, int p) {
    if (is_inside(p) && !plane.rows.ghost) return;
    const int first = x + S::of_pieces * S::C * p;
    const bool outside = plane.whole && (first < 0 || first >= plane.row_bytes);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      P& v = piece[at][h];
      if (now.ghost[h] || (outside && plane.columns.ghost)) {
        v = ghosts();
      } else if (outside) {
        if (plane.columns.low_scale < 0) v = reversed(v);
        if (plane.columns.low_scale == 0) v = repeated(v, first < 0);
      }
    }
  }
  /// Pixels 4 j + 2 h and the next one of a piece, component c, as subnormal halves.
  static __device__ __forceinline__ std::uint32_t halves(const P& v, int j, int h, int c) {
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

 private:
  /// Whether the four lanes' pieces p are in the frame. The same for all lanes.
  __device__ __forceinline__ bool is_inside(int p) const {
    const int first = window + S::of_pieces * S::C * p;
    return first >= 0 && first + S::of_pieces * S::C <= plane.row_bytes;
  }
  static __device__ __forceinline__ P load_piece(const std::uint8_t* from) {
    if constexpr (S::piece_bytes == 16) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
      return {{v.x, v.y, v.z, v.w}};
    } else {
      const uint2* const words = reinterpret_cast<const uint2*>(from);
      const uint2 a = __ldg(words), b = __ldg(words + 1), c = __ldg(words + 2);
      return {{a.x, a.y, b.x, b.y, c.x, c.y}};
    }
  }
  /// Byte by byte: where addresses are no multiples of what is loaded at once, and pieces beside the frame are of more
  /// than one of its.
  __device__ __forceinline__ P load_bytes(const std::uint8_t* row, int first) const {
    P v = {};
    constexpr int before = 1 << 12;  // pixels: more than a window begins before the frame
#pragma unroll 1
    for (int i = 0; i < S::piece_words; ++i) {
      std::uint32_t word = 0;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int at = first + 4 * i + e, pixel = (at + before * S::C) / S::C - before, c = at - pixel * S::C;
        const int from = min(max(edge_index(plane.columns, pixel), 0), plane.width - 1);
        const bool ghost = plane.columns.ghost && from != pixel;
        word |= std::uint32_t{ghost ? plane.ghost_byte[c] : __ldg(row + from * S::C + c)} << 8 * e;
      }
#pragma unroll
      for (int k = 0; k + 1 < S::piece_words; ++k) v.word[k] = v.word[k + 1];
      v.word[S::piece_words - 1] = word;
    }
    return v;
  }
  __device__ __forceinline__ P ghosts() const {
    P v;
#pragma unroll
    for (int i = 0; i < S::piece_words; ++i) v.word[i] = plane.ghost[i % 3];
    return v;
  }
  /// The last pixel first; not of three components.
  static __device__ __forceinline__ P reversed(const P& v) {
    P to;
#pragma unroll
    for (int i = 0; i < S::piece_words; ++i)
      to.word[i] = __byte_perm(v.word[S::piece_words - 1 - i], 0, S::C == 1 ? 0x0123 : S::C == 2 ? 0x1032 : 0x3210);
    return to;
  }
  /// The first, or the last, pixel in all places.
  static __device__ __forceinline__ P repeated(const P& v, bool first) {
    const std::uint32_t word = first ? v.word[0] : v.word[S::piece_words - 1];
    P to;
#pragma unroll
    for (int i = 0; i < S::piece_words; ++i) {
      const std::uint32_t of_three = i % 3 == 0 ? 0x0210 : i % 3 == 1 ? 0x1021 : 0x2102;
      const std::uint32_t low = S::C == 1 ? 0x0000 : S::C == 2 ? 0x1010 : S::C == 3 ? of_three : 0x3210;
      const std::uint32_t high = S::C == 1 ? 0x3333 : S::C == 2 ? 0x3232 : S::C == 3 ? of_three + 0x1111 : 0x3210;
      to.word[i] = __byte_perm(word, 0, first ? low : high);
    }
    return to;
  }
};

#endif

}  // namespace convolve::cuda::wide
