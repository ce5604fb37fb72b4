// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable over several frames of bytes as a stream of rows, in half precision: real taps up to 7x7, up to five
// frames. A filter that factors over time weighs whole frames, so that a lane combines them as they come, byte by byte,
// and nothing passes through shared memory:
//
//   row y of frame 1  ──time 1──┐
//   row y of frame 2  ──time 2──┼─> T, pairs of halves ──column──> sums of the rows that row y reaches, halves; the
//     ...                       │                                  topmost is complete, and the others move up
//   row y of frame 5  ──time 5──┘
//   complete sums V  ── those beside a lane's own from its neighbours ──row──> floats ──> samples
//
// Bytes of a word are two pairs of halves, the even ones and the odd ones; a byte b is read as the half b * 2^-24. A
// warp makes a strip of 30 lanes, whose neighbours are the strips' own: the lanes at its ends make V once more. Beside
// the frame V is that of other bytes of the lane at its side, by the border's rule, or that of ghost cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/common/epilogue.cuh"
#include "cuda/common/half.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/ptx.cuh"
#include "cuda/separable/frame_rows.hpp"

namespace convolve::cuda::frame_rows {

/// Bytes from a sample to the next one of its component, of even bytes and of odd ones.
template <int even, int odd>
struct ByteSteps {
  static constexpr int most = even > odd ? even : odd;
  static constexpr int of(int byte) { return byte & 1 ? odd : even; }

  /// The byte of a lane at the left side of the frame that byte -1 or less stands for.
  static constexpr int left_source(Border border, int byte) {
    const int step = of(byte), component = (byte % step + step) % step, outside = (component - byte) / step;
    return inside(border, outside) * step + component;
  }
  /// The byte of a lane of `bytes` at the right side of the frame that byte `bytes` or more stands for.
  static constexpr int right_source(Border border, int byte, int bytes) {
    const int step = of(byte), beyond = byte - bytes, component = beyond % step, outside = beyond / step + 1;
    return bytes - (inside(border, outside) + 1) * step + component;
  }

 private:
  /// How many samples from the side of the frame lies what stands for the sample that is the nth beyond it.
  static constexpr int inside(Border border, int n) {
    return border == Border::reflect ? n - 1 : border == Border::reflect_101 ? n : 0;
  }
};

/// The work of a warp. A lane makes `bytes` bytes of a row; `frames` frames are read, and `ahead` rows are under way.
template <class Steps, int bytes, int radius, int frames, int ahead>
struct FrameRows {
  static constexpr int words = bytes / 4, width = 2 * radius + 1;
  static constexpr int beside = (radius * Steps::most + 3) / 4;  ///< words that outputs reach on either side
  static_assert(4 * beside <= bytes && (radius + 1) * Steps::most <= bytes);
  /// V of a lane's words, even bytes and odd ones, with those beside them.
  using Columns = std::uint32_t[words + 2 * beside][2];
  using Pairs = __half2[words][2];
  using Rows = std::uint32_t[frames][words];

  const RowsArgs& args;
  const RowsPlane& plane;
  const int lane, own, top;     ///< own: the lane's first byte, which may lie beside the frame
  const int count;              ///< rows that are read, from `radius` above the top on
  const bool is_side, is_edge;  ///< the strip has a side of the frame; the rows have its upper or its lower edge
  int x;                        ///< where the lane reads

  __device__ __forceinline__ FrameRows(const RowsArgs& args, const RowsPlane& plane, int strip, int range)
      : args(args),
        plane(plane),
        lane(threadIdx.x & 31),
        own(strip * strip_bytes(bytes) + (lane - 1) * bytes),
        top(range * args.rows),
        count(min(args.rows, plane.height - top) + 2 * radius),
        is_side(strip == 0 || strip + 1 == plane.strips),
        is_edge(top < radius || top + args.rows + radius > plane.height),
        x(own) {
    if (args.border == Border::wrap) x += x < 0 ? plane.row_bytes : x < plane.row_bytes ? 0 : -plane.row_bytes;
    x = min(max(x, 0), plane.row_bytes - bytes);
  }

  /// Row i of those that the warp reads, of all frames.
  __device__ __forceinline__ void load(Rows& to, int i) const {
    int y = top - radius + i;
    if (is_edge) y = edge_index(plane.rows, y);
#pragma unroll
    for (int f = 0; f < frames; ++f) {
      const std::uint8_t* const from = ptx::multiply_add_address(y, plane.stride, plane.in[f]) + x;
      if constexpr (words == 2) {
        const uint2 u = __ldg(reinterpret_cast<const uint2*>(from));
        to[f][0] = u.x, to[f][1] = u.y;
      } else {
        const uint4 u = __ldg(reinterpret_cast<const uint4*>(from));
        to[f][0] = u.x, to[f][1] = u.y, to[f][2] = u.z, to[f][3] = u.w;
      }
    }
  }

