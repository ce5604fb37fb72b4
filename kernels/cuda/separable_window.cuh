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
#include "cuda/edge.cuh"
#include "cuda/launch.hpp"
#include "cuda/separable_tuning.hpp"

namespace convolve::cuda::tensor {

/// A window reaches over 8 rows and pixels, and whole blocks, on either side of the outputs; filters over 7.
constexpr int reach = 8, most_reach = 7, block_bytes = 16;
constexpr int tile_threads = 32 * TensorTile::warps;

struct TensorPlane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  int row_bytes, width, height, components;
  EdgeAxis columns, rows;
  int above, lines;  ///< the rows that a tile takes: from that many above it on, so many
  int first_block, tiles_x;
  std::uint32_t tiles_x_inverse;  ///< 2^32 / tiles_x, rounded up; of more than one
  bool simple;                    ///< one fold suffices, so that edges may be copied
  bool words, wide;               ///< addresses and strides allow that, by 4 or by 16 bytes, and `simple`
  bool out_wide;                  ///< they allow whole pieces of 16 bytes out
  std::uint32_t copied;           ///< the bytes of a word that are not filtered
  std::uint32_t ghost;            ///< a word of ghost cells
  const uint4* fragments;         ///< of the matrices: see Products
};

struct TensorArgs {
  TensorPlane plane[max_planes];
  int planes;
  Border border;
  float gain, offset, snap;
};

/// Bytes on either side of a tile.
__host__ __device__ constexpr int margin_of(int components) {
  return components == 4 ? 32 : 16;
}
__host__ __device__ constexpr int blocks_of(int components) {
  return (TensorTile::bytes + 2 * margin_of(components)) / block_bytes;
}
/// Bytes from row to row: eight rows' blocks lie in different banks.
__host__ __device__ constexpr int pitch_of(int components) {
  return (blocks_of(components) | 1) * block_bytes;
}

/// Copies in the background.
__device__ __forceinline__ void copy_async_16(std::uint32_t to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#else
  __trap();
#endif
}
__device__ __forceinline__ void copy_async_4(std::uint32_t to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
#else
  __trap();
#endif
}
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Counts arrivals in shared memory, once.
struct Arrivals {
  std::uint64_t state;

  __device__ std::uint32_t address() const { return static_cast<std::uint32_t>(__cvta_generic_to_shared(&state)); }
  /// By one thread, before the others know.
  __device__ void expect(int threads) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(threads) : "memory");
#endif
  }
  /// This thread arrives once its copies so far have.
  __device__ void arrive_after_copies() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address()) : "memory");
#endif
  }
  __device__ void wait() const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n"
        "@!done bra again;}" ::"r"(address())
        : "memory");
#elif __CUDA_ARCH__ >= 800
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.test_wait.parity.shared.b64 done, [%0], 0;\n"
        "@!done bra again;}" ::"r"(address())
        : "memory");
#endif
  }
};

/// Row `line` of rows that are `stride` bytes apart: one instruction.
__device__ __forceinline__ const std::uint8_t* row_at(const std::uint8_t* in, int stride, int line) {
  const std::uint8_t* row;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(row) : "r"(line), "r"(stride), "l"(in));
  return row;
}

/// A window pixel by pixel, from any address, for frames of any size. Out of line: it is long, and slow anyway.
template <int C>
__device__ __noinline__ void gather(const TensorArgs& args, const TensorPlane& plane, std::uint8_t* cells, int left,
                                    int top) {
  constexpr int pixels = blocks_of(C) * block_bytes / C, rows = TensorTile::rows + 2 * reach;
#pragma unroll 4
  for (int k = threadIdx.x; k < rows * pixels; k += tile_threads) {
    const int i = k / pixels, p = k - i * pixels;
    const int y = border_index(args.border, top + i, plane.height),
              x = border_index(args.border, left / C + p, plane.width);
    const std::uint8_t* from = plane.in + y * plane.in_stride + static_cast<std::ptrdiff_t>(x) * C;
#pragma unroll
    for (int c = 0; c < C; ++c)
      cells[i * pitch_of(C) + p * C + c] = y < 0 || x < 0 ? plane.ghost >> (8 * c) & 255 : __ldg(from + c);
  }
}

/// The window of the tile whose first byte and row are `x` and `top`. Block-wide.
template <int C>
struct Window {
  static constexpr int blocks = blocks_of(C), pitch = pitch_of(C), pixels = blocks * block_bytes / C;
  static constexpr int rows = TensorTile::rows + 2 * reach, bytes = rows * pitch;
  static constexpr int rows_at_once = tile_threads / blocks, passes = (rows - 2 + rows_at_once - 1) / rows_at_once;
  using Pixel = std::conditional_t<C == 1, std::uint8_t, std::conditional_t<C == 2, std::uint16_t, std::uint32_t>>;
  const TensorArgs& args;
  const TensorPlane& plane;
  std::uint8_t* const cells;
  const int left, top;      ///< the window's first byte and the tile's first row in the frame
  Arrivals* const arrived;  ///< of what each warp needs, beyond what those before it do

  __device__ std::uint8_t* row(int i) const { return cells + i * pitch; }

  /// After pass i all rows have been sent for that warp `w` needs, and not all before.
  static constexpr bool is_last(int i, int w) {
    const int needed = 16 * (w + 1) + 2 * most_reach;
    return i * rows_at_once < needed && (i + 1) * rows_at_once >= needed;
  }

