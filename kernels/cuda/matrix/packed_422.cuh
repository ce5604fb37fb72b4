// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The arguments of packed_422.cu, and the input rows of its tiles: words as they lie in the frame, from which lanes
// take luma and chroma apart.
#pragma once

#include <cstdint>

#include "cuda/matrix/dense.cuh"
#include "cuda/matrix/dense_input.cuh"

namespace convolve::cuda {

/// How the bytes of a pair lie (Y0 U Y1 V, or U Y0 V Y1), as selectors of __byte_perm.
struct Packed422Order {
  std::uint32_t luma, chroma;  ///< of two pairs: their luma; the first chroma and the second of one, then of the other
  std::uint32_t low, high;     ///< the two pairs, from four of luma and from what `chroma` selects
};
/// `luma`: the byte of its first in a pair, 0 or 1.
constexpr Packed422Order packed_422_order(int luma) {
  if (luma == 0) return {0x6420, 0x7531, 0x5140, 0x7362};
  return {0x7531, 0x6420, 0x1504, 0x3726};
}

struct Packed422Args {
  /// One plane, whose pixels are pairs, of four components.
  MatrixArgs matrix;
  Packed422Order order;
  int luma_width, luma_offset;  ///< offset: in a pair
};

using Packed422Kernel = void (*)(Packed422Args);
Packed422Kernel packed_422_kernel(int radius, const MatrixTaps& taps);

#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

__device__ __forceinline__ std::uint32_t luma_of(const Packed422Order& order, std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, order.luma);
}

/// Puts four of luma into two pairs.
__device__ __forceinline__ void put_luma(const Packed422Order& order, std::uint8_t* to, std::uint32_t luma) {
  uint2& pairs = *reinterpret_cast<uint2*>(to);
  const std::uint32_t chroma = __byte_perm(pairs.x, pairs.y, order.chroma);
  pairs = {__byte_perm(luma, chroma, order.low), __byte_perm(luma, chroma, order.high)};
}

/// True where the sample beside an edge stands for the second one inside.
__device__ __forceinline__ bool leaves_out_edge(const EdgeAxis& axis) {
  return axis.low_scale == -1 && axis.low_offset == 0;
}
__device__ __forceinline__ bool wraps(const EdgeAxis& axis) {
  return axis.low_scale == 1;
}
/// The axis of the luma, from that of the pairs.
__device__ __forceinline__ EdgeAxis luma_axis(EdgeAxis axis) {
  axis.length *= 2;
  if (wraps(axis)) axis.low_offset *= 2;
  axis.high_offset = 2 * axis.high_offset + (wraps(axis) ? 0 : leaves_out_edge(axis) ? 2 : 1);
  return axis;
}

/// Makes the four pairs to the left of a frame, at `to`, beside the frame's first four. Of their luma it makes the four
/// samples before the edge, since filters reach no farther. `across`: the axis of pairs; that of the luma is the same
/// but for its length. The frame's rows are whole groups of four pairs. `to` already holds the group that the chroma's
/// border mode asks for: with Border::wrap the last pairs of the row.
__device__ __forceinline__ void mend_left(const Packed422Order& order, const EdgeAxis& across, std::uint8_t* to) {
  const uint4 beside = *reinterpret_cast<const uint4*>(to), inner = *reinterpret_cast<const uint4*>(to + 16);
  choose_pixels<4>(to, to + 16, to, across.low_selector);
  const std::uint32_t begin = luma_of(order, inner.x, inner.y);
  const std::uint32_t source = wraps(across)             ? luma_of(order, beside.z, beside.w)
                               : leaves_out_edge(across) ? luma_of(order, inner.z, inner.w)
                                                         : begin;
  put_luma(order, to + 8, __byte_perm(source, begin, across.low_selector));
}
/// Makes the four pairs to the right of a frame, at `to`, beside the frame's last four: as mend_left() does.
__device__ __forceinline__ void mend_right(const Packed422Order& order, const EdgeAxis& across, std::uint8_t* to) {
  const uint4 beside = *reinterpret_cast<const uint4*>(to), inner = *reinterpret_cast<const uint4*>(to - 16);
  choose_pixels<4>(to - 16, to, to, across.high_selector);
  const std::uint32_t end = luma_of(order, inner.z, inner.w);
  const std::uint32_t source = wraps(across)             ? luma_of(order, beside.x, beside.y)
                               : leaves_out_edge(across) ? luma_of(order, inner.x, inner.y)
                                                         : end;
  put_luma(order, to, __byte_perm(end, source, across.high_selector));
}

