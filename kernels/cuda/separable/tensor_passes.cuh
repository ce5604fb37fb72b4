// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The column and the row pass of a set of separable's tensor kernel, from bytes to samples: see tensor.cuh.
#pragma once

#include "cuda/common/epilogue.cuh"
#include "cuda/separable/tensor_input.cuh"
#include "cuda/separable/tensor_taps.hpp"

namespace convolve::cuda::tensor {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// The 32 rows of a lane's blocks of 16 bytes that come in next, one set's: byte pairs of rows 8 i to 8 i + 7.
template <int C>
struct Blocks {
  std::uint32_t pairs[C][4];

  __device__ void load(std::uint32_t at) {
#pragma unroll
    for (int b = 0; b < C; ++b) ptx::load_matrices(pairs[b], at + b * block_bytes);
  }
};

/// Matrix i of a plane, this lane's fragment.
__device__ __forceinline__ void load_fragment(std::uint32_t (&to)[4], const TensorPlane& plane, int i, int lane) {
  const uint4 v = __ldg(plane.fragments + 32 * i + lane);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/// Words of a frame whose bytes lie in the order of components.
struct PlainWords {
  static __device__ std::uint32_t word_of(const float* samples) {
    return pack_bytes(samples[0], samples[1], samples[2], samples[3]);
  }
  static __device__ std::uint32_t word_at(const std::uint8_t* at) {
    return *reinterpret_cast<const std::uint32_t*>(at);
  }
};

/// The matrices' fragments of one lane, and the two passes with them. Fragments come from memory, so that the compiler
/// keeps them in registers.
template <Epilogue epilogue, int C>
struct Products;

template <Epilogue epilogue, int C>
requires(in_halves(epilogue)) struct Products<epilogue, C> : PlainWords {
  /// A half of a set's window: V, as the column pass leaves it and as the row pass takes it.
  struct Half {
    std::uint32_t v[C][4];
  };
  struct Halves {
    Half half[2];

    __device__ void put(int i, const Half& fresh) { half[i] = fresh; }
  };
  std::uint32_t column[4], where;  ///< of 32 rows, sparse
  std::uint32_t row[2][4];         ///< by group of outputs, for the window's two halves
  std::uint32_t start[2];          ///< what V and H start at
  float from[C][4];

  __device__ void prepare(const TensorPlane& plane, int lane) {
#pragma unroll
    for (int i = 0; i < 2; ++i) load_fragment(row[i], plane, 1 + i, lane);
    load_fragment(column, plane, 0, lane);
    where = __ldg(reinterpret_cast<const std::uint32_t*>(plane.fragments + 96) + lane);
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(plane.fragments + 104));
    start[0] = v.x, start[1] = v.y;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const float4 f = __ldg(reinterpret_cast<const float4*>(plane.fragments + 105 + c));
      from[c][0] = f.x, from[c][1] = f.y, from[c][2] = f.z, from[c][3] = f.w;
    }
  }
  static __device__ std::uint32_t reordered(std::uint32_t word) {
    return word;
  }
  /// The row of the window that a lane's address for ldmatrix is of: row 16 + i beside row i.
  static __device__ int row_of(int lane) {
    return (lane >> 3) * 4 + (lane >> 1 & 3) + 16 * (lane & 1);
  }
  /// `even`, `odd`: the selectors of the byte of a pair that tiles 0 and 1 have.
  __device__ Half columns(const Blocks<C>& blocks, std::uint32_t even = 0x4240, std::uint32_t odd = 0x4341) const {
    std::uint32_t value[C][2][2];  ///< by block, tile, rows g and g + 8
#pragma unroll
    for (int b = 0; b < C; ++b) {
      const std::uint32_t(&m)[4] = blocks.pairs[b];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const std::uint32_t selector = j ? odd : even;
        std::uint32_t samples[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) samples[i] = __byte_perm(m[i], 0, selector);
        ptx::mma_f16_sparse(value[b][j], column, samples, start, where);
      }
    }
    Half fresh;
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int k = i & 1, b = i >> 1;
        if constexpr (C == 1)
          fresh.v[c][i] = value[0][b][k];
        else if constexpr (C == 2)
          fresh.v[c][i] = value[b][c][k];
        else
          fresh.v[c][i] = __byte_perm(value[2 * b][c & 1][k], value[2 * b + 1][c & 1][k], c & 2 ? 0x7632 : 0x5410);
      }
    return fresh;
  }
  /// Component c of a lane's four pixels of a set, of rows g and g + 8; half `first` of the window is the left one.
  __device__ void rows(float (&code)[2][4], const Halves& window, int first, int c, const TensorArgs& args) const {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      float e[4], d[4];
      ptx::mma_f16(e, window.half[first].v[c], row[n], from[c]);
      ptx::mma_f16(d, window.half[first ^ 1].v[c], row[n] + 2, e);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        code[i >> 1][2 * n + (i & 1)] = epilogue == Epilogue::scaled ? __fmul_rn(d[i], args.gain) : d[i];
    }
  }
};

