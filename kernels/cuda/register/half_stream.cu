// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row stream of `register` in half precision, of three components of bytes: row_stream.cuh's, but an instruction
// makes two samples. The two are as far apart as half of what a thread makes of a row, so that the neighbours of a pair
// are a pair as well, wherever a tap is:
//
//   a thread's 24 bytes     R0 G0 B0 R1 G1 B1 R2 G2 B2 R3 G3 B3 | R4 G4 B4 R5 G5 B5 R6 G6 B6 R7 G7 B7
//   pairs                   R0 and R4, G0 and G4, ...             a pixel to the right: R1 and R5, G1 and G5, ...
//
// A byte under the byte 0x64 is the half 1024 + that byte. In the same way the sum plus 1024 is, in its low bits, the
// sum rounded to a whole number, ties to even.
#include <algorithm>

#include "cuda/common/half.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/pixels.cuh"
#include "cuda/common/row_stream.cuh"
#include "cuda/register/half_stream.hpp"

namespace convolve::cuda {
namespace {

constexpr int components = 3, side_words = components, width = half_stream_width, span = half_stream_span;

/// Four pixels, of which the order names one by two bits of each of four digits of 4 bits.
__device__ __forceinline__ void reorder(std::uint32_t (&word)[side_words], std::uint32_t order) {
  const std::uint32_t pixel[4] = {word[0], __funnelshift_r(word[0], word[1], 24), __funnelshift_r(word[1], word[2], 16),
                                  word[2] >> 8};
  std::uint32_t to[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t digit = order >> 4 * i;
    const std::uint32_t low = digit & 1 ? pixel[1] : pixel[0], high = digit & 1 ? pixel[3] : pixel[2];
    to[i] = digit & 2 ? high : low;
  }
  word[0] = __byte_perm(to[0], to[1], 0x4210);
  word[1] = __byte_perm(to[1], to[2], 0x5421);
  word[2] = __byte_perm(to[2], to[3], 0x6542);
}

/// What a thread reads of one row: the pixels that it makes, and four either side.
struct HalfRow {
  static constexpr int radius = width / 2, reach = radius * components;
  static constexpr int pairs = span * components / 2, own_words = span * components / 4;
  static_assert(pairs % 4 == 0 && pairs % components == 0 && reach <= 4 * side_words);
  using Own = PixelGroup<std::uint8_t, components, span>;
  using Halves = __half2[pairs + 2 * reach];
  std::uint32_t left[side_words], right[side_words];
  Own own;

  /// `all`: not only the words that samples reach.
  __device__ __forceinline__ void load(const std::uint8_t* from_left, const std::uint8_t* from_own,
                                       const std::uint8_t* from_right, bool all) {
    constexpr int reached = (reach + 3) / 4;
#pragma unroll
    for (int i = 0; i < side_words; ++i) {
      if (i >= side_words - reached || all) left[i] = __ldg(reinterpret_cast<const std::uint32_t*>(from_left) + i);
      if (i < reached || all) right[i] = __ldg(reinterpret_cast<const std::uint32_t*>(from_right) + i);
    }
    own.load(from_own);
  }
  /// Word i of the row, counted from the first of its own.
  __device__ __forceinline__ std::uint32_t word(int i) const {
    return i < 0 ? left[side_words + i] : i < own_words ? own.word[i] : right[i - own_words];
  }
  /// Turns what was read into halves, less 128.
  __device__ __forceinline__ void convert(Halves& f) const {
#pragma unroll
    for (int i = 0; i < pairs + 2 * reach; ++i) {
      const int byte = i - reach + 4 * side_words, w = byte / 4 - side_words, b = byte % 4;
      const std::uint32_t both = __byte_perm(word(w), word(w + pairs / 4), b < 2 ? 0x5140 : 0x7362);
      f[i] = __hsub2(as_halves(__byte_perm(both, 0x64646464, b & 1 ? 0x4342 : 0x4140)), as_halves(0x64806480));
    }
  }
};

/// Sums as samples.
__device__ __forceinline__ HalfRow::Own samples_of(const __half2 (&sum)[HalfRow::pairs], __half2 level) {
  HalfRow::Own group;
#pragma unroll
  for (int i = 0; i < HalfRow::pairs; i += 4) {
    std::uint32_t code[4];
#pragma unroll
    for (int n = 0; n < 4; ++n)
      code[n] = __viaddmin_s16x2_relu(bits_of(__hadd2(sum[i + n], level)), 0x9C009C00, 0x00FF00FF);
    const std::uint32_t low = __byte_perm(code[0], code[1], 0x6240), high = __byte_perm(code[2], code[3], 0x6240);
    group.word[i / 4] = __byte_perm(low, high, 0x5410);
    group.word[(i + HalfRow::pairs) / 4] = __byte_perm(low, high, 0x7632);
  }
  return group;
}

/// A warp's strip.
struct HalfStream {
  static constexpr int radius = HalfRow::radius, pairs = HalfRow::pairs, ahead = half_stream_ahead;

