// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters of more than 9x7 taps: sparse banded matrix products.
//
// A warp's tile is cut into 8 strips of 16 pixels, the columns of the right matrix; the left one holds the taps and
// makes two rows of a strip, 32 outputs, in two products a row pair. Of the 32 pixels that a row of a strip can
// reach, an output takes at most 15 in a row, so never both x and x + 16: with those two side by side in k, the taps
// are a 2:4 sparse matrix, and one product (m16n8k64) takes two rows of 32 pixels. Taps are read from memory (the
// first level cache) for a few row pairs of outputs at a time; which of x and x + 16 they belong to is the same in
// every row and product.
//
//   right: lane 4n + t holds, of both rows, pixels 4t .. + 3 and 4t + 16 .. + 19 of its strip, interleaved by bytes
//   sums:  lane 4g + t holds strips t and t + 4, output row g / 4, pixels 4 (g & 3) .. + 3
#include <algorithm>
#include <vector>

#include "cuda/matrix.cuh"
#include "cuda/matrix_tuning.hpp"

namespace convolve::cuda {
namespace {

constexpr int reach = large_matrix_reach, margin = large_matrix_margin;
constexpr int taken = reach + 1;  ///< row pairs that a pair of output rows takes

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// Indices are in order either way; toolkits before 12.5 have no name for that.
#if CUDART_VERSION >= 12050
#define CONVOLVE_MMA_SPARSE "mma.sp::ordered_metadata"
#else
#define CONVOLVE_MMA_SPARSE "mma.sp"
#endif

/// sum = start + taps * pixels, s8 by u8. `where`: which two of every four the taps belong to.
__device__ __forceinline__ void multiply_add_sparse(int (&sum)[4], const int* start, const uint4& taps,
                                                    const std::uint32_t (&pixels)[4], std::uint32_t where) {
  asm(CONVOLVE_MMA_SPARSE
      ".sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9,%10,%11},{%12,%13,%14,%15},%16,0x0;"
      : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
      : "r"(taps.x), "r"(taps.y), "r"(taps.z), "r"(taps.w), "r"(pixels[0]), "r"(pixels[1]), "r"(pixels[2]),
        "r"(pixels[3]), "r"(start[0]), "r"(start[1]), "r"(start[2]), "r"(start[3]), "r"(where));
}

/// Component c of four pixels, as one word.
template <int C>
__device__ __forceinline__ std::uint32_t plane_of(Word<C> unit, int c) {
  if constexpr (C == 1)
    return unit;
  else if constexpr (C == 2)
    return __byte_perm(unit.x, unit.y, c == 0 ? 0x6420 : 0x7531);
  else
    return __byte_perm(__byte_perm(unit.x, unit.y, c + 0x10 * (c + 4)), __byte_perm(unit.z, unit.w, c + 0x10 * (c + 4)),
                       0x5410);
}

/// `steps` pairs of rows of component c: packed[s][e], four pixels of the lane's strip t + 4e. load(row, far): the
/// component's four pixels that the lane holds of an input row, counted from the first that is reached, or those 16 on.
template <int C, int digits, int steps, class Load>
__device__ __forceinline__ void make_rows(const MatrixArgs& args, const MatrixLevels& levels, int c,
                                          const std::uint32_t (&where)[2], const Load& load,
                                          std::uint32_t (&packed)[steps][2]) {
  const int4 loaded = __ldg(&levels.start[c]), loaded_high = __ldg(&levels.high_start);
  const int start[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
  const int high_start[4] = {loaded_high.x, loaded_high.y, loaded_high.z, loaded_high.w};
  const bool real = args.finish == MatrixFinish::real;

  std::uint32_t pixels[steps + reach][4];
  const auto take = [&](int pair) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const std::uint32_t near = load(2 * pair + row, 0), far = load(2 * pair + row, 1);
      pixels[pair][2 * row] = __byte_perm(near, far, 0x5140);
      pixels[pair][2 * row + 1] = __byte_perm(near, far, 0x7362);
    }
  };
#pragma unroll
  for (int pair = 0; pair < steps; ++pair) take(pair);

  int sum[steps][digits][2][4];
#pragma unroll
  for (int i = 0; i < taken; ++i) {
    if (i + steps < steps + reach) take(i + steps);
#pragma unroll
    for (int d = 0; d < digits; ++d)
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const uint4 taps = __ldg(args.taps + ((d * taken + i) * 2 + q) * 32 + threadIdx.x);
#pragma unroll
        for (int s = 0; s < steps; ++s)
          multiply_add_sparse(sum[s][d][q],
                              i > 0             ? sum[s][d][q]
                              : d == digits - 1 ? start
                                                : high_start,
                              taps, pixels[s + i], where[q]);
      }
  }

