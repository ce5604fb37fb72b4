// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of `matrix` share: their arguments, words of pixels, sums to samples, and the samples at the
// borders.
//
// All planes are blocks of one launch, each warp making a tile. The arguments are those of small filters (up to 7x9
// taps). Their tiles cover the plane, the last of a row or column moving back over what its neighbour makes too, with
// the same result. Planes that are small or not aligned have no tiles, and those whose width is no multiple of four
// have none at their sides: what is left so is made one sample to a thread, by blocks that come first.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convolve/border.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/prefetch.cuh"
#include "cuda/matrix/taps.hpp"

namespace convolve::cuda {

inline constexpr int matrix_tile_width = 128;  ///< pixels
inline constexpr int dense_radius_max = 3;     ///< of the kernel in dense.cu: rows above and below the centre
inline constexpr int dense_margin = 4;         ///< and pixels on either side of a strip, and columns beside the centre
inline constexpr int dense_warps = 4;          ///< of a block

struct MatrixPlane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  int width, height;  ///< pixels
  EdgeAxis across, down;
  int left, right;  ///< the columns that tiles make, left <= x < right
  unsigned first_block, edge_blocks;
  unsigned tiles, tiles_x, reciprocal;              ///< inner; reciprocal: 2^32 / tiles_x, rounded up
  std::uint32_t ghost;                              ///< level of ghost cells, in the order of a word's bytes
  std::uint32_t passthrough;                        ///< mask of copied components in a word of pixels
  std::uint8_t components, passthrough_components;  ///< the latter: a bit mask
};

/// Where the sums of a plane's components start, and what is added to their values.
struct MatrixLevels {
  int4 start[max_components];     ///< four times the same, as a product takes it
  float base[max_components];     ///< sums read as floats: what is added to their value
  float level[max_components];    ///< real sums: what is added to their value as integers
  int sum_start[max_components];  ///< exact sums: what they start from as integers
  uint4 ghosts;                   ///< four ghost pixels
};

struct MatrixArgs {
  MatrixPlane plane[max_planes];
  const uint4* taps;           ///< matrices of taps, as lanes hold them, in the order of the kernel
  const MatrixLevels* levels;  ///< by plane
  const int* fixed;            ///< taps as integers: [row][column]
  unsigned planes;
  unsigned wave;                    ///< tiles that are made at once
  std::uint32_t max;                ///< the largest sample, in each byte
  float gain, gain_low, gain_high;  ///< high: of the limb of 256
  int taps_x, taps_y, centre_x, centre_y;
  Epilogue epilogue;
  Border border;
};

using MatrixKernel = void (*)(MatrixArgs);

/// `radius`: rows above and below the centre; `components`: the most of a plane.
MatrixKernel dense_matrix_kernel(int radius, const MatrixTaps& taps, int components);
/// What that kernel does with the sums of limbs.
LimbSums dense_limb_sums(int radius, int components);
/// The taps as lanes hold them, [limb][row pair][lane], words in the order of a lane's two products.
std::vector<uint4> dense_matrix_taps(const Filter& filter, const MatrixTaps& taps, int radius);

/// True where the planes are such as `matrix` knows, and ghost cells are samples; else `why` says what is in the way.
bool serves_planes(const PlanDesc& desc, std::string& why);
/// Sets what a plane's layout and the border say of it.
void set_plane(MatrixPlane& plane, const PlaneLayout& layout, Border border);
/// True where a plane's tiles may be made, by all bits that are set in its addresses and strides: groups of four pixels
/// are read and written at once, of three components word by word.
inline bool aligned_for_tiles(const MatrixPlane& plane, std::uintptr_t bits) noexcept {
  return bits % (plane.components == 3 ? 4u : 4u * plane.components) == 0;
}
/// Divides a plane into tiles of `rows` rows and what lies around them, and returns the number of blocks. Where it is
/// not `aligned` there are no tiles.
unsigned set_dense_tiles(MatrixPlane& plane, int rows, bool aligned) noexcept;

