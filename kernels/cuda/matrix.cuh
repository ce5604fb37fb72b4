// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of `matrix` share: their arguments, words of pixels, sums to samples, and the samples at the
// borders.
//
// All planes are blocks of one launch, each warp making a tile. For small filters tiles cover the plane, the last of a
// row or column moving back over what its neighbour makes too, with the same result; what planes that are small, not
// aligned or of an odd width leave is made one sample to a thread, by blocks that come first. For large filters tiles
// cover the inner samples, whose inputs all lie in an aligned frame; the others come first, as tiles of few rows whose
// pixels are gathered one by one through the border's rule.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convolve/border.hpp"
#include "cuda/edge.cuh"
#include "cuda/matrix.hpp"

namespace convolve::cuda {

inline constexpr int matrix_tile_width = 128;  ///< pixels
inline constexpr int small_matrix_reach = 3;   ///< of the kernel in matrix_small.cu: rows above and below the centre
inline constexpr int small_matrix_margin = 4;  ///< and pixels on either side of a strip, and columns beside the centre
inline constexpr int small_matrix_warps = 4;   ///< of a block
inline constexpr int large_matrix_reach = 7;   ///< of the kernel in matrix_large.cu: taps on every side of the centre
inline constexpr int large_matrix_margin = 8;  ///< and pixels on either side of a strip that are loaded

struct MatrixPlane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  int width, height;  ///< pixels
  EdgeAxis across, down;
  /// Small filters: the columns that tiles make, left <= x < right. Large ones: the inner tiles, which begin one tile
  /// in, at `left` and `top`.
  int left, right, top, bottom;
  unsigned first_block, edge_blocks, edge_tiles, band_tiles;  ///< edge tiles: first the bands above and below
  unsigned tiles, tiles_x, reciprocal;                        ///< inner; reciprocal: 2^32 / tiles_x, rounded up
  std::uint32_t ghost;                                        ///< level of ghost cells, in the order of a word's bytes
  std::uint32_t keep;                                         ///< mask of copied components in a word of pixels
  std::uint8_t components, copied;  ///< copied: bit mask of the components that are not filtered
};

/// What the sums of a plane's components start from and are moved by.
struct MatrixLevels {
  int4 start[max_components];     ///< four times the same, as a product takes it
  int4 high_start;                ///< of the high digit of two
  float base[max_components];     ///< real sums: what is added to their float reading
  float level[max_components];    ///< real sums: what is added to their value
  int sum_start[max_components];  ///< exact sums: as in `start`
  uint4 ghosts;                   ///< four ghost pixels
};

struct MatrixArgs {
  MatrixPlane plane[max_planes];
  const uint4* taps;           ///< matrices of taps, as lanes hold them, in the order of the kernel
  const MatrixLevels* levels;  ///< by plane
  const int* fixed;            ///< taps as integers: [row][column]
  unsigned planes;
  std::uint32_t max;  ///< the largest sample, in each byte
  float gain, gain_low;
  int taps_x, taps_y, centre_x, centre_y;
  MatrixFinish finish;
  Border border;
};

using MatrixKernel = void (*)(MatrixArgs);

/// `reach`: rows above and below the centre; `components`: the most of a plane.
MatrixKernel small_matrix_kernel(int reach, int digits, int components);
/// The taps as lanes hold them, [digit][row pair][lane], words in the order of a lane's two products.
std::vector<uint4> small_matrix_taps(const Filter& filter, const MatrixTaps& taps, int reach);

/// For filters that reach beyond that.
MatrixKernel large_matrix_kernel(int digits, int components);
/// Their taps as lanes hold them, and behind them which two of four in k they belong to.
std::vector<uint4> large_matrix_taps(const Filter& filter, const MatrixTaps& taps);

#ifdef __CUDACC__

/// Where an inner tile begins.
__device__ __forceinline__ int2 inner_origin(const MatrixPlane& plane, unsigned tile, int rows) {
  const unsigned y = plane.tiles_x == 1 ? tile : __umulhi(tile, plane.reciprocal), x = tile - y * plane.tiles_x;
  return {static_cast<int>(x + 1) * matrix_tile_width, plane.top + static_cast<int>(y) * rows};
}

