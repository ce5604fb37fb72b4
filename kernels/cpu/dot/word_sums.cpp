// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_sums.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cpu/dot/packing.hpp"
#include "cpu/dot/word_taps.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dot/word_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/dot/dot-inl.hpp"

#ifndef CONVOLVE_DOT_WORD_SUMS_CPP_ONCE
#define CONVOLVE_DOT_WORD_SUMS_CPP_ONCE
namespace convolve::cpu::dot {

// Words of 16 bits twice, for a vector of 32-bit lanes.
using TwoWords = std::int32_t;

constexpr TwoWords two_words(std::int32_t word) {
  return static_cast<TwoWords>(0x10001u * (static_cast<std::uint32_t>(word) & 0xffff));
}

struct WordFilter {
  WordTaps taps;
  std::vector<TwoWords> start;  // of each segment
  bool saturates;               // see WordQuotient
  TwoWords ties, multiplier, divisor, half, less;
};

// Bytes of both halves of a 128-bit part in turns.
alignas(16) constexpr std::uint8_t in_turns[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};

constexpr int row_pairs(int side) {
  return side / 2 + 1;
}

// The functions of a SIMD target; rows is 0 where it has none.
struct WordFunctions {
  int rows = 0, samples = 0;
  decltype(Kernel::run) (*filter)(int side, int segment_pairs) = nullptr;
};

}  // namespace convolve::cpu::dot
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX2 && !defined(CONVOLVE_EMULATE)
namespace {

using dot::row_pairs, dot::WordFilter, dot::WordTaps;
using Words = Vector<std::uint16_t>;

constexpr int rows = 4;  // of a block

// From memory where it stands: GCC would keep it in a general register, or in memory as a vector.
HWY_INLINE Ints TwoFrom(const std::int32_t& two) {
  Ints all;
  asm volatile("vpbroadcastd %1, %0" : "=x"(all.raw) : "m"(two));
  return all;
}

HWY_INLINE Words WordsFrom(const dot::TwoWords& words) {
  return hn::BitCast(Tag<std::uint16_t>(), TwoFrom(words));
}

HWY_INLINE Words SetWords(std::uint16_t word) {
  return hn::Set(Tag<std::uint16_t>(), word);
}

HWY_INLINE Words AddWords(Words a, Words b) {
  return Held(hn::Add(a, b));  // or GCC adds up products first, and keeps them in memory
}

HWY_INLINE Words ProductsOf(Ints window, Ints taps) {
  return hn::BitCast(Tag<std::uint16_t>(), MultiplyBytes(window, taps));
}

HWY_INLINE Ints BytesAt(const std::uint8_t* p) {
  return hn::BitCast(Tag<std::int32_t>(), hn::LoadU(Tag<std::uint8_t>(), p));
}

// Words of the outputs at even places, and of those at odd places.
using InTurns = Words[2];

// An output row's sums on their way: of a segment, of all so far modulo 2^16, and averages of 1, 2, 4, ... segments
// that wait for as many more. The last one of all is at average_levels().
struct Sums {
  InTurns segment, total, average[5];
};

// Adds a segment that is summed up.
template <int Segments, int S>
HWY_INLINE void EndSegment(Sums& sums) {
  constexpr int levels = dot::average_levels(Segments);
  constexpr bool last = S == Segments - 1;
  CONVOLVE_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    Words& total = sums.total[odd];
    total = S == 0 ? sums.segment[odd] : AddWords(total, sums.segment[odd]);
    Words average = sums.segment[odd];
    int level = 0;
    CONVOLVE_UNROLL
    for (; level < levels && (last || S >> level & 1); ++level)
      average = S >> level & 1 ? hn::AverageRound(sums.average[level][odd], average)
                               : hn::AverageRound(average, hn::Zero(Tag<std::uint16_t>()));
    sums.average[level][odd] = average;
  }
}

// What the kernel needs all the way, and where the block is. Stores of bytes may change anything, so that what is used
// after them is copied.
struct Frame {
  const WordFilter& k;
  const dot::TapPair* taps;
  const dot::TwoWords* start;
  std::span<const WordTaps::LeftOver> left_over;
  const void* const* ring;
  int x;
  std::uint8_t* out[rows];
};

// The pairs that are left over, of output row i.
HWY_INLINE void AddLeftOver(const Frame& f, int i, InTurns& sum) {
  for (const WordTaps::LeftOver& pair : f.left_over) {
    const auto* p = static_cast<const std::uint8_t*>(f.ring[pair.row + i]) + f.x + pair.column;
    const Ints two = TwoFrom(pair.taps);
    sum[0] = AddWords(sum[0], ProductsOf(BytesAt(p), two));
    sum[1] = AddWords(sum[1], ProductsOf(BytesAt(p + 1), two));
  }
}

