// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of `matrix` share: their arguments, words of pixels, sums to samples, and the samples at the
// borders.
//
// All planes are blocks of one launch. A plane's inner samples, whose inputs all lie in the frame, are made in tiles,
// one to a warp: `matrix_tile_width` pixels by a few rows. The last tiles of a row or column of tiles move back to end
// with the inner samples, over what their neighbours make too, with the same result. The others, and all of planes that
// are small or not aligned, are made one to a thread.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convolve/border.hpp"
#include "cuda/matrix.hpp"

namespace convolve::cuda {

inline constexpr int matrix_tile_width = 128;  ///< pixels
inline constexpr int large_matrix_reach = 7;   ///< of the kernel in matrix_large.cu: taps on every side of the centre
inline constexpr int large_matrix_margin = 8;  ///< and pixels on either side of a strip that are loaded

struct MatrixPlane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  int width, height;                    ///< pixels
  int left, right, top, end;            ///< the inner samples: left <= x < right, top <= y < end
  unsigned first_block, sample_blocks;  ///< those that make samples one by one come first
  unsigned tiles, tiles_x, reciprocal;  ///< reciprocal: of tiles_x, times 2^32, rounded up
  std::uint32_t ghost;                  ///< level of ghost cells, a byte a component
  std::uint32_t keep;                   ///< mask of copied components in a word of pixels
  std::uint8_t components, copied;      ///< copied: bit mask of the components that are not filtered
};

/// What the sums of a plane's components start from and are moved by.
struct MatrixLevels {
  int4 start[max_components];     ///< four times the same, as a product takes it
  int4 high_start;                ///< of the high digit of two
  float base[max_components];     ///< real sums: what is added to their float reading
  float level[max_components];    ///< real sums: what is added to their value
  int sum_start[max_components];  ///< exact sums: as in `start`
};

struct MatrixArgs {
  MatrixPlane plane[max_planes];
  const uint4* taps;           ///< matrices of taps, as lanes hold them, in the order of the kernel
  const MatrixLevels* levels;  ///< by plane
  const int* fixed;            ///< taps as integers: [row][column]
  unsigned planes;
  std::uint32_t max;  ///< the largest sample
  float gain, gain_low;
  int taps_x, taps_y, centre_x, centre_y;
  MatrixFinish finish;
  Border border;
};

using MatrixKernel = void (*)(MatrixArgs);

/// For filters that reach beyond what the kernel in matrix.cu takes; `components`: the most of a plane.
MatrixKernel large_matrix_kernel(int digits, int components);
/// Their taps as lanes hold them, and behind them which two of four in k they belong to.
std::vector<uint4> large_matrix_taps(const Filter& filter, const MatrixTaps& taps);

#ifdef __CUDACC__

