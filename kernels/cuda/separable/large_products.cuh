// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The products of separable's kernels for large filters, in half precision and in 8-bit limbs: the operands that a lane
// makes of bytes and of row sums, and how row sums are stored. See large.cuh.
#pragma once

#include "cuda/common/frame.cuh"
#include "cuda/common/ptx.cuh"
#include "cuda/separable/large.hpp"

namespace convolve::cuda::large {

/// The sample that position i of an axis stands for; -1: a ghost cell. Where one fold does for positions that a tap
/// meets, others are any samples.
__device__ __forceinline__ int place_of(const EdgeAxis& axis, bool simple, Border border, int i) {
  if (!simple) return index_at(border, i, axis.length);
  if (static_cast<unsigned>(i) < static_cast<unsigned>(axis.length)) return i;
  return axis.ghost ? -1 : min(max(edge_index(axis, i), 0), axis.length - 1);
}

struct Halves {
  using Sum = float;
  static constexpr LargeNumbers numbers = LargeNumbers::halves;
  static constexpr int unit = 16, parts = 1, tiles = 2;  ///< tiles: products of 8 columns that a unit of outputs takes

  /// Four neighbouring pixels of rows g and g + 8 as the left operand, component c.
  template <int C>
  static __device__ void left(std::uint32_t (&a)[4], const std::uint32_t (&word)[2][1][C], int c) {
#pragma unroll
    for (int row = 0; row < 2; ++row)
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) a[row + 2 * pair] = samples<C>(word[row][0], c, pair);
  }
  static __device__ void multiply(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t* b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    ptx::mma_f16(sum, a, b, sum);
#endif
  }
  static __device__ std::uint32_t stored(float a, float b) {
    return ptx::pack_halves(a, b);
  }
  /// Four neighbouring pixels as the right operand, component c.
  template <int C>
  static __device__ void right(std::uint32_t (&b)[2], const std::uint32_t (&word)[1][C], int c) {
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) b[pair] = samples<C>(word[0], c, pair);
  }
  /// sum = a b + c; c may be the sum.
  static __device__ void multiply_right(float (&sum)[4], const uint4& a, const std::uint32_t* b, const float* c) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const std::uint32_t left[4] = {a.x, a.y, a.z, a.w};
    ptx::mma_f16(sum, left, b, c);
#endif
  }
  /// Row sums of rows 2 t and 2 t + 1 of rows 8 r to 8 r + 7 as part of the right operand of the column pass.
  static __device__ void keep(std::uint32_t (&v)[2], int r, float a, float b, std::uint32_t) {
    v[r] = stored(a, b);
  }
  static __device__ void multiply_sums(float (&sum)[4], const uint4& a, const std::uint32_t (&v)[2], int) {
    multiply_right(sum, a, v, sum);
  }

 private:
  /// Pixels 2 pair and 2 pair + 1 of four, as subnormal halves.
  template <int C>
  static __device__ std::uint32_t samples(const std::uint32_t (&word)[C], int c, int pair) {
    if constexpr (C == 1)
      return __byte_perm(word[0], 0, pair ? 0x4342 : 0x4140);
    else if constexpr (C == 2)
      return __byte_perm(word[pair], 0, c ? 0x4341 : 0x4240);
    else if constexpr (C == 3)
      return triple_samples(word, 6 * pair + c);
    else
      return __byte_perm(__byte_perm(word[2 * pair], word[2 * pair + 1], c < 2 ? 0x5140 : 0x7362), 0,
                         c & 1 ? 0x4342 : 0x4140);
  }
  /// Bytes i and i + 3 of twelve, as subnormal halves. What lies in two words comes from them two by two.
  static __device__ std::uint32_t triple_samples(const std::uint32_t (&word)[3], int i) {
    if (i % 4 == 0) return __byte_perm(word[i / 4], 0, 0x4340);
    const std::uint32_t both = i < 4 ? __byte_perm(word[0], word[1], 0x5421)   // bytes 1, 2, 4 and 5
                                     : __byte_perm(word[1], word[2], 0x6532);  // bytes 6, 7, 9 and 10
    return i == 1 || i == 6 ? both & 0x00FF00FF : __byte_perm(both, 0, 0x4341);
  }
};

struct Limbs {
  using Sum = int;
  static constexpr LargeNumbers numbers = LargeNumbers::limbs;
  static constexpr int unit = 32, parts = 2, tiles = 4;