// The code values of an output row, not yet clamped to bytes; see dot::WordQuotient.
template <int Segments>
HWY_INLINE void MakeCodeWords(const WordFilter& k, const InTurns& total, const InTurns& average, Ints (&code)[2]) {
  const Tag<std::int16_t> d;
  const Tag<std::int32_t> d32;
  const Words less = WordsFrom(k.less);
  if (Segments == 1 && k.saturates) {
    CONVOLVE_UNROLL
    for (int odd = 0; odd < 2; ++odd)
      code[odd] = hn::BitCast(d32, hn::Min(hn::SaturatedSub(total[odd], less), SetWords(255)));
    return;
  }
  const Words multiplier = WordsFrom(k.multiplier), divisor = WordsFrom(k.divisor), ties = WordsFrom(k.ties);
  const Words half = WordsFrom(k.half);
  CONVOLVE_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    const Words quotient = hn::MulHigh(average[odd], multiplier);
    const Words rest = hn::Sub(total[odd], hn::Mul(quotient, divisor));
    const Words towards_even = hn::Add(rest, hn::And(quotient, ties));
    const auto one_more = hn::VecFromMask(d, hn::Gt(hn::BitCast(d, towards_even), hn::BitCast(d, half)));
    code[odd] = hn::BitCast(d32, hn::Sub(hn::BitCast(d, hn::Sub(quotient, less)), one_more));
  }
}

template <int Segments>
HWY_INLINE void StoreRow(const Frame& f, int i, const Sums& sums) {
  const Tag<std::uint8_t> d;
  Ints code[2];
  MakeCodeWords<Segments>(f.k, sums.total, sums.average[dot::average_levels(Segments)], code);
  hn::StoreU(hn::TableLookupBytes(PackWords(code[0], code[1]), hn::LoadDup128(d, dot::in_turns)), d, f.out[i]);
}

// Adds pair P of all pairs of taps to output row i, and stores that after the last one.
template <int Side, int SegmentPairs, int P>
HWY_INLINE void AddPair(const Frame& f, int i, const Ints (&window)[2], Sums& sums) {
  constexpr int pairs = Side * row_pairs(Side), segments = (pairs + SegmentPairs - 1) / SegmentPairs;
  if constexpr (P >= 0 && P < pairs) {
    constexpr bool last = P == pairs - 1;
    if constexpr (P % SegmentPairs == 0) sums.segment[0] = sums.segment[1] = WordsFrom(f.start[P / SegmentPairs]);
    const Ints two = TwoFrom(f.taps[P]);
    CONVOLVE_UNROLL
    for (int odd = 0; odd < 2; ++odd) sums.segment[odd] = AddWords(sums.segment[odd], ProductsOf(window[odd], two));
    if constexpr (last) AddLeftOver(f, i, sums.segment);
    if constexpr (last || (P + 1) % SegmentPairs == 0) EndSegment<segments, P / SegmentPairs>(sums);
    if constexpr (last) StoreRow<segments>(f, i, sums);
  }
}

// Adds the bytes of ring row R that pair Pair of a row of taps is over. They are loaded where they are used: more would
// not stay in registers.
template <int Side, int SegmentPairs, int R, int Pair, int... Row>
HWY_INLINE void AddWindow(std::integer_sequence<int, Row...>, const Frame& f, const std::uint8_t* q,
                          Sums (&sums)[rows]) {
  constexpr int column = dot::pair_column(Pair, Side);
  const Ints window[2] = {Held(BytesAt(q + column)), Held(BytesAt(q + column + 1))};
  (AddPair<Side, SegmentPairs, (R - Row) * row_pairs(Side) + Pair>(f, Row, window, sums[Row]), ...);
}

template <int Side, int SegmentPairs, int R, int... Pair>
HWY_INLINE void AddRingRow(std::integer_sequence<int, Pair...>, const Frame& f, Sums (&sums)[rows]) {
  const auto* q = static_cast<const std::uint8_t*>(f.ring[R]) + f.x;
  asm("" : "+r"(q));  // or GCC keeps x + 1, x + 2, ... in registers
  (AddWindow<Side, SegmentPairs, R, Pair>(std::make_integer_sequence<int, rows>(), f, q, sums), ...);
}

template <int Side, int SegmentPairs, int... R>
HWY_INLINE void AddRingRows(std::integer_sequence<int, R...>, const Frame& f, Sums (&sums)[rows]) {
  (AddRingRow<Side, SegmentPairs, R>(std::make_integer_sequence<int, row_pairs(Side)>(), f, sums), ...);
}

