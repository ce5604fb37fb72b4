// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a warp of separable's tensor kernel sees of a frame: windows of 16 rows in its own corner of shared memory, with
// the border's cells in place, so that the products know of no edges. Rows come by asynchronous copies, all of them
// under way at once; what lies beside the frame is then copied from the window itself.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "convolve/border.hpp"
#include "convolve/plane.hpp"
#include "cuda/edge.cuh"
#include "cuda/separable_tuning.hpp"

namespace convolve::cuda::tensor {

/// A step down the frame, and a chunk of input, in rows; a window reaches over 8 pixels either side of its outputs.
constexpr int step_rows = 16, reach = 8, most_reach = 7;
constexpr int block_bytes = 16, strip_bytes = 64;

struct TensorPlane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  int row_bytes, width, height, components;
  EdgeAxis columns, rows;
  int first_block, strips, bands;  ///< a warp's place: strips side by side, bands one above the other
  std::uint32_t strips_inverse;    ///< 2^32 / strips, rounded up; of more than one
  bool simple;                     ///< one fold suffices, so that edges may be copied
  bool words, wide;                ///< addresses and strides allow that, by 4 or by 16 bytes
  bool out_words;                  ///< they allow whole pieces out: see Pieces
  std::uint32_t copied;            ///< the bytes of a word that are not filtered
  std::uint32_t ghost;             ///< a word of ghost cells
  const uint4* fragments;          ///< of the matrices: see Products
  float offset[4];                 ///< exact: the quantizer's offset and snap
  int constant[4];                 ///< exact: what H's last digit starts at
};

struct TensorArgs {
  TensorPlane plane[max_planes];
  int planes, steps;
  Border border;
  float gain, snap;
};

