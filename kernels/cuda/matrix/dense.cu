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
// 8 neighbouring pixels of either strip (dense_input.cuh, dense_quads.cuh), and that its sums, over the two products
// that make a strip's 16 outputs, are four neighbouring pixels: no shuffle.
//
//   left:  lane 4g + t holds strips g and g + 8, input row t / 2, pixels 8 (t & 1) .. + 7 less the 4 to the left
//   sums:  lane 4g + t holds strips g and g + 8, output row t / 2, pixels 4 (t & 1) .. + 3
//
// Interleaved components are pulled apart by byte permutes, share the right matrix, and are put together again.
#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/matrix/dense.cuh"
#include "cuda/matrix/dense_input.cuh"
#include "cuda/matrix/dense_quads.cuh"
#include "cuda/matrix/dense_tuning.hpp"

namespace convolve::cuda {
namespace {

constexpr int warps_per_block = small_matrix_warps;

/// Whether the rows of a plane that comes alone, of one component, lie in quads.
constexpr bool in_quads(int reach, int digits) {
  return reach > 1 || digits > 1;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

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
  __device__ __forceinline__ void load(const MatrixLevels& levels, int c) {
    const int4 loaded = __ldg(&levels.start[c]);
    sum[0] = loaded.x, sum[1] = loaded.y, sum[2] = loaded.z, sum[3] = loaded.w;
  }
  /// Else the compiler may load it where it is used, and wait.
  __device__ __forceinline__ void keep() {
#pragma unroll
    for (int& s : sum) asm volatile("" : "+r"(s));
  }
};

/// Rows of a component, two a step, four pixels a word: packed[s][0] of the lane's strip g, packed[s][1] of g + 8.
/// left(s, i): row pair i of step s. Steps are made side by side because a product takes long to be there.
template <MatrixFinish finish, int steps, int reach, int digits, class Left>
__device__ __forceinline__ void make_rows(const MatrixArgs& args, const Start& start, float base,
                                          const Right<reach, digits>& right, const Left& left,
                                          std::uint32_t (&packed)[steps][2]) {
  const int nothing[4] = {};
  int made[steps][digits][2][4];
#pragma unroll
  for (int i = 0; i <= reach; ++i)
#pragma unroll
    for (int s = 0; s < steps; ++s)
#pragma unroll
      for (int d = 0; d < digits; ++d)
#pragma unroll
        for (int q = 0; q < 2; ++q) {
          // Exact sums of two digits start once.
          const bool starts = finish == MatrixFinish::real || d == digits - 1;
          multiply_add(made[s][d][q],
                       i > 0    ? made[s][d][q]
                       : starts ? start.sum
                                : nothing,
                       left(s, i), right.word[d][i] + 2 * q);
        }
#pragma unroll
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int strip = 0; strip < 2; ++strip) {
      const auto sample = [&](int pixel) {
        const int q = pixel / 2, e = 2 * strip + pixel % 2;
        const int high = made[s][0][q][e], low = made[s][digits - 1][q][e];
        const int sum[2] = {finish == MatrixFinish::real || digits == 1 ? high : high * 256 + low, low};
        return value_of<finish>(args, sum, base);
      };
      packed[s][strip] = pack(sample(0), sample(1), sample(2), sample(3));
    }
}

/// The input rows of a warp's tile, in a kernel for planes of up to `most` components.
template <int reach, int digits, int C, int most>
struct TileInput {
  static constexpr int rows = matrix_tile(C, most, reach, digits).rows + 2 * reach;
  using type = Input<C, rows, C == 4 ? 2 * reach + 2 : rows>;
};
template <int reach, int digits>
struct TileInput<reach, digits, 1, 1> {
  static constexpr int rows = matrix_tile(1, 1, reach, digits).rows + 2 * reach;
  using type = std::conditional_t<in_quads(reach, digits), QuadInput<rows>, Input<1, rows>>;
};

/// Where a tile of so many rows begins.
__device__ __forceinline__ int2 tile_origin(const MatrixPlane& plane, unsigned tile, int rows) {
  const unsigned y = plane.tiles_x == 1 ? tile : __umulhi(tile, plane.reciprocal), x = tile - y * plane.tiles_x;
  return {min(max(static_cast<int>(x) * matrix_tile_width, plane.left), plane.right - matrix_tile_width),
          min(static_cast<int>(y) * rows, plane.height - rows)};
}

/// Asks for a tile's rows; for those around them, its neighbours do.
template <int C, int rows>
__device__ __forceinline__ void prefetch_tile(const MatrixPlane& plane, int2 origin) {
  prefetch_rows<rows, C, 32>(plane.in + origin.y * plane.in_stride + static_cast<std::ptrdiff_t>(origin.x) * C,
                             plane.in_stride, static_cast<int>(threadIdx.x), rows, C * matrix_tile_width);
}

/// Hides from the compiler where a pointer comes from. Rows are then read from shared memory only after the rows before
/// them are stored, not as early as there are registers, which more warps can have instead.
__device__ __forceinline__ void hide(std::uint8_t*& pointer) {
  asm volatile("" : "+l"(pointer));
}

/// `copies`: some components stay as they were. In code of their own: what asks for each is in the others' way.
template <int reach, int digits, int C, int most, MatrixFinish finish, bool copies>
__device__ __forceinline__ void make_tile(const MatrixArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                          unsigned tile, std::uint8_t* memory) {
  constexpr int rows = matrix_tile(C, most, reach, digits).rows, steps = rows / 2;
  constexpr bool one_start = C == 1 || finish == MatrixFinish::real;
  // Of all components from the beginning on, where there are registers: else each is waited for.
  constexpr int starts = !one_start && (C == 4 || reach <= 2) ? C : 1;
  using In = typename TileInput<reach, digits, C, most>::type;
  const int2 origin = tile_origin(plane, tile, rows);
  if (tile < args.wave) prefetch_tile<C, rows>(plane, origin);
  const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  const Right<reach, digits> right(args.taps);
  Start start[starts];
#pragma unroll
  for (int c = 0; c < starts; ++c) {
    start[c].load(levels, c);
    if (starts > 1) start[c].keep();
  }
  float base[C];
#pragma unroll
  for (int c = 0; c < C; ++c) base[c] = __ldg(&levels.base[c]);
  const std::uint8_t* was;
  std::uint8_t* out;
  const auto find_rows = [&] {
    const std::ptrdiff_t x = (origin.x + 8 * g + 4 * (t & 1)) * C;
    was = plane.in + (origin.y + (t >> 1)) * plane.in_stride + x;
    out = plane.out + (origin.y + (t >> 1)) * plane.out_stride + x;
  };
  if (most > 1) find_rows(), hide(out);
  In::start(memory, plane, levels, origin, reach);
  if (tile + args.wave < plane.tiles) prefetch_tile<C, rows>(plane, tile_origin(plane, tile + args.wave, rows));
  if (most == 1) find_rows();

  std::uint32_t left[steps + reach][C][4];
  const auto take = [&](int pair) { In::take(memory, pair, left[pair]); };
  // `together` steps from s on.
  const auto make_steps = [&]<int together>(int s) {
    std::uint32_t words[together][2][C];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      std::uint32_t packed[together][2] = {};
      if (C > 1 && !copies) __syncwarp();  // keeps the compiler from making components side by side
      if (!one_start && starts == 1) start[0].load(levels, c);
      if (!copies || !(plane.copied >> c & 1))
        make_rows<finish>(
            args, start[c % starts], base[c], right, [&](int k, int i) { return left[s + k + i][c]; }, packed);
#pragma unroll
      for (int k = 0; k < together; ++k) words[k][0][c] = packed[k][0], words[k][1][c] = packed[k][1];
    }
#pragma unroll
    for (int k = 0; k < together; ++k) {
#pragma unroll
      for (int strip = 0; strip < 2; ++strip) {
        Word<C> word = interleaved<C>(words[k][strip]);
        if constexpr (copies) {
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
  };
  constexpr int group = most == 2 && C == 1 && digits == 1 ? 2 : 1, groups = (steps + group - 1) / group;
  const auto make_group = [&]<int j>() {
    if constexpr (j < In::parts) In::template wait<j>();
    if constexpr (j == 0) {
      In::mend_sides(memory, plane, origin);
#pragma unroll
      for (int i = 0; i < reach; ++i) take(i);
    } else if constexpr (most == 2) {
      __syncwarp();  // keeps the compiler from reading ahead
    }
    constexpr int from = j * group, together = std::min(group, steps - from);
#pragma unroll
    for (int s = from; s < from + together; ++s) take(s + reach);
    make_steps.template operator()<together>(from);
  };
  [&]<int... j>(std::integer_sequence<int, j...>) {
    (make_group.template operator()<j>(), ...);
  }
  (std::make_integer_sequence<int, groups>());
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

template <int reach, int digits, int C, int most, MatrixFinish finish, MatrixFinish... others>
__device__ __forceinline__ void make_tile_of(const MatrixArgs& args, const MatrixPlane& plane,
                                             const MatrixLevels& levels, unsigned tile, std::uint8_t* memory) {
  if constexpr (sizeof...(others) > 0)
    if (args.finish != finish)
      return make_tile_of<reach, digits, C, most, others...>(args, plane, levels, tile, memory);
  if constexpr (C > 1)
    if (plane.copied) return make_tile<reach, digits, C, most, finish, true>(args, plane, levels, tile, memory);
  make_tile<reach, digits, C, most, finish, false>(args, plane, levels, tile, memory);
}

#endif

/// `most`: the most components of a plane; 4 comes alone. `finishes`: of the sums, those it is for.
template <int reach, int digits, int most, MatrixFinish... finishes>
__global__ void __launch_bounds__(32 * warps_per_block, matrix_tile(most, most, reach, digits).blocks_resident)
    small_kernel(const __grid_constant__ MatrixArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr int alone = most == 2 ? 1 : most;
  constexpr int bytes =
      std::max(TileInput<reach, digits, most, most>::type::bytes, TileInput<reach, digits, alone, most>::type::bytes);
  __shared__ __align__(16) std::uint8_t memory[warps_per_block][bytes];
  for_plane(
      args, warps_per_block,
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned tile) {
        const int rows = matrix_tile(plane.components, most, reach, digits).rows;
        if (plane.copied + 1 == 1 << plane.components) {
          wait_for_stream();
          copy_inner(plane, tile_origin(plane, tile, rows), rows);
        } else if (most != 2 || plane.components == most)
          make_tile_of<reach, digits, most, most, finishes...>(args, plane, levels, tile, memory[threadIdx.y]);
        else
          make_tile_of<reach, digits, 1, most, finishes...>(args, plane, levels, tile, memory[threadIdx.y]);
      },
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned block) {
        wait_for_stream();
        make_sample(args, plane, levels, block * 32 * warps_per_block + threadIdx.y * 32 + threadIdx.x);
      });
#endif
}

template <int reach, int digits, int most>
MatrixKernel kernel_for(MatrixFinish finish) {
  constexpr MatrixFinish other = digits == 1 ? MatrixFinish::pack : MatrixFinish::real;
  if constexpr (most == 1 && in_quads(reach, digits)) {
    return small_kernel<reach, digits, most, MatrixFinish::quotient, other>;
  } else {
    if constexpr (digits == 1)
      if (finish == MatrixFinish::reading) return small_kernel<reach, digits, most, MatrixFinish::reading>;
    return finish == MatrixFinish::quotient ? small_kernel<reach, digits, most, MatrixFinish::quotient>
                                            : small_kernel<reach, digits, most, other>;
  }
}

template <int reach, int digits>
MatrixKernel kernel_for(MatrixFinish finish, int components) {
  return components == 1   ? kernel_for<reach, digits, 1>(finish)
         : components == 2 ? kernel_for<reach, digits, 2>(finish)
                           : kernel_for<reach, digits, 4>(finish);
}

template <int reach>
MatrixKernel kernel_for(const MatrixTaps& taps, int components) {
  return taps.digits == 1 ? kernel_for<reach, 1>(taps.finish, components)
                          : kernel_for<reach, 2>(taps.finish, components);
}

}  // namespace

MatrixKernel small_matrix_kernel(int reach, const MatrixTaps& taps, int components) {
  return reach == 1   ? kernel_for<1>(taps, components)
         : reach == 2 ? kernel_for<2>(taps, components)
                      : kernel_for<3>(taps, components);
}

MatrixReading small_matrix_reading(int reach, int components) {
  return components == 1 && in_quads(reach, 1) ? MatrixReading::apart : MatrixReading::apart_float;
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
