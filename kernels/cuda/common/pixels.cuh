// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Neighbouring pixels of interleaved samples, as kernels of single precision load, convert and store them: whole
// vectors, one byte-permute and one subtraction a sample.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "convolve/plane.hpp"
#include "cuda/common/epilogue.cuh"
#include "cuda/common/sample_plane.hpp"

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

/// `pixels` is a multiple of four.
template <class Stored, int C, int pixels = 4>
struct PixelGroup {
  using Sample = Stored;
  static constexpr int samples = pixels * C, bytes = samples * static_cast<int>(sizeof(Sample)), words = bytes / 4;
  static constexpr int alignment = group_alignment(bytes);
  std::uint32_t word[words] = {};

  __device__ void load(const Sample* from) {
#pragma unroll
    for (int i = 0; i < words; i += alignment / 4) {
      if constexpr (alignment == 16) {
        const uint4 v = __ldg(reinterpret_cast<const uint4*>(from) + i / 4);
        word[i] = v.x, word[i + 1] = v.y, word[i + 2] = v.z, word[i + 3] = v.w;
      } else if constexpr (alignment == 8) {
        const uint2 v = __ldg(reinterpret_cast<const uint2*>(from) + i / 2);
        word[i] = v.x, word[i + 1] = v.y;
      } else {
        word[i] = __ldg(reinterpret_cast<const std::uint32_t*>(from) + i);
      }
    }
  }
  __device__ void store(Sample* to) const {
#pragma unroll
    for (int i = 0; i < words; i += alignment / 4) {
      if constexpr (alignment == 16)
        reinterpret_cast<uint4*>(to)[i / 4] = {word[i], word[i + 1], word[i + 2], word[i + 3]};
      else if constexpr (alignment == 8)
        reinterpret_cast<uint2*>(to)[i / 2] = {word[i], word[i + 1]};
      else
        reinterpret_cast<std::uint32_t*>(to)[i] = word[i];
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
  /// The samples that these values round to, ties to even, within [0, max]; bytes have all their 8 bits.
  __device__ void put(const float (&value)[samples], float max, int shift) {
#pragma unroll
    for (int i = 0; i < words; ++i) {
      if constexpr (sizeof(Sample) == 4) {
        word[i] = __float_as_uint(value[i]);
      } else if constexpr (sizeof(Sample) == 2) {
        const std::uint32_t low = ptx::round_to_u16(fminf(value[2 * i], max)),
                            high = ptx::round_to_u16(fminf(value[2 * i + 1], max));
        word[i] = (low | high << 16) << shift;
      } else {
        word[i] = pack_bytes(value[4 * i], value[4 * i + 1], value[4 * i + 2], value[4 * i + 3]);
      }
    }
  }
  /// Takes the masked bits from another group; `mask` repeats after three words (of three components) or two.
  __device__ void take(const PixelGroup& from, const std::uint32_t* mask) {
#pragma unroll
    for (int i = 0; i < words; ++i) {
      const std::uint32_t bits = mask[C == 3 ? i % 3 : i % 2];
      word[i] = (word[i] & ~bits) | (from.word[i] & bits);
    }
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
};

/// Sums as samples; `offset` repeats after C of them.
template <class Group, int C>
__device__ __forceinline__ Group quantized(const float* sum, const float* offset, const SampleNumbers& numbers) {
  float value[Group::samples];
  const bool remainder = sizeof(typename Group::Sample) == 2 && numbers.divisor != 0;
  if (remainder)
#pragma unroll
    for (int i = 0; i < Group::samples; ++i)
      value[i] = remainder_value(sum[i], numbers.gain, offset[i % C], numbers.divisor);
  else
#pragma unroll
    for (int i = 0; i < Group::samples; ++i) {
      if constexpr (std::is_floating_point_v<typename Group::Sample>)
        value[i] = sum[i] + offset[i % C];
      else
        value[i] = __fadd_rn(__fmaf_rn(sum[i], numbers.gain, offset[i % C]), -numbers.rounding_bias);
    }
  Group group;
  group.put(value, numbers.max, numbers.shift);
  return group;
}

}  // namespace convolve::cuda