  const float base = __ldg(&levels.base[c]);
#pragma unroll
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const auto value = [&]<MatrixFinish finish>(int pixel) {
        const int q = pixel / 2, n = pixel % 2 * 2 + e;
        const int parts[2] = {sum[s][0][q][n], sum[s][digits - 1][q][n]};
        return value_of<finish>(args, parts, base);
      };
      const auto all = [&]<MatrixFinish finish>() {
        packed[s][e] = pack(value.template operator()<finish>(0), value.template operator()<finish>(1),
                            value.template operator()<finish>(2), value.template operator()<finish>(3));
      };
      if constexpr (digits == 2) {
        if (real) {
          all.template operator()<MatrixFinish::real>();
        } else {
#pragma unroll
          for (int q = 0; q < 2; ++q)
#pragma unroll
            for (int n = 0; n < 4; ++n)
              if (n % 2 == e) sum[s][0][q][n] = sum[s][0][q][n] * 256 + sum[s][1][q][n];
          all.template operator()<MatrixFinish::quotient>();
        }
      } else if (args.finish == MatrixFinish::quotient) {
        all.template operator()<MatrixFinish::quotient>();
      } else {
        all.template operator()<MatrixFinish::pack>();
      }
    }
}

template <int digits, int C>
__device__ __forceinline__ void make_inner(const MatrixArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                           int2 origin) {
  constexpr int rows = large_matrix_tile(C, digits).rows, steps = large_matrix_tile(C, digits).rows_at_once / 2;
  const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  const uint4 both = __ldg(args.taps + digits * taken * 64 + lane);
  const std::uint32_t where[2] = {both.x, both.y};
  const std::uint8_t* in =
      plane.in + (origin.y - reach) * plane.in_stride + (origin.x - margin + 16 * ((g >> 1) + 4 * (g & 1)) + 4 * t) * C;
  const std::ptrdiff_t out_x = (origin.x + 16 * t + 4 * (g & 3)) * C;
  const std::uint8_t* was = plane.in + (origin.y + (g >> 2)) * plane.in_stride + out_x;
  std::uint8_t* out = plane.out + (origin.y + (g >> 2)) * plane.out_stride + out_x;
#pragma unroll 1
  for (int first = 0; first < rows; first += 2 * steps) {
    std::uint32_t packed[C][steps][2];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (C > 1 && (plane.copied >> c & 1)) {
#pragma unroll
        for (int i = 0; i < 2 * steps; ++i) packed[c][i / 2][i % 2] = 0;
        continue;
      }
      make_rows<C, digits>(
          args, levels, c, where,
          [&](int row, int far) {
            return plane_of<C>(__ldg(reinterpret_cast<const Word<C>*>(in + row * plane.in_stride) + 4 * far), c);
          },
          packed[c]);
    }
#pragma unroll
    for (int s = 0; s < steps; ++s)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        std::uint32_t parts[C];
#pragma unroll
        for (int c = 0; c < C; ++c) parts[c] = packed[c][s][e];
        Word<C> word = interleaved<C>(parts);
        if (C > 1 && plane.copied) {
          Word<C> before = __ldg(reinterpret_cast<const Word<C>*>(was + 2 * s * plane.in_stride) + 16 * e);
#pragma unroll
          for (int w = 0; w < C; ++w)
            word_of(word, w) = (word_of(word, w) & ~plane.keep) | (word_of(before, w) & plane.keep);
        }
        reinterpret_cast<Word<C>*>(out + 2 * s * plane.out_stride)[16 * e] = word;
      }
    in += 2 * steps * plane.in_stride;
    was += 2 * steps * plane.in_stride;
    out += 2 * steps * plane.out_stride;
  }
}

/// Component c of a tile at a border.
template <int digits, int most>
__device__ __forceinline__ void make_edge(const MatrixArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                          int2 origin, int c) {
  constexpr int steps = large_matrix_tile(most, digits).rows_at_once / 2;
  const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  const uint4 both = __ldg(args.taps + digits * taken * 64 + lane);
  const std::uint32_t where[2] = {both.x, both.y};
  int at[2][4];
#pragma unroll
  for (int far = 0; far < 2; ++far)
    locate(args, plane, origin.x - margin + 16 * ((g >> 1) + 4 * (g & 1)) + 4 * t + 16 * far, at[far]);
  std::uint32_t packed[steps][2];
  make_rows<1, digits>(
      args, levels, c, where,
      [&](int row, int far) { return gather(plane, row_of(args, plane, origin.y - reach + row), at[far], c); }, packed);
#pragma unroll
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int e = 0; e < 2; ++e)
      store_edge(args, plane, origin.x + 16 * t + 4 * (g & 3) + 64 * e, origin.y + 2 * s + (g >> 2), c, packed[s][e]);
}