  /// Sends for the window, once the stream is there.
  __device__ void load() const {
    const int height = plane.height;
    if (threadIdx.x == 0)
      for (int w = 0; w < TensorTile::warps; ++w) arrived[w].expect(tile_threads);
    __syncthreads();
    if (!plane.words) {
      wait_for_stream();
      gather<C>(args, plane, cells, left, top - reach);
      for (int w = 0; w < TensorTile::warps; ++w) arrived[w].arrive_after_copies();
      __syncthreads();
      return;
    }
    const int first = threadIdx.x / blocks, block = threadIdx.x - first * blocks, lines = plane.lines;
    const int y = top - plane.above + first, row_bytes = plane.row_bytes;
    int at = left + block * block_bytes;
    const bool sides = left < 0 || left + blocks * block_bytes > row_bytes;
    // Another period of the frame is whole blocks away.
    if (sides && args.border == Border::wrap) at += at < 0 ? row_bytes : at < row_bytes ? 0 : -row_bytes;
    const bool some = first < rows_at_once && at >= 0 && at < row_bytes;
    const bool whole = some && plane.wide && at + block_bytes <= row_bytes;
    int line[passes];
    const bool inner = top >= plane.above && top - plane.above + lines <= height;
#pragma unroll
    for (int i = 0; i < passes; ++i) line[i] = y + i * rows_at_once;
    if (!inner) {
      const int low_scale = plane.rows.low_scale, low_offset = plane.rows.low_offset;
      const int high_scale = plane.rows.high_scale, high_offset = plane.rows.high_offset, last = height - 1;
#pragma unroll
      for (int i = 0; i < passes; ++i) {
        // Rows farther out are of no interest.
        const int from = min(line[i], last + most_reach);
        line[i] = from < 0 ? low_scale * from + low_offset : from > last ? high_scale * from + high_offset : from;
      }
    }
    const std::uint8_t* const in = plane.in + at;
    const int stride = static_cast<int>(plane.in_stride);
    const auto to =
        static_cast<std::uint32_t>(__cvta_generic_to_shared(row(reach - plane.above + first))) + block * block_bytes;
    wait_for_stream();
#pragma unroll
    for (int i = 0; i < passes; ++i) {
      if (whole && ((i + 1) * rows_at_once <= TensorTile::rows || first + i * rows_at_once < lines))
        copy_async_16(to + i * rows_at_once * pitch, row_at(in, stride, line[i]));
#pragma unroll
      for (int w = 0; w < TensorTile::warps; ++w)
        if (is_last(i, w)) arrived[w].arrive_after_copies();
    }
    const bool mends = (sides && args.border != Border::wrap) || (plane.rows.ghost && !inner);
    if (!mends && plane.wide && (!sides || row_bytes % block_bytes == 0)) return;
    if (some && !whole) {
      const int bytes = min(row_bytes - at, block_bytes);
#pragma unroll 1
      for (int i = 0; first + i < lines; i += rows_at_once)
        load_part(to + i * pitch, row_at(in, stride, edge_index(plane.rows, min(y + i, height - 1 + most_reach))),
                  bytes);
    }
    wait_for_copies();
    __syncthreads();
    if (mends) {
      mend(sides);
      __syncthreads();
    }
  }
  /// Waits for what this warp reads of it: a little of it, that meets no tap, is what the next one needs.
  __device__ void wait(int warp) const {
    if (warp > 0) arrived[warp - 1].wait();
    arrived[warp].wait();
    if (warp + 1 < TensorTile::warps) arrived[warp + 1].wait();
  }

 private:
  /// What is not there is mended or met by no tap.
  static __device__ void load_part(std::uint32_t to, const std::uint8_t* from, int bytes) {
    int i = 0;
#pragma unroll 1
    for (; i + 4 <= bytes; i += 4) copy_async_4(to + i, from + i);
#pragma unroll 1
    for (; i < bytes; ++i)
      asm volatile("st.shared.u8 [%0], %1;" ::"r"(to + i), "r"(static_cast<unsigned>(__ldg(from + i))) : "memory");
  }
  /// Puts the border's cells in, a row to a thread.
  __device__ void mend(bool sides) const {
    const int i = threadIdx.x;
    if (i >= rows) return;
    Pixel* line = reinterpret_cast<Pixel*>(row(i));
    const int left_pixel = left / C;
    if (sides && args.border != Border::wrap)
#pragma unroll 1
      for (int right = 0; right < 2; ++right) {
        const int scale = right ? plane.columns.high_scale : plane.columns.low_scale;
        const int offset = (right ? plane.columns.high_offset : plane.columns.low_offset) - left_pixel;
        const int nearest = right ? plane.width : -1, away = right ? 1 : -1;
        Pixel value[most_reach];
#pragma unroll
        for (int k = 0; k < most_reach; ++k) {
          const int from = scale * (nearest + away * k) + offset;
          value[k] = plane.columns.ghost ? static_cast<Pixel>(plane.ghost) : line[min(max(from, 0), pixels - 1)];
        }
#pragma unroll
        for (int k = 0; k < most_reach; ++k) {
          const int to = nearest + away * k - left_pixel;
          if (static_cast<unsigned>(to) < static_cast<unsigned>(pixels)) line[to] = value[k];
        }
      }
    if (plane.rows.ghost && static_cast<unsigned>(top - reach + i) >= static_cast<unsigned>(plane.height))
#pragma unroll 1
      for (int b = 0; b < blocks; ++b)
        reinterpret_cast<uint4*>(line)[b] = {plane.ghost, plane.ghost, plane.ghost, plane.ghost};
  }
};

}  // namespace convolve::cuda::tensor
