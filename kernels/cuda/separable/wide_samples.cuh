// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the lanes of wide.cuh make samples of the column pass' sums, and store them.
#pragma once

#include "cuda/common/epilogue.cuh"
#include "cuda/common/frame.cuh"
#include "cuda/separable/wide.hpp"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Where a lane's samples are in its sums, and what is added to them. A lane has the words of a row from `at()` on.
template <class S>
struct LaneWords {
  static constexpr int words = S::columns / 16;  ///< of a lane's row
  /// Bytes that are stored at once, and from one such vector of a lane to its next.
  static constexpr int vector = S::C == 3 ? 8 : 16, stride = S::C == 4 ? 64 : vector, vectors = 4 * words / vector;
  float gain, centre, level[S::C];
  float whole;  ///< of boxes
  std::uint32_t kept[S::C == 3 ? 3 : 1], turn;

  __device__ __forceinline__ LaneWords(const Args& args, const Plane& plane)
      : gain(args.gain), centre(args.centre), whole(args.whole) {
#pragma unroll
    for (int c = 0; c < S::C; ++c) level[c] = plane.level[c];
#pragma unroll
    for (int k = 0; k < (S::C == 3 ? 3 : 1); ++k) kept[k] = plane.passthrough[k];
    if constexpr (S::pairs) turn = plane.turn;
  }
  static __device__ __forceinline__ int at(int left, int lane) {
    return left * S::C + (S::C == 4 ? 16 : 4 * words) * (lane & 3);
  }
  /// Word k of the lane's row h, and `in` that of the frame.
  template <bool reading>
  __device__ __forceinline__ std::uint32_t make(const typename S::Sum (&sum)[S::columns / 2], int h, int k,
                                                std::uint32_t in) const {
    const std::uint32_t turned = reading && S::pairs ? __byte_perm(in, 0, turn) : in;
    float v[4];
    std::uint32_t made;
    if constexpr (S::boxes) {
#pragma unroll
      for (int e = 0; e < 4; ++e) v[e] = quotient(sum[place(k, e) + 2 * h]);
      made = __byte_perm(__byte_perm(__float_as_uint(v[0]), __float_as_uint(v[1]), 0x0040),
                         __byte_perm(__float_as_uint(v[2]), __float_as_uint(v[3]), 0x0040), 0x5410);
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int c = (4 * k + e) % S::C;
        v[e] = sum[place(k, e) + 2 * h];
        if (reading)  // a byte in the mantissa of 2^23 is 2^23 + that byte
          v[e] = fmaf(centre, __uint_as_float(__byte_perm(turned, 0x4B000000, 0x7440 | e)) - 8388608.f, v[e]);
        v[e] = __fmaf_rn(v[e], gain, level[c]);
      }
      made = pack_bytes(v[0], v[1], v[2], v[3]);
    }
    if constexpr (S::pairs) made = __byte_perm(made, 0, turn);
    if (!reading) return made;
    const std::uint32_t mask = kept[S::C == 3 ? k % 3 : 0];
    return (made & ~mask) | (in & mask);
  }

 private:
  /// Of boxes: a float whose lower bits are the rounded quotient. Of two short sides sums are read as floats, which are
  /// less than 2^24 and at least 2^23.
  __device__ __forceinline__ float quotient(std::int32_t sum) const {
    return __fmaf_rn(S::limb == 128 ? __int_as_float(sum) : __int2float_rn(sum), gain, whole);
  }
  /// Of pairs the words have luma, the first chroma, luma, the second.
  static __device__ __forceinline__ constexpr int place(int k, int e) {
    if (S::pairs && e % 2 == 0) return (2 * k + e / 2) / 2 * 4 + e / 2;
    const int pixel = (4 * k + e) / S::C, c = (4 * k + e) % S::C;
    const int before = S::pairs ? S::pixels + e / 2 * (S::pixels / 2) : c * (S::pixels / 2);
    return before + pixel / 2 * 4 + pixel % 2;
  }
};

/// The first of a lane's rows of a step, of the two that it makes, the other one being 8 above: the column's left
/// matrix has groups of 8 rows in reverse.
__device__ __forceinline__ int made_row_of(int warp, int lane) {
  return 56 - 16 * warp + (lane >> 2);
}

/// Makes samples of a lane's sums. Addresses and strides are multiples of 16 bytes; nothing is stored behind a row.
template <class S>
struct Samples {
  using L = LaneWords<S>;
  using Words = std::uint32_t[2][L::words];
  L make;
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  int height, there;  ///< rows, and bytes from the lane's first vector to the end of a row
  int made_row;
  bool reads;  ///< the frame itself

