// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Four neighbouring pixels of interleaved samples, as register loads, converts and stores them: whole vectors, one
// byte-permute and one subtraction a sample.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "convolve/plane.hpp"

namespace convolve::cuda {

template <class Sample>
__device__ __forceinline__ Sample* row_of(const PlaneView& view, int y) {
  return reinterpret_cast<Sample*>(static_cast<char*>(view.data) + y * view.stride);
}

/// A stored sample's value.
template <class Sample>
__device__ __forceinline__ Sample one_value(Sample sample, int shift) {
  if constexpr (std::is_floating_point_v<Sample>)
    return sample;
  else
    return static_cast<Sample>(sample >> shift);
}

template <class Sample, int C>
struct PixelGroup {
  static constexpr int words = C * static_cast<int>(sizeof(Sample));
  std::uint32_t word[words] = {};

  /// `from` is aligned to the group's size, but to 4 bytes where C is 3 and to 16 at the most.
  __device__ void load(const Sample* from) {
    if constexpr (words % 4 == 0) {
#pragma unroll
      for (int i = 0; i < words; i += 4) {
        const uint4 v = __ldg(reinterpret_cast<const uint4*>(from) + i / 4);
        word[i] = v.x, word[i + 1] = v.y, word[i + 2] = v.z, word[i + 3] = v.w;
      }
    } else if constexpr (words == 2) {
      const uint2 v = __ldg(reinterpret_cast<const uint2*>(from));
      word[0] = v.x, word[1] = v.y;
    } else {
#pragma unroll
      for (int i = 0; i < words; ++i) word[i] = __ldg(reinterpret_cast<const std::uint32_t*>(from) + i);
    }
  }
  __device__ void store(Sample* to) const {
    if constexpr (words % 4 == 0) {
#pragma unroll
      for (int i = 0; i < words; i += 4)
        reinterpret_cast<uint4*>(to)[i / 4] = {word[i], word[i + 1], word[i + 2], word[i + 3]};
    } else if constexpr (words == 2) {
      *reinterpret_cast<uint2*>(to) = {word[0], word[1]};
    } else {
#pragma unroll
      for (int i = 0; i < words; ++i) reinterpret_cast<std::uint32_t*>(to)[i] = word[i];
    }
  }

  /// Sample i's value less `zero`. Bytes and shorts slip into the mantissa of 2^23.
  __device__ float value(int i, int shift, float zero) const {
    if constexpr (sizeof(Sample) == 4) {
      return __uint_as_float(word[i]) - zero;
    } else if constexpr (sizeof(Sample) == 2) {
      const std::uint32_t pair = (word[i / 2] >> shift) & (0xFFFFu >> shift) * 0x10001u;
      return __uint_as_float(__byte_perm(pair, 0x4B000000, i & 1 ? 0x7432 : 0x7410)) - (8388608.f + zero);
    } else {
      return __uint_as_float(__byte_perm(word[i / 4], 0x4B000000, 0x7440 | (i & 3))) - (8388608.f + zero);
    }
  }

  __device__ void put(int i, float value) {
    word[i] = __float_as_uint(value);
  }
  /// Rounds to nearest, ties to even, within [0, max]; bytes have all their 8 bits.
  __device__ void put(int i, float value, float max, int shift) {
    std::uint32_t code;
    if constexpr (sizeof(Sample) == 2) {
      asm("cvt.rni.sat.u16.f32 %0, %1;" : "=r"(code) : "f"(fminf(value, max)));
      code <<= shift;
    } else {
      asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(code) : "f"(value));
    }
    word[i * sizeof(Sample) / 4] |= code << bit(i);
  }

  static constexpr std::uint32_t mask = sizeof(Sample) == 4 ? ~0u : (1u << 8 * (sizeof(Sample) & 3)) - 1;
  static __device__ constexpr int bit(int i) {
    return 8 * (i * static_cast<int>(sizeof(Sample)) % 4);
  }

  __device__ Sample one(int i) const {
    const std::uint32_t bits = word[i * sizeof(Sample) / 4] >> bit(i) & mask;
    if constexpr (std::is_floating_point_v<Sample>)
      return __uint_as_float(bits);
    else
      return static_cast<Sample>(bits);
  }
  __device__ void put_one(int i, Sample sample) {
    std::uint32_t bits;
    if constexpr (std::is_floating_point_v<Sample>)
      bits = __float_as_uint(sample);
    else
      bits = sample;
    std::uint32_t& to = word[i * sizeof(Sample) / 4];
    to = (to & ~(mask << bit(i))) | bits << bit(i);
  }
  __device__ void take(int i, const PixelGroup& from) {
    std::uint32_t& to = word[i * sizeof(Sample) / 4];
    to = (to & ~(mask << bit(i))) | (from.word[i * sizeof(Sample) / 4] & mask << bit(i));
  }
};

}  // namespace convolve::cuda
