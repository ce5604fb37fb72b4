// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rows of a strip on their way to shared memory: see large_strips.cuh.
#pragma once

#include "cuda/separable/large_pairs.cuh"
#include "cuda/separable/large_rows.cuh"

namespace convolve::cuda::large {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Sends for the rows of a strip, a unit of them at a time, in order.
template <class Numbers, int C, int warps, bool pairs>
struct StripLoader {
  static constexpr int unit = Numbers::unit, passes = (unit - 1) / warps + 1, reach = 16 * 32, threads = 32 * warps;
  const Args& args;
  const Plane& plane;
  RowWindow<C> window;
  int y, pitch, height;  ///< `y`: the first row of the next unit
  std::ptrdiff_t stride;
  const std::uint8_t* from;  ///< this lane's piece of this warp's row of that unit
  std::uint8_t* shared;
  std::uint32_t to;
  bool first, second;  ///< this lane has a piece of each row, and another
  bool mends;          ///< what stands beside the frame is copied from what has come, by mend()

  __device__ StripLoader(const Args& args, const Plane& plane, std::uint8_t* shared, int left, int top, int bytes,
                         int pitch)
      : args(args),
        plane(plane),
        window(args, plane, left, bytes),
        y(top),
        pitch(pitch),
        height(plane.height),
        stride(plane.in_stride),
        shared(shared) {
    const int warp = threadIdx.x >> 5, at = 16 * (threadIdx.x & 31);
    from = plane.in + (top + warp) * stride + window.first + at;
    to = ptx::address_in_shared(shared) + warp * pitch + at;
    first = at >= window.begin && at < window.end;
    second = at + reach >= window.begin && at + reach < window.end;
    ptx::hide(from);
    ptx::hide(to);
    // Only where the window holds all that one fold leads to, and the frame's rows end with a whole piece.
    const int begins = window.first, ends = window.first + window.end, far = (plane.width - 1 - args.reach_x) * C;
    mends = window.words > 0 && plane.simple && plane.wide && args.border != Border::wrap &&
            (begins >= 0 || (args.reach_x + 1) * C <= ends) &&
            (begins + window.bytes <= plane.row_bytes || (ends == plane.row_bytes && (begins <= 0 || far >= begins)));
  }

  __device__ __forceinline__ void send(int stage) {
    if (y >= 0 && y + unit <= height) {
      const std::uint8_t* row = from;
      std::uint32_t at = to + stage * unit * pitch;
#pragma unroll
      for (int i = 0; i < passes; ++i, row += warps * stride, at += warps * pitch) {
        if (unit % warps != 0 && i + 1 == passes && static_cast<int>(threadIdx.x >> 5) >= unit % warps) break;
        copy_row(at, row);
      }
    } else {
#pragma unroll 1
      for (int r = threadIdx.x >> 5; r < unit; r += warps) send_edge_row(stage, r);
    }
    if (window.words > 0 && !mends)
      load_beside<C, unit, warps, pairs>(args, plane, shared + stage * unit * pitch, window, y, pitch);
    y += unit;
    from += unit * stride;
  }
  /// Fills the cells beside the frame of a unit that has come.
  __device__ __forceinline__ void mend(int stage) const {
    std::uint8_t* const cells = shared + stage * unit * pitch;
#pragma unroll 1
    for (int k = threadIdx.x; k < window.words * unit; k += threads) {
      const int r = k / window.words, word = 4 * (k - r * window.words);
      const int i = word < window.begin ? word : word - window.begin + window.end;
      std::uint8_t* const row = cells + r * pitch;
      std::uint32_t value = plane.ghost;
      if (!plane.columns.ghost) {
        std::uint32_t byte[4];
#pragma unroll
        for (int b = 0; b < 4; ++b) {
          const int at = pairs ? pair_byte_of(args, plane, window.first + i + b) : byte_of(window.first + i + b, b);
          byte[b] = row[min(max(at - window.first, window.begin), window.end - 1)];
        }
        value = byte[0] | byte[1] << 8 | byte[2] << 16 | byte[3] << 24;
      }
      *reinterpret_cast<std::uint32_t*>(row + i) = value;
    }
  }

 private:
  __device__ __forceinline__ void copy_row(std::uint32_t at, const std::uint8_t* row) const {
    if (first) ptx::copy_async_past_l1(at, row);
    if (second) ptx::copy_async_past_l1(at + reach, row + reach);
  }
  /// Row r of a unit some of whose rows lie beside the frame.
  __device__ __forceinline__ void send_edge_row(int stage, int r) const {
    const int warp = threadIdx.x >> 5, stands_for = row_at<unit>(args, plane, y + r);
    if (stands_for >= 0) {
      copy_row(to + (stage * unit + r - warp) * pitch, from + (stands_for - y - warp) * plane.in_stride);
    } else {
      std::uint8_t* const cells = shared + (stage * unit + r) * pitch;
#pragma unroll 1
      for (int i = 16 * (threadIdx.x & 31); i < window.bytes; i += reach)
        *reinterpret_cast<uint4*>(cells + i) = {plane.ghost, plane.ghost, plane.ghost, plane.ghost};
    }
  }
  /// The byte that stands for byte `at` of the frame's row, which is byte `b` of a word.
  __device__ __forceinline__ int byte_of(int at, int b) const {
    const int pixel = pixel_of<C>(at);
    return edge_index(plane.columns, pixel) * C + (C == 3 ? at - 3 * pixel : b & (C - 1));
  }
};

#endif

}  // namespace convolve::cuda::large