#ifdef __CUDACC__

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
struct Unit<3> {
  using Word = uint3;
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
__device__ __forceinline__ void planar(uint3 u, std::uint32_t (&c)[3]) {
  c[0] = __byte_perm(__byte_perm(u.x, u.y, 0x0630), u.z, 0x5210);
  c[1] = __byte_perm(__byte_perm(u.x, u.y, 0x0741), u.z, 0x6210);
  c[2] = __byte_perm(__byte_perm(u.x, u.y, 0x0052), u.z, 0x7410);
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
  else if constexpr (C == 3)
    return {__byte_perm(__byte_perm(c[0], c[1], 0x1040), c[2], 0x3410),
            __byte_perm(__byte_perm(c[0], c[1], 0x6205), c[2], 0x3250),
            __byte_perm(__byte_perm(c[0], c[1], 0x0730), c[2], 0x7216)};
  else {
    const std::uint32_t low01 = __byte_perm(c[0], c[1], 0x5140), high01 = __byte_perm(c[0], c[1], 0x7362);
    const std::uint32_t low23 = __byte_perm(c[2], c[3], 0x5140), high23 = __byte_perm(c[2], c[3], 0x7362);
    return {__byte_perm(low01, low23, 0x5410), __byte_perm(low01, low23, 0x7632), __byte_perm(high01, high23, 0x5410),
            __byte_perm(high01, high23, 0x7632)};
  }
}

/// Chooses four pixels among the four at `low` and the four at `high` by a __byte_perm selector, and writes them to
/// `to`.
template <int C>
__device__ __forceinline__ void choose_pixels(const std::uint8_t* low, const std::uint8_t* high, std::uint8_t* to,
                                              std::uint32_t selector) {
  std::uint32_t a[C], b[C];
  planar(*reinterpret_cast<const Word<C>*>(low), a);
  planar(*reinterpret_cast<const Word<C>*>(high), b);
#pragma unroll
  for (int c = 0; c < C; ++c) a[c] = __byte_perm(a[c], b[c], selector);
  *reinterpret_cast<Word<C>*>(to) = interleaved<C>(a);
}

__device__ __forceinline__ std::uint32_t& word_of(std::uint32_t& u, int) {
  return u;
}
__device__ __forceinline__ std::uint32_t& word_of(uint2& u, int i) {
  return i == 0 ? u.x : u.y;
}
__device__ __forceinline__ std::uint32_t& word_of(uint3& u, int i) {
  return i == 0 ? u.x : i == 1 ? u.y : u.z;
}
__device__ __forceinline__ std::uint32_t& word_of(uint4& u, int i) {
  return i == 0 ? u.x : i == 1 ? u.y : i == 2 ? u.z : u.w;
}

/// Puts copied components back into four pixels of a strip: as they were, `was` being where those of strip 0 are.
template <int C>
__device__ __forceinline__ void pass_through(Word<C>& word, const MatrixPlane& plane, const std::uint8_t* was,
                                             int strip) {
  if constexpr (C == 3) {
#pragma unroll
    for (int w = 0; w < C; ++w) {
      std::uint32_t mask = 0;
#pragma unroll
      for (int b = 0; b < 4; ++b) mask |= (plane.passthrough_components >> (4 * w + b) % C & 1) * 255u << 8 * b;
      const std::uint32_t before = __ldg(reinterpret_cast<const std::uint32_t*>(was) + 16 * C * strip + w);
      word_of(word, w) = (word_of(word, w) & ~mask) | (before & mask);
    }
  } else {
    Word<C> before = __ldg(reinterpret_cast<const Word<C>*>(was) + 16 * strip);
#pragma unroll
    for (int w = 0; w < C; ++w)
      word_of(word, w) = (word_of(word, w) & ~plane.passthrough) | (word_of(before, w) & plane.passthrough);
  }
}

/// Four pixels of a strip, from the words of their components; `passthroughs`: with copied ones, see pass_through().
template <int C, bool passthroughs>
__device__ __forceinline__ Word<C> pixels_of(const std::uint32_t (&words)[2][C], const MatrixPlane& plane,
                                             const std::uint8_t* was, int strip) {
  Word<C> word = interleaved<C>(words[strip]);
  if constexpr (passthroughs) pass_through<C>(word, plane, was, strip);
  return word;
}

/// The sample that a sum stands for, before it is rounded or clamped.
template <Epilogue epilogue>
__device__ __forceinline__ auto value_of(const MatrixArgs& args, const int (&sum)[2], float base) {
  if constexpr (epilogue == Epilogue::saturate) {
    return sum[0];
  } else if constexpr (epilogue == Epilogue::magic_number) {
    return __fmaf_rn(__int_as_float(sum[0]), args.gain, base);
  } else if constexpr (epilogue == Epilogue::separate_limbs) {
    return __fmaf_rn(__int_as_float(sum[1]), args.gain, __fmaf_rn(__int_as_float(sum[0]), args.gain_high, base));
  } else {
    const float whole = __int2float_rn(sum[0]);
    return __fmaf_rn(whole, args.gain, __fmul_rn(whole, args.gain_low));
  }
}

/// Finds the input rows of a tile: inside the frame, where the border mode says, or as ghost cells in memory.
struct InputRows {
  const MatrixPlane& plane;
  const std::uint8_t* ghosts;
  int first;  ///< row of the frame

