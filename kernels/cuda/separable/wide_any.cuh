// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Any plane under wide.cuh: whose addresses, strides or width are no multiples of what lanes load at once, or too
// narrow for a window. What may be beside the frame is loaded byte by byte, and so are the last samples of a row.
#pragma once

#include "cuda/common/frame.cuh"
#include "cuda/separable/wide_input.cuh"
#include "cuda/separable/wide_samples.cuh"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// A lane's two rows of a step.
struct AnyRows {
  const std::uint8_t* at[2];  ///< where byte 0 of the frame's row is
  bool ghost[2];
};

/// As Input.
template <class S>
struct AnyInput {
  using P = Piece<S::piece_words>;
  const Plane& plane;
  int window;   ///< the byte of a row with which the strip's window begins
  int x;        ///< and that of the lane's first piece
  bool inside;  ///< all pieces are of the frame, and may be loaded at once
  AnyRows now, next;
  P piece[S::ahead][2];

  __device__ __forceinline__ AnyInput(const Args&, const Plane& plane, int left, int lane, std::uint32_t, std::uint32_t)
      : plane(plane),
        window((left - plane.before) * S::C),
        x(window + S::piece_bytes * (lane & 3)),
        inside(plane.wide && !plane.rows.ghost && window >= 0 && window + S::window * S::C <= plane.row_bytes) {}

  static __device__ __forceinline__ int first_row(int warp, int lane) { return 16 * warp + (lane >> 2); }
  __device__ __forceinline__ void set_next_rows(int y) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = y + 8 * h, at = min(max(edge_index(plane.rows, r), 0), plane.height - 1);
      next.ghost[h] = plane.rows.ghost && at != r;
      next.at[h] = plane.in + at * plane.in_stride;
    }
  }
  __device__ __forceinline__ void begin_step(int y) {
    now = next;
    set_next_rows(y);
  }
  __device__ __forceinline__ void find_first(const std::uint8_t*) {}
  __device__ __forceinline__ void prefetch_first() const {}
  __device__ __forceinline__ void load_first() {
#pragma unroll
    for (int p = 0; p < S::ahead; ++p) load(p, next, p);
  }
  __device__ __forceinline__ void load(int to, const AnyRows& rows, int p) {
    const int at = x + S::of_pieces * S::C * p;
#pragma unroll
    for (int h = 0; h < 2; ++h)
      piece[to][h] = inside ? load_piece<S>(rows.at[h] + at) : load_bytes(rows.at[h], at, rows.ghost[h]);
  }
  /// Piece p of a window.
  __device__ __forceinline__ void take(P (&to)[2], int p) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const P& v = piece[p % S::ahead][h];
      to[h] = inside ? in_order<S>(v, (x + S::of_pieces * S::C * p) & 8) : v;
    }
  }
  __device__ __forceinline__ void go_on(int p, bool more) {
    load_behind<S>(*this, p, more);
  }

 private:
  __device__ __forceinline__ P load_bytes(const std::uint8_t* row, int first, bool ghost_row) const {
    P v = {};
    constexpr int before = 1 << 12;  // pixels: more than a window begins before the frame
#pragma unroll 1
    for (int i = 0; i < S::piece_words; ++i) {
      std::uint32_t word = 0;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int at = first + 4 * i + e, pixel = (at + before * S::C) / S::C - before, c = at - pixel * S::C;
        const bool luma = S::pairs && c % 2 == (plane.luma_halves == 0x4240 ? 0 : 1);
        const int here = luma ? 2 * pixel + c / 2 : pixel, width = luma ? 2 * plane.width : plane.width;
        const int index = luma ? edge_index(plane.luma_columns, here) : edge_index(plane.columns, here);
        const int from = min(max(index, 0), width - 1);
        const bool ghost = ghost_row || (plane.columns.ghost && from != here);
        word |= std::uint32_t{ghost ? plane.ghost_byte[c] : __ldg(row + (luma ? 2 * from + c % 2 : from * S::C + c))}
                << 8 * e;
      }
#pragma unroll
      for (int k = 0; k + 1 < S::piece_words; ++k) v.word[k] = v.word[k + 1];
      v.word[S::piece_words - 1] = word;
    }
    return v;
  }
};

/// As Samples.
template <class S>
struct AnySamples {
  using L = LaneWords<S>;
  struct Words {};
  static constexpr bool reads = false;  ///< beforehand
  const Plane& plane;
  L make;
  int x;  ///< byte of the lane's first vector

  __device__ __forceinline__ AnySamples(const Args& args, const Plane& plane, int left, int lane, std::uint32_t)
      : plane(plane), make(args, plane), x(L::at(left, lane)) {}

  __device__ __forceinline__ void load(Words&, int) const {}
  __device__ __forceinline__ void end() const {}
  template <bool>
  __device__ __forceinline__ void store(const float (&sum)[S::columns / 2], const Words&, int step_row) const {
    int y = step_row + made_row_of(threadIdx.x >> 5 & 3, threadIdx.x & 31);
    const int there = plane.row_bytes - x;
#pragma unroll
    for (int h = 0; h < 2; ++h, y -= 8) {
      if (y >= plane.height || there <= 0) continue;
      std::uint32_t in[L::words] = {}, made[L::words];
      load_row(in, plane.in + y * plane.in_stride + x, there);
#pragma unroll
      for (int k = 0; k < L::words; ++k) made[k] = make.template make<true>(sum, h, k, in[k]);
      store_row(made, plane.out + y * plane.out_stride + x, there);
    }
  }

 private:
  /// What the samples are made with: nothing, where the filter alone makes them.
  __device__ __forceinline__ void load_row(std::uint32_t (&to)[L::words], const std::uint8_t* from, int there) const {
    if (make.centre == 0 && plane.passthrough[0] == 0) return;
#pragma unroll
    for (int k = 0; k < L::vectors; ++k, from += L::stride, there -= L::stride)
#pragma unroll
      for (int b = 0; b < L::vector; ++b)
        if (b < there) to[(k * L::vector + b) / 4] |= std::uint32_t{__ldg(from + b)} << b % 4 * 8;
  }
  __device__ __forceinline__ void store_row(const std::uint32_t (&from)[L::words], std::uint8_t* to, int there) const {
#pragma unroll
    for (int k = 0; k < L::vectors; ++k, to += L::stride, there -= L::stride)
#pragma unroll
      for (int b = 0; b < L::vector; ++b)
        if (b < there) to[b] = static_cast<std::uint8_t>(from[(k * L::vector + b) / 4] >> b % 4 * 8);
  }
};

#endif

}  // namespace convolve::cuda::wide
