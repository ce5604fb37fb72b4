// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row stream of `register` over several frames, of single components of floats: row_stream.cuh's, but a row is
// that of one frame after the other before the sums move up. The next row, or the next frame's, is under way
// meanwhile.
#include <algorithm>
#include <array>

#include "cuda/register/frame_stream.hpp"
#include "cuda/register/row_stream.cuh"

namespace convolve::cuda {
namespace {

template <int width>
struct FrameStream {
  using Row = RowStreamRow<float, 1, width>;
  static constexpr int span = Row::span, radius = Row::radius;

  const FrameStreamArgs& args;
  const SamplePlane& plane;
  const RowStreamPlane& grid;
  const int p;
  const StripPlace<span, radius, sizeof(float)> strip;
  const bool edges;
  const EdgeGroup left, right;

  __device__ __forceinline__ FrameStream(const FrameStreamArgs& args, int p, int warp)
      : args(args),
        plane(args.plane[p]),
        grid(args.grid[p]),
        p(p),
        strip(grid, plane, args.in[0][p].stride, args.rows, warp),
        edges(strip.has_side(plane.width) || strip.ghosts),
        left(edge_group(grid.columns, strip.x - 4)),
        right(edge_group(grid.columns, strip.x + span)) {}

  __device__ __forceinline__ void load(Row& row, int t, int i) const {
    const char* from = static_cast<const char*>(args.in[t][p].data) + strip.row_offset(i);
    row.left.load(reinterpret_cast<const float*>(from) + left.last);
    row.own.load(reinterpret_cast<const float*>(from) + strip.x);
    row.right.load(reinterpret_cast<const float*>(from) + right.first);
  }
  __device__ __forceinline__ void mend(typename Row::Floats& f, const Row& row, int i) const {
    const float zero[1] = {};
    row.reorder(f, left.selector, right.selector, zero, 0);
    if (!grid.columns.ghost) return;
    const bool ghost = strip.is_ghost(i);
#pragma unroll
    for (int k = 0; k < Row::pixels; ++k)
      if (ghost || (k < radius && strip.x == 0) || (k >= radius + span && strip.x + span == plane.width))
        f[k] = plane.ghost[0];
  }

  __device__ __forceinline__ void run() const {
    const float zero[1] = {};
    float sum[width][span];
    const std::ptrdiff_t out_stride = args.out[p].stride;
    char* to =
        static_cast<char*>(args.out[p].data) + strip.top * out_stride + strip.x * static_cast<int>(sizeof(float));
    const int rows = strip.rows;
    // Bit j: the row that sum j belongs to is in the range. Others' sums are not worth their multiply-adds.
    unsigned live = ~0u >> (32 - rows) & ~0u << 2 * radius;
    Row next;
    load(next, 0, 0);
#pragma unroll 1
    for (int i = 0; i < rows; ++i, live >>= 1) {
#pragma unroll
      for (int j = 0; j < width; ++j)
#pragma unroll
        for (int n = 0; n < span; ++n) sum[j][n] = j + 1 < width && i > 0 ? sum[j + 1][n] : plane.offset[0];
      const float* taps = args.taps;
#pragma unroll 1
      for (int t = 0; t < args.frames; ++t, taps += width * width) {
        const Row now = next;
        const bool last = t + 1 == args.frames;
        load(next, last ? 0 : t + 1, last ? min(i + 1, rows - 1) : i);
        typename Row::Floats f;
        now.convert(f, zero, 0);
        if (edges) mend(f, now, i);
#pragma unroll
        for (int j = 0; j < width; ++j)
          if (live >> j & 1) {
#pragma unroll
            for (int k = 0; k < width; ++k)
#pragma unroll
              for (int n = 0; n < span; ++n) sum[j][n] = fmaf(taps[(width - 1 - j) * width + k], f[n + k], sum[j][n]);
          }
      }
      if (!(live & 1)) continue;
      typename Row::Own complete;
      complete.put(sum[0], args.numbers.max, 0);
      if (plane.has_passthrough) {
        Row was;
        load(was, args.centre_t, i - radius);
        complete.take(was.own, plane.passthrough);
      }
      if (strip.mine < plane.width) complete.store(reinterpret_cast<float*>(to));
      to += out_stride;
    }
  }
};

template <int width>
__global__ void __launch_bounds__(32 * row_stream_warps, row_stream_blocks(sizeof(float)))
    frame_stream_kernel(const __grid_constant__ FrameStreamArgs args) {
  const int p = row_stream_plane(args), warp = row_stream_warp(args.grid[p]);
  if (warp >= args.grid[p].warps) return;
  const FrameStream<width> stream(args, p, warp);
  pdl_wait();
  stream.run();
}

template <int width>
constexpr FrameStreamKernel kernel{
    [](int capability, const FrameStreamArgs& args, int blocks, cudaStream_t stream) {
      launch_pdl(capability, frame_stream_kernel<width>, blocks, dim3(32 * row_stream_warps), stream, args);
    },
    [] {
      int blocks = 1;
      if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, frame_stream_kernel<width>, 32 * row_stream_warps,
                                                        0) != cudaSuccess)
        cudaGetLastError();
      return std::max(blocks, 1);
    }};

}  // namespace

const FrameStreamKernel* find_frame_stream(SampleType type, const PaddedFilter& padded) {
  static constexpr std::array<const FrameStreamKernel*, row_stream_classes> kernels{
      &kernel<register_classes[0]>, &kernel<register_classes[1]>, &kernel<register_classes[2]>};
  if (type != SampleType::f32 || padded.combined > 1 || padded.index >= kernels.size() ||
      padded.sums * padded.width * padded.width > max_coefficients)
    return nullptr;
  return kernels[padded.index];
}

}  // namespace convolve::cuda
