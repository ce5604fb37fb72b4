// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// staging: samples of 8 bits to elements of 16, for each SIMD target. Include it between foreach_target and the
// namespace.
#if defined(CONVOLVE_FIXED16_STAGING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOLVE_FIXED16_STAGING_INL
#undef CONVOLVE_FIXED16_STAGING_INL
#else
#define CONVOLVE_FIXED16_STAGING_INL
#endif

#include <algorithm>
#include <cstring>

#include "cpu/fixed16/packing.hpp"
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR && (HWY_TARGET != HWY_EMU128 || defined(CONVOLVE_EMULATE))
namespace {

using fixed16::PackedStaging;
using Word = Vector<std::int16_t>;
constexpr int words = lanes<std::int16_t>;

HWY_INLINE Word LoadWords(const std::int16_t* p) {
  return hn::LoadU(Tag<std::int16_t>(), p);
}

template <bool Exact>
HWY_INLINE Word Product(Word a, Word b) {
  return Exact ? hn::Mul(a, b) : hn::MulFixedPoint15(a, b);
}

// A vector of samples, as elements.
template <bool Exact>
HWY_INLINE Word LoadSamples(const std::uint8_t* p, Word scale, Word zero) {
  const Word v = hn::PromoteTo(Tag<std::int16_t>(), hn::LoadU(hn::Rebind<std::uint8_t, Tag<std::int16_t>>(), p));
  return Exact ? v : hn::Sub(hn::Mul(v, scale), zero);
}

// Elements of one frame: n, and up to a vector more. `phase`: the first one's component.
template <bool Exact>
HWY_INLINE void StageFrame(const PackedStaging& k, const std::uint8_t* row, std::int16_t* out, int n, int phase,
                           int components) {
  const Tag<std::int16_t> d;
  const Word scale = hn::Set(d, static_cast<std::int16_t>(k.scale));
  const std::int16_t* const zeros = k.zero.data();
  const int turn = words % components;
  Word zero = LoadWords(zeros + phase);
  for (int i = 0; i < n; i += words) {
    hn::StoreU(LoadSamples<Exact>(row + i, scale, zero), d, out + i);
    if (turn == 0) continue;
    phase = phase + turn < components ? phase + turn : phase + turn - components;
    zero = LoadWords(zeros + phase);
  }
}

// Stages the weighted sum of several frames.
template <bool Exact>
HWY_INLINE void StageFrames(const PackedStaging& k, const std::uint8_t* const* rows, std::int16_t* out, int n,
                            int phase, int components) {
  const Tag<std::int16_t> d;
  const Word scale = hn::Set(d, static_cast<std::int16_t>(k.scale));
  const int frames = static_cast<int>(k.weights.size()), turn = words % components;
  for (int i = 0; i < n; i += words) {
    const Word zero = LoadWords(k.zero.data() + phase), ghost = LoadWords(k.ghost.data() + phase);
    Word sum = hn::Zero(d);
    for (int t = 0; t < frames; ++t) {
      const Word v = rows[t] ? LoadSamples<Exact>(rows[t] + i, scale, zero) : ghost;
      sum = hn::Add(sum, Product<Exact>(v, hn::Set(d, k.weights[t])));
    }
    hn::StoreU(sum, d, out + i);
    phase = phase + turn < components ? phase + turn : phase + turn - components;
  }
}

template <bool Exact>
void Stage(const Staging& s, const void* const* frame_rows, void* elements, int n) {
  const auto& k = *static_cast<const PackedStaging*>(s.packed.get());
  auto* out = static_cast<std::int16_t*>(elements);
  const std::uint8_t* rows[max_depth];
  const int frames = std::max(static_cast<int>(k.weights.size()), 1);
  for (int t = 0; t < frames; ++t) rows[t] = static_cast<const std::uint8_t*>(frame_rows[t]);
  const bool one = k.weights.empty();
  if (one && !rows[0]) {
    for (int i = 0; i < n; ++i) out[i] = k.ghost[i % s.components];
    return;
  }
  const auto stage = [&](std::int16_t* to, int count, int phase) {
    if (one)
      StageFrame<Exact>(k, rows[0], to, count, phase, s.components);
    else
      StageFrames<Exact>(k, rows, to, count, phase, s.components);
  };
  const int whole = n / words * words;
  stage(out, whole, 0);
  if (whole == n) return;
  std::uint8_t rest[max_depth][words];
  for (int t = 0; t < frames; ++t) {
    if (!rows[t]) continue;
    std::memset(rest[t], 0, words);  // also past the row's end
    rows[t] = static_cast<std::uint8_t*>(std::memcpy(rest[t], rows[t] + whole, n - whole));
  }
  stage(out + whole, n - whole, whole % s.components);
}

}  // namespace
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
