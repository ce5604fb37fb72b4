// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_sums.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/dot/packing.hpp"
#include "cpu/dot/word_filter.hpp"
#include "cpu/dot/word_taps.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dot/word_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/dot/dot-inl.hpp"
#include "cpu/dot/word_codes-inl.hpp"
#include "cpu/dot/word_steps-inl.hpp"

#ifndef CONVOLVE_DOT_WORD_SUMS_CPP_ONCE
#define CONVOLVE_DOT_WORD_SUMS_CPP_ONCE
namespace convolve::cpu::dot {

// The functions of a SIMD target; rows is 0 where it has none.
struct WordFunctions {
  int rows = 0;
  decltype(Kernel::run) (*filter)(int side, WordForm form, int segments) = nullptr;
};

}  // namespace convolve::cpu::dot
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX2 && !defined(CONVOLVE_EMULATE)
namespace {

using dot::windows_of, dot::WordFilter;

constexpr int most_unrolled = dot::most_segments(7);
constexpr int parts = 2;  // of a block, of `rows` each

// What the kernel needs all the way. Stores of bytes may change anything, so that what is used after them is copied.
struct Frame {
  const WordFilter& k;
  const WordStep* steps;
  const std::ptrdiff_t* offsets;
  const void* const* ring;

  HWY_INLINE const std::uint8_t* row(int r) const { return static_cast<const std::uint8_t*>(ring[r]); }
};

// A block on its way: a segment of each parity, and where it will be kept.
struct Sums {
  Segment even, odd;
  Words *even_to, *odd_to;
};

// Adds the pairs of tap rows from R on of the windows of number P. Those of four neighbouring ring rows stay in
// registers, as each serves four rows of taps.
template <int Side, WordForm Form, int P, int R>
HWY_INLINE void AddTapRows(const Frame& f, std::ptrdiff_t at, const Bytes& w0, const Bytes& w1, const Bytes& w2,
                           std::uint32_t even, std::uint32_t odd, Sums& to, Kept<most_unrolled>& kept) {
  if constexpr (R < Side) {
    constexpr int step = 2 * (P * Side + R);
    constexpr Asking asking = Side > 3 ? Asking::word : Asking::each;
    const Bytes w3 = WindowFrom<Form>(f.row(R + 3) + at, f.k.orders);
    if constexpr (step == 0) {
      to.even = FirstStep<step>({w0, w1, w2, w3}, f.steps);
      to.odd = FirstStep<step + 1>({w0, w1, w2, w3}, f.steps);
    } else {
      AddStep<step, R, asking>(to.even, {w0, w1, w2, w3}, f.steps, even, to.even_to, kept);
      AddStep<step + 1, R, asking>(to.odd, {w0, w1, w2, w3}, f.steps, odd, to.odd_to, kept);
    }
    AddTapRows<Side, Form, P, R + 1>(f, at, w1, w2, w3, even, odd, to, kept);
  }
}

template <int Side, WordForm Form, int P>
HWY_INLINE void AddWindows(const Frame& f, std::ptrdiff_t x, Sums& to, Kept<most_unrolled>& kept) {
  const std::ptrdiff_t at = x + f.offsets[P];
  const Bytes w0 = WindowFrom<Form>(f.row(0) + at, f.k.orders), w1 = WindowFrom<Form>(f.row(1) + at, f.k.orders),
              w2 = WindowFrom<Form>(f.row(2) + at, f.k.orders);
  AddTapRows<Side, Form, P, 0>(f, at, w0, w1, w2, f.k.marks[2 * P], f.k.marks[2 * P + 1], to, kept);
}

template <int Side, WordForm Form, int... P>
HWY_INLINE void SumUp(std::integer_sequence<int, P...>, const Frame& f, std::ptrdiff_t x, Sums& to,
                      Kept<most_unrolled>& kept) {
  to.even_to = kept.words;
  to.odd_to = kept.words + 1;
  (AddWindows<Side, Form, P>(f, x, to, kept), ...);
}

// Averages segments [First, First + 2^Level), of which those beyond the last one are 0, and adds them up as well. The
// last one has not been kept. Where nothing but 0 is left to average with, a shift does it.
template <int Segments, int First, int Level>
HWY_INLINE Words Average(const Words* kept, const Words& last, Words& total) {
  if constexpr (Level == 0) {
    const Words one = First == Segments - 1 ? last : Held(kept[First * sums]);
    total = First == 0 ? one : Held(hn::Add(total, one));
    return one;
  } else if constexpr (Level == 1 && First + 1 < Segments - 1) {
    const Words one = Held(kept[First * sums]);
    const Words two = Held(kept[(First + 1) * sums]);
    total = Held(hn::Add(two, First == 0 ? one : Held(hn::Add(total, one))));
    return Held(hn::AverageRound(one, two));
  } else {
    constexpr int second = First + (1 << (Level - 1));
    if constexpr (second >= Segments) {
      constexpr int level = dot::average_levels(Segments - First);
      return Held(hn::ShiftRight<Level - level>(Average<Segments, First, level>(kept, last, total)));
    } else {
      const Words average = Average<Segments, First, Level - 1>(kept, last, total);
      return Held(hn::AverageRound(average, Average<Segments, second, Level - 1>(kept, last, total)));
    }
  }
}

// The code values of one parity from its segments.
template <int Segments>
HWY_INLINE void MakeCodes(const WordFilter& k, const dot::WordDivision& division, const Words* kept,
                          const Segment& last, Words (&code)[rows]) {
  const Division by(division);
  constexpr int levels = dot::average_levels(Segments);
  Words total[rows], average[rows];
  average[0] = Average<Segments, 0, levels>(kept, last.s0, total[0]);
  average[1] = Average<Segments, 0, levels>(kept + 2, last.s1, total[1]);
  average[2] = Average<Segments, 0, levels>(kept + 4, last.s2, total[2]);
  average[3] = Average<Segments, 0, levels>(kept + 6, last.s3, total[3]);
  if (Segments == 1 && k.saturates) {
    const auto most = hn::Set(Tag<std::uint16_t>(), 255);
    for (int i = 0; i < rows; ++i) code[i] = hn::Min(hn::SaturatedSub(total[i], by.less), most);
  } else if (k.ties) {
    Divide<true>(by, total, average, code);
  } else {
    Divide<false>(by, total, average, code);
  }
}

template <WordForm Form, int Segments>
HWY_INLINE void MakeBytes(const WordFilter& k, const dot::WordDivision& division, const Kept<most_unrolled>& kept,
                          const Sums& last, std::uint8_t* const (&out)[rows], std::ptrdiff_t x) {
  Words even[rows], odd[rows];
  MakeCodes<Segments>(k, division, kept.words, last.even, even);
  MakeCodes<Segments>(k, division, kept.words + 1, last.odd, odd);
  const Bytes in_turns = hn::LoadDup128(Tag<std::uint8_t>(), k.orders.in_turns);
  CONVOLVE_UNROLL
  for (int i = 0; i < rows; ++i) StoreCodes<Form>(even[i], odd[i], in_turns, out[i] + x);
}

// The output rows of a block from `first` on.
template <int Side, WordForm Form, int Segments>
void FilterPart(const Kernel& kernel, const Block& block, int first) {
  constexpr int samples = dot::samples_of(Form), stored = Form == WordForm::three ? 28 : samples;
  const WordFilter& k = *static_cast<const WordFilter*>(kernel.packed.get());
  const Target to(block, first);
  const Frame frame{k, k.steps.data(), k.offsets.data(), block.rows + first};
  const int last_whole = to.out[rows - 1] ? to.n - stored : -1;
  const dot::WordDivision division = k.division;  // on the stack, where it has no pointer to load
  Kept<most_unrolled> kept;
  Rest rest;
  std::uint8_t* out[rows];
  for (int i = 0; i < rows; ++i) out[i] = to.out[i];
  for (int x = 0; x < to.n; x += samples) {
    block.ahead.fetch_side_by_side<samples>(x, first);
    if (HWY_UNLIKELY(x > last_whole)) rest.place(out, x);
    Sums sums_of_block;
    SumUp<Side, Form>(std::make_integer_sequence<int, windows_of(Side)>(), frame, x, sums_of_block, kept);
    MakeBytes<Form, Segments>(k, division, kept, sums_of_block, out, x);
    if (HWY_UNLIKELY(x > last_whole)) rest.copy(to, x, std::min(to.n - x, samples));
  }
}

// What lies around a block costs the same for as many rows again.
template <int Side, WordForm Form, int Segments>
void FilterWords(const Kernel& kernel, const Block& block) {
  for (int first = 0; first < parts * rows && block.out[first]; first += rows)
    FilterPart<Side, Form, Segments>(kernel, block, first);
}

template <int Side, WordForm Form, int... Segments>
decltype(Kernel::run) WordFilterOf(std::integer_sequence<int, Segments...>, int segments) {
  static constexpr decltype(Kernel::run) filters[] = {FilterWords<Side, Form, Segments + 1>...};
  return segments <= static_cast<int>(sizeof...(Segments)) ? filters[segments - 1] : nullptr;
}

template <WordForm Form>
decltype(Kernel::run) WordFilterOf(int side, int segments) {
  if (side == 3) return WordFilterOf<3, Form>(std::make_integer_sequence<int, dot::most_segments(3)>(), segments);
  if (side == 5) return WordFilterOf<5, Form>(std::make_integer_sequence<int, dot::most_segments(5)>(), segments);
  return WordFilterOf<7, Form>(std::make_integer_sequence<int, dot::most_segments(7)>(), segments);
}

// Null: of so many segments there is none.
decltype(Kernel::run) WordFilterOf(int side, WordForm form, int segments) {
  if (form == WordForm::one) return WordFilterOf<WordForm::one>(side, segments);
  return form == WordForm::three ? WordFilterOf<WordForm::three>(side, segments)
                                 : WordFilterOf<WordForm::two_or_four>(side, segments);
}

}  // namespace

