// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// samples: vectors of T from samples, for each SIMD target. Include it between foreach_target and the namespace.
#if defined(CONVOLVE_SAMPLES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOLVE_SAMPLES_INL
#undef CONVOLVE_SAMPLES_INL
#else
#define CONVOLVE_SAMPLES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;
template <class T>
constexpr int lanes = HWY_LANES(T);

// The same vector, of which the compiler does not know that: it is made where it stands, and stays in a register.
template <class V>
HWY_INLINE V Held(V v) {
#if HWY_TARGET == HWY_AVX3
  asm("" : "+v"(v.raw));
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  asm("" : "+x"(v.raw));
#endif
  return v;
}

// Lanes of T from samples at any address, `shift` bits to the right.
template <class T, class Sample>
HWY_INLINE Vector<T> Load(const char* p, int shift) {
  const Tag<T> d;
  if constexpr (std::is_same_v<Sample, T>) {
    return hn::LoadU(d, reinterpret_cast<const T*>(p));
  } else {
    const hn::Rebind<std::int32_t, Tag<T>> di;
    auto v = hn::PromoteTo(di, hn::LoadU(hn::Rebind<Sample, Tag<T>>(), reinterpret_cast<const Sample*>(p)));
    if (shift) v = hn::ShiftRightSame(v, shift);
    if constexpr (sizeof(T) == 4)
      return hn::ConvertTo(d, v);
    else
      return hn::PromoteTo(d, v);
  }
}

}  // namespace
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
