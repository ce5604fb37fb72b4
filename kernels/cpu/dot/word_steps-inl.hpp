// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The steps of dot/word_sums.cpp and dot/word_loops.cpp: products of a pair of taps and four windows, on their way into
// the sums of segments. For AVX2 alone. Include it between foreach_target and the namespace, after dot-inl.hpp.
#if defined(CONVOLVE_WORD_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOLVE_WORD_STEPS_INL
#undef CONVOLVE_WORD_STEPS_INL
#else
#define CONVOLVE_WORD_STEPS_INL
#endif

#include <cstddef>

#include "cpu/dot/word_codes-inl.hpp"

#if HWY_TARGET == HWY_AVX2 && !defined(CONVOLVE_EMULATE)
HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

using dot::WordStep;

// Of one parity, each output row's segment on its way. No array: GCC would keep it in memory.
struct Segment {
  Words s0, s1, s2, s3;
};

// Segments that are summed up, at most so many: of each, output row by output row, both parities.
template <int Most>
struct Kept {
  Words words[Most * sums];
};

// The windows that output rows 0 to 3 have for a row of taps.
struct Windows {
  const Bytes &w0, &w1, &w2, &w3;
};

// The text of a step: the products of a pair of taps and the four windows, each added to what it begins from. Two
// products come before their additions: an addition that has waited would take a pipe from the next product.
#define CONVOLVE_PRODUCT(tap, window, product) "vpmaddubsw %[" tap "], %[" window "], %[" product "]\n\t"
#define CONVOLVE_ADD_TO(from, product, sum) "vpaddw %[" product "], %[" from "], %[" sum "]\n\t"
#define CONVOLVE_PRODUCTS(from0, from1, from2, from3) \
  CONVOLVE_PRODUCT("tap", "w0", "product")            \
  CONVOLVE_PRODUCT("tap", "w1", "flip")               \
  CONVOLVE_ADD_TO(from0, "product", "s0")             \
  CONVOLVE_ADD_TO(from1, "flip", "s1")                \
  CONVOLVE_PRODUCT("tap", "w2", "product")            \
  CONVOLVE_PRODUCT("tap", "w3", "flip") CONVOLVE_ADD_TO(from2, "product", "s2") CONVOLVE_ADD_TO(from3, "flip", "s3")
// The same, each addition behind its product: of a split pair, and of loops, which lose by the other order.
#define CONVOLVE_ADD_ONE(tap, window, from, sum) \
  CONVOLVE_PRODUCT(tap, window, "product") CONVOLVE_ADD_TO(from, "product", sum)
#define CONVOLVE_PRODUCTS_IN_TURNS(tap, from0, from1, from2, from3) \
  CONVOLVE_ADD_ONE(tap, "w0", from0, "s0")                          \
  CONVOLVE_ADD_ONE(tap, "w1", from1, "s1")                          \
  CONVOLVE_ADD_ONE(tap, "w2", from2, "s2") CONVOLVE_ADD_ONE(tap, "w3", from3, "s3")
#define CONVOLVE_ADD_PRODUCTS CONVOLVE_PRODUCTS("s0", "s1", "s2", "s3")
#define CONVOLVE_ADD_IN_TURNS(tap) CONVOLVE_PRODUCTS_IN_TURNS(tap, "s0", "s1", "s2", "s3")
// Begins a segment, with what is in s3.
#define CONVOLVE_BEGIN_WITH_PRODUCTS CONVOLVE_PRODUCTS("s3", "s3", "s3", "s3")
#define CONVOLVE_BEGIN_IN_TURNS CONVOLVE_PRODUCTS_IN_TURNS("tap", "s3", "s3", "s3", "s3")
// The products of a wide pair: the windows' bytes become signed ones, and the taps are those without a sign.
#define CONVOLVE_ADD_WIDE_PRODUCT(window, sum)    \
  "vpxor %[flip], %[" window                      \
  "], %[product]\n\t"                             \
  "vpmaddubsw %[product], %[tap], %[product]\n\t" \
  "vpaddw %[product], %[" sum "], %[" sum "]\n\t"
#define CONVOLVE_ADD_WIDE_PRODUCTS                                                                                 \
  "vpbroadcastd %c[flips](%[steps]), %[flip]\n\t" CONVOLVE_ADD_WIDE_PRODUCT("w0", "s0") CONVOLVE_ADD_WIDE_PRODUCT( \
      "w1", "s1") CONVOLVE_ADD_WIDE_PRODUCT("w2", "s2") CONVOLVE_ADD_WIDE_PRODUCT("w3", "s3")
