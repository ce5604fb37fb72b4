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

/// A sample of 16 bits that is read as the float whose bits it is: its value times 2^-149, a subnormal number, which
/// multiply-adds take at full speed. Where the taps carry a power of two (first_factor()), that is all of a conversion;
/// zero levels are in what sums start from (folded_planes()). Samples are not shifted down, and their padding is not
/// cleared: see PixelGroup::clear_padding().
struct SubnormalWord {
  std::uint16_t bits;
};
template <class Sample>
inline constexpr bool is_subnormal = std::is_same_v<Sample, SubnormalWord>;

/// The bits to keep of two samples of 16 bits that are stored so much higher; 0: all.
__device__ __forceinline__ std::uint32_t padding_mask(int shift) {
  return shift == 0 ? 0 : sample_mask(shift) * 0x10001u;
}

/// A sample by itself.
template <class Sample>
__device__ __forceinline__ Sample load_one(const Sample* from) {
  if constexpr (is_subnormal<Sample>)
    return {__ldg(&from->bits)};
  else
    return __ldg(from);
}
/// A stored sample's value.
template <class Sample>
__device__ __forceinline__ Sample one_value(Sample sample, int shift) {
  if constexpr (std::is_floating_point_v<Sample>)
    return sample;
  else
    return static_cast<Sample>(sample >> shift);
}

/// A sample as a float less `zero`.
template <class Sample>
__device__ __forceinline__ float float_of(Sample sample, int shift, float zero) {
  if constexpr (is_subnormal<Sample>)
    return __uint_as_float(sample.bits & 0xFFFFu << shift);
  else
    return static_cast<float>(one_value(sample, shift)) - zero;
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

  /// Clears the bits that padding_mask() does not keep. Subnormal samples ask for it before value().
  __device__ void clear_padding(std::uint32_t keep) {
    if (keep == 0) return;
#pragma unroll
    for (int i = 0; i < words; ++i) word[i] &= keep;
  }
  /// Sample i's value less `zero`. Bytes and shorts slip into the mantissa of 2^23.
  __device__ float value(int i, int shift, float zero) const {
    if constexpr (is_subnormal<Sample>) {
      return __uint_as_float(i & 1 ? word[i / 2] >> 16 : word[i / 2] & 0xFFFFu);
    } else if constexpr (sizeof(Sample) == 4) {
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
  /// Does what put() does, for samples that have all their 16 bits.
  __device__ void put_whole(const float (&value)[samples]) {
#pragma unroll
    for (int i = 0; i < words; ++i)
      word[i] = __byte_perm(ptx::round_to_u16(value[2 * i]), ptx::round_to_u16(value[2 * i + 1]), 0x5410);
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
      return Sample{static_cast<std::conditional_t<sizeof(Sample) == 1, std::uint8_t, std::uint16_t>>(bits)};
  }
  __device__ void put_one(int i, Sample sample) {
    std::uint32_t bits;
    if constexpr (std::is_floating_point_v<Sample>)
      bits = __float_as_uint(sample);
    else if constexpr (is_subnormal<Sample>)
      bits = sample.bits;
    else
      bits = sample;
    std::uint32_t& to = word[i * sizeof(Sample) / 4];
    to = (to & ~(mask << bit(i))) | bits << bit(i);
  }
};

/// How sums of 16-bit samples are divided.
enum class WordDivision : std::uint8_t { product, biased_product, two_products, remainder };

/// Calls what(std::integral_constant of the division): once for many samples, so that those need not ask. The sign of
/// the divisor tells, as SampleNumbers says.
template <class What>
__device__ __forceinline__ void by_division(const SampleNumbers& numbers, const What& what) {
  if (numbers.divisor > 0)
    what(std::integral_constant<WordDivision, WordDivision::remainder>{});
  else if (numbers.divisor < 0)
    what(std::integral_constant<WordDivision, WordDivision::two_products>{});
  else if (numbers.rounding_bias != 0)
    what(std::integral_constant<WordDivision, WordDivision::biased_product>{});
  else
    what(std::integral_constant<WordDivision, WordDivision::product>{});
}
/// Calls what(the division, std::bool_constant of whether samples have all their 16 bits).
template <class What>
__device__ __forceinline__ void by_division_and_bits(const SampleNumbers& numbers, const What& what) {
  by_division(numbers, [&](const auto& how) {
    if (numbers.max == 65535.f)
      what(how, std::true_type{});
    else
      what(how, std::false_type{});
  });
}

/// Sums of 16-bit samples as the values that are rounded; `offset` repeats after C of them.
template <int C, WordDivision how, int samples>
__device__ __forceinline__ void divide_words(float (&value)[samples], const float* sum, const float* offset,
                                             const SampleNumbers& numbers) {
#pragma unroll
  for (int i = 0; i < samples; ++i) {
    if constexpr (how == WordDivision::remainder)
      value[i] = remainder_value(sum[i], numbers.gain, offset[i % C], numbers.divisor);
    else if constexpr (how == WordDivision::two_products)
      value[i] = __fmaf_rn(sum[i], numbers.gain, __fmul_rn(sum[i], numbers.gain_low));
    else if constexpr (how == WordDivision::biased_product)
      value[i] = __fadd_rn(__fmaf_rn(sum[i], numbers.gain, offset[i % C]), -numbers.rounding_bias);
    else
      value[i] = __fmaf_rn(sum[i], numbers.gain, offset[i % C]);
  }
}

/// Sums of 16-bit samples as samples. `whole`: those have all their bits.
template <class Group, int C, WordDivision how, bool whole>
__device__ __forceinline__ Group quantized_words(const float* sum, const float* offset, const SampleNumbers& numbers) {
  float value[Group::samples];
  divide_words<C, how>(value, sum, offset, numbers);
  Group group;
  if constexpr (whole)
    group.put_whole(value);
  else
    group.put(value, numbers.max, numbers.shift);
  return group;
}

/// Sums as samples; `offset` repeats after C of them. Of few 16-bit samples more cases would cost more than they save.
/// `has_two`: numbers may ask for two products.
template <class Group, int C, bool has_two = true>
__device__ __forceinline__ Group quantized(const float* sum, const float* offset, const SampleNumbers& numbers) {
  using Sample = typename Group::Sample;
  float value[Group::samples];
  if constexpr (sizeof(Sample) == 2) {
    if (numbers.divisor == 0)
      divide_words<C, WordDivision::biased_product>(value, sum, offset, numbers);
    else if (has_two && numbers.divisor < 0)
      divide_words<C, WordDivision::two_products>(value, sum, offset, numbers);
    else
      divide_words<C, WordDivision::remainder>(value, sum, offset, numbers);
  } else {
#pragma unroll
    for (int i = 0; i < Group::samples; ++i) {
      if constexpr (std::is_floating_point_v<Sample>)
        value[i] = sum[i] + offset[i % C];
      else
        value[i] = __fadd_rn(__fmaf_rn(sum[i], numbers.gain, offset[i % C]), -numbers.rounding_bias);
    }
  }
  Group group;
  group.put(value, numbers.max, numbers.shift);
  return group;
}

}  // namespace convolve::cuda
