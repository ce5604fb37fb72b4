// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters of at most 9x7 taps: banded (Toeplitz) matrix products on the tensor cores, 8-bit samples by 8-bit
// digits of the taps.
//
// A warp makes a tile of 128 pixels by a few rows. It is cut into 16 strips of 8 pixels, and two rows are made at a
// time. One product (m16n8k32) takes two input rows: of each strip (one of 16 rows of the left matrix) the 16 pixels
// that its outputs can reach; the right matrix holds the taps that lead from those 2 x 16 inputs to 8 of the strip's
// 2 x 8 outputs. Which k, and which n, stands for which pixel is chosen so that a lane's part of the left matrix is
// 16 neighbouring bytes of shared memory (matrix_input.cuh), and that its sums, over the two products that make a
// strip's 16 outputs, are four neighbouring pixels: no shuffle.
//
//   left:  lane 4g + t holds strips g and g + 8, input row t / 2, pixels 8 (t & 1) .. + 7 less the 4 to the left
//   sums:  lane 4g + t holds strips g and g + 8, output row t / 2, pixels 4 (t & 1) .. + 3
//
// Interleaved components are pulled apart by byte permutes, share the right matrix, and are put together again.
#include <algorithm>
#include <vector>

#include "cuda/matrix.cuh"
#include "cuda/matrix_input.cuh"
#include "cuda/matrix_tuning.hpp"

namespace convolve::cuda {
namespace {

constexpr int warps_per_block = small_matrix_warps;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// sum = start + left * right, u8 by s8.
__device__ __forceinline__ void multiply_add(int (&sum)[4], const int* start, const std::uint32_t (&left)[4],
                                             std::uint32_t right0, std::uint32_t right1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
      : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1), "r"(start[0]), "r"(start[1]),
        "r"(start[2]), "r"(start[3]));
}

/// What a warp multiplies by.
template <int reach, int digits>
struct Right {
  static constexpr int taken = reach + 1;  ///< row pairs that a pair of output rows takes
  std::uint32_t word[digits][taken][4];

  __device__ __forceinline__ explicit Right(const uint4* taps) {
#pragma unroll
    for (int d = 0; d < digits; ++d)
#pragma unroll
      for (int i = 0; i < taken; ++i) {
        const uint4 r = __ldg(taps + (d * taken + i) * 32 + threadIdx.x);
        word[d][i][0] = r.x, word[d][i][1] = r.y, word[d][i][2] = r.z, word[d][i][3] = r.w;
      }
  }
};

/// What the sums of component c start from. Loaded, since what is computed or constant would be moved into place again
/// for each product.
struct Start {
  int sum[4];
  __device__ __forceinline__ Start(const MatrixLevels& levels, int c) {
    const int4 loaded = __ldg(&levels.start[c]);
    sum[0] = loaded.x, sum[1] = loaded.y, sum[2] = loaded.z, sum[3] = loaded.w;
  }
};

/// Two rows of a component, four pixels a word: packed[0] of the lane's strip g, packed[1] of g + 8.
/// left(i): row pair i.
template <MatrixFinish finish, int reach, int digits, class Left>
__device__ __forceinline__ void make_rows(const MatrixArgs& args, const Start& start, float base,
                                          const Right<reach, digits>& right, const Left& left,
                                          std::uint32_t (&packed)[2]) {
  const int nothing[4] = {};
  int made[digits][2][4];
#pragma unroll
  for (int i = 0; i <= reach; ++i)
#pragma unroll
    for (int d = 0; d < digits; ++d)
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        // Exact sums of two digits start once.
        const bool starts = finish == MatrixFinish::real || d == digits - 1;
        multiply_add(made[d][q],
                     i > 0    ? made[d][q]
                     : starts ? start.sum
                              : nothing,
                     left(i), right.word[d][i][2 * q], right.word[d][i][2 * q + 1]);
      }