  const HalfStreamArgs& args;
  const SamplePlane& plane;
  const RowStreamPlane& grid;
  const StripPlace<span, radius, components> strip;
  const EdgeGroup left, right;
  const bool edges;

  __device__ __forceinline__ HalfStream(const HalfStreamArgs& args, int warp)
      : args(args),
        plane(args.plane[0]),
        grid(args.grid[0]),
        strip(grid, plane, args.in[0].stride, args.rows, warp),
        left(edge_group(grid.columns, strip.x - 4)),
        right(edge_group(grid.columns, strip.x + span)),
        edges(strip.has_side(plane.width) || strip.ghosts) {}

  __device__ __forceinline__ void load(HalfRow& to, int i) const {
    const std::uint8_t* const from =
        static_cast<const std::uint8_t*>(args.in[0].data) + strip.row_offset(min(i, strip.rows - 1));
    to.load(from + left.last * components, from + strip.x * components, from + right.first * components, edges);
  }
  __device__ __forceinline__ void mend(HalfRow& row, int i) const {
    reorder(row.left, left.selector);
    reorder(row.right, right.selector);
    if (!grid.columns.ghost) return;
    const bool ghost = strip.is_ghost(i);
#pragma unroll
    for (int w = 0; w < side_words; ++w) {
      if (ghost || strip.x == 0) row.left[w] = args.taps.ghost;
      if (ghost || strip.x + span == plane.width) row.right[w] = args.taps.ghost;
    }
#pragma unroll
    for (std::uint32_t& word : row.own.word)
      if (ghost) word = args.taps.ghost;
  }
  __device__ __forceinline__ void run() const {
    __half2 sum[width][pairs];
#pragma unroll
    for (auto& of_row : sum)
#pragma unroll
      for (__half2& v : of_row) v = as_halves(0);
    const std::ptrdiff_t out_stride = args.out[0].stride;
    std::uint8_t* to = static_cast<std::uint8_t*>(args.out[0].data) + strip.top * out_stride + strip.x * components;
    HalfRow next[ahead];
#pragma unroll
    for (int a = 0; a < ahead; ++a) load(next[a], a);
#pragma unroll 1
    for (int first = 0; first < strip.rows; first += ahead)
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        const int i = first + a;
        if (i >= strip.rows) break;
        HalfRow::Halves f;
        if (edges) mend(next[a], i);
        next[a].convert(f);
        load(next[a], i + ahead);
#pragma unroll
        for (int j = 0; j < width; ++j) {
#pragma unroll
          for (int n = 0; n < pairs; ++n) sum[j][n] = j + 1 < width ? sum[j + 1][n] : as_halves(args.taps.begin);
#pragma unroll
          for (int k = 0; k < width; ++k)
#pragma unroll
            for (int n = 0; n < pairs; ++n)
              sum[j][n] =
                  __hfma2(as_halves(args.taps.tap[(width - 1 - j) * width + k]), f[n + k * components], sum[j][n]);
        }
        if (i < 2 * radius) continue;
        if (strip.mine < plane.width) samples_of(sum[0], as_halves(args.taps.level)).store(to);
        to += out_stride;
      }
  }
};

__global__ void __launch_bounds__(32 * row_stream_warps)
    half_stream_kernel(const __grid_constant__ HalfStreamArgs args) {
  const int warp = row_stream_warp(args.grid[0]);
  if (warp >= args.grid[0].warps) return;
  const HalfStream stream(args, warp);
  stream.strip.prefetch_first_rows(static_cast<const char*>(args.in[0].data), stream.plane.width);
  pdl_wait();
  stream.run();
}

}  // namespace

void launch_half_stream(int capability, const HalfStreamArgs& args, int blocks, cudaStream_t stream) {
  launch_pdl(capability, half_stream_kernel, blocks, dim3(32 * row_stream_warps), stream, args);
}

int resident_half_streams() {
  int blocks = 1;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, half_stream_kernel, 32 * row_stream_warps, 0) !=
      cudaSuccess)
    cudaGetLastError();
  return std::max(blocks, 1);
}

}  // namespace convolve::cuda
