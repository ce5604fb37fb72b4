// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Banks of 3x3 kernels as a stream of rows. A warp goes down its strip row by row; a thread keeps the three rows that
// its outputs of one row see as floats in registers, and sums all kernels from there:
//
//   row y - 1 ─┐
//   row y     ─┼──kernel 1──> sums ─┐
//   row y + 1 ─┘  kernel 2──> sums ─┼─ combined in registers ──> root, division, rounding ──> samples of row y
//     ...          ...              ┘
//   row y + 2: on its way, and takes the place of row y - 1
//
// Pairs of gradients share what they have in common: with columns s = (1, m, 1) and d = (-1, 0, 1), one kernel is s
// down and d across, the other d down and s across. Seven operations make both sums of a sample, where 18 taps take 18.
//
// Pixels beside a thread's own are loaded one by one, each from where the border says that it lies.
#pragma once

#include <type_traits>

#include "cuda/bank/stream.hpp"
#include "cuda/bank/stream_sums.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/row_stream.cuh"

namespace convolve::cuda {

/// Loads one pixel.
template <class Sample, int C>
__device__ __forceinline__ void load_pixel(PixelGroup<Sample, C>& to, const Sample* from) {
  constexpr int bytes = C * static_cast<int>(sizeof(Sample));
  if constexpr (bytes == 8) {
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(from));
    to.word[0] = v.x, to.word[1] = v.y;
  } else if constexpr (bytes == 4) {
    to.word[0] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
  } else if constexpr (bytes == 3) {
    to.word[0] = __ldg(from) | __ldg(from + 1) << 8 | __ldg(from + 2) << 16;
  } else {
    static_assert(C == 1);
    to.word[0] = __ldg(from);
  }
}

/// What a thread reads of one row.
template <class Plane>
struct BankRow {
  using Sample = typename Plane::Sample;
  typename Plane::Own own;
  typename Plane::Side left, right;
  std::uint32_t luma_left, luma_right;  ///< packed 4:2:2, beside the frame's edges

  /// The samples are at their values already.
  __device__ __forceinline__ void convert(typename Plane::Floats& f, const float* zero) const {
    constexpr int C = Plane::C, shift = 0;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      f[c] = left.value(c, shift, zero[c]);
      f[C + Plane::samples + c] = right.value(c, shift, zero[c]);
    }
#pragma unroll
    for (int i = 0; i < Plane::samples; ++i) f[C + i] = own.value(i, shift, zero[i % C]);
  }
};

/// Where a thread's rows come from and go to.
template <class Plane>
struct BankStrip {
  using Sample = typename Plane::Sample;
  static constexpr int C = Plane::C, span = Plane::span;
  const BankStreamArgs& args;
  const SamplePlane& plane;
  const RowStreamPlane& grid;
  const char* in;
  int x;                                   ///< this thread's first pixel
  bool edges;                              ///< the strip has a side of the frame
  int left, right, luma_left, luma_right;  ///< bytes from the start of a row to the pixels beside this thread's

  __device__ __forceinline__ BankStrip(const BankStreamArgs& args, int p, int x, bool edges)
      : args(args),
        plane(args.plane[p]),
        grid(args.grid[p]),
        in(static_cast<const char*>(args.in[p].data)),
        x(x),
        edges(edges),
        left(edge_index(grid.columns, x - 1) * Plane::pixel_bytes),
        right(edge_index(grid.columns, x + span) * Plane::pixel_bytes) {
    if constexpr (Plane::is_packed) {
      luma_left = 2 * edge_index(args.luma_columns, 2 * x - 1) + Plane::luma;
      luma_right = 2 * edge_index(args.luma_columns, 2 * (x + span)) + Plane::luma;
    }
  }

  /// Shifts words of 16-bit samples to their values. Most formats have nothing to shift.
  template <class Group>
  __device__ __forceinline__ void shift_down(Group& group, int words) const {
    const std::uint32_t mask = (0xFFFFu >> args.numbers.shift) * 0x10001u;
#pragma unroll
    for (int i = 0; i < words; ++i) group.word[i] = group.word[i] >> args.numbers.shift & mask;
  }
  /// Samples as they are stored.
  __device__ __forceinline__ void put_back(typename Plane::Own& group) const {
    if constexpr (sizeof(Sample) == 2)
      if (args.numbers.shift != 0)
#pragma unroll
        for (int i = 0; i < Plane::Own::words; ++i) group.word[i] <<= args.numbers.shift;
  }
  /// A thread's pixels of the row that begins `down` bytes from the first one.
  __device__ __forceinline__ typename Plane::Own own(std::ptrdiff_t down) const {
    typename Plane::Own group;
    group.load(reinterpret_cast<const Sample*>(in + down + x * Plane::pixel_bytes));
    return group;
  }
  __device__ __forceinline__ void load(BankRow<Plane>& row, std::ptrdiff_t down) const {
    load_pixel(row.left, reinterpret_cast<const Sample*>(in + down + left));
    row.own = own(down);
    load_pixel(row.right, reinterpret_cast<const Sample*>(in + down + right));
    if constexpr (Plane::is_packed)
      if (edges) {
        row.luma_left = __ldg(reinterpret_cast<const std::uint8_t*>(in + down + luma_left));
        row.luma_right = __ldg(reinterpret_cast<const std::uint8_t*>(in + down + luma_right));
      }
  }
  __device__ __forceinline__ void convert(BankRow<Plane>& row, typename Plane::Floats& f, const float* zero,
                                          bool ghost) const {
    constexpr int pixel_words = (Plane::pixel_bytes + 3) / 4;
    if constexpr (sizeof(Sample) == 2)
      if (args.numbers.shift != 0) {
        shift_down(row.own, Plane::Own::words);
        shift_down(row.left, pixel_words);
        shift_down(row.right, pixel_words);
      }
    row.convert(f, zero);
    if (!edges && !ghost) return;
    if constexpr (Plane::is_packed) {
      f[Plane::luma + 2] = static_cast<float>(row.luma_left) - zero[Plane::luma];
      f[C + Plane::samples + Plane::luma] = static_cast<float>(row.luma_right) - zero[Plane::luma];
    }
    if (!grid.columns.ghost) return;
#pragma unroll
    for (int k = 0; k < span + 2; ++k)
      if (ghost || (k == 0 && x == 0) || (k == span + 1 && x + span == plane.width))
#pragma unroll
        for (int c = 0; c < C; ++c) f[k * C + c] = plane.ghost[c];
  }
};