#pragma unroll
  for (int strip = 0; strip < 2; ++strip) {
    const auto sample = [&](int pixel) {
      const int q = pixel / 2, e = 2 * strip + pixel % 2;
      const int high = made[0][q][e], low = made[digits - 1][q][e];
      const int sum[2] = {finish == MatrixFinish::real || digits == 1 ? high : high * 256 + low, low};
      return value_of<finish>(args, sum, base);
    };
    packed[strip] = pack(sample(0), sample(1), sample(2), sample(3));
  }
}

/// Bytes of a warp's input rows.
template <int reach, int digits, int C>
constexpr int input_bytes = Input<C, matrix_tile(C, reach, digits).rows + 2 * reach>::bytes;

template <int reach, int digits, int C, MatrixFinish finish>
__device__ __forceinline__ void make_tile(const MatrixArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                          int2 origin, std::uint8_t* memory) {
  constexpr int rows = matrix_tile(C, reach, digits).rows, steps = rows / 2;
  constexpr bool one_start = C == 1 || finish == MatrixFinish::real;
  using In = Input<C, rows + 2 * reach>;
  const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  const Right<reach, digits> right(args.taps);
  const Start start(levels, 0);
  float base[C];
#pragma unroll
  for (int c = 0; c < C; ++c) base[c] = __ldg(&levels.base[c]);
  In::start(memory, plane, levels, origin, reach);
  const std::ptrdiff_t x = (origin.x + 8 * g + 4 * (t & 1)) * C;
  const std::uint8_t* was = plane.in + (origin.y + (t >> 1)) * plane.in_stride + x;
  std::uint8_t* out = plane.out + (origin.y + (t >> 1)) * plane.out_stride + x;
  In::wait();
  In::mend_sides(memory, plane, origin);

  std::uint32_t left[steps + reach][C][4];
#pragma unroll
  for (int i = 0; i < reach; ++i) In::take(memory, i, left[i]);
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    In::take(memory, s + reach, left[s + reach]);
    std::uint32_t packed[2][C];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      std::uint32_t of_component[2] = {};
      if (C == 1 || !(plane.copied >> c & 1))
        make_rows<finish>(
            args, one_start ? start : Start(levels, c), base[c], right,
            [&](int i) -> const std::uint32_t(&)[4] { return left[s + i][c]; }, of_component);
      packed[0][c] = of_component[0], packed[1][c] = of_component[1];
    }
#pragma unroll
    for (int strip = 0; strip < 2; ++strip) {
      Word<C> word = interleaved<C>(packed[strip]);
      if (C > 1 && plane.copied) {
        Word<C> before = __ldg(reinterpret_cast<const Word<C>*>(was) + 16 * strip);
#pragma unroll
        for (int w = 0; w < C; ++w)
          word_of(word, w) = (word_of(word, w) & ~plane.keep) | (word_of(before, w) & plane.keep);
      }
      reinterpret_cast<Word<C>*>(out)[16 * strip] = word;
    }
    was += 2 * plane.in_stride;
    out += 2 * plane.out_stride;
  }
}

/// Where a tile of so many rows begins.
__device__ __forceinline__ int2 tile_origin(const MatrixPlane& plane, unsigned tile, int rows) {
  const unsigned y = plane.tiles_x == 1 ? tile : __umulhi(tile, plane.reciprocal), x = tile - y * plane.tiles_x;
  return {min(max(static_cast<int>(x) * matrix_tile_width, plane.left), plane.right - matrix_tile_width),
          min(static_cast<int>(y) * rows, plane.height - rows)};
}

/// Sample i of the columns that no tile makes.
__device__ __forceinline__ void make_sample(const MatrixArgs& args, const MatrixPlane& plane,
                                            const MatrixLevels& levels, unsigned i) {
  const unsigned C = plane.components, row_samples = (plane.left + plane.width - plane.right) * C;
  const unsigned y = i / row_samples;
  if (y >= static_cast<unsigned>(plane.height)) return;
  unsigned at = i - y * row_samples;  // sample in the row
  if (at >= plane.left * C) at += (plane.right - plane.left) * C;
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
  out = static_cast<std::uint8_t>(min(max(__float2int_rn(value), 0), static_cast<int>(args.max & 255)));
}