template <Epilogue epilogue, int C>
struct Products : PlainWords {
  /// V by block and tile, as the column pass leaves it.
  struct Half {
    int v[C][2][4];
  };
  /// V's low and high limbs by component. The two halves lie in one operand of the row pass, so that the one that
  /// comes takes the place of the one that goes, and which is the left one alternates.
  struct Halves {
    std::uint32_t low[C][4], high[C][4];

    __device__ void put(int half, const Half& fresh) {
      const auto& v = fresh.v;
#pragma unroll
      for (int c = 0; c < C; ++c)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int r = 2 * i;
          std::uint32_t &to_low = low[c][2 * half + i], &to_high = high[c][2 * half + i];
          if constexpr (C == 1) {
            limbs(to_low, to_high, v[0][0][r], v[0][1][r], v[0][0][r + 1], v[0][1][r + 1]);
          } else if constexpr (C == 2) {
            limbs(to_low, to_high, v[0][c][r], v[0][c][r + 1], v[1][c][r], v[1][c][r + 1]);
          } else {
            const int j = c & 1, k = r + (c >> 1);
            limbs(to_low, to_high, v[0][j][k], v[1][j][k], v[2][j][k], v[3][j][k]);
          }
        }
    }
  };
  std::uint32_t column[4];
  std::uint32_t row[2][4];  ///< by which half is the left one
  int start[4];             ///< what V starts at
  int from[C];              ///< what H's last limb starts at
  float offset[C];

  __device__ void prepare(const TensorPlane& plane, int lane) {
    load_fragment(column, plane, 0, lane);
#pragma unroll
    for (int i = 0; i < 2; ++i) load_fragment(row[i], plane, 1 + i, lane);
    const int4 s = __ldg(reinterpret_cast<const int4*>(plane.fragments + 96));
    start[0] = s.x, start[1] = s.y, start[2] = s.z, start[3] = s.w;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const int4 f = __ldg(reinterpret_cast<const int4*>(plane.fragments + 97 + c));
      from[c] = f.x, offset[c] = __int_as_float(f.y);
    }
  }
  static __device__ void limbs(std::uint32_t& low, std::uint32_t& high, int s0, int s1, int s2, int s3) {
    const std::uint32_t first = __byte_perm(s0, s1, 0x5410), second = __byte_perm(s2, s3, 0x5410);
    low = __byte_perm(first, second, 0x6420);
    high = __byte_perm(first, second, 0x7531);
  }
  static __device__ std::uint32_t reordered(std::uint32_t word) {
    return word;
  }
  static __device__ int row_of(int lane) {
    return lane;
  }
  __device__ Half columns(const Blocks<C>& blocks, std::uint32_t even = 0x6420, std::uint32_t odd = 0x7531) const {
    Half fresh;
#pragma unroll
    for (int b = 0; b < C; ++b) {
      const std::uint32_t(&m)[4] = blocks.pairs[b];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const std::uint32_t selector = j ? odd : even;
        const std::uint32_t samples[2] = {__byte_perm(m[0], m[1], selector), __byte_perm(m[2], m[3], selector)};
        ptx::mma_s8_u8(fresh.v[b][j], column, samples, start);
      }
    }
    return fresh;
  }
  __device__ void rows(float (&code)[2][4], const Halves& window, int first, int c, const TensorArgs& args) const {
    const int nothing[4] = {};
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      int e[4], d[4];
      ptx::mma_s8_s8(e, window.high[c], row[first] + 2 * n, nothing);
#pragma unroll
      for (int i = 0; i < 4; ++i) e[i] = e[i] * 256 + from[c];
      ptx::mma_u8_s8(d, window.low[c], row[first] + 2 * n, e);
#pragma unroll
      for (int i = 0; i < 4; ++i) code[i >> 1][2 * n + (i & 1)] = value_of(d[i], c, args);
    }
  }
  __device__ float value_of(int sum, int c, const TensorArgs& args) const {
    return epilogue == Epilogue::magic_number
               ? __fmaf_rn(__int_as_float(sum), args.gain, args.offset)
               : __fadd_rn(__fmaf_rn(__int2float_rn(sum), args.gain, offset[c]), -args.rounding_bias);
  }
};

#endif

}  // namespace convolve::cuda::tensor