__host__ __device__ constexpr int blocks_of(int components) {
  return components == 1 ? 5 : components == 2 ? 6 : 8;
}
/// Bytes from row to row: eight rows' blocks lie in different banks.
__host__ __device__ constexpr int pitch_of(int components) {
  return (blocks_of(components) | 1) * block_bytes;
}
__host__ __device__ constexpr int window_bytes(int components) {
  return (TensorTile::most_steps(components) + 1) * step_rows * pitch_of(components);
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
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits for all but the last `pending` groups of this lane's copies.
template <int pending>
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

/// A chunk pixel by pixel, from any address, for frames of any size. Out of line: it is long, and slow anyway.
template <int C>
__device__ __noinline__ void gather(const TensorArgs& args, const TensorPlane& plane, std::uint8_t* to, int left,
                                    int top) {
  constexpr int pixels = blocks_of(C) * block_bytes / C;
#pragma unroll 4
  for (int k = threadIdx.x & 31; k < step_rows * pixels; k += 32) {
    const int i = k / pixels, p = k - i * pixels;
    const int y = border_index(args.border, top + i, plane.height),
              x = border_index(args.border, left + p, plane.width);
    const std::uint8_t* from = plane.in + y * plane.in_stride + static_cast<std::ptrdiff_t>(x) * C;
#pragma unroll
    for (int c = 0; c < C; ++c)
      to[i * pitch_of(C) + p * C + c] = y < 0 || x < 0 ? plane.ghost >> (8 * c) & 255 : __ldg(from + c);
  }
}

template <int C>
struct Window {
  static constexpr int blocks = blocks_of(C), pitch = pitch_of(C), pixels = blocks * block_bytes / C;
  static constexpr int passes = (step_rows * blocks + 31) / 32;  ///< of 32 lanes over a chunk's blocks
  using Pixel = std::conditional_t<C == 1, std::uint8_t, std::conditional_t<C == 2, std::uint16_t, std::uint32_t>>;
  const TensorArgs& args;
  const TensorPlane& plane;
  std::uint8_t* const cells;
  const int left, top, lane;  ///< the window's first byte and row in the frame
  const bool sides;           ///< it crosses a side of the frame

  __device__ std::uint8_t* row(int chunk, int i) const { return cells + (chunk * step_rows + i) * pitch; }

  /// Sends for the rows of the first `chunks` chunks, each a group of copies; there are always `most + 1` groups.
  __device__ void load(int chunks) const {
    constexpr int most = TensorTile::most_steps(C);
    if (!plane.words) {
#pragma unroll 1
      for (int chunk = 0; chunk < chunks; ++chunk)
        gather<C>(args, plane, row(chunk, 0), left / C, top + chunk * step_rows);
#pragma unroll
      for (int chunk = 0; chunk <= most; ++chunk) commit_copies();
      return;
    }
    int line[passes], at[passes];
    std::uint32_t to[passes];
#pragma unroll
    for (int n = 0; n < passes; ++n) {
      const int k = 32 * n + lane, block = (k % blocks) * block_bytes;
      line[n] = top + k / blocks;
      at[n] = left + block;
      to[n] = static_cast<std::uint32_t>(__cvta_generic_to_shared(row(0, k / blocks))) + block;
    }
    const auto active = [&](int n) { return 32 * n + 32 <= step_rows * blocks || 32 * n + lane < step_rows * blocks; };
    const std::ptrdiff_t stride = plane.in_stride, down = step_rows * stride;
    if (!sides && plane.wide && top >= 0 && top + chunks * step_rows <= plane.height) {
      const std::uint8_t* from[passes];
#pragma unroll
      for (int n = 0; n < passes; ++n) from[n] = plane.in + line[n] * stride + at[n];
#pragma unroll
      for (int chunk = 0; chunk <= most; ++chunk) {
        if (chunk < chunks)
#pragma unroll
          for (int n = 0; n < passes; ++n)
            if (active(n)) copy_async_16(to[n] + chunk * step_rows * pitch, from[n] + chunk * down);
        commit_copies();
      }
      return;
    }
    const std::uint8_t* const in = plane.in;
    const int row_bytes = plane.row_bytes, last = plane.height - 1;
    const int low_scale = plane.rows.low_scale, low_offset = plane.rows.low_offset;
    const int high_scale = plane.rows.high_scale, high_offset = plane.rows.high_offset;
    bool whole[passes], part[passes];
#pragma unroll
    for (int n = 0; n < passes; ++n) {
      // Another period of the frame is whole blocks away.
      if (sides && args.border == Border::wrap) at[n] += at[n] < 0 ? row_bytes : at[n] < row_bytes ? 0 : -row_bytes;
      const bool some = active(n) && at[n] >= 0 && at[n] < row_bytes;
      whole[n] = some && plane.wide && at[n] + block_bytes <= row_bytes;
      part[n] = some && !whole[n];
    }
#pragma unroll 1
    for (int chunk = 0; chunk <= most; ++chunk) {
      if (chunk < chunks)
#pragma unroll
        for (int n = 0; n < passes; ++n) {
          // Rows farther out are of no interest. Without branches, unlike edge_index().
          const int y = min(max(line[n], -most_reach), last + most_reach);
          const int scale = y < 0 ? low_scale : y > last ? high_scale : 1;
          const int offset = y < 0 ? low_offset : y > last ? high_offset : 0;
          const std::uint8_t* from = in + (scale * y + offset) * stride + at[n];
          if (whole[n]) copy_async_16(to[n], from);
          if (part[n]) load_part(to[n], from, min(row_bytes - at[n], block_bytes));
          line[n] += step_rows;
          to[n] += step_rows * pitch;
        }
      commit_copies();
    }
  }
  /// What is not there is mended or met by no tap.
  static __device__ void load_part(std::uint32_t to, const std::uint8_t* from, int bytes) {
    int i = 0;
#pragma unroll 1
    for (; i + 4 <= bytes; i += 4) copy_async_4(to + i, from + i);
#pragma unroll 1
    for (; i < bytes; ++i)
      asm volatile("st.shared.u8 [%0], %1;" ::"r"(to + i), "r"(static_cast<unsigned>(__ldg(from + i))) : "memory");
  }
  /// Some chunk needs mend().
  __device__ bool mends() const {
    return plane.words && ((sides && args.border != Border::wrap) || plane.rows.ghost);
  }
  /// Puts the border's cells into a chunk that has arrived.
  __device__ void mend(int chunk) const {
    const int first = top + chunk * step_rows, i = lane >> 1;
    Pixel* line = reinterpret_cast<Pixel*>(row(chunk, i));
    const int left_pixel = left / C;
    if (sides && args.border != Border::wrap) {
      const bool right = lane & 1;
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
    if (plane.rows.ghost && static_cast<unsigned>(first + i) >= static_cast<unsigned>(plane.height))
#pragma unroll
      for (int b = 0; b < blocks; b += 2)
        if (b + 1 < blocks || !(lane & 1))
          reinterpret_cast<uint4*>(line)[b + (lane & 1)] = {plane.ghost, plane.ghost, plane.ghost, plane.ghost};
    __syncwarp();
  }
};

}  // namespace convolve::cuda::tensor