dot::WordFunctions DotWordSums() {
  return {parts * rows, WordFilterOf};
}
#else
dot::WordFunctions DotWordSums() {
  return {};
}
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(DotWordSums);

namespace dot {
namespace {

// Instructions for 32 samples, on the scale of the other engines: for one of them each sample takes a sixteenth.
double cost_of(const WordTaps& taps, WordForm form) {
  const double cost = (4 * taps.steps() + 2 * taps.split_pairs() + taps.wide_pairs() + 6 * taps.segments() + 25) / 24.0;
  if (form == WordForm::one) return cost;
  const double shuffled = (cost + 0.03 * taps.steps()) * 32 / samples_of(form);
  return form == WordForm::three ? 1.25 * shuffled : shuffled;  // windows and bytes in two parts
}

// Components that differ in nothing.
bool same_levels(const ComponentGroup& group, const Quantization& q) {
  const std::vector<double>& offset = q.offset.wide;
  return std::all_of(offset.begin(), offset.end(), [&](double v) { return v == offset.front(); }) &&
         std::all_of(group.component, group.component + group.components,
                     [&](const Component* component) { return component->zero == group.component[0]->zero; });
}

}  // namespace
}  // namespace dot

bool make_dot_word_sums(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                        const IntegerTaps& taps) {
  using namespace dot;
  const WordFunctions functions = HWY_DYNAMIC_DISPATCH(DotWordSums)();
  const int side = desc.filter.width();
  if (functions.rows == 0 || use_vnni() || desc.filter.depth() != 1 || desc.filter.height() != side ||
      (side != 3 && side != 5 && side != 7))
    return false;
  Kernel& kernel = engine.kernel;
  set_shape_and_quantization(kernel, desc, arithmetic, group, taps);
  const Quantization& q = kernel.quantization;
  if (q.max != 255 || !same_levels(group, q)) return false;
  const double constant = q.offset.wide.front() * q.divisor - group.component[0]->zero * static_cast<double>(taps.sum);
  const WordForm form = word_form(group.components);
  std::optional<WordTaps> words;
  std::optional<WordFilter> packed;
  for (const bool splits : {true, false}) {  // full segments may have no room for what they start from
    words = make_word_taps(taps.taps, side, side, splits);
    if (words) packed = pack_words(*words, group.components, q.divisor, constant);
    if (packed) break;
  }
  if (!packed) return false;
  kernel.run = functions.filter(side, form, words->segments());
  if (!kernel.run) return false;
  const int reach = (side - 1) * group.components;
  engine.name = name_of(false, false);
  engine.cost = cost_of(*words, form);
  if (!group.all_filtered()) engine.cost += 1.5;  // put back in a pass of their own
  engine.element_size = 1;
  engine.block_rows = engine.ahead_rows = functions.rows;
  engine.block_samples = samples_of(form);
  engine.reads_past = form == WordForm::three ? reach + 4 : reach;
  kernel.packed = std::make_shared<WordFilter>(*std::move(packed));
  return true;
}

}  // namespace convolve::cpu
#endif
