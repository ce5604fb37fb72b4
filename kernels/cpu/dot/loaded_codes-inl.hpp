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

// The order of a 128-bit part's bytes from PackInts() of two pairs of registers.
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
    in_order = hn::LoadDup128(Tag<std::uint8_t>(), order_of_packed);
  }
};

// Shifts, blends and unpacking leave the multiplier's pipes alone on Zen 4; a shuffle of bytes, as LowWords() has one,
// takes from products there. The low words of both, and the high ones: those of b in the upper halves of lanes.
HWY_INLINE Ints JoinLow(Ints a, Ints b) {
  return {_mm512_mask_blend_epi16(0xAAAAAAAAu, a.raw, _mm512_slli_epi32(b.raw, 16))};
}
HWY_INLINE Ints JoinHigh(Ints a, Ints b) {
  return {_mm512_mask_blend_epi16(0xAAAAAAAAu, _mm512_srli_epi32(a.raw, 16), b.raw)};
}
// The words of each 128-bit part's halves in turns.
HWY_INLINE Bytes HalvesInTurns(Bytes bytes) {
  return {_mm512_unpacklo_epi16(bytes.raw, _mm512_shuffle_epi32(bytes.raw, _MM_PERM_DCDC))};
}

template <Rounding How>
HWY_INLINE Bytes ToBytes(const Ending& ending, const Ints (&sum)[vectors]) {
  const Tag<float> df;
  if constexpr (How == Rounding::saturation) {
    return hn::TableLookupBytes(SaturateToBytes(sum), ending.in_order);
  } else {
    Ints value[vectors];
    CONVOLVE_UNROLL
    for (int p = 0; p < vectors; ++p) {
      Floats of = hn::MulAdd(hn::ConvertTo(df, sum[p]), ending.gain, ending.offset);
      if constexpr (How == Rounding::twice) of = hn::Add(of, ending.round);
      value[p] = hn::BitCast(Tag<std::int32_t>(), of);
    }
    return HalvesInTurns(PackWords(JoinLow(value[0], value[1]), JoinLow(value[2], value[3])));
  }
}

}  // namespace
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
