// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Banks of small kernels with integer taps on the tensor cores. The banded products are those of matrix/dense.cu, whose
// head draws them: the image is the left matrix, a kernel's taps are the right one. All kernels multiply the same
// fragments of the image, which are loaded once, and their sums meet in the same registers:
//
//   pixels ──taps of kernel 1──> sums ─┐
//          ──taps of kernel 2──> sums ─┼─ read as floats, combined ──> root, division, rounding ──> samples
//          ──      ...        ──> sums ─┘
//
// A bank of two keeps both kernels' taps in registers; larger ones load each kernel's taps in turn, and keep what is
// combined so far.
#include <algorithm>
#include <utility>

#include "cuda/bank/tensor.cuh"
#include "cuda/bank/tensor_tuning.hpp"
#include "cuda/matrix/dense_input.cuh"
#include "cuda/matrix/dense_triples.cuh"

namespace convolve::cuda {
namespace {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

constexpr int radius = bank_tensor_radius;
using RightTaps = Right<radius, 1>;
constexpr int words_of_kernel = RightTaps::taken * 32;  ///< as lanes load them

/// What a first sum is combined to.
template <Combine combine>
__device__ __forceinline__ float begun(float sum) {
  if constexpr (combine == Combine::magnitude)
    return __fmul_rn(sum, sum);
  else
    return combine == Combine::max ? sum : fabsf(sum);
}
/// Combines the sums so far, `all`, with one more.
template <Combine combine>
__device__ __forceinline__ float combined(float all, float sum) {
  if constexpr (combine == Combine::magnitude)
    return __fmaf_rn(sum, sum, all);
  else if constexpr (combine == Combine::sum_abs)
    return __fadd_rn(all, fabsf(sum));
  else
    return fmaxf(all, combine == Combine::max ? sum : fabsf(sum));
}

/// The bits that a kernel's sum starts from, and the float that the finished bits are read as. Combine::max compares
/// sums as they read, so that each starts less by its kernel's own levels; other combinations need the sums themselves,
/// and take away `none`, which a sum of 0 reads as.
template <Combine combine>
__device__ __forceinline__ int start_of(float none) {
  return combine == Combine::max ? bank_sum_start - (__float_as_int(none) - bank_sum_start) : bank_sum_start;
}
template <Combine combine>
__device__ __forceinline__ float read(int sum, float none) {
  return combine == Combine::max ? __int_as_float(sum) : __fsub_rn(__int_as_float(sum), none);
}

/// `value` is about the root of a whole number below 2^24 over the divisor, plus the base, which is 1/2 less than what
/// is added. Returns what rounds as the true value does. The tie next to it lies at a root that is a multiple of 1/4;
/// the square of that, less the whole number, is rounded once, so that its sign is right, and it is 0 or at least 1/16.
__device__ __forceinline__ float near_tie(const BankTensorArgs& args, float square, float value, float base) {
  constexpr float whole = 0x1.8p23f;  // added and taken away, it rounds to integers
  const float below = __fadd_rn(__fadd_rn(value, whole), -whole);
  const float tie = __fmul_rn(__fsub_rn(below, base), args.divisor);
  const float above = __fmaf_rn(tie, fabsf(tie), -square);
  return __fadd_rn(below, __saturatef(__fmaf_rn(above, -8.f, 0.5f)));
}

/// The value that rounds to the sample.
template <Combine combine, bool exact_root>
__device__ __forceinline__ float finished(const BankTensorArgs& args, float all, float base) {
  if constexpr (combine == Combine::magnitude) {
    const float value = __fmaf_rn(ptx::approximate_root(all), args.matrix.gain, base);
    return exact_root ? near_tie(args, all, value, base) : value;
  } else {
    if (combine == Combine::max) all = __fsub_rn(all, static_cast<float>(bank_sum_offset));
    return __fadd_rn(__fmaf_rn(all, args.matrix.gain, base), -args.rounding_bias);
  }
}

/// One kernel's sums of two rows of a component: four neighbours of the lane's strip g, then four of strip g + 8.
/// left(i): row pair i. `none`: what a sum of 0 reads as.
template <Combine combine, class LeftRows>
__device__ __forceinline__ void sum_rows(const int (&start)[4], const RightTaps& right, const LeftRows& left,
                                         float none, float (&sum)[8]) {
  const int own = start_of<combine>(none), own_start[4] = {own, own, own, own};
  int made[2][4];
#pragma unroll
  for (int i = 0; i <= radius; ++i)
#pragma unroll
    for (int q = 0; q < 2; ++q)
      ptx::mma_u8_s8(made[q], left(i), right.word[0][i] + 2 * q,
                     i > 0                     ? made[q]
                     : combine == Combine::max ? own_start
                                               : start);
#pragma unroll
  for (int e = 0; e < 8; ++e) sum[e] = read<combine>(made[e % 4 / 2][e / 4 * 2 + e % 2], none);
}

template <int C, int rows>
struct InputOf {
  using type = Input<C, rows, C == 4 ? 2 * radius + 2 : rows>;
};
template <int rows>
struct InputOf<3, rows> {
  using type = TriplesInput<radius, rows, 2 * radius + 2>;
};
template <int C, int most>
using TileInput = typename InputOf<C, bank_tile(C, most).rows + 2 * radius>::type;

/// The state of a lane while it makes a tile. `passthroughs`: some components stay as they were.
template <Combine combine, bool exact_root, bool pair, int C, bool passthroughs>
struct TileMaker {
  const BankTensorArgs& args;
  const MatrixPlane& plane;
  const float (&none)[max_components][max_bank];
  const RightTaps first, second;  ///< of pairs
  int start[4];
  float base[C], none_of[2][C];
  const std::uint8_t* was;
  std::uint8_t* out;
  bool vectorial = false;  ///< of three components: rows are stored as vectors

