// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, packed 4:2:2 of 8 bits, filters of at most 7x9 taps: the products of dense.cu, of luma and chroma at once.
//
// The frame is a plane of pairs, Y0 U Y1 V, tiled as one of four components. The chroma's strips are 8 pairs, and two
// strips of the luma lie in the same words: a warp multiplies 2 x 16 strips of the luma, 16 of either chroma.
//
//   pairs         | 8g            ..           8g + 7 |
//   luma          | strip 2g        | strip 2g + 1    |    lane 4g + t makes 4 of each: of the first row, t = 0
//   chroma        | strip g, first; strip g, second   |    the left four and t = 1 the right four
//
// A lane stores four pairs: before that it changes one word of luma for another with its neighbour.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "cuda/common/launch.hpp"
#include "cuda/matrix/dense_rows.cuh"
#include "cuda/matrix/dense_tuning.hpp"
#include "cuda/matrix/packed_422.cuh"

namespace convolve::cuda {
namespace {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

template <int radius, int limbs>
struct TileRows {
  static constexpr int made = packed_422_tile(radius, limbs).rows, steps = made / 2;
  using In = Packed422Input<made + 2 * radius, 2 * radius + 2>;
};

/// Makes a tile. `passthroughs`: some components stay as they were.
template <int radius, int limbs, Epilogue epilogue, bool passthroughs>
__device__ __forceinline__ void make_tile(const Packed422Args& args, const MatrixPlane& plane,
                                          const MatrixLevels& levels, unsigned tile, std::uint8_t* memory) {
  using Rows = TileRows<radius, limbs>;
  using In = typename Rows::In;
  constexpr int steps = Rows::steps, components = 3;
  constexpr bool one_start = epilogue == Epilogue::separate_limbs;
  constexpr int starts = one_start ? 1 : components;
  const int2 origin = tile_origin(plane, tile, Rows::made);
  if (tile < args.matrix.wave) prefetch_tile<4, Rows::made>(plane, origin);
  const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  const Right<radius, limbs> right(args.matrix.taps);
  Start start[starts];
  float base[components];
  // A pair's bytes: the first luma, and either chroma.
  const int byte[components] = {args.luma_offset, 1 - args.luma_offset, 3 - args.luma_offset};
#pragma unroll
  for (int c = 0; c < starts; ++c) {
    start[c].load(levels, byte[c]);
    if (starts > 1) start[c].hold();
  }
#pragma unroll
  for (int c = 0; c < components; ++c) base[c] = __ldg(&levels.base[byte[c]]);
  const std::ptrdiff_t x = (origin.x + 8 * g + 4 * (t & 1)) * 4;
  const std::uint8_t* was = plane.in + (origin.y + (t >> 1)) * plane.in_stride + x;
  std::uint8_t* out = plane.out + (origin.y + (t >> 1)) * plane.out_stride + x;
  ptx::hide_here(out);  // as in dense.cu
  In::start(memory, plane, levels, origin, radius);
  if (tile + args.matrix.wave < plane.tiles)
    prefetch_tile<4, Rows::made>(plane, tile_origin(plane, tile + args.matrix.wave, Rows::made));

  std::uint32_t left[steps + radius][4][4];
  const auto take = [&](int pair) { In::take(memory, pair, args.order, left[pair]); };
  const auto make_step = [&](int s) {
    std::uint32_t made[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int c = i < 2 ? 0 : i - 1;
      std::uint32_t packed[1][2] = {};
      if (!passthroughs) __syncwarp();  // keeps the compiler from making components side by side
      if (!passthroughs || !(plane.passthrough_components >> byte[c] & 1))
        make_rows<epilogue>(
            args.matrix, start[c % starts], base[c], right, [&](int, int k) { return left[s + k][i]; }, packed);
      made[0][i] = packed[0][0], made[1][i] = packed[0][1];
    }
#pragma unroll
    for (int strip = 0; strip < 2; ++strip) {
      uint4 pairs = pairs_of(args.order, made[strip]);
      if constexpr (passthroughs) {
        uint4 before = __ldg(reinterpret_cast<const uint4*>(was) + 16 * strip);
#pragma unroll
        for (int w = 0; w < 4; ++w)
          word_of(pairs, w) = (word_of(pairs, w) & ~plane.passthrough) | (word_of(before, w) & plane.passthrough);
      }
      reinterpret_cast<uint4*>(out)[16 * strip] = pairs;
    }
    was += 2 * plane.in_stride;
    out += 2 * plane.out_stride;
  };
  const auto make_part = [&]<int j>() {
    if constexpr (j < In::parts) In::template wait<j>();
    if constexpr (j == 0) {
      In::mend_sides(memory, args.order, plane, origin);
#pragma unroll
      for (int i = 0; i < radius; ++i) take(i);
    }
    take(j + radius);
    make_step(j);
  };
  [&]<int... j>(std::integer_sequence<int, j...>) {
    (make_part.template operator()<j>(), ...);
  }
  (std::make_integer_sequence<int, steps>());
}

/// Sample i of the columns that no tile makes.
__device__ __forceinline__ void make_sample(const Packed422Args& args, const MatrixPlane& plane,
                                            const MatrixLevels& levels, unsigned i) {
  const MatrixArgs& matrix = args.matrix;
  const int width = args.luma_width, pairs = (width + 1) / 2;
  const unsigned row_bytes = (plane.left + pairs - plane.right) * 4;
  const unsigned y = i / row_bytes;
  if (y >= static_cast<unsigned>(plane.height)) return;
  int at = static_cast<int>(i - y * row_bytes);
  if (at >= plane.left * 4) at += (plane.right - plane.left) * 4;
  const bool is_luma = (at & 1) == args.luma_offset;
  const int step = is_luma ? 2 : 4, offset = at % step, x = at / step, end = is_luma ? width : pairs;
  if (x >= end) return;  // of an odd row's last pair
  const int byte = at & 3;
  std::uint8_t& out = plane.out[static_cast<int>(y) * plane.out_stride + at];
  if (plane.passthrough_components >> byte & 1) {
    out = plane.in[static_cast<int>(y) * plane.in_stride + at];
    return;
  }
  const int first = x - matrix.centre_x, ghost = plane.ghost >> 8 * byte & 255;
  const int* tap = matrix.fixed;
  int sum = 0;
  for (int r = 0; r < matrix.taps_y; ++r) {
    const int from = border_index(matrix.border, static_cast<int>(y) - matrix.centre_y + r, plane.height);
    const std::uint8_t* row = plane.in + from * plane.in_stride + offset;
    for (int k = 0; k < matrix.taps_x; ++k) {
      const int column = from < 0 ? -1 : border_index(matrix.border, first + k, end);
      sum += __ldg(tap++) * (column < 0 ? ghost : __ldg(row + column * step));
    }
  }
  out = sample_of(matrix, levels, byte, sum);
}

#endif

template <int radius, int limbs, Epilogue epilogue>
__global__ void __launch_bounds__(32 * dense_warps, packed_422_tile(radius, limbs).blocks_resident)
    packed_kernel(const __grid_constant__ Packed422Args args) {
#if __CUDA_ARCH__ >= 800
  __shared__ __align__(16) std::uint8_t memory[dense_warps][TileRows<radius, limbs>::In::bytes];
  for_plane(
      args.matrix, dense_warps,
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned tile) {
        if (plane.passthrough_components)
          make_tile<radius, limbs, epilogue, true>(args, plane, levels, tile, memory[threadIdx.y]);
        else
          make_tile<radius, limbs, epilogue, false>(args, plane, levels, tile, memory[threadIdx.y]);
      },
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned block) {
        pdl_wait();
        make_sample(args, plane, levels, block * 32 * dense_warps + threadIdx.y * 32 + threadIdx.x);
      });
#endif
}

template <int radius>
Packed422Kernel kernel_for(const MatrixTaps& taps) {
  if (taps.limbs == 2)
    return taps.epilogue == Epilogue::quotient ? packed_kernel<radius, 2, Epilogue::quotient>
                                               : packed_kernel<radius, 2, Epilogue::separate_limbs>;
  return taps.epilogue == Epilogue::magic_number ? packed_kernel<radius, 1, Epilogue::magic_number>
         : taps.epilogue == Epilogue::quotient   ? packed_kernel<radius, 1, Epilogue::quotient>
                                                 : packed_kernel<radius, 1, Epilogue::saturate>;
}

}  // namespace

Packed422Kernel packed_422_kernel(int radius, const MatrixTaps& taps) {
  return radius == 1 ? kernel_for<1>(taps) : radius == 2 ? kernel_for<2>(taps) : kernel_for<3>(taps);
}

}  // namespace convolve::cuda
