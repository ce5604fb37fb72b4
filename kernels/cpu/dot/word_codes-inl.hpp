// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of sums of words (dot/word_sums.cpp, dot/word_loops.cpp) share beside their steps: windows, the
// division, and the way of code values to memory. For AVX2 alone. Include it between foreach_target and the namespace,
// after dot-inl.hpp.
#if defined(CONVOLVE_WORD_CODES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOLVE_WORD_CODES_INL
#undef CONVOLVE_WORD_CODES_INL
#else
#define CONVOLVE_WORD_CODES_INL
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/dot/word_filter.hpp"

#if HWY_TARGET == HWY_AVX2 && !defined(CONVOLVE_EMULATE)
HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

using dot::WordForm;
using Words = Vector<std::uint16_t>;

constexpr int rows = 4;         // of a block
constexpr int sums = 2 * rows;  // of a block: an output row's words at even places, and those at odd places

// From memory where it stands: GCC would keep it in a general register, or in memory as a vector.
HWY_INLINE Words TwoWordsAt(const std::int32_t& two) {
  Words all;
  asm volatile("vpbroadcastd %1, %0" : "=x"(all.raw) : "m"(two));
  return all;
}

// The windows of a row, loaded where it stands: more would not stay in registers.
template <WordForm Form>
HWY_INLINE Bytes WindowFrom(const std::uint8_t* p, const dot::WordOrders& orders) {
  using Half = const char[16];
  Bytes window;
  if constexpr (Form == WordForm::three)
    asm volatile(
        "vmovdqu %1, %x0\n\t"
        "vinserti128 $1, %2, %0, %0"
        : "=&x"(window.raw)
        : "m"(*reinterpret_cast<Half*>(p)), "m"(*reinterpret_cast<Half*>(p + 12)));
  else
    window = hn::LoadU(Tag<std::uint8_t>(), p);
  if constexpr (Form != WordForm::one)
    asm volatile("vpshufb %1, %0, %0" : "+x"(window.raw) : "m"(orders.window));
  else
    asm volatile("" : "+x"(window.raw));
  return window;
}

struct Division {
  Words multiplier, divisor, half, less;
  HWY_INLINE explicit Division(const dot::WordDivision& k)
      : multiplier(TwoWordsAt(k.multiplier)),
        divisor(TwoWordsAt(k.divisor)),
        half(TwoWordsAt(k.half)),
        less(TwoWordsAt(k.less)) {}
};

// To code values that are not yet clamped to bytes; see dot::WordQuotient. Four at a time, step by step: one alone
// would wait for itself.
template <bool Ties>
HWY_INLINE void Divide(const Division& by, const Words* total, const Words* average, Words (&code)[rows]) {
  const Tag<std::int16_t> d;
  const Tag<std::uint16_t> du;
  Words rest[rows];
  const auto each = [](auto step) {
    CONVOLVE_UNROLL
    for (int i = 0; i < rows; ++i) step(i);
  };
  each([&](int i) { code[i] = Held(hn::MulHigh(average[i], by.multiplier)); });
  each([&](int i) { rest[i] = Held(hn::Mul(code[i], by.divisor)); });
  each([&](int i) { rest[i] = Held(hn::Sub(total[i], rest[i])); });
  if (Ties) each([&](int i) { rest[i] = Held(hn::Add(rest[i], hn::And(code[i], hn::Set(du, 1)))); });
  each([&](int i) { code[i] = Held(hn::Sub(code[i], by.less)); });
  each([&](int i) {
    const auto more = hn::Gt(hn::BitCast(d, rest[i]), hn::BitCast(d, by.half));
    rest[i] = Held(hn::BitCast(du, hn::VecFromMask(d, more)));
  });
  each([&](int i) { code[i] = Held(hn::Sub(code[i], rest[i])); });
}

template <WordForm Form>
HWY_INLINE void StoreCodes(Words even, Words odd, Bytes in_turns, std::uint8_t* to) {
  const Tag<std::int32_t> d;
  const Bytes bytes = hn::TableLookupBytes(PackWords(hn::BitCast(d, even), hn::BitCast(d, odd)), in_turns);
  if constexpr (Form == WordForm::three) {
    // Four bytes of each half are nothing: those of the second are beyond the block.
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(bytes.raw));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 12), _mm256_extracti128_si256(bytes.raw, 1));
  } else {
    hn::StoreU(bytes, Tag<std::uint8_t>(), to);
  }
}

// Rows of a block that is not whole: not inlined, so that whole ones keep what they need in registers.
struct Rest {
  std::uint8_t row[rows][32];

  /// Makes sample x of the outputs the first of these rows. As numbers: a pointer may not lie before its array.
  [[gnu::noinline]] void place(std::uint8_t* (&out)[rows], std::ptrdiff_t x) {
    for (int i = 0; i < rows; ++i)
      out[i] =
          reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(row[i]) - static_cast<std::uintptr_t>(x));
  }
  [[gnu::noinline]] void copy(const Target& to, int x, int n) const {
    for (int i = 0; i < rows; ++i)
      if (to.out[i]) std::memcpy(to.out[i] + x, row[i], n);
  }
};

}  // namespace
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