  __device__ __forceinline__ Samples(const Args& args, const Plane& plane, int left, int lane, std::uint32_t)
      : make(args, plane),
        in(plane.in + L::at(left, lane)),
        out(plane.out + L::at(left, lane)),
        in_stride(plane.in_stride),
        out_stride(plane.out_stride),
        height(plane.height),
        there(plane.row_bytes - L::at(left, lane)),
        made_row(made_row_of(__shfl_sync(~0u, threadIdx.x >> 5 & 3, 0), lane)),
        reads(args.centre != 0 || plane.passthrough[0] != 0) {}

  /// What the frame has in the places of the samples of a step, which begins at a row.
  __device__ __forceinline__ void load(Words& to, int step_row) const {
    const int y = step_row + made_row;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::uint8_t* const from = in + min(y - 8 * h, height - 1) * in_stride;
#pragma unroll
      for (int k = 0; k < L::vectors; ++k) {
        std::uint32_t* const w = to[h] + k * L::vector / 4;
        if (there <= k * L::stride) continue;
        if constexpr (L::vector == 16) {
          const uint4 v = __ldg(reinterpret_cast<const uint4*>(from + k * L::stride));
          w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
        } else {
          const uint2 v = __ldg(reinterpret_cast<const uint2*>(from + k * L::stride));
          w[0] = v.x, w[1] = v.y;
        }
      }
    }
  }
  /// `whole`: all vectors are, as those of all strips but the last ones.
  template <bool reading, bool whole>
  __device__ __forceinline__ void store(const typename S::Sum (&sum)[S::columns / 2], const Words& of_frame,
                                        int step_row) const {
    const int y = step_row + made_row;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (y - 8 * h >= height) continue;
      std::uint32_t made[L::words];
#pragma unroll
      for (int k = 0; k < L::words; ++k) made[k] = make.template make<reading>(sum, h, k, of_frame[h][k]);
      std::uint8_t* const to = out + (y - 8 * h) * out_stride;
      if constexpr (S::C == 3) {
        if (whole || there >= 24) store_24(made, to);
      } else {
#pragma unroll
        for (int k = 0; k < L::vectors; ++k) {
          const std::uint32_t* const w = made + k * 4;
          if (whole || there >= k * L::stride + 16)
            *reinterpret_cast<uint4*>(to + k * L::stride) = {w[0], w[1], w[2], w[3]};
        }
      }
      if (!whole) store_rest(made, to);
    }
  }
  /// No more samples come.
  __device__ __forceinline__ void end() const {}

 protected:
  /// Stores the first n bytes of a vector that is not whole.
  template <int bytes>
  static __device__ __forceinline__ void store_end(const std::uint32_t (&words)[bytes / 4], std::uint8_t* to, int n) {
    std::uint32_t low = words[0], high = words[1];
    if constexpr (bytes == 16)
      if (n & 8) {
        *reinterpret_cast<uint2*>(to) = {low, high};
        low = words[2], high = words[3];
      }
    if (n & 4) {
      *reinterpret_cast<std::uint32_t*>(to + (n & 8)) = low;
      low = high;
    }
    if (S::C < 4 && (n & 2)) {
      *reinterpret_cast<std::uint16_t*>(to + (n & 12)) = static_cast<std::uint16_t>(low);
      low >>= 16;
    }
    if (S::C % 2 != 0 && (n & 1)) to[n & 14] = static_cast<std::uint8_t>(low);
  }

 private:
  static constexpr int vector = L::vector;  ///< bytes

  /// Of the vector in which the row ends, stores what is of it.
  __device__ __forceinline__ void store_rest(const std::uint32_t (&made)[L::words], std::uint8_t* to) const {
#pragma unroll
    for (int k = 0; k < L::vectors; ++k) {
      int n = there - k * L::stride;
      ptx::hide_behind_memory(n);  // else the compiler keeps what follows of it in registers all the time (CUDA 13.0)
      std::uint32_t words[vector / 4];
#pragma unroll
      for (int i = 0; i < vector / 4; ++i) words[i] = made[k * vector / 4 + i];
      if (S::C == 3 && n >= vector && there < 24)
        *reinterpret_cast<uint2*>(to + k * L::stride) = {words[0], words[1]};
      else if (n > 0 && n < vector)
        store_end<vector>(words, to + k * L::stride, n);
    }
  }
  /// Of three components, of which every other lane begins in the middle of 16 bytes.
  static __device__ __forceinline__ void store_24(const std::uint32_t (&w)[L::words], std::uint8_t* to) {
    const bool middle = reinterpret_cast<std::uintptr_t>(to) & 8;
    *reinterpret_cast<uint4*>(to + (middle ? 8 : 0)) = {middle ? w[2] : w[0], middle ? w[3] : w[1],
                                                        middle ? w[4] : w[2], middle ? w[5] : w[3]};
    *reinterpret_cast<uint2*>(to + (middle ? 0 : 16)) = {middle ? w[0] : w[4], middle ? w[1] : w[5]};
  }
};

#endif

}  // namespace convolve::cuda::wide