template <int Side, int SegmentPairs>
void FilterWords(const Kernel& kernel, const Block& block) {
  const WordFilter& k = *static_cast<const WordFilter*>(kernel.packed.get());
  const Target to(block);
  std::uint8_t rest[rows][samples];  // of a block that is not whole
  for (int x = 0; x < to.n; x += samples) {
    block.ahead.fetch<true>(x, samples);
    const int n = std::min(to.n - x, samples);
    const bool whole = to.out[rows - 1] && n == samples;
    Frame frame{k, k.taps.pairs.data(), k.start.data(), k.taps.left_over, block.rows, x, {}};
    for (int i = 0; i < rows; ++i) frame.out[i] = whole ? to.out[i] + x : rest[i];
    Sums sums[rows];
    AddRingRows<Side, SegmentPairs>(std::make_integer_sequence<int, Side + rows - 1>(), frame, sums);
    if (whole) continue;
    for (int i = 0; i < rows; ++i)
      if (to.out[i]) std::memcpy(to.out[i] + x, rest[i], n);
  }
}

template <int Side>
decltype(Kernel::run) WordFilterOf(int segment_pairs) {
  constexpr int all = Side * row_pairs(Side);
  return segment_pairs == 2 ? FilterWords<Side, 2> : segment_pairs == 3 ? FilterWords<Side, 3> : FilterWords<Side, all>;
}

decltype(Kernel::run) WordFilterOfSide(int side, int segment_pairs) {
  if (side == 3) return WordFilterOf<3>(segment_pairs);
  return side == 5 ? WordFilterOf<5>(segment_pairs) : WordFilterOf<7>(segment_pairs);
}

}  // namespace

dot::WordFunctions DotWordSums() {
  return {rows, samples, WordFilterOfSide};
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

namespace {

// Instructions for 32 samples, on the scale of the other engines: for one of them each sample takes a sixteenth.
double cost_of(const dot::WordTaps& taps) {
  const double pairs = static_cast<double>(taps.pairs.size()) + 1.5 * static_cast<double>(taps.left_over.size());
  return (4 * pairs + 6 * static_cast<double>(taps.start.size()) + 28) / 24;
}

// The taps in segments of as many pairs as take the fewest instructions, and the division of their sums.
std::optional<dot::WordFilter> pack_words(const std::vector<std::int32_t>& taps, int side, double divisor,
                                          double constant, int& segment_pairs) {
  using namespace dot;
  std::optional<WordFilter> best;
  for (const int pairs : {side * row_pairs(side), 3, 2}) {
    std::optional<WordTaps> with = make_word_taps(taps, side, side, pairs);
    if (!with || (best && cost_of(*with) >= cost_of(best->taps))) continue;
    const std::optional<WordQuotient> q = make_word_quotient(*with, divisor, constant);
    if (!q) continue;
    segment_pairs = pairs;
    std::vector<TwoWords> start;
    for (const std::int32_t word : with->start) start.push_back(two_words(word));
    best = WordFilter{*std::move(with),          std::move(start),         q->saturates,
                      two_words(q->ties),        two_words(q->multiplier), two_words(q->divisor),
                      two_words(q->divisor / 2), two_words(q->less)};
  }
  return best;
}

}  // namespace

bool make_dot_word_sums(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                        const IntegerTaps& taps) {
  using namespace dot;
  const WordFunctions functions = HWY_DYNAMIC_DISPATCH(DotWordSums)();
  const int side = desc.filter.width();
  if (functions.rows == 0 || use_vnni() || group.components != 1 || desc.filter.depth() != 1 ||
      desc.filter.height() != side || (side != 3 && side != 5 && side != 7))
    return false;
  Kernel& kernel = engine.kernel;
  set_shape_and_quantization(kernel, desc, arithmetic, group, taps);
  const Quantization& q = kernel.quantization;
  const double constant = q.offset.wide.front() * q.divisor - group.component[0]->zero * static_cast<double>(taps.sum);
  int segment_pairs = 0;
  std::optional<WordFilter> packed = pack_words(taps.taps, side, q.divisor, constant, segment_pairs);
  if (!packed || q.max != 255) return false;
  engine.name = name_of(false, false);
  engine.cost = cost_of(packed->taps);
  engine.element_size = 1;
  engine.block_rows = functions.rows;
  engine.block_samples = functions.samples;
  engine.reads_past = side - 1;
  kernel.packed = std::make_shared<WordFilter>(*std::move(packed));
  kernel.run = functions.filter(side, segment_pairs);
  return true;
}

}  // namespace convolve::cpu
#endif
