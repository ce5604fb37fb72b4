// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters of at most 7x9 taps (rows x columns): banded (Toeplitz) matrix products on the tensor cores, 8-bit
// samples by the 8-bit limbs that taps are cut into (taps.hpp).
//
// A warp makes a tile of 128 pixels by a few rows. It is cut into 16 strips of 8 pixels, and two rows are made at a
// time. One product (m16n8k32) takes two input rows: of each strip (one of 16 rows of the left matrix) the 16 pixels
// that its outputs can reach; the right matrix holds the taps that lead from those 2 x 16 inputs to 8 of the strip's
// 2 x 8 outputs. Which k, and which n, stands for which pixel is chosen so that a lane's part of the left matrix is
// 8 neighbouring pixels of either strip (dense_input.cuh, dense_quads.cuh, dense_triples.cuh), and that its sums, over
// the two products that make a strip's 16 outputs, are four neighbouring pixels: no shuffle.
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
#include "cuda/matrix/dense_rows.cuh"
#include "cuda/matrix/dense_triples.cuh"
#include "cuda/matrix/dense_tuning.hpp"
#include "cuda/matrix/right_matrices.hpp"

namespace convolve::cuda {
namespace {

constexpr int warps_per_block = dense_warps;

/// Whether the rows of a plane that comes alone, of one component, lie in quads.
constexpr bool in_quads(int radius, int limbs) {
  return radius > 1 || limbs > 1;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// The input rows of a warp's tile, in a kernel for planes of up to `most` components.
template <int radius, int limbs, int C, int most>
struct TileInput {
  static constexpr int rows = matrix_tile(C, most, radius, limbs).rows + 2 * radius;
  using type = Input<C, rows, C == 4 ? 2 * radius + 2 : rows>;
};
template <int radius, int limbs>
struct TileInput<radius, limbs, 3, 3> {
  static constexpr int rows = matrix_tile(3, 3, radius, limbs).rows + 2 * radius;
  using type = TriplesInput<radius, rows, 2 * radius + 2>;
};
template <int radius, int limbs>
struct TileInput<radius, limbs, 1, 1> {
  static constexpr int rows = matrix_tile(1, 1, radius, limbs).rows + 2 * radius;
  using type = std::conditional_t<in_quads(radius, limbs), QuadInput<rows>, Input<1, rows>>;
};

/// Makes a tile. `passthroughs`: some components stay as they were, which has code of its own, since asking for each
/// would be in the others' way. Of several components `out` is hidden from the compiler: it then reads rows from shared
/// memory only after the rows before them are stored, and not as soon as it has registers, which more warps can have.
template <int radius, int limbs, int C, int most, Epilogue epilogue, bool passthroughs>
__device__ __forceinline__ void make_tile(const MatrixArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                          unsigned tile, std::uint8_t* memory) {
  constexpr int rows = matrix_tile(C, most, radius, limbs).rows, steps = rows / 2;
  constexpr bool one_start = C == 1 || epilogue == Epilogue::separate_limbs;
  // What all components' sums start from is loaded at the beginning where there are registers: else each is waited for.
  constexpr int starts = !one_start && (C >= 3 || radius <= 2) ? C : 1;
  using In = typename TileInput<radius, limbs, C, most>::type;
  const int2 origin = tile_origin(plane, tile, rows);
  if (tile < args.wave) prefetch_tile<C, rows>(plane, origin);
  const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  const Right<radius, limbs> right(args.taps);
  Start start[starts];
#pragma unroll
  for (int c = 0; c < starts; ++c) {
    start[c].load(levels, c);
    if (starts > 1) start[c].hold();
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
  if (most > 1) find_rows(), ptx::hide_here(out);
  const bool vectorial = C == 3 && in_vectors(plane.out, plane.out_stride, origin);
  In::start(memory, plane, levels, origin, radius);
  if (tile + args.wave < plane.tiles) prefetch_tile<C, rows>(plane, tile_origin(plane, tile + args.wave, rows));
  if (most == 1) find_rows();

  std::uint32_t left[steps + radius][C][4];
  const auto take = [&](int pair) { In::take(memory, pair, left[pair]); };
  // `together` steps from s on.
  const auto make_steps = [&]<int together>(int s) {
    std::uint32_t words[together][2][C];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      std::uint32_t packed[together][2] = {};
      if (C > 1 && !passthroughs) __syncwarp();  // keeps the compiler from making components side by side
      if (!one_start && starts == 1) start[0].load(levels, c);
      if (!passthroughs || !(plane.passthrough_components >> c & 1))
        make_rows<epilogue>(
            args, start[c % starts], base[c], right, [&](int k, int i) { return left[s + k + i][c]; }, packed);
#pragma unroll
      for (int k = 0; k < together; ++k) words[k][0][c] = packed[k][0], words[k][1][c] = packed[k][1];
    }
#pragma unroll
    for (int k = 0; k < together; ++k) {
      const auto pixels = [&](int strip) { return pixels_of<C, passthroughs>(words[k], plane, was, strip); };
      if constexpr (C == 3) {
        In::store(memory, s + k, {pixels(0), pixels(1)}, out, plane.out_stride, vectorial);
      } else {
#pragma unroll
        for (int strip = 0; strip < 2; ++strip) reinterpret_cast<Word<C>*>(out)[16 * strip] = pixels(strip);
      }
      was += 2 * plane.in_stride;
      out += 2 * plane.out_stride;
    }
  };
  constexpr int group = most == 2 && C == 1 && limbs == 1 ? 2 : 1, groups = (steps + group - 1) / group;
  const auto make_group = [&]<int j>() {
    if constexpr (j < In::parts) In::template wait<j>();
    if constexpr (j == 0) {
      In::mend_sides(memory, plane, origin);
#pragma unroll
      for (int i = 0; i < radius; ++i) take(i);
    } else if constexpr (most == 2) {
      __syncwarp();  // keeps the compiler from reading ahead
    }
    constexpr int from = j * group, together = std::min(group, steps - from);
#pragma unroll
    for (int s = from; s < from + together; ++s) take(s + radius);
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
  if (plane.passthrough_components >> c & 1) {
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
  out = sample_of(args, levels, c, sum);
}

template <int radius, int limbs, int C, int most, Epilogue epilogue, Epilogue... others>
__device__ __forceinline__ void make_tile_of(const MatrixArgs& args, const MatrixPlane& plane,
                                             const MatrixLevels& levels, unsigned tile, std::uint8_t* memory) {
  if constexpr (sizeof...(others) > 0)
    if (args.epilogue != epilogue)
      return make_tile_of<radius, limbs, C, most, others...>(args, plane, levels, tile, memory);
  if constexpr (C > 1)
    if (plane.passthrough_components)
      return make_tile<radius, limbs, C, most, epilogue, true>(args, plane, levels, tile, memory);
  make_tile<radius, limbs, C, most, epilogue, false>(args, plane, levels, tile, memory);
}

#endif

/// `most`: the most components of a plane; 3 and 4 come alone. `finishes`: of the sums, those it is for.
template <int radius, int limbs, int most, Epilogue... epilogues>
__global__ void __launch_bounds__(32 * warps_per_block, matrix_tile(most, most, radius, limbs).blocks_resident)
    dense_kernel(const __grid_constant__ MatrixArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr int alone = most == 2 ? 1 : most;
  constexpr int bytes =
      std::max(TileInput<radius, limbs, most, most>::type::bytes, TileInput<radius, limbs, alone, most>::type::bytes);
  __shared__ __align__(16) std::uint8_t memory[warps_per_block][bytes];
  for_plane(
      args, warps_per_block,
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned tile) {
        const int rows = matrix_tile(plane.components, most, radius, limbs).rows;
        if (plane.passthrough_components + 1 == 1 << plane.components) {
          pdl_wait();
          copy_inner(plane, tile_origin(plane, tile, rows), rows);
        } else if (most != 2 || plane.components == most)
          make_tile_of<radius, limbs, most, most, epilogues...>(args, plane, levels, tile, memory[threadIdx.y]);
        else
          make_tile_of<radius, limbs, 1, most, epilogues...>(args, plane, levels, tile, memory[threadIdx.y]);
      },
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned block) {
        pdl_wait();
        make_sample(args, plane, levels, block * 32 * warps_per_block + threadIdx.y * 32 + threadIdx.x);
      });
#endif
}

template <int radius, int limbs, int most>
MatrixKernel kernel_for(Epilogue epilogue) {
  constexpr Epilogue other = limbs == 1 ? Epilogue::saturate : Epilogue::separate_limbs;
  if constexpr (most == 1 && in_quads(radius, limbs)) {
    return dense_kernel<radius, limbs, most, Epilogue::quotient, other>;
  } else {
    if constexpr (limbs == 1)
      if (epilogue == Epilogue::magic_number) return dense_kernel<radius, limbs, most, Epilogue::magic_number>;
    return epilogue == Epilogue::quotient ? dense_kernel<radius, limbs, most, Epilogue::quotient>
                                          : dense_kernel<radius, limbs, most, other>;
  }
}

template <int radius, int limbs>
MatrixKernel kernel_for(Epilogue epilogue, int components) {
  return components == 1   ? kernel_for<radius, limbs, 1>(epilogue)
         : components == 2 ? kernel_for<radius, limbs, 2>(epilogue)
         : components == 3 ? kernel_for<radius, limbs, 3>(epilogue)
                           : kernel_for<radius, limbs, 4>(epilogue);
}

template <int radius>
MatrixKernel kernel_for(const MatrixTaps& taps, int components) {
  return taps.limbs == 1 ? kernel_for<radius, 1>(taps.epilogue, components)
                         : kernel_for<radius, 2>(taps.epilogue, components);
}

}  // namespace

MatrixKernel dense_matrix_kernel(int radius, const MatrixTaps& taps, int components) {
  return radius == 1   ? kernel_for<1>(taps, components)
         : radius == 2 ? kernel_for<2>(taps, components)
                       : kernel_for<3>(taps, components);
}

LimbSums dense_limb_sums(int radius, int components) {
  return components == 1 && in_quads(radius, 1) ? LimbSums::separate : LimbSums::separate_float;
}

std::vector<uint4> dense_matrix_taps(const Filter& filter, const MatrixTaps& taps, int radius) {
  std::vector<uint4> right;
  right.reserve(static_cast<std::size_t>(taps.limbs * (radius + 1) * 32));
  for (int d = 0; d < taps.limbs; ++d) {
    const CentredLimb limb(filter, taps.limbs_from_highest(d), radius);
    for (int pair = 0; pair <= radius; ++pair) limb.append(pair, right);
  }
  return right;
}

}  // namespace convolve::cuda