  __device__ __forceinline__ TileMaker(const BankTensorArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                       int2 origin)
      : args(args),
        plane(plane),
        none(args.none[&plane - args.matrix.plane]),
        first(args.matrix.taps),
        second(args.matrix.taps + (pair ? words_of_kernel : 0)) {
#pragma unroll
    for (int& s : start) {
      s = bank_sum_start;
      ptx::hide_here(s);  // else it is moved into place again for each product
    }
#pragma unroll
    for (int c = 0; c < C; ++c) {
      base[c] = __ldg(&levels.base[c]);
      none_of[0][c] = none[c][0], none_of[1][c] = none[c][1];
    }
    const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    const std::ptrdiff_t x = (origin.x + 8 * g + 4 * (t & 1)) * C;
    was = plane.in + (origin.y + (t >> 1)) * plane.in_stride + x;
    out = plane.out + (origin.y + (t >> 1)) * plane.out_stride + x;
  }

  __device__ __forceinline__ bool is_filtered(int c) const {
    return !passthroughs || !(plane.passthrough_components >> c & 1);
  }

  /// Turns the combined sums of two rows of a component into four samples of either strip.
  __device__ __forceinline__ void pack(const float (&all)[8], int c, std::uint32_t (&words)[2][C]) const {
#pragma unroll
    for (int strip = 0; strip < 2; ++strip) {
      float value[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) value[e] = finished<combine, exact_root>(args, all[4 * strip + e], base[c]);
      words[strip][c] = pack_bytes(value[0], value[1], value[2], value[3]);
    }
  }

  /// Filters two rows by a pair of kernels. left[i]: row pair i of each component.
  __device__ __forceinline__ void make_pair(const std::uint32_t (*left)[C][4], std::uint32_t (&words)[2][C]) const {
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (C > 1 && !passthroughs) __syncwarp();  // keeps the compiler from making components side by side
      if (!is_filtered(c)) continue;
      float all[8], sum[8];
      const auto rows_of = [&](int i) { return left[i][c]; };
      sum_rows<combine>(start, first, rows_of, none_of[0][c], all);
      sum_rows<combine>(start, second, rows_of, none_of[1][c], sum);
#pragma unroll
      for (int e = 0; e < 8; ++e) all[e] = combined<combine>(begun<combine>(all[e]), sum[e]);
      pack(all, c, words);
    }
  }