  /// T of a row.
  __device__ __forceinline__ void combine(Pairs& t, const Rows& row, int i) const {
    const int y = top - radius + i;
    if (is_edge && plane.rows.ghost && static_cast<unsigned>(y) >= static_cast<unsigned>(plane.height)) {
#pragma unroll
      for (int w = 0; w < words; ++w)
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) t[w][odd] = as_halves(plane.combined_ghost[odd]);
      return;
    }
#pragma unroll
    for (int w = 0; w < words; ++w) {
      t[w][0] = t[w][1] = as_halves(args.start);
#pragma unroll
      for (int f = 0; f < frames; ++f) {
        const __half2 weight = as_halves(args.time[f]);
        t[w][0] = __hfma2(as_halves(row[f][w] & 0x00FF00FFu), weight, t[w][0]);
        t[w][1] = __hfma2(as_halves(__byte_perm(row[f][w], 0, 0x4341)), weight, t[w][1]);
      }
    }
  }

  /// Adds T to the sums that it reaches. V: the topmost; the others move up.
  __device__ __forceinline__ void add(Columns& v, Pairs (&sum)[2 * radius], const Pairs& t) const {
#pragma unroll
    for (int w = 0; w < words; ++w)
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        const auto times = [&](int tap, __half2 before) {
          return __hfma2(as_halves(args.column[tap]), t[w][odd], before);
        };
        v[beside + w][odd] = bits_of(times(2 * radius, sum[0][w][odd]));
#pragma unroll
        for (int j = 1; j < 2 * radius; ++j) sum[j - 1][w][odd] = times(2 * radius - j, sum[j][w][odd]);
        sum[2 * radius - 1][w][odd] = __hmul2(as_halves(args.column[0]), t[w][odd]);
      }
  }

  /// Whether outputs reach a pair of a word beside the lane's own, counted from the first of these.
  static constexpr bool reaches(int word, int odd) {
    for (int byte = 4 * word + odd; byte < 4 * word + 4; byte += 2)
      if (word < 0 ? byte >= -radius * Steps::of(byte) : byte < bytes + radius * Steps::of(byte)) return true;
    return false;
  }

  /// Takes V beside the lane's own from its neighbours. All of the warp at once.
  __device__ __forceinline__ void exchange(Columns& v) const {
#pragma unroll
    for (int w = 0; w < beside; ++w)
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        if (reaches(w - beside, odd)) v[w][odd] = __shfl_up_sync(~0u, v[words + w][odd], 1);
        if (reaches(words + w, odd)) v[beside + words + w][odd] = __shfl_down_sync(~0u, v[beside + w][odd], 1);
      }
  }

  /// Puts V beside the frame in, for the lanes at its sides.
  template <Border border>
  __device__ __forceinline__ void mend(Columns& v) const {
    const bool is_left = own == 0, is_right = own == plane.row_bytes - bytes;
    const auto pair_of = [&](int a, int b) {
      return __byte_perm(v[beside + (a >> 2)][a & 1], v[beside + (b >> 2)][b & 1],
                         (a & 2 ? 0x32u : 0x10u) | (b & 2 ? 0x7600u : 0x5400u));
    };
#pragma unroll
    for (int w = 0; w < beside; ++w)
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        const int before = 4 * (w - beside) + odd, after = 4 * (words + w) + odd;
        constexpr int last = bytes - 1;  // keeps what is not reached within the array
        std::uint32_t left = plane.ghost[odd], right = plane.ghost[odd];
        if constexpr (border != Border::constant) {
          left = pair_of(Steps::left_source(border, before) & last, Steps::left_source(border, before + 2) & last);
          right = pair_of(Steps::right_source(border, after, bytes) & last,
                          Steps::right_source(border, after + 2, bytes) & last);
        }
        if (reaches(w - beside, odd) && is_left) v[w][odd] = left;
        if (reaches(words + w, odd) && is_right) v[beside + words + w][odd] = right;
      }
  }
  __device__ __forceinline__ void mend(Columns& v) const {
    switch (args.border) {
      case Border::constant:
        return mend<Border::constant>(v);
      case Border::replicate:
        return mend<Border::replicate>(v);
      case Border::reflect:
        return mend<Border::reflect>(v);
      case Border::reflect_101:
        return mend<Border::reflect_101>(v);
      case Border::wrap:  // its lanes beside the frame read the other side
        return;
    }
  }

  /// The row's sums, as samples.
  __device__ __forceinline__ void make(std::uint32_t (&made)[words], const Columns& v) const {
    const auto value = [&](int byte) {
      const __half2 pair = as_halves(v[beside + (byte >> 2)][byte & 1]);
      return byte & 2 ? __high2float(pair) : __low2float(pair);
    };
#pragma unroll
    for (int w = 0; w < words; ++w) {
      float sum[4];
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        sum[b] = plane.from[b];
#pragma unroll
        for (int k = 0; k < width; ++k)
          sum[b] = __fmaf_rn(args.row[k], value(4 * w + b + (k - radius) * Steps::of(b)), sum[b]);
      }
      made[w] = pack_bytes(sum[0], sum[1], sum[2], sum[3]);
    }
  }

  /// Stores what the lane made of row y; what is not filtered stays as it was.
  __device__ __forceinline__ void store(std::uint32_t (&made)[words], int y) const {
    if (lane == 0 || lane == 31 || own >= plane.row_bytes) return;
    if (plane.passthrough) {
      const std::uint8_t* const was = ptx::multiply_add_address(y, plane.stride, plane.centre) + own;
#pragma unroll
      for (int w = 0; w < words; ++w) {
        const std::uint32_t before = __ldg(reinterpret_cast<const std::uint32_t*>(was) + w);
        made[w] = (made[w] & ~plane.passthrough) | (before & plane.passthrough);
      }
    }
    std::uint8_t* const to = plane.out + y * plane.out_stride + own;
    if constexpr (words == 2)
      __stcs(reinterpret_cast<uint2*>(to), {made[0], made[1]});
    else
      __stcs(reinterpret_cast<uint4*>(to), {made[0], made[1], made[2], made[3]});
  }

  __device__ __forceinline__ void run() const {
    Rows next[ahead];
#pragma unroll
    for (int a = 0; a < ahead; ++a) load(next[a], min(a, count - 1));
    Pairs sum[2 * radius] = {};
#pragma unroll 1
    for (int first = 0; first < count; first += ahead)
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        const int i = first + a;
        if (i >= count) break;
        Pairs t;
        combine(t, next[a], i);
        load(next[a], min(i + ahead, count - 1));
        Columns v;
        add(v, sum, t);
        if (i < 2 * radius) continue;
        exchange(v);
        if (is_side) mend(v);
        std::uint32_t made[words];
        make(made, v);
        store(made, top + i - 2 * radius);
      }
  }
};