/// Where a tile of so many rows begins.
__device__ __forceinline__ int2 tile_origin(const MatrixPlane& plane, unsigned tile, int rows) {
  const unsigned y = plane.tiles_x == 1 ? tile : __umulhi(tile, plane.reciprocal), x = tile - y * plane.tiles_x;
  return {min(max(static_cast<int>(x) * matrix_tile_width, plane.left), plane.right - matrix_tile_width),
          min(max(static_cast<int>(y) * rows, plane.top), plane.end - rows)};
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Four pixels of a row.
template <int C>
struct Unit;
template <>
struct Unit<1> {
  using Word = std::uint32_t;
};
template <>
struct Unit<2> {
  using Word = uint2;
};
template <>
struct Unit<4> {
  using Word = uint4;
};
template <int C>
using Word = typename Unit<C>::Word;

/// The four samples of each component, from four pixels.
__device__ __forceinline__ void planar(std::uint32_t u, std::uint32_t (&c)[1]) {
  c[0] = u;
}
__device__ __forceinline__ void planar(uint2 u, std::uint32_t (&c)[2]) {
  c[0] = __byte_perm(u.x, u.y, 0x6420);
  c[1] = __byte_perm(u.x, u.y, 0x7531);
}
__device__ __forceinline__ void planar(uint4 u, std::uint32_t (&c)[4]) {
  const std::uint32_t xy_low = __byte_perm(u.x, u.y, 0x5140), zw_low = __byte_perm(u.z, u.w, 0x5140);
  const std::uint32_t xy_high = __byte_perm(u.x, u.y, 0x7362), zw_high = __byte_perm(u.z, u.w, 0x7362);
  c[0] = __byte_perm(xy_low, zw_low, 0x5410);
  c[1] = __byte_perm(xy_low, zw_low, 0x7632);
  c[2] = __byte_perm(xy_high, zw_high, 0x5410);
  c[3] = __byte_perm(xy_high, zw_high, 0x7632);
}

__device__ __forceinline__ std::uint32_t& word_of(std::uint32_t& u, int) {
  return u;
}
__device__ __forceinline__ std::uint32_t& word_of(uint2& u, int i) {
  return i == 0 ? u.x : u.y;
}
__device__ __forceinline__ std::uint32_t& word_of(uint4& u, int i) {
  return i == 0 ? u.x : i == 1 ? u.y : i == 2 ? u.z : u.w;
}

/// Four sums to four bytes, the first lowest, clamped.
__device__ __forceinline__ std::uint32_t pack(int a, int b, int c, int d) {
  std::uint32_t high, all;
  asm("cvt.pack.sat.u8.s32.b32 %0,%1,%2,%3;" : "=r"(high) : "r"(d), "r"(c), "r"(0));
  asm("cvt.pack.sat.u8.s32.b32 %0,%1,%2,%3;" : "=r"(all) : "r"(b), "r"(a), "r"(high));
  return all;
}
/// Rounded to nearest, ties to even: the compiler makes two instructions of these six.
__device__ __forceinline__ std::uint32_t pack(float a, float b, float c, float d) {
  return pack(__float2int_rn(a), __float2int_rn(b), __float2int_rn(c), __float2int_rn(d));
}

/// The sample that a sum stands for, before it is rounded or clamped.
template <MatrixFinish finish>
__device__ __forceinline__ auto value_of(const MatrixArgs& args, const int (&sum)[2], float base) {
  if constexpr (finish == MatrixFinish::pack) {
    return sum[0];
  } else if constexpr (finish == MatrixFinish::real) {
    return __fmaf_rn(__int_as_float(sum[1]), args.gain, __fmaf_rn(__int_as_float(sum[0]), 256 * args.gain, base));
  } else {
    const float whole = __int2float_rn(sum[0]);
    return __fmaf_rn(whole, args.gain, __fmul_rn(whole, args.gain_low));
  }
}

#endif

/// Sample i of those that lie outside the inner ones: first the bands of rows above and below, then the columns
/// between.
__device__ __forceinline__ void make_sample(const MatrixArgs& args, const MatrixPlane& plane,
                                            const MatrixLevels& levels, unsigned i) {
  const unsigned C = plane.components, row_samples = plane.width * C;
  const unsigned band_rows = plane.top + plane.height - plane.end, band = band_rows * row_samples;
  unsigned y, at;  // at: sample in the row
  if (i < band) {
    y = i / row_samples;
    at = i - y * row_samples;
    if (y >= static_cast<unsigned>(plane.top)) y += plane.end - plane.top;
  } else {
    const unsigned row = (plane.left + plane.width - plane.right) * C;
    i -= band;
    y = row > 0 ? i / row : plane.height;
    at = i - y * row;
    y += plane.top;
    if (y >= static_cast<unsigned>(plane.end)) return;
    if (at >= plane.left * C) at += (plane.right - plane.left) * C;
  }
  const int x = static_cast<int>(at / C), c = static_cast<int>(at - x * C);
  std::uint8_t& out = plane.out[static_cast<int>(y) * plane.out_stride + at];
  if (plane.copied >> c & 1) {
    out = plane.in[static_cast<int>(y) * plane.in_stride + at];
    return;
  }

  const int left = x - args.centre_x, ghost = plane.ghost >> 8 * c & 255;
  const bool whole = left >= 0 && left + args.taps_x <= plane.width;
  const int* tap = args.fixed;
  int sum = 0;
  for (int r = 0; r < args.taps_y; ++r, tap += args.taps_x) {
    const int from = border_index(args.border, static_cast<int>(y) - args.centre_y + r, plane.height);
    const std::uint8_t* row = plane.in + from * plane.in_stride + c;
    if (whole && from >= 0) {
      row += left * static_cast<int>(C);
#pragma unroll 5
      for (int k = 0; k < args.taps_x; ++k, row += C) sum += __ldg(tap + k) * __ldg(row);
    } else {
      for (int k = 0; k < args.taps_x; ++k) {
        const int column = from < 0 ? -1 : border_index(args.border, left + k, plane.width);
        sum += __ldg(tap + k) * (column < 0 ? ghost : __ldg(row + column * static_cast<int>(C)));
      }
    }
  }
  float value;
  if (args.finish == MatrixFinish::real) {
    value = __fmaf_rn(__int2float_rn(sum), args.gain, levels.level[c]);
  } else {
    const float whole_sum = __int2float_rn(sum + levels.sum_start[c]);
    value = __fmaf_rn(whole_sum, args.gain, __fmul_rn(whole_sum, args.gain_low));
  }
  out = static_cast<std::uint8_t>(min(max(__float2int_rn(value), 0), static_cast<int>(args.max)));
}

/// Copies one tile of a plane that has nothing to filter and is aligned.
__device__ __forceinline__ void copy_tile(const MatrixPlane& plane, unsigned tile, int rows) {
  const int2 origin = tile_origin(plane, tile, rows);
  const int bytes = matrix_tile_width * plane.components;
  for (int y = origin.y; y < origin.y + rows; ++y)
    for (int b = 4 * static_cast<int>(threadIdx.x); b < bytes; b += 128) {
      const std::ptrdiff_t at = origin.x * plane.components + b;
      *reinterpret_cast<std::uint32_t*>(plane.out + y * plane.out_stride + at) =
          __ldg(reinterpret_cast<const std::uint32_t*>(plane.in + y * plane.in_stride + at));
    }
}

/// What a block does: make(plane, levels, tile) for its warps' tiles, or samples one by one. copy(): a plane that is
/// only copied.
template <class Make, class Copy>
__device__ __forceinline__ void for_plane(const MatrixArgs& args, int warps, const Make& make, const Copy& copy) {
  unsigned p = 0;
  while (p + 1 < args.planes && blockIdx.x >= args.plane[p + 1].first_block) ++p;
  const MatrixPlane& plane = args.plane[p];
  const MatrixLevels& levels = args.levels[p];
  unsigned block = blockIdx.x - plane.first_block;
  if (block < plane.sample_blocks) {
    make_sample(args, plane, levels, block * 32 * warps + threadIdx.y * 32 + threadIdx.x);
    return;
  }
  const unsigned tile = (block - plane.sample_blocks) * warps + threadIdx.y;
  if (tile >= plane.tiles) return;
  if (plane.copied + 1 == 1 << plane.components)
    copy(plane, tile);
  else
    make(plane, levels, tile);
}

#endif

}  // namespace convolve::cuda