// A wide pair begins with three copies.
#define CONVOLVE_COPY_START  \
  "vmovdqa %[s3], %[s0]\n\t" \
  "vmovdqa %[s3], %[s1]\n\t" \
  "vmovdqa %[s3], %[s2]\n\t"
#define CONVOLVE_KEEP_AND_START   \
  "vmovdqa %[s0], (%[to])\n\t"    \
  "vmovdqa %[s1], 64(%[to])\n\t"  \
  "vmovdqa %[s2], 128(%[to])\n\t" \
  "vmovdqa %[s3], 192(%[to])\n\t" \
  "addq $256, %[to]\n\t"          \
  "vpbroadcastd %c[start](%[steps]), %[s3]\n\t"

// The first step of one parity: begins its first segment.
template <int Step>
HWY_INLINE Segment FirstStep(const Windows& in, const WordStep* steps) {
  constexpr int at = Step * static_cast<int>(sizeof(WordStep));
  Segment sum;
  Words tap, product, flip;
  asm volatile(
      "vpbroadcastd %c[taps](%[steps]), %[tap]\n\t"
      "vpbroadcastd %c[start](%[steps]), %[s3]\n\t"
      "testb %[is_wide], %c[flags](%[steps])\n\t"
      "jne 2f\n\t" CONVOLVE_BEGIN_WITH_PRODUCTS
      "4:\n\t"
      ".subsection 1\n\t"
      "2:\n\t" CONVOLVE_COPY_START CONVOLVE_ADD_WIDE_PRODUCTS
      "jmp 4b\n\t"
      ".previous"
      : [s0] "=&x"(sum.s0.raw), [s1] "=&x"(sum.s1.raw), [s2] "=&x"(sum.s2.raw), [s3] "=&x"(sum.s3.raw),
        [tap] "=&x"(tap.raw), [product] "=&x"(product.raw), [flip] "=&x"(flip.raw)
      : [w0] "x"(in.w0.raw), [w1] "x"(in.w1.raw), [w2] "x"(in.w2.raw), [w3] "x"(in.w3.raw), [steps] "r"(steps),
        "m"(*steps), [taps] "i"(at + offsetof(WordStep, taps)), [flips] "i"(at + offsetof(WordStep, flip)),
        [start] "i"(at + offsetof(WordStep, start)), [flags] "i"(at + offsetof(WordStep, flags)),
        [is_wide] "i"(dot::is_wide)
      : "cc");
  return sum;
}

// What steps with flags do, out of the way of the others; what is rarer out of the way of that.
#define CONVOLVE_RARE_STEP                                                      \
  "cmpl %[begins_segment], %c[flags](%[steps])\n\t"                             \
  "jne 3f\n\t" CONVOLVE_KEEP_AND_START CONVOLVE_BEGIN_WITH_PRODUCTS             \
  "jmp 4b\n\t"                                                                  \
  ".subsection 2\n\t"                                                           \
  "3:\n\t"                                                                      \
  "jg 5f\n\t"                                                                   \
  "1:\n\t" CONVOLVE_ADD_WIDE_PRODUCTS                                           \
  "jmp 4b\n\t"                                                                  \
  ".subsection 3\n\t"                                                           \
  "5:\n\t"                                                                      \
  "testb %[is_wide], %c[flags](%[steps])\n\t"                                   \
  "je 6f\n\t" CONVOLVE_KEEP_AND_START CONVOLVE_COPY_START                       \
  "jmp 1b\n\t"                                                                  \
  "6:\n\t"                                                                      \
  "vpbroadcastd %c[flips](%[steps]), %[flip]\n\t" CONVOLVE_ADD_IN_TURNS("flip") \
      CONVOLVE_KEEP_AND_START CONVOLVE_BEGIN_WITH_PRODUCTS "jmp 4b\n\t"