template <class Steps, int bytes, int radius, int frames>
__device__ __forceinline__ void stream_rows(const RowsArgs& args, const RowsPlane& plane) {
  // From the shuffle the compiler knows that a warp agrees on its number.
  const int warp = (blockIdx.x - plane.first_block) * warps + __shfl_sync(~0u, threadIdx.x >> 5, 0);
  const int range = warp / plane.strips;
  if (range >= plane.ranges) return;
  constexpr int ahead = rows_ahead(bytes, radius, frames);
  const FrameRows<Steps, bytes, radius, frames, ahead> rows(args, plane, warp - range * plane.strips, range);
  pdl_wait();
  rows.run();
}

template <RowsPlanes planes, int radius, int frames>
__global__ void __launch_bounds__(32 * warps, 1) frame_rows_kernel(const __grid_constant__ RowsArgs args) {
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  const RowsPlane& plane = args.plane[p];
  constexpr int bytes = lane_bytes(planes, radius);
  if constexpr (planes == RowsPlanes::one) {
    stream_rows<ByteSteps<1, 1>, bytes, radius, frames>(args, plane);
  } else if constexpr (planes == RowsPlanes::one_and_two) {
    if (plane.components == 1)
      stream_rows<ByteSteps<1, 1>, bytes, radius, frames>(args, plane);
    else
      stream_rows<ByteSteps<2, 2>, bytes, radius, frames>(args, plane);
  } else {
    using Steps = std::conditional_t<
        planes == RowsPlanes::three, ByteSteps<3, 3>,
        std::conditional_t<planes == RowsPlanes::four, ByteSteps<4, 4>,
                           std::conditional_t<planes == RowsPlanes::luma_first, ByteSteps<2, 4>, ByteSteps<4, 2>>>>;
    stream_rows<Steps, bytes, radius, frames>(args, plane);
  }
}

}  // namespace convolve::cuda::frame_rows
