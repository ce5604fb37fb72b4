// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_loops.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "cpu/dot/packing.hpp"
#include "cpu/dot/word_filter.hpp"
#include "cpu/dot/word_taps.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dot/word_loops.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/dot/dot-inl.hpp"
#include "cpu/dot/word_codes-inl.hpp"
#include "cpu/dot/word_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX2 && !defined(CONVOLVE_EMULATE)
namespace {

using dot::windows_of, dot::WordFilter;

// The segments of a filter, and before them one more: what the first step finds, and keeps.
constexpr int at_a_time = dot::segments_at_a_time;
using ManyKept = Kept<1 + dot::max_word_segments>;

// The segments of both parities on their way, and where they will be kept.
struct ManySums {
  Segment even, odd;
  Words *even_to, *odd_to;
};

// Adds the pairs of tap rows from R on of one column of windows; see AddTapRows() in dot/word_sums.cpp.
template <int Side, int R>
HWY_INLINE void AddLoopRows(const void* const* ring, std::ptrdiff_t at, const dot::WordOrders& orders,
                            const WordStep* steps, const Bytes& w0, const Bytes& w1, const Bytes& w2, ManySums& to,
                            ManyKept& kept) {
  if constexpr (R < Side) {
    const Bytes w3 = WindowFrom<WordForm::one>(static_cast<const std::uint8_t*>(ring[R + 3]) + at, orders);
    AddStep<2 * R, R, Asking::loop>(to.even, {w0, w1, w2, w3}, steps, 0, to.even_to, kept);
    AddStep<2 * R + 1, R, Asking::loop>(to.odd, {w0, w1, w2, w3}, steps, 0, to.odd_to, kept);
    AddLoopRows<Side, R + 1>(ring, at, orders, steps, w1, w2, w3, to, kept);
  }
}

template <int Side>
HWY_INLINE void SumUpMany(const WordFilter& k, const void* const* ring, int x, ManyKept& kept) {
  const Words none = hn::Zero(Tag<std::uint16_t>());
  ManySums to{{none, none, none, none}, {none, none, none, none}, kept.words, kept.words + 1};
  const WordStep* steps = k.steps.data();
  for (int p = 0; p < windows_of(Side); ++p, steps += 2 * Side) {
    const std::ptrdiff_t at = x + k.offsets[static_cast<std::size_t>(p)];
    const auto window = [&](int r) {
      return WindowFrom<WordForm::one>(static_cast<const std::uint8_t*>(ring[r]) + at, k.orders);
    };
    const Bytes w0 = window(0), w1 = window(1), w2 = window(2);
    AddLoopRows<Side, 0>(ring, at, k.orders, steps, w0, w1, w2, to, kept);
  }
  const Segment last[2] = {to.even, to.odd};
  for (int parity = 0; parity < 2; ++parity) {
    Words* const at = parity ? to.odd_to : to.even_to;
    at[0] = last[parity].s0;
    at[2] = last[parity].s1;
    at[4] = last[parity].s2;
    at[6] = last[parity].s3;
  }
}

// Averages 2^Level segments, and adds them up as well: those from number First on, of which those
// beyond Most are 0. Each is loaded once.
template <int Most, int First, int Level>
HWY_INLINE Words AverageMany(const Words* kept, Words& total) {
  constexpr int second = First + (1 << Level) / 2;
  if constexpr (Level == 0) {
    const Words one = Held(kept[First * sums]);
    total = First == 0 ? one : Held(hn::Add(total, one));
    return one;
  } else if constexpr (second >= Most) {
    return Held(hn::ShiftRight<1>(AverageMany<Most, First, Level - 1>(kept, total)));
  } else {
    const Words average = AverageMany<Most, First, Level - 1>(kept, total);
    return Held(hn::AverageRound(average, AverageMany<Most, second, Level - 1>(kept, total)));
  }
}

// The code values of a block from its segments, of one parity.
template <int Most>
HWY_INLINE void MakeManyCodes(const WordFilter& k, const Words* kept, Words (&code)[rows]) {
  Words total[rows], average[rows];
  CONVOLVE_UNROLL
  for (int i = 0; i < rows; ++i) average[i] = AverageMany<Most, 0, dot::average_levels(Most)>(kept + 2 * i, total[i]);
  const Division by(k.division);
  if (k.ties)
    Divide<true>(by, total, average, code);
  else
    Divide<false>(by, total, average, code);
}

// Not inlined: all sides share it.
template <int Most>
[[gnu::noinline]] void MakeManyBytes(const WordFilter& k, const Words* kept, std::uint8_t* const (&out)[rows],
                                     std::ptrdiff_t x) {
  Words even[rows], odd[rows];
  MakeManyCodes<Most>(k, kept, even);
  MakeManyCodes<Most>(k, kept + 1, odd);
  const Bytes in_turns = hn::LoadDup128(Tag<std::uint8_t>(), k.orders.in_turns);
  CONVOLVE_UNROLL
  for (int i = 0; i < rows; ++i) StoreCodes<WordForm::one>(even[i], odd[i], in_turns, out[i] + x);
}

template <int... Parts>
auto ManyBytesOf(std::integer_sequence<int, Parts...>, int segments) {
  static constexpr decltype(&MakeManyBytes<at_a_time>) makers[] = {MakeManyBytes<at_a_time*(Parts + 1)>...};
  return makers[(segments - 1) / at_a_time];
}

template <int Side>
void FilterManyWords(const Kernel& kernel, const Block& block) {
  constexpr int samples = dot::samples_of(WordForm::one);
  const WordFilter& k = *static_cast<const WordFilter*>(kernel.packed.get());
  const auto make_bytes =
      ManyBytesOf(std::make_integer_sequence<int, dot::max_word_segments / at_a_time>(), k.segments);
  const Target to(block);
  const int last_whole = to.out[rows - 1] ? to.n - samples : -1;
  ManyKept kept;
  for (int s = k.segments; s % at_a_time != 0; ++s)
    for (int i = 0; i < sums; ++i) kept.words[(1 + s) * sums + i] = hn::Zero(Tag<std::uint16_t>());
  Rest rest;
  std::uint8_t* out[rows];
  for (int i = 0; i < rows; ++i) out[i] = to.out[i];
  for (int x = 0; x < to.n; x += samples) {
    block.ahead.fetch_side_by_side<samples>(x);
    if (HWY_UNLIKELY(x > last_whole)) rest.place(out, x);
    SumUpMany<Side>(k, block.rows, x, kept);
    make_bytes(k, kept.words + sums, out, x);
    if (HWY_UNLIKELY(x > last_whole)) rest.copy(to, x, std::min(to.n - x, samples));
  }
}

decltype(Kernel::run) WordLoopOf(int side) {
  switch (side) {
    case 9:
      return FilterManyWords<9>;
    case 11:
      return FilterManyWords<11>;
    case 13:
      return FilterManyWords<13>;
    case 15:
      return FilterManyWords<15>;
    default:
      return nullptr;
  }
}

}  // namespace