template <int reach, int digits, int C>
__device__ __forceinline__ void make_tile(const MatrixArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                          int2 origin, std::uint8_t* memory) {
  if (args.finish == MatrixFinish::quotient)
    make_tile<reach, digits, C, MatrixFinish::quotient>(args, plane, levels, origin, memory);
  else
    make_tile<reach, digits, C, digits == 1 ? MatrixFinish::pack : MatrixFinish::real>(args, plane, levels, origin,
                                                                                       memory);
}

#endif

/// `most`: the most components of a plane; 4 comes alone.
template <int reach, int digits, int most>
__global__ void __launch_bounds__(32 * warps_per_block, matrix_tile(most, reach, digits).blocks_resident)
    small_kernel(const __grid_constant__ MatrixArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr int bytes = std::max(input_bytes<reach, digits, most>, most == 2 ? input_bytes<reach, digits, 1> : 0);
  __shared__ __align__(16) std::uint8_t memory[warps_per_block][bytes];
  for_plane(
      args, warps_per_block,
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned tile) {
        const int rows = matrix_tile(plane.components, reach, digits).rows;
        const int2 origin = tile_origin(plane, tile, rows);
        if (plane.copied + 1 == 1 << plane.components) {
          wait_for_stream();
          copy_inner(plane, origin, rows);
        } else if (most != 2 || plane.components == most)
          make_tile<reach, digits, most>(args, plane, levels, origin, memory[threadIdx.y]);
        else
          make_tile<reach, digits, 1>(args, plane, levels, origin, memory[threadIdx.y]);
      },
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned block) {
        wait_for_stream();
        make_sample(args, plane, levels, block * 32 * warps_per_block + threadIdx.y * 32 + threadIdx.x);
      });
#endif
}

template <int reach, int digits>
MatrixKernel kernel_for(int components) {
  return components == 1   ? small_kernel<reach, digits, 1>
         : components == 2 ? small_kernel<reach, digits, 2>
                           : small_kernel<reach, digits, 4>;
}

template <int reach>
MatrixKernel kernel_for(int digits, int components) {
  return digits == 1 ? kernel_for<reach, 1>(components) : kernel_for<reach, 2>(components);
}

}  // namespace

MatrixKernel small_matrix_kernel(int reach, int digits, int components) {
  return reach == 1   ? kernel_for<1>(digits, components)
         : reach == 2 ? kernel_for<2>(digits, components)
                      : kernel_for<3>(digits, components);
}

std::vector<uint4> small_matrix_taps(const Filter& filter, const MatrixTaps& taps, int reach) {
  std::vector<uint4> right;
  for (int d = 0; d < taps.digits; ++d)
    for (int pair = 0; pair <= reach; ++pair)
      for (int lane = 0; lane < 32; ++lane) {
        const int n = lane >> 2, t = lane & 3;
        const int out_row = n >> 2, row = 2 * pair + (t >> 1) - reach - out_row + filter.centre_y();
        unsigned word[4] = {};
        for (int q = 0; q < 2; ++q)
          for (int half = 0; half < 2; ++half)
            for (int byte = 0; byte < 4; ++byte) {
              const int out_column = 4 * (n >> 1 & 1) + 2 * q + (n & 1);
              const int column = 8 * (t & 1) + 4 * half + byte - small_matrix_margin - out_column + filter.centre_x();
              if (row < 0 || row >= filter.height() || column < 0 || column >= filter.width()) continue;
              const int tap = taps.digit(d, static_cast<std::size_t>(row) * filter.width() + column);
              word[2 * q + half] |= static_cast<unsigned>(tap & 255) << 8 * byte;
            }
        right.push_back({word[0], word[1], word[2], word[3]});
      }
  return right;
}

}  // namespace convolve::cuda
