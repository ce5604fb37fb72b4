// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How the sums of dot/loaded_windows.cpp become samples. Include it between foreach_target and the namespace, after
// dot-inl.hpp.
#if defined(CONVOLVE_LOADED_CODES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOLVE_LOADED_CODES_INL
#undef CONVOLVE_LOADED_CODES_INL
#else
#define CONVOLVE_LOADED_CODES_INL
#endif

#include <cstdint>

#include "cpu/dot/loaded_windows.hpp"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

using dot::Rounding;

// The order of a 128-bit part's bytes from LowWords() of two pairs of registers, and from PackInts() of them.
alignas(16) constexpr std::uint8_t order_of_rounded[16] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
alignas(16) constexpr std::uint8_t order_of_packed[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

// What turns sums into samples; see EpilogueConstants. A block has lane L of register p at sample 4 * L + p.
struct Ending {
  Floats gain, offset, round;
  Bytes in_order;
  Ints start;

  Ending(const Quantization& q, const Phase& phase, Rounding how) {
    const Tag<float> df;
    gain = hn::Set(df, q.gain);
    offset = hn::Load(df, phase.offset[0]);
    round = hn::Set(df, whole - q.rounding_bias);
    if (how == Rounding::once) offset = hn::Add(offset, round);
    start = hn::Load(Tag<std::int32_t>(), phase.start[0]);
    in_order = hn::LoadDup128(Tag<std::uint8_t>(), how == Rounding::saturation ? order_of_packed : order_of_rounded);
  }
};

template <Rounding How>
HWY_INLINE Bytes ToBytes(const Ending& ending, const Ints (&sum)[vectors]) {
  const Tag<float> df;
  Bytes bytes;
  if constexpr (How == Rounding::saturation) {
    bytes = SaturateToBytes(sum);
  } else {
    Ints value[vectors];
    CONVOLVE_UNROLL
    for (int p = 0; p < vectors; ++p) {
      Floats of = hn::MulAdd(hn::ConvertTo(df, sum[p]), ending.gain, ending.offset);
      if constexpr (How == Rounding::twice) of = hn::Add(of, ending.round);
      value[p] = hn::BitCast(Tag<std::int32_t>(), of);
    }
    bytes = PackWords(LowWords(value[0], value[1]), LowWords(value[2], value[3]));
  }
  return hn::TableLookupBytes(bytes, ending.in_order);
}

}  // namespace
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
