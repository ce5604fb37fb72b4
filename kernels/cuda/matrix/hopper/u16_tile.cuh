// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// wgmma.cu: how a warpgroup makes its part of a tile of 16-bit samples: each of their bytes by each limb of the
// taps, in the order that U16Taps (taps.hpp) gives.
#pragma once

#include "cuda/common/pixels.cuh"
#include "cuda/matrix/hopper/u8_tile.cuh"

namespace convolve::cuda::wgmma {

#if defined(__CUDACC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A warpgroup's sums of a component, whose bytes' rows lie at `left`.
template <WgmmaShape shape>
__device__ __forceinline__ void make_u16_sums(const WgmmaArgs& args, MatrixDescriptor left, MatrixDescriptor right,
                                              int start, int (&sum)[8 * group_rows]) {
#pragma unroll
  for (int i = 0; i < 8 * group_rows; ++i) sum[i] = 0;
#pragma unroll 1
  for (int n = 0;;) {
    const U16Product product = args.product[n];
    multiply_rows<shape>(sum, moved(left, product.left), moved(right, product.right));
    if (++n == args.products) return;
    const int level = product.starts ? start : 0;
    if (product.shift > 0)
#pragma unroll
      for (int i = 0; i < 8 * group_rows; ++i) sum[i] = sum[i] * 256 + level;
    else if (product.shift < 0)
#pragma unroll
      for (int i = 0; i < 8 * group_rows; ++i) sum[i] = (sum[i] + 128 >> 8) + level;
  }
}

/// Two components of four pixels, side by side: a word a pixel.
__device__ __forceinline__ uint4 pairs_of(const PixelGroup<std::uint16_t, 1>& a,
                                          const PixelGroup<std::uint16_t, 1>& b) {
  return {__byte_perm(a.word[0], b.word[0], 0x5410), __byte_perm(a.word[0], b.word[0], 0x7632),
          __byte_perm(a.word[1], b.word[1], 0x5410), __byte_perm(a.word[1], b.word[1], 0x7632)};
}

/// Makes a warpgroup's part of a tile from its bytes' input rows, C bytes a pixel; calls done() when it has no more use
/// for them.
template <WgmmaShape shape, int C, class Done>
__device__ __forceinline__ void make_u16_tile(const WgmmaArgs& args, const Tile& tile, const std::uint8_t* input,
                                              MatrixDescriptor right, const Done& done) {
  using Four = PixelGroup<std::uint16_t, 1>;
  const WgmmaPlane& plane = *tile.plane;
  const Part<shape> part(input);
  Four made[C / 2][2 * group_rows];
#pragma unroll
  for (int c = 0; c < C / 2; ++c) {
    const int bytes = 2 * c * shape.input_bytes();
    if (plane.passthrough_components >> 2 * c & 1) {
#pragma unroll
      for (int r = 0; r < 2 * group_rows; ++r) {
        const std::uint8_t* own = part.own(input) + bytes + r * shape.pitch();
        const uint2 words = interleaved<2>({*reinterpret_cast<const std::uint32_t*>(own),
                                            *reinterpret_cast<const std::uint32_t*>(own + shape.input_bytes())});
        made[c][r].word[0] = words.x, made[c][r].word[1] = words.y;
      }
      if (c == C / 2 - 1) done();
      continue;
    }
    int sum[8 * group_rows];
    make_u16_sums<shape>(args, moved(part.left, bytes), right, plane.start[c], sum);
    if (c == C / 2 - 1) done();
    by_division_and_bits(args.numbers, [&]<WordDivision how, bool whole>(std::integral_constant<WordDivision, how>,
                                                                         std::bool_constant<whole>) {
      const float unit = how == WordDivision::remainder ? args.gain : 1;  // else it is in the numbers' gain
#pragma unroll
      for (int r = 0; r < 2 * group_rows; ++r) {
        const int* of = sum + first_sum<shape>(r);
        const float four[4] = {__int2float_rn(of[0]) * unit, __int2float_rn(of[1]) * unit, __int2float_rn(of[4]) * unit,
                               __int2float_rn(of[5]) * unit};
        made[c][r] = quantized_words<Four, 1, how, whole>(four, &plane.level[c], args.numbers);
      }
    });
  }

  store_part<std::uint16_t, C>(tile, part, [&](int r) -> Word<C> {
    if constexpr (C == 2) {
      return {made[0][r].word[0], made[0][r].word[1]};
    } else if constexpr (C == 4) {
      return pairs_of(made[0][r], made[1][r]);
    } else {
      const uint4 front = pairs_of(made[0][r], made[1][r]), back = pairs_of(made[2][r], made[3][r]);
      return {{front.x, back.x, front.y, back.y}, {front.z, back.z, front.w, back.w}};
    }
  });
}

#endif

}  // namespace convolve::cuda::wgmma
