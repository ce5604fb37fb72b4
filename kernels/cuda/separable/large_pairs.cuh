// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packed 4:2:2 in strips (large_strips.cuh), luma and chroma at once. To the loads a pair of two luma samples is a
// pixel of four bytes. A warp makes 16 pairs: two tiles of luma and one of either chroma, each by the same matrices.
//
// Luma is filtered as in a plane of one component, from every second byte; chroma as in planes of its own, from every
// fourth.
//
//   bytes of a row     Y0 U0 Y1 V0  Y2 U1 Y3 V1 ...
//   tiles 0, 1         Y0 .. Y15, Y16 .. Y31
//   tiles 2, 3         U0 .. U15, V0 .. V15
#pragma once

#include "cuda/separable/large_products.cuh"
#include "cuda/separable/large_strip_samples.cuh"

namespace convolve::cuda::large {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Luma of a unit as the right operand, from the bytes of pixels 4 t and 4 t + 1 on.
template <class Numbers>
__device__ __forceinline__ void luma_operand(std::uint32_t (&b)[2], const std::uint8_t* at, const Pairs& pairs) {
  const uint2 v = *reinterpret_cast<const uint2*>(at);
  if constexpr (Numbers::parts == 1) {
    b[0] = __byte_perm(v.x, 0, pairs.luma_halves);
    b[1] = __byte_perm(v.y, 0, pairs.luma_halves);
  } else {
    const uint2 next = *reinterpret_cast<const uint2*>(at + 2 * 16);
    b[0] = __byte_perm(v.x, v.y, pairs.luma);
    b[1] = __byte_perm(next.x, next.y, pairs.luma);
  }
}

/// Either chroma of a unit, from the bytes of pair 4 t on.
template <class Numbers>
__device__ __forceinline__ void chroma_operands(std::uint32_t (&b)[2][2], const std::uint8_t* at, const Pairs& pairs) {
  std::uint32_t both[Numbers::parts][2];  // of two pairs each
#pragma unroll
  for (int four = 0; four < Numbers::parts; ++four) {
    const uint4 v = *reinterpret_cast<const uint4*>(at + 4 * 16 * four);
    both[four][0] = __byte_perm(v.x, v.y, pairs.chroma);
    both[four][1] = __byte_perm(v.z, v.w, pairs.chroma);
  }
#pragma unroll
  for (int c = 0; c < 2; ++c)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      if constexpr (Numbers::parts == 1)
        b[c][i] = __byte_perm(both[0][i], 0, c ? 0x4341 : 0x4240);
      else
        b[c][i] = __byte_perm(both[i][0], both[i][1], c ? 0x7531 : 0x6420);
}

/// The cell of a row in shared memory that stands for byte `at` of the frame's row, which lies beside the frame.
__device__ __forceinline__ int pair_byte_of(const Args& args, const Plane& plane, int at) {
  const int pair = at >> 2, in_pair = at & 3;
  if ((in_pair & 1) != args.pairs.luma_at) return edge_index(plane.columns, pair) * 4 + in_pair;
  return edge_index(args.pairs.luma_columns, at >> 1) * 2 + args.pairs.luma_at;
}

/// Stores a warp's samples. Of each tile a lane has rows g and g + 8 and four samples from 4 t on.
template <bool plain>
struct PairSamples : StripSamples<4, plain> {
  using Base = StripSamples<4, plain>;
  using Base::args, Base::words, Base::rows, Base::x, Base::t, Base::way, Base::level, Base::passthrough, Base::Base;

  /// sum(r, i, b): sample b of tile i of row 8 r of the next 16 rows; integers with Plane::start in them.
  template <class Sums>
  __device__ __forceinline__ void store(const Sums& sum) {
    std::uint32_t in[2][words], code[2][words];  // `in`: where samples of the input are needed
    float value[2][words][4];
    this->make_values(
        value, sum, [&](int i, int) { return level[i]; },
        [&](int r) {
          this->clear(in[r]);
          if (8 * r < rows) take(value[r], in[r], this->row_of(r));
        });
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int i = 0; i < words; ++i)
        code[r][i] = pack_bytes(value[r][i][0], value[r][i][1], value[r][i][2], value[r][i][3]);
      take_neighbours(code[r]);
      interleave(code[r]);
      if (!plain && way == 0 && passthrough) this->pass(code[r], in[r]);
    }
    this->put(code);
  }

 private:
  /// Loads what is under the words that the lane stores, and adds the tap at the centre.
  __device__ __forceinline__ void take(float (&value)[4][4], std::uint32_t (&in)[4], const std::uint8_t* row) const {
    this->load(in, row);
    const auto chroma = [&](int half) { return __byte_perm(in[2 * half], in[2 * half + 1], args.pairs.chroma); };
    this->add_centre(value[2], __byte_perm(chroma(0), chroma(1), 0x6420));
    this->add_centre(value[3], __byte_perm(chroma(0), chroma(1), 0x7531));
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
      std::uint32_t luma[2] = {};
      this->load_words(luma, row, x + 32 * tile + 8 * t, 4);
      this->add_centre(value[tile], __byte_perm(luma[0], luma[1], args.pairs.luma));
    }
  }
  /// Words 0 and 1 are those of two tiles of luma, each of samples 4 t to 4 t + 3. They become samples 8 t to 8 t + 7
  /// of both: lane t takes words 2 t and 2 t + 1 of eight, in such an order that no lane sends both of its own at once.
  ///
  ///   round 0    lane 0 from lane 0    1 from 3    2 from 1    3 from 2      lanes 1 and 2 send tile 1
  ///   round 1    lane 0 from lane 1    1 from 2    2 from 0    3 from 3      lanes 0 and 3 send tile 1
  __device__ __forceinline__ void take_neighbours(std::uint32_t (&code)[4]) const {
    const bool inner = t == 1 || t == 2;
    // The lane of the four, two bits a lane: the shuffles do not leave the four.
    const int from = 0b10'01'11'00 >> 2 * t & 3, then = 0b11'00'10'01 >> 2 * t & 3;
    const std::uint32_t a = __shfl_sync(~0u, inner ? code[1] : code[0], from, 4);
    const std::uint32_t b = __shfl_sync(~0u, inner ? code[0] : code[1], then, 4);
    code[0] = inner ? b : a;
    code[1] = inner ? a : b;
  }
  /// Eight samples of luma and four of either chroma become four pairs.
  __device__ __forceinline__ void interleave(std::uint32_t (&code)[4]) const {
    const std::uint32_t lower = args.pairs.in_turn, upper = lower + 0x2222;
    const std::uint32_t luma[2] = {code[0], code[1]};
    const std::uint32_t chroma[2] = {__byte_perm(code[2], code[3], 0x5140), __byte_perm(code[2], code[3], 0x7362)};
#pragma unroll
    for (int w = 0; w < 4; ++w) code[w] = __byte_perm(luma[w / 2], chroma[w / 2], w % 2 ? upper : lower);
  }
};

#endif

}  // namespace convolve::cuda::large