  /// Twice four neighbouring pixels, 16 apart, of rows g and g + 8 as the left operand, component c.
  template <int C>
  static __device__ void left(std::uint32_t (&a)[4], const std::uint32_t (&word)[2][2][C], int c) {
#pragma unroll
    for (int row = 0; row < 2; ++row)
#pragma unroll
      for (int four = 0; four < 2; ++four) a[row + 2 * four] = samples<C>(word[row][four], c);
  }
  static __device__ void multiply(int (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t* b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    ptx::mma_u8_s8(sum, a, b, sum);
#endif
  }
  static __device__ std::uint32_t stored(int a, int b) {
    return __byte_perm(a, b, 0x5410);
  }
  /// Twice four neighbouring pixels, 16 apart, as the right operand, component c.
  template <int C>
  static __device__ void right(std::uint32_t (&b)[2], const std::uint32_t (&word)[2][C], int c) {
#pragma unroll
    for (int four = 0; four < 2; ++four) b[four] = samples<C>(word[four], c);
  }
  static __device__ void multiply_right(int (&sum)[4], const uint4& a, const std::uint32_t* b, const int* c) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const std::uint32_t left[4] = {a.x, a.y, a.z, a.w};
    ptx::mma_s8_u8(sum, left, b, c);
#endif
  }
  /// Row sums, of 16 bits and without a sign, of rows 2 t and 2 t + 1 of rows 8 r to 8 r + 7: the low limbs are v[0]
  /// and v[1], the high ones the others. `higher`: 2^16.
  static __device__ void keep(std::uint32_t (&v)[4], int r, int a, int b, std::uint32_t higher) {
    const std::uint32_t pair = higher * static_cast<std::uint32_t>(b) + a;
    std::uint32_t &low = v[r / 2], &high = v[2 + r / 2];
    if (r % 2 == 0) {
      low = pair;
    } else {
      high = __byte_perm(low, pair, 0x7531);
      low = __byte_perm(low, pair, 0x6420);
    }
  }
  static __device__ void multiply_sums(int (&sum)[4], const uint4& a, const std::uint32_t (&v)[4], int limb) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const std::uint32_t left[4] = {a.x, a.y, a.z, a.w};
    ptx::mma_s8_u8(sum, left, v + 2 * limb, sum);
#endif
  }

  /// Four neighbouring pixels of component c.
  template <int C>
  static __device__ std::uint32_t samples(const std::uint32_t (&word)[C], int c) {
    if constexpr (C == 1) {
      return word[0];
    } else if constexpr (C == 2) {
      return __byte_perm(word[0], word[1], c ? 0x7531 : 0x6420);
    } else if constexpr (C == 3) {
      // Bytes c, c + 3, c + 6 and c + 9 of twelve, by five permutes for all three components.
      const std::uint32_t first = __byte_perm(word[0], word[1], 0x5241);   // bytes 1, 4, 2 and 5
      const std::uint32_t second = __byte_perm(word[1], word[2], 0x6352);  // bytes 6, 9, 7 and 10
      return c == 0   ? __byte_perm(word[0], second, 0x5430)
             : c == 1 ? __byte_perm(first, second, 0x7610)
                      : __byte_perm(first, word[2], 0x7432);
    } else {
      const std::uint32_t first = __byte_perm(word[0], word[1], c < 2 ? 0x5140 : 0x7362);
      const std::uint32_t second = __byte_perm(word[2], word[3], c < 2 ? 0x5140 : 0x7362);
      return __byte_perm(first, second, c & 1 ? 0x7632 : 0x5410);
    }
  }
};

/// Four neighbouring pixels in shared memory.
template <int C>
__device__ __forceinline__ void load_words(std::uint32_t (&to)[C], const std::uint8_t* at) {
  if constexpr (C == 1 || C == 3) {
#pragma unroll
    for (int i = 0; i < C; ++i) to[i] = reinterpret_cast<const std::uint32_t*>(at)[i];
  } else if constexpr (C == 2) {
    const uint2 v = *reinterpret_cast<const uint2*>(at);
    to[0] = v.x, to[1] = v.y;
  } else {
    const uint4 v = *reinterpret_cast<const uint4*>(at);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
  }
}

/// This lane's part of a banded matrix' unit.
template <class Numbers>
struct Matrix {
  std::uint32_t word[Numbers::parts][4];

  __device__ void load(const uint4* of_lane, int unit) {
#pragma unroll
    for (int part = 0; part < Numbers::parts; ++part) {
      const uint4 v = __ldg(of_lane + 32 * (unit * Numbers::parts + part));
      word[part][0] = v.x, word[part][1] = v.y, word[part][2] = v.z, word[part][3] = v.w;
    }
  }
};

}  // namespace convolve::cuda::large