decltype(Kernel::run) DotWordLoop(int side) {
  return WordLoopOf(side);
}
#else
decltype(Kernel::run) DotWordLoop(int) {
  return nullptr;
}
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(DotWordLoop);

bool make_dot_word_loops(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                         const ComponentGroup& group, const IntegerTaps& taps) {
  using namespace dot;
  const int side = desc.filter.width();
  if (use_vnni() || desc.filter.depth() != 1 || group.components != 1 || desc.filter.height() != side ||
      side % 2 == 0 || side < 9 || side > 15 || !HWY_DYNAMIC_DISPATCH(DotWordLoop)(side))
    return false;
  Kernel& kernel = engine.kernel;
  set_shape_and_quantization(kernel, desc, arithmetic, group, taps);
  const Quantization& q = kernel.quantization;
  if (q.max != 255) return false;
  const double constant = q.offset.wide.front() * q.divisor - group.component[0]->zero * static_cast<double>(taps.sum);
  std::optional<WordTaps> words = make_word_taps(taps.taps, side, side, false);
  if (!words) return false;
  kernel.run = HWY_DYNAMIC_DISPATCH(DotWordLoop)(side);
  std::optional<WordFilter> packed = pack_words(*words, 1, q.divisor, constant);
  if (!packed || packed->saturates) return false;
  engine.name = name_of(false, false);
  engine.cost = (4 * words->steps() + words->wide_pairs() + 8 * words->segments() + 25) / 24.0;
  engine.element_size = 1;
  engine.block_rows = 4;
  engine.block_samples = samples_of(WordForm::one);
  engine.reads_past = side - 1;
  kernel.packed = std::make_shared<WordFilter>(*std::move(packed));
  return true;
}

}  // namespace convolve::cpu
#endif