#endif

/// `most`: the most components of a plane; 4 comes alone.
template <int digits, int most>
__global__ void __launch_bounds__(32 * large_matrix_tile(most, digits).warps,
                                  large_matrix_tile(most, digits).blocks_resident)
    large_kernel(const __grid_constant__ MatrixArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr LargeMatrixTile tuning = large_matrix_tile(most, digits);
  for_plane(
      args, tuning.warps,
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned tile) {
        const int2 origin = inner_origin(plane, tile, tuning.rows);
        if (plane.copied + 1 == 1 << plane.components)
          copy_inner(plane, origin, tuning.rows);
        else if (most != 2 || plane.components == most)
          make_inner<digits, most>(args, plane, levels, origin);
        else
          make_inner<digits, 1>(args, plane, levels, origin);
      },
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned block) {
        const unsigned tile = block * tuning.warps + threadIdx.y;
        if (tile >= plane.edge_tiles) return;
        const int2 origin = edge_origin(plane, tile, tuning.rows_at_once);
#pragma unroll 1
        for (int c = 0; c < plane.components; ++c)
          if (plane.copied >> c & 1)
            copy_edge(plane, origin, tuning.rows_at_once, c);
          else
            make_edge<digits, most>(args, plane, levels, origin, c);
      });
#endif
}

template <int digits>
MatrixKernel kernel_for(int components) {
  return components == 1   ? large_kernel<digits, 1>
         : components == 2 ? large_kernel<digits, 2>
                           : large_kernel<digits, 4>;
}

}  // namespace

MatrixKernel large_matrix_kernel(int digits, int components) {
  return digits == 1 ? kernel_for<1>(components) : kernel_for<2>(components);
}

std::vector<uint4> large_matrix_taps(const Filter& filter, const MatrixTaps& taps) {
  std::vector<uint4> words;
  // The output that row m of product q makes, and whether it takes pixel x of the window or x + 16.
  const auto out_column = [](int m, int q) { return 4 * (m & 3) + 2 * q + (m >> 3); };
  const auto is_far = [&](int m, int q, int x) { return x <= out_column(m, q); };
  for (int d = 0; d < taps.digits; ++d)
    for (int pair = 0; pair < taken; ++pair)
      for (int q = 0; q < 2; ++q)
        for (int lane = 0; lane < 32; ++lane) {
          unsigned word[4] = {};
          for (int i = 0; i < 4; ++i)      // register: which half of m, which row of the pair
            for (int b = 0; b < 4; ++b) {  // byte: two of each of two groups of four
              const int m = (lane >> 2) + 8 * (i & 1), group = 2 * (lane & 3) + (b >> 1) + 8 * (i >> 1);
              // Group 4j + t is word j of lane t.
              const int j = group >> 2, x = 4 * (group & 3) + 2 * (j & 1) + (b & 1);
              const int in_row = 2 * pair + (j >> 1) - reach, in_column = x + (is_far(m, q, x) ? 16 : 0) - margin;
              const int row = in_row - (m >> 2 & 1) + filter.centre_y();
              const int column = in_column - out_column(m, q) + filter.centre_x();
              if (row < 0 || row >= filter.height() || column < 0 || column >= filter.width()) continue;
              const int tap = taps.digit(d, static_cast<std::size_t>(row) * filter.width() + column);
              word[i] |= static_cast<unsigned>(tap & 255) << 8 * b;
            }
          words.push_back({word[0], word[1], word[2], word[3]});
        }
  // Of every four in k, the two that the taps belong to: lane t tells for m = g + 8 (t & 1), groups 8 (t >> 1) .. + 7.
  for (int lane = 0; lane < 32; ++lane) {
    unsigned where[2] = {};
    for (int q = 0; q < 2; ++q)
      for (int k = 0; k < 8; ++k) {
        const int m = (lane >> 2) + 8 * (lane & 1), group = 8 * (lane >> 1 & 1) + k;
        const int x = 4 * (group & 3) + 2 * (group >> 2 & 1);
        const unsigned first = is_far(m, q, x) ? 1 : 0, second = is_far(m, q, x + 1) ? 3 : 2;
        where[q] |= (first | second << 2) << 4 * k;
      }
    words.push_back({where[0], where[1], 0, 0});
  }
  return words;
}

}  // namespace convolve::cuda
