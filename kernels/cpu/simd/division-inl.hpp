// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// division: vectors of sums to their code values, by Division (convolve/arithmetic.hpp), for each SIMD target. Include
// it between foreach_target and the namespace.
#if defined(CONVOLVE_DIVISION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOLVE_DIVISION_INL
#undef CONVOLVE_DIVISION_INL
#else
#define CONVOLVE_DIVISION_INL
#endif

#include "cpu/engine/engine.hpp"
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

// To nearest, ties to even; what does not fit may come out as the most negative integer.
template <class V>
HWY_INLINE auto RoundToInt(V v) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec512<std::int32_t>{_mm512_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec256<std::int32_t>{_mm256_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_SSE4
  return hn::Vec128<std::int32_t>{_mm_cvtps_epi32(v.raw)};
#else
  return hn::NearestInt(v);
#endif
}

// Half a vector of code values in doubles, rounded and clamped.
template <class V>
HWY_INLINE auto RoundWide(const Quantization& q, V sum, const double* offset) {
  const hn::DFromV<V> d;
  const auto v = hn::Add(hn::Div(sum, hn::Set(d, q.divisor)), hn::LoadU(d, offset));
  const auto clamped = hn::Min(hn::Max(hn::Round(v), hn::Zero(d)), hn::Set(d, static_cast<double>(q.max)));
  return hn::DemoteTo(hn::Rebind<std::int32_t, decltype(d)>(), clamped);
}

// All of a vector of sums, f32 or of 32 bits, in doubles.
template <class V>
HWY_INLINE auto DivideWide(const Quantization& q, V sum, const double* offset) {
#if HWY_TARGET == HWY_SCALAR
  return RoundWide(q, hn::PromoteTo(Tag<double>(), sum), offset);
#else
  const hn::Half<hn::DFromV<V>> dh;
  const hn::Rebind<double, decltype(dh)> dd;
  const auto low = RoundWide(q, hn::PromoteTo(dd, hn::LowerHalf(dh, sum)), offset);
  const auto high = RoundWide(q, hn::PromoteTo(dd, hn::UpperHalf(dh, sum)), offset + lanes<float> / 2);
  return hn::Combine(Tag<std::int32_t>(), high, low);
#endif
}

// Division::two_products, less what rounds it.
HWY_INLINE Vector<float> TwoProducts(const Quantization& q, Vector<float> sum, Vector<float> offset) {
  const Tag<float> d;
  return hn::Add(hn::MulAdd(sum, hn::Set(d, q.gain), hn::Mul(sum, hn::Set(d, q.gain_low))), offset);
}

// remainder_value(), less what rounds it.
HWY_INLINE Vector<float> RemainderValue(const Quantization& q, Vector<float> sum, Vector<float> offset) {
  const Tag<float> d;
  const auto whole = hn::Set(d, 0x1.8p23f);
  const auto near = hn::MulAdd(sum, hn::Set(d, q.gain / 2), hn::Mul(offset, hn::Set(d, 0.5f)));
  const auto halves = hn::Sub(hn::Add(near, whole), whole), even = hn::Add(halves, halves);
  const auto rest = hn::MulAdd(hn::Sub(offset, even), hn::Set(d, static_cast<float>(q.divisor)), sum);
  const auto more = hn::MulAdd(rest, hn::Set(d, q.gain * (1 - 0x1p-22f)), whole);
  return hn::Add(even, hn::Sub(more, whole));
}

/// Code values of a vector of sums, f32 or of 32 bits, from their offsets in single and in double precision: rounded,
/// at most q.max, not yet at least 0.
template <class V>
HWY_INLINE Vector<std::int32_t> CodeValues(const Quantization& q, V sum, const float* offset,
                                           const double* wide_offset) {
  const Tag<float> d;
  // Without fused multiply-adds there is no exact remainder.
  if (q.division == Division::doubles || (!HWY_NATIVE_FMA && q.division != Division::product))
    return DivideWide(q, sum, wide_offset);
  Vector<float> s;
  if constexpr (std::is_same_v<V, Vector<float>>)
    s = sum;
  else
    s = hn::ConvertTo(d, sum);
  const auto o = hn::LoadU(d, offset);
  Vector<float> value;
  if (q.division == Division::product)
    value = hn::Sub(hn::MulAdd(s, hn::Set(d, q.gain), o), hn::Set(d, q.rounding_bias));
  else if (q.division == Division::two_products)
    value = TwoProducts(q, s, o);
  else
    value = RemainderValue(q, s, o);
  return RoundToInt(hn::Min(value, hn::Set(d, q.max)));
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
// Added to a value, leaves no fraction: rounded to nearest, ties to even, the integer is then in the low 16 bits.
constexpr float whole = 0x1.8p23f;

// 16-bit integers to bytes, saturated, within 128-bit parts.
HWY_INLINE Vector<std::uint8_t> PackWords(Vector<std::int32_t> low, Vector<std::int32_t> high) {
#if HWY_TARGET == HWY_AVX3
  return {_mm512_packus_epi16(low.raw, high.raw)};
#else
  return {_mm256_packus_epi16(low.raw, high.raw)};
#endif
}

// The low words of both: those of b in the upper halves of lanes.
HWY_INLINE Vector<std::int32_t> LowWords(Vector<std::int32_t> a, Vector<std::int32_t> b) {
#if HWY_TARGET == HWY_AVX3
  const __m512i up = _mm512_set4_epi32(0x0d0c0d0c, 0x09080908, 0x05040504, 0x01000100);
  return {_mm512_mask_shuffle_epi8(a.raw, 0xCCCCCCCCCCCCCCCCu, b.raw, up)};
#else
  return {_mm256_blend_epi16(a.raw, _mm256_slli_epi32(b.raw, 16), 0xAA)};
#endif
}

// Bytes, saturated, of values to which `whole` was added, less than 2^15 in magnitude; `order`: rounded_order in every
// 128-bit part. Each part has four of each vector.
alignas(16) constexpr std::uint8_t rounded_order[16] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
HWY_INLINE Vector<std::uint8_t> PackRounded(const Vector<std::int32_t> (&value)[4], Vector<std::uint8_t> order) {
  return hn::TableLookupBytes(PackWords(LowWords(value[0], value[1]), LowWords(value[2], value[3])), order);
}
#endif

#if HWY_TARGET == HWY_AVX3
// Puts bytes in order of which each 128-bit part has four of each of four vectors.
HWY_INLINE Vector<std::uint8_t> InOrder(__m512i bytes) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return {_mm512_permutexvar_epi32(order, bytes)};
}

// 64 code values to bytes, saturated.
HWY_INLINE Vector<std::uint8_t> PackInOrder(const Vector<std::int32_t> (&value)[4]) {
  const __m512i low = _mm512_packs_epi32(value[0].raw, value[1].raw);
  const __m512i high = _mm512_packs_epi32(value[2].raw, value[3].raw);
  return InOrder(_mm512_packus_epi16(low, high));
}
#endif

}  // namespace
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
