// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row stream of `register`: a warp goes down its strip row by row. A thread keeps the sums of the rows that the row
// at hand touches; the
// oldest is then complete and leaves, the others move up by the first multiply-add's writing elsewhere than where it
// reads. The next rows' words are under way meanwhile. Taps are operands of the multiply-adds.
//
// Edges are data, not code: each lane looks up one row of the strip beforehand, and the group of pixels beside the
// frame is a group within it, with its pixels in another order.
#pragma once

#include "cuda/common/launch.hpp"
#include "cuda/common/pixels.cuh"
#include "cuda/common/row_stream.cuh"
#include "cuda/register/row_stream.hpp"

namespace convolve::cuda {

/// What a thread reads of one row: the pixels that it makes, and a group either side.
template <class Sample, int C, int width>
struct RowStreamRow {
  static constexpr int radius = width / 2, span = row_stream_pixels(C, width);
  static constexpr int pixels = span + 2 * radius;
  static_assert(radius < 4);
  using Side = PixelGroup<Sample, C>;
  using Own = PixelGroup<Sample, C, span>;
  using Floats = float[pixels * C];
  Side left, right;
  Own own;

  __device__ __forceinline__ void clear_padding(std::uint32_t keep) {
    if (keep == 0) return;
    left.clear_padding(keep), own.clear_padding(keep), right.clear_padding(keep);
  }
  /// Turns what was read into floats, and takes their zero level away.
  __device__ __forceinline__ void convert(Floats& f, const float* zero, int shift) const {
#pragma unroll
    for (int i = 0; i < radius * C; ++i) f[i] = left.value((4 - radius) * C + i, shift, zero[i % C]);
#pragma unroll
    for (int i = 0; i < span * C; ++i) f[radius * C + i] = own.value(i, shift, zero[i % C]);
#pragma unroll
    for (int i = 0; i < radius * C; ++i) f[(radius + span) * C + i] = right.value(i, shift, zero[i % C]);
  }
  /// Converts the sides alone again, with their groups' pixels in the order that the edge's selectors ask for.
  __device__ __forceinline__ void reorder(Floats& f, std::uint32_t left_order, std::uint32_t right_order,
                                          const float* zero, int shift) const {
#pragma unroll
    for (int o = 0; o < radius; ++o)
#pragma unroll
      for (int c = 0; c < C; ++c) {
        f[o * C + c] = pick(left, left_order >> (4 * (4 - radius + o)), c, zero, shift);
        f[(radius + span + o) * C + c] = pick(right, right_order >> (4 * o), c, zero, shift);
      }
  }
  /// Component c of the pixel that the two lowest bits of `limb` name.
  static __device__ __forceinline__ float pick(const Side& side, std::uint32_t limb, int c, const float* zero,
                                               int shift) {
    const float low = limb & 1 ? side.value(C + c, shift, zero[c]) : side.value(c, shift, zero[c]);
    const float high = limb & 1 ? side.value(3 * C + c, shift, zero[c]) : side.value(2 * C + c, shift, zero[c]);
    return limb & 2 ? high : low;
  }
};

/// A row's sums as samples.
template <class Sample, int C, class Own>
__device__ __forceinline__ Own complete_row(const float (&sum)[Own::samples], const SamplePlane& plane,
                                            const SampleNumbers& numbers) {
  Own complete;
  if constexpr (std::is_floating_point_v<Sample>)
    complete.put(sum, numbers.max, numbers.shift);
  else if constexpr (is_subnormal<Sample>)
    by_division_and_bits(numbers, [&]<WordDivision how, bool whole>(std::integral_constant<WordDivision, how>,
                                                                    std::bool_constant<whole>) {
      complete = quantized_words<Own, C, how, whole>(sum, plane.offset, numbers);
    });
  else
    complete = quantized<Own, C>(sum, plane.offset, numbers);
  return complete;
}

template <class Sample, int C, int width>
__device__ __forceinline__ void stream_strip(const RowStreamArgs& args, int p) {
  using Row = RowStreamRow<Sample, C, width>;
  constexpr int span = Row::span, radius = Row::radius, ahead = row_stream_ahead(sizeof(Sample), C, width);
  // Words that are floats are used where they are: the next ones can only follow them.
  constexpr bool late = std::is_floating_point_v<Sample> && ahead > 1;
  const SamplePlane& plane = args.plane[p];
  const RowStreamPlane& grid = args.grid[p];
  const int shift = args.numbers.shift;
  float zero[C] = {};
  if constexpr (!std::is_floating_point_v<Sample> && !is_subnormal<Sample>)
    for (int c = 0; c < C; ++c) zero[c] = plane.zero[c];
  const std::uint32_t padding = is_subnormal<Sample> ? padding_mask(shift) : 0;

  const int warp = row_stream_warp(grid);
  if (warp >= grid.warps) return;
  constexpr int pixel = C * static_cast<int>(sizeof(Sample));
  const StripPlace<span, radius, pixel> strip(grid, plane, args.in[p].stride, args.rows, warp);
  const int x = strip.x, rows = strip.rows;
  // The groups next to the window, on either side.
  const EdgeGroup left = edge_group(grid.columns, x - 4), right = edge_group(grid.columns, x + span);
  const char* const in = static_cast<const char*>(args.in[p].data);
  const char* const from_left = in + left.last * pixel;
  const char* const from_own = in + x * pixel;
  const char* const from_right = in + right.first * pixel;
  const bool edges = strip.has_side(plane.width) || strip.ghosts;
  const bool stores = strip.mine < plane.width, has_passthrough = plane.has_passthrough;

  const auto load = [&](Row& row, int i) {
    const std::ptrdiff_t down = strip.row_offset(min(i, rows - 1));
    row.left.load(reinterpret_cast<const Sample*>(from_left + down));
    row.own.load(reinterpret_cast<const Sample*>(from_own + down));
    row.right.load(reinterpret_cast<const Sample*>(from_right + down));
  };
  const auto mend = [&](typename Row::Floats& f, const Row& row, int i) {
    row.reorder(f, left.selector, right.selector, zero, shift);
    if (!grid.columns.ghost) return;
    const bool ghost = strip.is_ghost(i);
#pragma unroll
    for (int k = 0; k < Row::pixels; ++k)
      if (ghost || (k < radius && x == 0) || (k >= radius + span && x + span == plane.width))
#pragma unroll
        for (int c = 0; c < C; ++c) f[k * C + c] = plane.ghost[c];
  };

  // Floats' sums start from what integers' are moved by when they are rounded, those of subnormal samples from levels.
  float begin[C] = {};
  if constexpr (std::is_floating_point_v<Sample> || is_subnormal<Sample>)
    for (int c = 0; c < C; ++c) begin[c] = is_subnormal<Sample> ? plane.start[c] : plane.offset[c];
  float sum[width][span * C] = {};
  const std::ptrdiff_t out_stride = args.out[p].stride;
  char* to = static_cast<char*>(args.out[p].data) + strip.top * out_stride + x * pixel;
  // Bit j: the row that sum j belongs to is in the range. Others' sums are not worth their multiply-adds.
  unsigned live = ~0u >> (32 - rows) & ~0u << 2 * radius;
  Row next[ahead];
  strip.prefetch_first_rows(in, plane.width);
  pdl_wait();
#pragma unroll
  for (int a = 0; a < ahead; ++a) load(next[a], a);
#pragma unroll 1
  for (int first = 0; first < rows; first += ahead)
#pragma unroll
    for (int a = 0; a < ahead; ++a, live >>= 1) {
      const int i = first + a;
      if (ahead > 1 && i >= rows) break;
      typename Row::Floats f;
      if constexpr (is_subnormal<Sample>) next[a].clear_padding(padding);
      next[a].convert(f, zero, shift);
      if (edges) mend(f, next[a], i);
      if constexpr (!late) load(next[a], i + ahead);
#pragma unroll
      for (int j = 0; j < width; ++j)
        if (!row_stream_skips(width) || live >> j & 1) {
#pragma unroll
          for (int n = 0; n < span * C; ++n) sum[j][n] = j + 1 < width ? sum[j + 1][n] : begin[n % C];
#pragma unroll
          for (int k = 0; k < width; ++k)
#pragma unroll
            for (int n = 0; n < span * C; ++n)
              sum[j][n] = fmaf(args.taps[(width - 1 - j) * width + k], f[n + k * C], sum[j][n]);
        }
      if (live & 1) {
        auto group = complete_row<Sample, C, typename Row::Own>(sum[0], plane, args.numbers);
        if (has_passthrough) {
          typename Row::Own from;
          from.load(reinterpret_cast<const Sample*>(from_own + strip.row_offset(i - radius)));
          group.take(from, plane.passthrough);
        }
        if (stores) group.store(reinterpret_cast<Sample*>(to));
        to += out_stride;
      }
      if constexpr (late) load(next[a], i + ahead);
      if constexpr (late) strip.prefetch_row(i + ahead + row_stream_further, in, plane.width);
    }
}

template <class Sample, PlaneMix mix, int width>
__global__ void __launch_bounds__(32 * row_stream_warps, row_stream_blocks(sizeof(Sample)))
    row_stream_kernel(const __grid_constant__ RowStreamArgs args) {
  const int p = row_stream_plane(args);
  if constexpr (mix == PlaneMix::one) {
    stream_strip<Sample, 1, width>(args, p);
  } else if constexpr (mix == PlaneMix::one_and_two) {
    if (args.plane[p].components == 1)
      stream_strip<Sample, 1, width>(args, p);
    else
      stream_strip<Sample, 2, width>(args, p);
  } else {
    stream_strip<Sample, max_components_of(mix), width>(args, p);
  }
}

}  // namespace convolve::cuda