  /// Filters `together` pairs of rows by all kernels.
  template <int together>
  __device__ __forceinline__ void make_bank(const std::uint32_t (*left)[C][4],
                                            std::uint32_t (&words)[together][2][C]) const {
    float all[together][C][8] = {};  // no sum reads as less
#pragma unroll 1
    for (int n = 0; n < args.kernels; ++n) {
      const RightTaps right(args.matrix.taps + n * words_of_kernel);
#pragma unroll
      for (int c = 0; c < C; ++c) {
        if (!is_filtered(c)) continue;
#pragma unroll
        for (int k = 0; k < together; ++k) {
          float sum[8];
          sum_rows<combine>(
              start, right, [&](int i) { return left[k + i][c]; }, none[c][n], sum);
#pragma unroll
          for (int e = 0; e < 8; ++e) all[k][c][e] = combined<combine>(all[k][c][e], sum[e]);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < together; ++k)
#pragma unroll
      for (int c = 0; c < C; ++c) pack(all[k][c], c, words[k]);
  }

  /// Stores the pair of rows of this number and goes on to the next ones.
  template <class In>
  __device__ __forceinline__ void store(const std::uint32_t (&words)[2][C], std::uint8_t* memory, int pair_of_rows) {
    Word<C> pixels[2];
#pragma unroll
    for (int strip = 0; strip < 2; ++strip) {
      pixels[strip] = interleaved<C>(words[strip]);
      if constexpr (passthroughs) pass_through<C>(pixels[strip], plane, was, strip);
      if constexpr (C != 3) reinterpret_cast<Word<C>*>(out)[16 * strip] = pixels[strip];
    }
    if constexpr (C == 3) In::store(memory, pair_of_rows, pixels, out, plane.out_stride, vectorial);
    was += 2 * plane.in_stride;
    out += 2 * plane.out_stride;
  }
};

template <Combine combine, bool exact_root, bool pair, int C, int most, bool passthroughs>
__device__ __forceinline__ void make_tile(const BankTensorArgs& args, const MatrixPlane& plane,
                                          const MatrixLevels& levels, unsigned tile, std::uint8_t* memory) {
  constexpr int rows = bank_tile(C, most).rows, steps = rows / 2;
  using In = TileInput<C, most>;
  const unsigned wave = args.matrix.wave;
  const int2 origin = tile_origin(plane, tile, rows);
  if (tile < wave) prefetch_tile<C, rows>(plane, origin);
  TileMaker<combine, exact_root, pair, C, passthroughs> maker(args, plane, levels, origin);
  if (most > 1) ptx::hide_here(maker.out);  // as in matrix/dense.cu
  if constexpr (C == 3) maker.vectorial = in_vectors(plane.out, plane.out_stride, origin);
  In::start(memory, plane, levels, origin, radius);
  if (tile + wave < plane.tiles) prefetch_tile<C, rows>(plane, tile_origin(plane, tile + wave, rows));

  std::uint32_t left[steps + radius][C][4];
  constexpr int group = !pair && C == 1 ? bank_steps : 1, groups = (steps + group - 1) / group;
  const auto make_group = [&]<int j>() {
    if constexpr (j < In::parts) In::template wait<j>();
    if constexpr (j == 0) {
      In::mend_sides(memory, plane, origin);
#pragma unroll
      for (int i = 0; i < radius; ++i) In::take(memory, i, left[i]);
    } else if constexpr (most == 2) {
      __syncwarp();  // keeps the compiler from reading ahead
    }
    constexpr int from = j * group, together = std::min(group, steps - from);
#pragma unroll
    for (int s = from; s < from + together; ++s) In::take(memory, s + radius, left[s + radius]);
    std::uint32_t words[together][2][C] = {};
    if constexpr (pair)
      maker.make_pair(left + from, words[0]);
    else
      maker.template make_bank<together>(left + from, words);
#pragma unroll
    for (int k = 0; k < together; ++k) maker.template store<In>(words[k], memory, from + k);
  };
  [&]<int... j>(std::integer_sequence<int, j...>) {
    (make_group.template operator()<j>(), ...);
  }
  (std::make_integer_sequence<int, groups>());
}

/// Sample i of the columns that no tile makes.
template <Combine combine, bool exact_root>
__device__ __forceinline__ void make_sample(const BankTensorArgs& args, const MatrixPlane& plane,
                                            const MatrixLevels& levels, unsigned i) {
  const MatrixArgs& matrix = args.matrix;
  const unsigned C = plane.components, row_samples = (plane.left + plane.width - plane.right) * C;
  const unsigned y = i / row_samples;
  if (y >= static_cast<unsigned>(plane.height)) return;
  unsigned at = i - y * row_samples;  // sample in the row
  if (at >= plane.left * C) at += (plane.right - plane.left) * C;
  const int x = static_cast<int>(at / C), c = static_cast<int>(at - x * C);
  std::uint8_t& out = plane.out[static_cast<int>(y) * plane.out_stride + at];
  if (plane.passthrough_components >> c & 1) {
    out = plane.in[static_cast<int>(y) * plane.in_stride + at];
    return;
  }
  const int ghost = plane.ghost >> 8 * c & 255;
  const auto& none = args.none[&plane - matrix.plane][c];
  const int* tap = matrix.fixed;
  float all = 0;
  for (int n = 0; n < args.kernels; ++n) {
    int sum = start_of<combine>(none[n]);
    for (int r = 0; r < matrix.taps_y; ++r) {
      const int from = border_index(matrix.border, static_cast<int>(y) - matrix.centre_y + r, plane.height);
      const std::uint8_t* row = plane.in + from * plane.in_stride + c;
      for (int k = 0; k < matrix.taps_x; ++k, ++tap) {
        const int column = from < 0 ? -1 : border_index(matrix.border, x - matrix.centre_x + k, plane.width);
        sum += __ldg(tap) * (column < 0 ? ghost : __ldg(row + column * static_cast<int>(C)));
      }
    }
    all = combined<combine>(all, read<combine>(sum, none[n]));
  }
  const float value = finished<combine, exact_root>(args, all, levels.base[c]);
  out = static_cast<std::uint8_t>(min(max(__float2int_rn(value), 0), 255));
}

template <Combine combine, bool exact_root, bool pair, int C, int most>
__device__ __forceinline__ void make_tile_of(const BankTensorArgs& args, const MatrixPlane& plane,
                                             const MatrixLevels& levels, unsigned tile, std::uint8_t* memory) {
  constexpr int rows = bank_tile(C, most).rows;
  if (plane.passthrough_components + 1 == 1 << C) {
    pdl_wait();
    return copy_inner(plane, tile_origin(plane, tile, rows), rows);
  }
  if constexpr (C > 1)
    if (plane.passthrough_components)
      return make_tile<combine, exact_root, pair, C, most, true>(args, plane, levels, tile, memory);
  make_tile<combine, exact_root, pair, C, most, false>(args, plane, levels, tile, memory);
}

#endif

/// `most`: the most components of a plane; 3 and 4 come alone.
template <Combine combine, bool exact_root, bool pair, int most>
__global__ void __launch_bounds__(32 * dense_warps, bank_tile(most, most).blocks_resident)
    bank_kernel(const __grid_constant__ BankTensorArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr int alone = most == 2 ? 1 : most;
  constexpr int bytes = std::max(TileInput<most, most>::bytes, TileInput<alone, most>::bytes);
  __shared__ __align__(16) std::uint8_t memory[dense_warps][bytes];
  for_plane(
      args.matrix, dense_warps,
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned tile) {
        if (most != 2 || plane.components == most)
          make_tile_of<combine, exact_root, pair, most, most>(args, plane, levels, tile, memory[threadIdx.y]);
        else
          make_tile_of<combine, exact_root, pair, 1, most>(args, plane, levels, tile, memory[threadIdx.y]);
      },
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned block) {
        pdl_wait();
        make_sample<combine, exact_root>(args, plane, levels,
                                         block * 32 * dense_warps + threadIdx.y * 32 + threadIdx.x);
      });
#endif
}

template <Combine combine, bool exact_root, bool pair>
BankTensorKernel kernel_for(int components) {
  return components == 1   ? bank_kernel<combine, exact_root, pair, 1>
         : components == 2 ? bank_kernel<combine, exact_root, pair, 2>
         : components == 3 ? bank_kernel<combine, exact_root, pair, 3>
                           : bank_kernel<combine, exact_root, pair, 4>;
}

template <Combine combine, bool exact_root>
BankTensorKernel kernel_for(int components, bool pair) {
  if constexpr (combine != Combine::max)  // for which a pair's taps in registers gain nothing
    if (pair) return kernel_for<combine, exact_root, true>(components);
  return kernel_for<combine, exact_root, false>(components);
}

}  // namespace

BankTensorKernel bank_tensor_kernel(Combine combine, bool exact_root, int components, bool pair) {
  switch (combine) {
    case Combine::magnitude:
      return exact_root ? kernel_for<Combine::magnitude, true>(components, pair)
                        : kernel_for<Combine::magnitude, false>(components, pair);
    case Combine::sum_abs:
      return kernel_for<Combine::sum_abs, false>(components, pair);
    case Combine::max_abs:
      return kernel_for<Combine::max_abs, false>(components, pair);
    case Combine::none:  // of no bank
    case Combine::max:
      break;
  }
  return kernel_for<Combine::max, false>(components, pair);
}

}  // namespace convolve::cuda