template <class Plane, BankTaps taps, BankSum way>
__device__ __forceinline__ typename Plane::Own make_row(const BankStreamArgs& args, const SamplePlane& plane,
                                                        const typename Plane::Floats& above,
                                                        const typename Plane::Floats& here,
                                                        const typename Plane::Floats& below) {
  Combined<Plane::samples, way> combined;
  combined.begin(args.combine);
  if constexpr (taps == BankTaps::gradients) {
    float across[Plane::samples], down[Plane::samples];
    sum_gradients<Plane>(above, here, below, args.middle, across, down);
    combined.add(args.combine, across);
    combined.add(args.combine, down);
  } else {
#pragma unroll 1
    for (int k = 0; k < args.kernels; ++k) {
      float sum[Plane::samples];
      sum_kernel<Plane>(above, here, below, args.taps + k * bank_stream_side * bank_stream_side, sum);
      combined.add(args.combine, sum);
    }
  }
  return finished<Plane, way>(combined, plane, args.numbers);
}

template <class Plane, BankTaps taps, BankSum way>
__device__ __forceinline__ void stream_bank(const BankStreamArgs& args, int p) {
  using Sample = typename Plane::Sample;
  constexpr int span = Plane::span, C = Plane::C, side = bank_stream_side, radius = side / 2;
  constexpr int further = bank_stream_further(C);
  const SamplePlane& plane = args.plane[p];
  float zero[C] = {};
  if constexpr (!std::is_floating_point_v<Sample>)
    for (int c = 0; c < C; ++c) zero[c] = plane.zero[c];

  const int warp = row_stream_warp(args.grid[p]);
  if (warp >= args.grid[p].warps) return;
  const StripPlace<span, radius, Plane::pixel_bytes> strip(args.grid[p], plane, args.in[p].stride, args.rows, warp);
  const BankStrip<Plane> from(args, p, strip.x, strip.has_side(plane.width));
  strip.prefetch_first_rows(from.in, plane.width);
  pdl_wait();
  BankRow<Plane> next;
  typename Plane::Floats window[side];
  from.load(next, strip.row_offset(0));
  const std::ptrdiff_t out_stride = args.out[p].stride;
  char* to = static_cast<char*>(args.out[p].data) + strip.top * out_stride + strip.x * Plane::pixel_bytes;
#pragma unroll 1
  for (int first = 0; first < strip.rows; first += side)
#pragma unroll
    for (int a = 0; a < side; ++a) {
      const int i = first + a;
      if (i >= strip.rows) break;
      from.convert(next, window[a], zero, strip.is_ghost(i));
      from.load(next, strip.row_offset(min(i + 1, strip.rows - 1)));
      strip.prefetch_row(i + 1 + further, from.in, plane.width);
      if (i < 2 * radius) continue;
      auto group = make_row<Plane, taps, way>(args, plane, window[(a + 1) % side], window[(a + 2) % side], window[a]);
      from.put_back(group);
      if (plane.has_passthrough) group.take(from.own(strip.row_offset(i - radius)), plane.passthrough);
      if (strip.mine < plane.width) group.store(reinterpret_cast<Sample*>(to));
      to += out_stride;
    }
}

template <class Sample, BankPlanes planes, BankTaps taps, BankSum way>
__global__ void __launch_bounds__(32 * row_stream_warps, bank_stream_blocks(sizeof(Sample), planes, taps))
    bank_stream_kernel(const __grid_constant__ BankStreamArgs args) {
  const int p = row_stream_plane(args);
  if constexpr (planes == BankPlanes::one_and_two) {
    if (args.plane[p].components == 1)
      stream_bank<BankPlaneOf<Sample, 1>, taps, way>(args, p);
    else
      stream_bank<BankPlaneOf<Sample, 2>, taps, way>(args, p);
  } else {
    constexpr int C = planes == BankPlanes::one ? 1 : planes == BankPlanes::three ? 3 : 4;
    constexpr int luma = planes == BankPlanes::luma_first ? 0 : planes == BankPlanes::chroma_first ? 1 : -1;
    stream_bank<BankPlaneOf<Sample, C, luma>, taps, way>(args, p);
  }
}

}  // namespace convolve::cuda
