// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The two passes of separable's tensor kernel over packed 4:2:2, whose pairs of pixels count as pixels of four
// components, luma, chroma, luma, chroma. The chroma is as any other component; a sample of the luma meets its
// neighbours in two of the components, at every second tap:
//
//   taps a b c d e of the Y in the middle      Y U Y V Y U Y V Y U         both sums have the same registers of V for
//   the first of each pair                     a . . . c . . . e .         operands, and matrices of their own
//   the second                                 . . b . . . d . . .
#pragma once

#include "cuda/separable/tensor_passes.cuh"

namespace convolve::cuda::tensor {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

template <Epilogue epilogue>
struct PackedProducts : Products<epilogue, 4> {
  using Base = Products<epilogue, 4>;
  using typename Base::Half, typename Base::Halves;
  std::uint32_t luma[3][2][4];  ///< by where in its pair the input lies: as the output does, right of that, left of it
  std::uint32_t even, odd, order;

  __device__ void prepare(const TensorPlane& plane, int lane) {
    Base::prepare(plane, lane);
#pragma unroll
    for (int i = 0; i < 6; ++i) {
      const uint4 v = __ldg(plane.fragments + PackedFragments::luma + 32 * i + lane);
      std::uint32_t(&to)[4] = luma[i / 2][i % 2];
      to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    }
    const uint4 v = __ldg(plane.fragments + PackedFragments::selectors);
    even = v.x, odd = v.y, order = v.z;
  }
  __device__ Half columns(const Blocks<4>& blocks) const {
    return Base::columns(blocks, even, odd);
  }
  /// Luma, chroma, luma, chroma as a word in the frame's order, and the other way round.
  __device__ std::uint32_t word_of(const float* samples) const {
    return __byte_perm(Base::word_of(samples), 0, order);
  }
  __device__ std::uint32_t word_at(const std::uint8_t* at) const {
    return __byte_perm(Base::word_at(at), 0, order);
  }

  __device__ void rows(float (&code)[2][4], const Halves& window, int first, int c, const TensorArgs& args) const {
    if (c % 2 != 0)
      Base::rows(code, window, first, c, args);
    else if constexpr (in_halves(epilogue))
      luma_halves(code, window, first, c, args);
    else
      luma_bytes(code, window, first, c, args);
  }

 private:
  /// The matrices for the luma `c` by the luma `in`, 0 or 2.
  static constexpr int by(int c, int in) {
    return in == c ? 0 : in > c ? 1 : 2;
  }

  __device__ void luma_halves(float (&code)[2][4], const Halves& window, int first, int c,
                              const TensorArgs& args) const {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      float d[4] = {this->from[c][0], this->from[c][1], this->from[c][2], this->from[c][3]};
#pragma unroll
      for (int in = 0; in < 4; in += 2) {
        const std::uint32_t(&row)[4] = luma[by(c, in)][n];
        ptx::mma_f16(d, window.half[first].v[in], row, d);
        ptx::mma_f16(d, window.half[first ^ 1].v[in], row + 2, d);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        code[i >> 1][2 * n + (i & 1)] = epilogue == Epilogue::scaled ? __fmul_rn(d[i], args.gain) : d[i];
    }
  }
  __device__ void luma_bytes(float (&code)[2][4], const Halves& window, int first, int c,
                             const TensorArgs& args) const {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      int d[4] = {};
#pragma unroll
      for (int in = 0; in < 4; in += 2) ptx::mma_s8_s8(d, window.high[in], luma[by(c, in)][first] + 2 * n, d);
#pragma unroll
      for (int i = 0; i < 4; ++i) d[i] = d[i] * 256 + this->from[c];
#pragma unroll
      for (int in = 0; in < 4; in += 2) ptx::mma_u8_s8(d, window.low[in], luma[by(c, in)][first] + 2 * n, d);
#pragma unroll
      for (int i = 0; i < 4; ++i) code[i >> 1][2 * n + (i & 1)] = this->value_of(d[i], c, args);
    }
  }
};

#endif

}  // namespace convolve::cuda::tensor