/// Where an edge tile begins.
__device__ __forceinline__ int2 edge_origin(const MatrixPlane& plane, unsigned tile, int rows) {
  if (tile < plane.band_tiles) {
    const unsigned tiles_x = (plane.width - 1) / matrix_tile_width + 1, row = tile / tiles_x;
    const int y = static_cast<int>(row) * rows;
    return {static_cast<int>(tile - row * tiles_x) * matrix_tile_width,
            y < plane.top ? y : y + plane.bottom - plane.top};
  }
  tile -= plane.band_tiles;
  const unsigned tiles_x = (plane.width - 1 - plane.right) / matrix_tile_width + 2, row = tile / tiles_x;
  const int column = static_cast<int>(tile - row * tiles_x);
  return {column == 0 ? 0 : plane.right + (column - 1) * matrix_tile_width, plane.top + static_cast<int>(row) * rows};
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

/// Four pixels, from the words of their components.
template <int C>
__device__ __forceinline__ Word<C> interleaved(const std::uint32_t (&c)[C]) {
  if constexpr (C == 1)
    return c[0];
  else if constexpr (C == 2)
    return {__byte_perm(c[0], c[1], 0x5140), __byte_perm(c[0], c[1], 0x7362)};
  else {
    const std::uint32_t low01 = __byte_perm(c[0], c[1], 0x5140), high01 = __byte_perm(c[0], c[1], 0x7362);
    const std::uint32_t low23 = __byte_perm(c[2], c[3], 0x5140), high23 = __byte_perm(c[2], c[3], 0x7362);
    return {__byte_perm(low01, low23, 0x5410), __byte_perm(low01, low23, 0x7632), __byte_perm(high01, high23, 0x5410),
            __byte_perm(high01, high23, 0x7632)};
  }
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

/// The sample that stands at index i of an axis of n, or -1: a ghost. What no output can reach is anything.
__device__ __noinline__ inline int index_outside(Border border, int i, int n) {
  return i < -large_matrix_margin || i >= n + large_matrix_margin ? 0 : border_index(border, i, n);
}
__device__ __forceinline__ int index_of(Border border, int i, int n) {
  return static_cast<unsigned>(i) < static_cast<unsigned>(n) ? i : index_outside(border, i, n);
}

/// Where four pixels from x on lie in a row, in bytes; negative: ghosts.
__device__ __forceinline__ void locate(const MatrixArgs& args, const MatrixPlane& plane, int x, int (&at)[4]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) at[j] = index_of(args.border, x + j, plane.width) * plane.components;
}

/// Component c of four pixels of a row; `row` null: a ghost row.
__device__ __forceinline__ std::uint32_t gather(const MatrixPlane& plane, const std::uint8_t* row, const int (&at)[4],
                                                int c) {
  const std::uint32_t ghost = plane.ghost >> 8 * c & 255;
  std::uint32_t sample[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) sample[j] = row && at[j] >= 0 ? __ldg(row + at[j] + c) : ghost;
  return __byte_perm(__byte_perm(sample[0], sample[1], 0x0040), __byte_perm(sample[2], sample[3], 0x0040), 0x5410);
}

/// Row y of the frame, by the border's rule; null: a ghost.
__device__ __forceinline__ const std::uint8_t* row_of(const MatrixArgs& args, const MatrixPlane& plane, int y) {
  const int from = index_of(args.border, y, plane.height);
  return from < 0 ? nullptr : plane.in + from * plane.in_stride;
}

/// Component c of four pixels of an edge tile, as far as they lie in the frame.
__device__ __forceinline__ void store_edge(const MatrixArgs& args, const MatrixPlane& plane, int x, int y, int c,
                                           std::uint32_t word) {
  if (y >= plane.height) return;
  std::uint8_t* out = plane.out + y * plane.out_stride + x * plane.components + c;
#pragma unroll
  for (int j = 0; j < 4; ++j, out += plane.components)
    if (x + j < plane.width) *out = static_cast<std::uint8_t>(min(word >> 8 * j & 255, args.max & 255));
}

/// Copies component c of an edge tile, as far as it lies in the frame.
__device__ __forceinline__ void copy_edge(const MatrixPlane& plane, int2 origin, int rows, int c) {
  for (int y = origin.y; y < min(origin.y + rows, plane.height); ++y)
    for (int x = origin.x + static_cast<int>(threadIdx.x); x < min(origin.x + matrix_tile_width, plane.width); x += 32)
      plane.out[y * plane.out_stride + x * plane.components + c] =
          __ldg(plane.in + y * plane.in_stride + x * plane.components + c);
}

/// Copies an inner tile of a plane that has nothing to filter.
__device__ __forceinline__ void copy_inner(const MatrixPlane& plane, int2 origin, int rows) {
  const int end = matrix_tile_width * plane.components;
  for (int y = origin.y; y < origin.y + rows; ++y)
    for (int b = 4 * static_cast<int>(threadIdx.x); b < end; b += 128) {
      const std::ptrdiff_t at = origin.x * plane.components + b;
      *reinterpret_cast<std::uint32_t*>(plane.out + y * plane.out_stride + at) =
          __ldg(reinterpret_cast<const std::uint32_t*>(plane.in + y * plane.in_stride + at));
    }
}

/// What a block does: edge(plane, levels, number of the edge block), or inner(plane, levels, number of the warp's
/// tile).
template <class Inner, class Edge>
__device__ __forceinline__ void for_plane(const MatrixArgs& args, int warps, const Inner& inner, const Edge& edge) {
  unsigned p = 0;
  while (p + 1 < args.planes && blockIdx.x >= args.plane[p + 1].first_block) ++p;
  const MatrixPlane& plane = args.plane[p];
  const MatrixLevels& levels = args.levels[p];
  const unsigned block = blockIdx.x - plane.first_block;
  if (block < plane.edge_blocks) return edge(plane, levels, block);
  const unsigned tile = (block - plane.edge_blocks) * warps + threadIdx.y;
  if (tile < plane.tiles) inner(plane, levels, tile);
}

#endif
#endif

}  // namespace convolve::cuda
