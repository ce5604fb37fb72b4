// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a block of separable's tensor kernel sees of a frame: a window of rows in shared memory, with the border's cells
// in place, so that the products know of no edges. Rows come by asynchronous copies, all of them under way at once;
// what lies beside the frame is then copied from the window itself.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "convolve/border.hpp"
#include "convolve/plane.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/common/ptx.cuh"
#include "cuda/separable/tensor_taps.hpp"
#include "cuda/separable/tuning.hpp"

namespace convolve::cuda::tensor {

constexpr int block_bytes = 16;

struct TensorPlane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  int row_bytes, width, height, components;
  EdgeAxis columns, rows;
  int above, lines;  ///< the rows that a tile takes: from that many above it on, so many
  int first_block, tiles, tiles_x;
  std::uint32_t tiles_x_inverse;  ///< 2^32 / tiles_x, rounded up; of more than one
  bool simple;                    ///< one fold suffices, so that edges may be copied
  bool words, wide;               ///< addresses and strides allow that, by 4 or by 16 bytes, and `simple`
  bool out_wide;                  ///< they allow whole pieces of 16 bytes out
  std::uint32_t passthrough;      ///< the bytes of a word that are not filtered
  std::uint32_t ghost;            ///< a word of ghost cells
  const uint4* fragments;         ///< of the matrices: see Products
};

struct TensorArgs {
  TensorPlane plane[max_planes];
  int planes;
  int wave;  ///< tiles that are made at once
  Border border;
  float gain, offset, rounding_bias;
  float centre;  ///< the tap at the centre, beside the product of column and row
  // Of packed 4:2:2:
  EdgeAxis luma;  ///< the columns of the luma; the plane's are those of the pairs
  int luma_byte;  ///< of a pair of bytes, the luma's
};