/// A tile's input rows in shared memory, as Input has them of pairs.
template <int rows, int first>
struct Packed422Input : Input<4, rows, first> {
  using In = Input<4, rows, first>;

  /// Makes the pairs beside the frame, where the tile ends at a side, once all rows are there.
  static __device__ __forceinline__ void mend_sides(std::uint8_t* memory, const Packed422Order& order,
                                                    const MatrixPlane& plane, int2 origin) {
    const bool left = origin.x == 0, right = origin.x + matrix_tile_width == plane.width;
    if (plane.across.ghost || !(left || right)) return;
    In::template wait<In::parts - 1>();
    for (int r = threadIdx.x; r < rows; r += 32) {
      if (left) mend_left(order, plane.across, memory + r * In::pitch);
      if (right) mend_right(order, plane.across, memory + r * In::pitch + 33 * In::group);
    }
    __syncwarp();
  }

  /// The lane's part of a pair of rows. Of the luma two strips begin where one of the chroma does: left[0] and left[1],
  /// strips 2g and 2g + 1; left[2] and left[3], the chroma's strip g, first and second.
  static __device__ __forceinline__ void take(const std::uint8_t* memory, int pair, const Packed422Order& order,
                                              std::uint32_t (&left)[4][4]) {
    const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    const bool odd = t & 1;
    const std::uint8_t* const rows_of = memory + (t >> 1) * In::pitch + 2 * g * In::group + 2 * pair * In::pitch;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint8_t* const strip = rows_of + 16 * half * In::group;
      const uint4 a = read(strip + 2 * (t & 1) * In::group), b = read(strip + (2 * (t & 1) + 1) * In::group);
      // What two strips of the luma have in common, of the other lane's words.
      const uint2 shared = *reinterpret_cast<const uint2*>(strip + (odd ? 24 : 32));
      const std::uint32_t common = luma_of(order, shared.x, shared.y);
      const std::uint32_t luma[4] = {luma_of(order, a.x, a.y), luma_of(order, a.z, a.w), luma_of(order, b.x, b.y),
                                     luma_of(order, b.z, b.w)};
      left[0][half] = odd ? common : luma[1];
      left[0][half + 2] = odd ? luma[0] : luma[2];
      left[1][half] = odd ? luma[1] : luma[3];
      left[1][half + 2] = odd ? luma[2] : common;
      const std::uint32_t ab = __byte_perm(a.x, a.y, order.chroma), cd = __byte_perm(a.z, a.w, order.chroma),
                          ef = __byte_perm(b.x, b.y, order.chroma), gh = __byte_perm(b.z, b.w, order.chroma);
      left[2][half] = __byte_perm(ab, cd, 0x6420), left[2][half + 2] = __byte_perm(ef, gh, 0x6420);
      left[3][half] = __byte_perm(ab, cd, 0x7531), left[3][half + 2] = __byte_perm(ef, gh, 0x7531);
    }
  }

 private:
  static __device__ __forceinline__ uint4 read(const std::uint8_t* from) {
    return *reinterpret_cast<const uint4*>(from);
  }
};

/// What a lane stores of a strip, four pairs, from its samples of the luma's two strips and of the chroma: the lanes of
/// a pair have half of each of the luma's, and each stores one of them.
__device__ __forceinline__ uint4 pairs_of(const Packed422Order& order, const std::uint32_t (&samples)[4]) {
  const bool odd = threadIdx.x & 1;
  const std::uint32_t other = __shfl_xor_sync(~0u, odd ? samples[0] : samples[1], 1);
  const std::uint32_t first = odd ? other : samples[0], last = odd ? samples[1] : other;
  const std::uint32_t low = __byte_perm(samples[2], samples[3], 0x5140),
                      high = __byte_perm(samples[2], samples[3], 0x7362);
  return {__byte_perm(first, low, order.low), __byte_perm(first, low, order.high), __byte_perm(last, high, order.low),
          __byte_perm(last, high, order.high)};
}

#endif

}  // namespace convolve::cuda