  __device__ __forceinline__ InputRows(const MatrixPlane& plane, const MatrixLevels& levels, int first)
      : plane(plane), ghosts(reinterpret_cast<const std::uint8_t*>(&levels.ghosts)), first(first) {}
  /// The address of row r from `x` bytes on. `ghost`: the columns there are ghost cells, whatever the row.
  __device__ __forceinline__ const std::uint8_t* at(int r, int x, bool ghost) const {
    const int y = first + r, stands = edge_index(plane.down, y);
    ghost |= plane.down.ghost && stands != y;
    return ghost ? ghosts : plane.in + stands * plane.in_stride + x;
  }
};

/// The right operand of a warp's products: one filter's taps, as dense_matrix_taps() makes them.
template <int radius, int limbs>
struct Right {
  static constexpr int taken = radius + 1;  ///< row pairs that a pair of output rows takes
  std::uint32_t word[limbs][taken][4];

  __device__ __forceinline__ explicit Right(const uint4* taps) {
#pragma unroll
    for (int d = 0; d < limbs; ++d)
#pragma unroll
      for (int i = 0; i < taken; ++i) {
        const uint4 r = __ldg(taps + (d * taken + i) * 32 + threadIdx.x);
        word[d][i][0] = r.x, word[d][i][1] = r.y, word[d][i][2] = r.z, word[d][i][3] = r.w;
      }
  }
};

/// The first pixel (x) and row (y) of a tile of so many rows.
__device__ __forceinline__ int2 tile_origin(const MatrixPlane& plane, unsigned tile, int rows) {
  const unsigned y = plane.tiles_x == 1 ? tile : __umulhi(tile, plane.reciprocal), x = tile - y * plane.tiles_x;
  return {min(max(static_cast<int>(x) * matrix_tile_width, plane.left), plane.right - matrix_tile_width),
          min(static_cast<int>(y) * rows, plane.height - rows)};
}

/// Asks the second level cache for a tile's rows; the tiles around it ask for the rows around them.
template <int C, int rows>
__device__ __forceinline__ void prefetch_tile(const MatrixPlane& plane, int2 origin) {
  prefetch_rows<rows, C, 32>(plane.in + origin.y * plane.in_stride + static_cast<std::ptrdiff_t>(origin.x) * C,
                             plane.in_stride, static_cast<int>(threadIdx.x), rows, C * matrix_tile_width);
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

/// Finds the plane that the block belongs to, and what it does there: edge(plane, levels, number of the edge block), or
/// inner(plane, levels, number of the warp's tile).
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