/// Bytes on either side of a tile.
__host__ __device__ constexpr int margin_of(int components) {
  return components > 2 ? 32 : 16;
}
__host__ __device__ constexpr int blocks_of(int components) {
  return (TensorTile::bytes_of(components) + 2 * margin_of(components)) / block_bytes;
}
/// Bytes from row to row. What ldmatrix takes lies in different banks: eight rows, or four and those 16 rows on.
__host__ __device__ constexpr int pitch_of(int components) {
  return (blocks_of(components) | 1) * block_bytes;
}
__host__ __device__ constexpr int row_offset(int components, int row) {
  return row * pitch_of(components) + row / 8 * 32;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Counts arrivals in shared memory, once.
struct Arrivals {
  std::uint64_t state;

  /// By one thread, before the others know.
  __device__ void expect(int threads) { ptx::init_barrier(ptx::address_in_shared(&state), threads); }
  /// This thread arrives once its copies so far have.
  __device__ void arrive_after_copies() const { ptx::arrive_after_copies(ptx::address_in_shared(&state)); }
  __device__ void wait() const { ptx::wait_for_barrier(ptx::address_in_shared(&state)); }
};

/// A window pixel by pixel, from any address, for frames of any size. Out of line: it is long, and slow anyway.
template <int C, int threads>
__device__ __noinline__ void gather(const TensorArgs& args, const TensorPlane& plane, std::uint8_t* cells, int left,
                                    int top) {
  constexpr int pixels = blocks_of(C) * block_bytes / C, rows = TensorTile::rows + 2 * radius;
#pragma unroll 4
  for (int k = threadIdx.x; k < rows * pixels; k += threads) {
    const int i = k / pixels, p = k - i * pixels;
    const int y = border_index(args.border, top + i, plane.height),
              x = border_index(args.border, left / C + p, plane.width);
    const std::uint8_t* from = plane.in + y * plane.in_stride + static_cast<std::ptrdiff_t>(x) * C;
#pragma unroll
    for (int c = 0; c < C; ++c)
      cells[row_offset(C, i) + p * C + c] = y < 0 || x < 0 ? plane.ghost >> (8 * c) & 255 : __ldg(from + c);
  }
}

/// Loads a window of three components byte by byte, since its first pixel is not whole there.
template <int threads>
__device__ __noinline__ void gather_triples(const TensorArgs& args, const TensorPlane& plane, std::uint8_t* cells,
                                            int left, int top) {
  constexpr int bytes = blocks_of(3) * block_bytes, rows = TensorTile::rows + 2 * radius;
  constexpr int before = 16;  // pixels, so that no dividend is below 0
  static_assert(3 * before >= margin_of(3));
#pragma unroll 4
  for (int k = threadIdx.x; k < rows * bytes; k += threads) {
    const int i = k / bytes, p = k - i * bytes, at = left + p + 3 * before;
    const int y = border_index(args.border, top + i, plane.height),
              x = border_index(args.border, at / 3 - before, plane.width);
    const std::uint8_t* from = plane.in + y * plane.in_stride + static_cast<std::ptrdiff_t>(x) * 3 + at % 3;
    cells[row_offset(3, i) + p] = y < 0 || x < 0 ? plane.ghost & 255 : __ldg(from);
  }
}

/// Where sample x of the luma lies in a row of packed 4:2:2.
__device__ __forceinline__ int luma_at(const TensorArgs& args, int x) {
  return 2 * x + args.luma_byte;
}

/// Loads a window of packed 4:2:2 byte by byte.
template <int threads>
__device__ __noinline__ void gather_pairs(const TensorArgs& args, const TensorPlane& plane, std::uint8_t* cells,
                                          int left, int top) {
  constexpr int bytes = blocks_of(4) * block_bytes, rows = TensorTile::rows + 2 * radius;
#pragma unroll 4
  for (int k = threadIdx.x; k < rows * bytes; k += threads) {
    const int i = k / bytes, p = k - i * bytes, at = left + p;
    const bool luma = (at & 1) == args.luma_byte;
    const int y = border_index(args.border, top + i, plane.height),
              x = border_index(args.border, at >> (luma ? 1 : 2), luma ? 2 * plane.width : plane.width);
    const std::uint8_t* from = plane.in + y * plane.in_stride + (luma ? luma_at(args, x) : 4 * x + (at & 3));
    cells[row_offset(4, i) + p] = y < 0 || x < 0 ? plane.ghost >> 8 * (at & 3) & 255 : __ldg(from);
  }
}

/// Asks for the rows of the tile whose first byte and row these are; for those around them, its neighbours do.
template <int threads, int bytes = TensorTile::bytes>
__device__ __forceinline__ void prefetch_tile(const TensorPlane& plane, int x, int top) {
  prefetch_rows<TensorTile::rows, bytes / cache_line, threads>(plane.in + top * plane.in_stride + x, plane.in_stride,
                                                               static_cast<int>(threadIdx.x), plane.height - top,
                                                               plane.row_bytes - x);
}

/// A pixel of three components.
struct Triple {
  std::uint8_t byte[3];
  Triple() = default;
  __device__ explicit Triple(std::uint32_t bytes)
      : byte{static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(bytes >> 8),
             static_cast<std::uint8_t>(bytes >> 16)} {}
};

/// The window of the tile whose first byte and row are `x` and `top`. Block-wide. `staged`: each warp waits for its own
/// rows only, which pays where all blocks of a launch are resident at once. `packed`: pixels are pairs of packed 4:2:2.
template <int C, int threads, bool staged, bool packed = false>
struct Window {
  static constexpr int blocks = blocks_of(C), pixels = blocks * block_bytes / C;
  static constexpr int rows = TensorTile::rows + 2 * radius, bytes = row_offset(C, rows);
  static constexpr int max_lines = TensorTile::rows + 2 * max_radius;
  /// The first 16 blocks of 8 rows at a time, then the rest of more rows.
  static constexpr int main_blocks = 16, main_rows = threads / main_blocks;
  static constexpr int rest_blocks = blocks - main_blocks, rest_lanes = C == 3 ? 16 : rest_blocks;
  static constexpr int rest_rows = threads / rest_lanes;
  static constexpr int main_passes = (max_lines - 1) / main_rows + 1, rest_passes = (max_lines - 1) / rest_rows + 1;
  static_assert(main_rows % 8 == 0 && 16 % main_rows == 0 && rest_rows % 8 == 0);
  static constexpr int band_passes = 16 / main_rows;
  using Pixel =
      std::conditional_t<C == 1, std::uint8_t,
                         std::conditional_t<C == 2, std::uint16_t, std::conditional_t<C == 3, Triple, std::uint32_t>>>;
  /// A window of three components begins with the last two bytes of a pixel, which no tap meets.
  static constexpr int cut = C == 3 ? 1 : 0;
  const TensorArgs& args;
  const TensorPlane& plane;
  std::uint8_t* const cells;
  const int left, top;      ///< the window's first byte and the tile's first row in the frame
  Arrivals* const arrived;  ///< staged: of what each band of 16 rows needs, beyond what those before it do

  __device__ std::uint8_t* row(int i) const { return cells + row_offset(C, i); }

  /// A thread's blocks of every `step`th row.
  template <int passes, int step>
  struct Share {
    std::uint32_t to;  ///< 0: none
    const std::uint8_t* in;
    int first, line[passes];

    __device__ __forceinline__ Share(const Window& window, int first, int block, bool inner) : first(first) {
      const TensorPlane& plane = window.plane;
      int at = window.left + block * block_bytes;
      const int row_bytes = plane.row_bytes, y = window.top - plane.above + first;
      // Another period of the frame is whole blocks away.
      if (window.args.border == Border::wrap) at += at < 0 ? row_bytes : at < row_bytes ? 0 : -row_bytes;
      in = plane.in + at;
      to = ptx::address_in_shared(window.row(radius - plane.above + first)) + block * block_bytes;
      if (!plane.wide || at < 0 || at + block_bytes > row_bytes || (C == 3 && block >= blocks)) to = 0;
#pragma unroll
      for (int i = 0; i < passes; ++i) line[i] = y + i * step;
      if (!inner) {
        const int low_scale = plane.rows.low_scale, low_offset = plane.rows.low_offset, last = plane.height - 1;
        const int high_scale = plane.rows.high_scale, high_offset = plane.rows.high_offset;
#pragma unroll
        for (int i = 0; i < passes; ++i) {
          // Rows farther out are of no interest.
          const int from = min(line[i], last + max_radius);
          line[i] = from < 0 ? low_scale * from + low_offset : from > last ? high_scale * from + high_offset : from;
        }
      }
    }
    /// Pass i.
    __device__ __forceinline__ void send(int i, int stride, int lines) const {
      if (to && ((i + 1) * step <= TensorTile::rows || first + i * step < lines))
        ptx::copy_async_past_l1(to + row_offset(C, i * step), ptx::multiply_add_address(line[i], stride, in));
    }
  };

  /// Sends for the window, once the stream is there.
  __device__ __forceinline__ void load() const {
    const int height = plane.height, id = threadIdx.x;
    if (staged) {
      if (id == 0)
        for (int b = 0; b < TensorTile::bands; ++b) arrived[b].expect(threads);
      __syncthreads();
    }
    if (!plane.words) {
      pdl_wait();
      if constexpr (packed)
        gather_pairs<threads>(args, plane, cells, left, top - radius);
      else if constexpr (C == 3)
        gather_triples<threads>(args, plane, cells, left, top - radius);
      else
        gather<C, threads>(args, plane, cells, left, top - radius);
      if (staged)
        for (int b = 0; b < TensorTile::bands; ++b) arrived[b].arrive_after_copies();
      __syncthreads();
      return;
    }
    const int lines = plane.lines, row_bytes = plane.row_bytes, stride = static_cast<int>(plane.in_stride);
    const bool sides = left < 0 || left + blocks * block_bytes > row_bytes;
    const bool inner = top >= plane.above && top - plane.above + lines <= height;
    const Share<main_passes, main_rows> main(*this, id / main_blocks, id % main_blocks, inner);
    const Share<rest_passes, rest_rows> rest(*this, id / rest_lanes, main_blocks + id % rest_lanes, inner);
    pdl_wait();
#pragma unroll
    for (int i = 0; i < rest_passes; ++i) rest.send(i, stride, lines);
#pragma unroll
    for (int i = 0; i < main_passes; ++i) {
      main.send(i, stride, lines);
      // A band needs the 16 rows after its own, and none beyond.
      if (staged && (i + 1) % band_passes == 0 && i + 1 >= 2 * band_passes)
        arrived[(i + 1) / band_passes - 2].arrive_after_copies();
    }
    static_assert(2 * max_radius <= 16 && main_passes == band_passes * (TensorTile::bands + 1));
    const bool mends = (sides && args.border != Border::wrap) || (plane.rows.ghost && !inner);
    const bool whole = plane.wide && (!sides || row_bytes % block_bytes == 0);
    if (staged && whole && !mends) return;
    if (!whole) load_parts();
    ptx::wait_for_all_copies();
    __syncthreads();
    if (mends) {
      mend(sides);
      __syncthreads();
    }
  }
  /// Waits for what a band of 16 rows needs of it.
  __device__ void wait(int band) const {
    if (staged) arrived[band].wait();
  }

 private:
  /// The blocks that end with the frame's rows, or all of a plane whose addresses are no multiples of 16. What is not
  /// there is mended or met by no tap.
  __device__ void load_parts() const {
#pragma unroll 1
    for (int k = threadIdx.x; k < plane.lines * blocks; k += threads) {
      const int i = k / blocks, block = k - i * blocks;
      int at = left + block * block_bytes;
      if (args.border == Border::wrap) at += at < 0 ? plane.row_bytes : at < plane.row_bytes ? 0 : -plane.row_bytes;
      const int bytes = min(plane.row_bytes - at, block_bytes);
      if (at < 0 || bytes <= 0 || (plane.wide && bytes == block_bytes)) continue;
      const int line = edge_index(plane.rows, min(top - plane.above + i, plane.height - 1 + max_radius));
      const std::uint8_t* from = ptx::multiply_add_address(line, static_cast<int>(plane.in_stride), plane.in + at);
      std::uint8_t* to = row(radius - plane.above + i) + block * block_bytes;
      int n = 0;
#pragma unroll 1
      for (; n + 4 <= bytes; n += 4) ptx::copy_async<4>(ptx::address_in_shared(to + n), from + n);
#pragma unroll 1
      for (; n < bytes; ++n) to[n] = __ldg(from + n);
    }
  }
  /// Pair x, which lies beside the frame: its chroma from `chroma`, its luma from the window's row.
  __device__ __forceinline__ std::uint32_t with_luma(std::uint32_t chroma, const std::uint32_t* line, int x,
                                                     int right) const {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(line);
    const EdgeAxis& axis = args.luma;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int from =
          (right ? axis.high_scale : axis.low_scale) * (2 * x + i) + (right ? axis.high_offset : axis.low_offset);
      const int at = min(max(luma_at(args, from) - left, 0), blocks * block_bytes - 1),
                bit = 16 * i + 8 * args.luma_byte;
      chroma = (chroma & ~(255u << bit)) | static_cast<std::uint32_t>(bytes[at]) << bit;
    }
    return chroma;
  }
  /// Puts the border's cells in, a row to a thread.
  __device__ void mend(bool sides) const {
    const int i = threadIdx.x;
    if (i >= rows) return;
    Pixel* line = reinterpret_cast<Pixel*>(row(i) - cut);
    const int left_pixel = (left - cut) / C;
    if (sides && args.border != Border::wrap)
#pragma unroll 1
      for (int right = 0; right < 2; ++right) {
        const int scale = right ? plane.columns.high_scale : plane.columns.low_scale;
        const int offset = (right ? plane.columns.high_offset : plane.columns.low_offset) - left_pixel;
        const int nearest = right ? plane.width : -1, away = right ? 1 : -1;
        Pixel value[max_radius];
#pragma unroll
        for (int k = 0; k < max_radius; ++k) {
          const int from = scale * (nearest + away * k) + offset;
          value[k] = plane.columns.ghost ? static_cast<Pixel>(plane.ghost) : line[min(max(from, cut), pixels - 1)];
          if constexpr (packed)
            if (!plane.columns.ghost) value[k] = with_luma(value[k], line, nearest + away * k, right);
        }
#pragma unroll
        for (int k = 0; k < max_radius; ++k) {
          const int to = nearest + away * k - left_pixel;
          if (static_cast<unsigned>(to) < static_cast<unsigned>(pixels)) line[to] = value[k];
        }
      }
    if (plane.rows.ghost && static_cast<unsigned>(top - radius + i) >= static_cast<unsigned>(plane.height))
#pragma unroll 1
      for (int b = 0; b < blocks; ++b)
        reinterpret_cast<uint4*>(reinterpret_cast<std::uint8_t*>(line) + cut)[b] = {plane.ghost, plane.ghost,
                                                                                    plane.ghost, plane.ghost};
  }
};

#endif

}  // namespace convolve::cuda::tensor