// The same of a loop, which has no split pairs: with more jumps these would be predicted worse, as each is for several
// steps.
#define CONVOLVE_RARE_LOOP_STEP                      \
  "testb %[begins_segment], %c[flags](%[steps])\n\t" \
  "je 1f\n\t" CONVOLVE_KEEP_AND_START                \
  "testb %[is_wide], %c[flags](%[steps])\n\t"        \
  "jne 3f\n\t" CONVOLVE_BEGIN_IN_TURNS               \
  "jmp 4b\n\t"                                       \
  "3:\n\t" CONVOLVE_COPY_START "1:\n\t" CONVOLVE_ADD_WIDE_PRODUCTS "jmp 4b\n\t"
// A step; `test` asks whether it has flags, `products` is what it does without.
#define CONVOLVE_STEP(test, words, products, rare)                                                              \
  asm volatile(                                                                                                 \
      "vpbroadcastd %c[taps](%[steps]), %[tap]\n\t" test                                                        \
      "\n\t"                                                                                                    \
      "jne 2f\n\t" products                                                                                     \
      "4:\n\t"                                                                                                  \
      ".subsection 1\n\t"                                                                                       \
      "2:\n\t" rare ".subsection 0"                                                                             \
      : [s0] "+x"(sum.s0.raw), [s1] "+x"(sum.s1.raw), [s2] "+x"(sum.s2.raw), [s3] "+x"(sum.s3.raw),             \
        [tap] "=&x"(tap.raw), [product] "=&x"(product.raw), [flip] "=&x"(flip.raw), [to] "+r"(to), "+m"(kept)   \
      : [w0] "x"(in.w0.raw), [w1] "x"(in.w1.raw), [w2] "x"(in.w2.raw), [w3] "x"(in.w3.raw), [steps] "r"(steps), \
        "m"(*steps), [marks] words, [mark] "i"(1 << Mark), [taps] "i"(at + offsetof(WordStep, taps)),           \
        [flips] "i"(at + offsetof(WordStep, flip)), [start] "i"(at + offsetof(WordStep, start)),                \
        [flags] "i"(at + offsetof(WordStep, flags)), [is_wide] "i"(dot::is_wide),                               \
        [begins_segment] "i"(dot::begins_segment)                                                               \
      : "cc")

// How steps are asked for flags: each where it is, or by a word with a bit for each, which is worth a register where
// it is for many; or those of a loop.
enum class Asking { each, word, loop };

// A step of one parity: keeps the segment and begins the next, where one begins, and adds its pair of taps. As text:
// GCC would add up products first and move sums about, for which there are no registers, and all the more where there
// are branches. These go the same way in each block, so that they are predicted. Bit `Mark` of `marks` says that the
// step has flags.
template <int Step, int Mark, Asking How, int Most>
HWY_INLINE void AddStep(Segment& sum, const Windows& in, const WordStep* steps, std::uint32_t marks, Words*& to,
                        Kept<Most>& kept) {
  constexpr int at = Step * static_cast<int>(sizeof(WordStep));
  Words tap, product, flip;
  if constexpr (How == Asking::word)
    CONVOLVE_STEP("testl %[mark], %[marks]", "r"(marks), CONVOLVE_ADD_PRODUCTS, CONVOLVE_RARE_STEP);
  else if constexpr (How == Asking::each)
    CONVOLVE_STEP("cmpl $0, %c[flags](%[steps])", "i"(0), CONVOLVE_ADD_PRODUCTS, CONVOLVE_RARE_STEP);
  else
    CONVOLVE_STEP("cmpl $0, %c[flags](%[steps])", "i"(0), CONVOLVE_ADD_IN_TURNS("tap"), CONVOLVE_RARE_LOOP_STEP);
}
#undef CONVOLVE_STEP
#undef CONVOLVE_RARE_LOOP_STEP
#undef CONVOLVE_RARE_STEP
#undef CONVOLVE_KEEP_AND_START
#undef CONVOLVE_COPY_START
#undef CONVOLVE_ADD_WIDE_PRODUCTS
#undef CONVOLVE_ADD_WIDE_PRODUCT
#undef CONVOLVE_ADD_PRODUCTS
#undef CONVOLVE_BEGIN_WITH_PRODUCTS
#undef CONVOLVE_BEGIN_IN_TURNS
#undef CONVOLVE_ADD_IN_TURNS
#undef CONVOLVE_PRODUCTS_IN_TURNS
#undef CONVOLVE_ADD_ONE
#undef CONVOLVE_PRODUCTS
#undef CONVOLVE_ADD_TO
#undef CONVOLVE_PRODUCT

}  // namespace
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
