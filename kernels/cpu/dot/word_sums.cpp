// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_sums.hpp"

#include <algorithm>
#include <optional>
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
  std::vector<TwoWords> start;  // [segment][parity]
  bool saturates, ties;         // see WordQuotient
  TwoWords multiplier, divisor, half, less;
};

// Bytes of both halves of a 128-bit part in turns.
alignas(16) constexpr std::uint8_t in_turns[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};

// The functions of a SIMD target; rows is 0 where it has none.
struct WordFunctions {
  int rows = 0, samples = 0;
  decltype(Kernel::run) (*filter)(int side, int segment_pairs, bool one_more) = nullptr;
};

}  // namespace convolve::cpu::dot
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX2 && !defined(CONVOLVE_EMULATE)
namespace {

using dot::windows_of, dot::WordFilter, dot::WordTaps;
using Words = Vector<std::uint16_t>;

constexpr int rows = 4;         // of a block
constexpr int sums = 2 * rows;  // of a block: an output row's words at even places, and those at odd places
constexpr int at_once = 4;      // of those that are divided

// From memory where it stands: GCC would keep it in a general register, or in memory as a vector.
HWY_INLINE Words TwoWordsAt(const std::int32_t& two) {
  Words all;
  asm volatile("vpbroadcastd %1, %0" : "=x"(all.raw) : "m"(two));
  return all;
}

// Loaded where it stands: more would not stay in registers.
HWY_INLINE Bytes BytesAt(const std::uint8_t* p) {
  Bytes bytes = hn::LoadU(Tag<std::uint8_t>(), p);
  asm volatile("" : "+x"(bytes.raw));
  return bytes;
}

// Of one parity, each output row's segment on its way.
using Segment = Words[rows];

// The windows that output rows 0 to 3 have for a row of taps.
struct Windows {
  const Bytes &w0, &w1, &w2, &w3;
};

// Adds a pair of taps. As text: GCC would add up products first and move sums about, for which there are no registers.
HWY_INLINE void AddPair(Segment& sum, const Windows& in, const dot::TapPair& taps) {
  Words tap, product;
  asm("vpbroadcastd %[taps], %[tap]\n\t"
      "vpmaddubsw %[tap], %[w0], %[product]\n\t"
      "vpaddw %[product], %[s0], %[s0]\n\t"
      "vpmaddubsw %[tap], %[w1], %[product]\n\t"
      "vpaddw %[product], %[s1], %[s1]\n\t"
      "vpmaddubsw %[tap], %[w2], %[product]\n\t"
      "vpaddw %[product], %[s2], %[s2]\n\t"
      "vpmaddubsw %[tap], %[w3], %[product]\n\t"
      "vpaddw %[product], %[s3], %[s3]"
      : [s0] "+x"(sum[0].raw), [s1] "+x"(sum[1].raw), [s2] "+x"(sum[2].raw), [s3] "+x"(sum[3].raw),
        [tap] "=&x"(tap.raw), [product] "=&x"(product.raw)
      : [w0] "x"(in.w0.raw), [w1] "x"(in.w1.raw), [w2] "x"(in.w2.raw), [w3] "x"(in.w3.raw), [taps] "m"(taps));
}

// Begins a segment with a pair of taps.
HWY_INLINE void BeginWithPair(Segment& sum, const Windows& in, const dot::TapPair& taps, const dot::TwoWords& from) {
  Words tap, start;
  asm("vpbroadcastd %[taps], %[tap]\n\t"
      "vpbroadcastd %[from], %[start]\n\t"
      "vpmaddubsw %[tap], %[w0], %[s0]\n\t"
      "vpaddw %[start], %[s0], %[s0]\n\t"
      "vpmaddubsw %[tap], %[w1], %[s1]\n\t"
      "vpaddw %[start], %[s1], %[s1]\n\t"
      "vpmaddubsw %[tap], %[w2], %[s2]\n\t"
      "vpaddw %[start], %[s2], %[s2]\n\t"
      "vpmaddubsw %[tap], %[w3], %[s3]\n\t"
      "vpaddw %[start], %[s3], %[s3]"
      : [s0] "=&x"(sum[0].raw), [s1] "=&x"(sum[1].raw), [s2] "=&x"(sum[2].raw), [s3] "=&x"(sum[3].raw),
        [tap] "=&x"(tap.raw), [start] "=&x"(start.raw)
      : [w0] "x"(in.w0.raw), [w1] "x"(in.w1.raw), [w2] "x"(in.w2.raw), [w3] "x"(in.w3.raw), [taps] "m"(taps),
        [from] "m"(from));
}

// Segments that are summed up, in memory: of each, output row by output row, both parities.
HWY_INLINE void KeepSegments(const Segment& even, const Segment& odd, Words* to) {
  CONVOLVE_UNROLL
  for (int i = 0; i < rows; ++i) {
    to[2 * i] = even[i];
    to[2 * i + 1] = odd[i];
  }
}

// A pair that is left over, and where its windows are in the rows of a block.
struct LeftOverAt {
  const std::uint8_t* row[rows];
  dot::TapPair taps;
};

HWY_INLINE void AddLeftOver(Segment& sum, const LeftOverAt* from, const LeftOverAt* until, int x) {
  for (; from != until; ++from) {
    Bytes w[rows];
    for (int i = 0; i < rows; ++i) w[i] = BytesAt(from->row[i] + x);
    AddPair(sum, {w[0], w[1], w[2], w[3]}, from->taps);
  }
}

// What the kernel needs all the way. Stores of bytes may change anything, so that what is used after them is copied.
struct Frame {
  const dot::TapPair* taps;
  const dot::TwoWords* start;
  const int* columns;
  const void* const* ring;
  LeftOverAt left_over[dot::max_left_over];
  const LeftOverAt* left_over_of[3] = {left_over};  // where those of each parity begin, and the end

  Frame(const WordFilter& k, const void* const* ring_rows)
      : taps(k.taps.pairs.data()), start(k.start.data()), columns(k.taps.columns.data()), ring(ring_rows) {
    LeftOverAt* next = left_over;
    for (int p = 0; p < 2; ++p) {
      for (const WordTaps::LeftOver& pair : k.taps.parity[p].left_over) {
        for (int i = 0; i < rows; ++i) next->row[i] = row(pair.row + i) + pair.column;
        next++->taps = pair.taps;
      }
      left_over_of[p + 1] = next;
    }
  }

  HWY_INLINE const std::uint8_t* row(int r) const { return static_cast<const std::uint8_t*>(ring[r]); }
};

// A block on its way: a segment of each parity, and the windows of ring rows r in w[r % rows].
struct Sums {
  Segment even, odd;
  Bytes w[rows];
  Words* kept;
};

// Adds the pairs of tap row R of the windows of number P, of which those of four neighbouring ring rows stay in
// registers: each is loaded once for four rows of taps.
template <int Side, int SegmentPairs, bool OneMore, int P, int R>
HWY_INLINE void AddTapRow(const Frame& f, int at, Sums& to) {
  constexpr int pair = P * Side + R, all = Side * windows_of(Side), segment = pair / SegmentPairs;
  Bytes(&w)[rows] = to.w;
  w[(R + 3) % rows] = BytesAt(f.row(R + 3) + at);
  const Windows in{w[R % rows], w[(R + 1) % rows], w[(R + 2) % rows], w[(R + 3) % rows]};
  if constexpr (pair % SegmentPairs == 0) {
    BeginWithPair(to.even, in, f.taps[2 * pair], f.start[2 * segment]);
    BeginWithPair(to.odd, in, f.taps[2 * pair + 1], f.start[2 * segment + 1]);
  } else {
    AddPair(to.even, in, f.taps[2 * pair]);
    AddPair(to.odd, in, f.taps[2 * pair + 1]);
  }
  constexpr bool ends = pair == all - 1 ? OneMore : pair % SegmentPairs == SegmentPairs - 1;
  if constexpr (ends) KeepSegments(to.even, to.odd, to.kept + segment * sums);
}

template <int Side, int SegmentPairs, bool OneMore, int P, int... R>
HWY_INLINE void AddWindows(std::integer_sequence<int, R...>, const Frame& f, int x, Sums& to) {
  const int at = x + f.columns[P];
  for (int r = 0; r < 3; ++r) to.w[r] = BytesAt(f.row(r) + at);
  (AddTapRow<Side, SegmentPairs, OneMore, P, R>(f, at, to), ...);
}

template <int Side, int SegmentPairs, bool OneMore, int... P>
HWY_INLINE void SumUp(std::integer_sequence<int, P...>, const Frame& f, int x, Words* kept) {
  constexpr int last = (Side * windows_of(Side) - 1) / SegmentPairs + OneMore;
  Sums all;
  all.kept = kept;
  (AddWindows<Side, SegmentPairs, OneMore, P>(std::make_integer_sequence<int, Side>(), f, x, all), ...);
  if constexpr (OneMore) {
    CONVOLVE_UNROLL
    for (int i = 0; i < rows; ++i) {
      all.even[i] = TwoWordsAt(f.start[2 * last]);
      all.odd[i] = TwoWordsAt(f.start[2 * last + 1]);
    }
  }
  AddLeftOver(all.even, f.left_over_of[0], f.left_over_of[1], x);
  AddLeftOver(all.odd, f.left_over_of[1], f.left_over_of[2], x);
  KeepSegments(all.even, all.odd, kept + last * sums);
}

// Averages segments [First, First + 2^Level), of which those beyond the last one are 0, and adds them up as well.
template <int Segments, int First, int Level>
HWY_INLINE Words Average(const Words* segment, Words& total) {
  if constexpr (Level == 0) {
    const Words one = Held(segment[First * sums]);
    total = First == 0 ? one : Held(hn::Add(total, one));
    return one;
  } else {
    constexpr int second = First + (1 << (Level - 1));
    const Words average = Average<Segments, First, Level - 1>(segment, total);
    if constexpr (second < Segments)
      return Held(hn::AverageRound(average, Average<Segments, second, Level - 1>(segment, total)));
    return Held(hn::AverageRound(average, hn::Zero(Tag<std::uint16_t>())));
  }
}

struct Division {
  Words multiplier, divisor, half, less;
};

// To code values that are not yet clamped to bytes; see dot::WordQuotient. Four at a time, step by step: one alone
// would wait for itself.
template <bool Ties>
HWY_INLINE void Divide(const Division& by, const Words* total, const Words* average, Words (&code)[at_once]) {
  const Tag<std::int16_t> d;
  const Tag<std::uint16_t> du;
  Words rest[at_once];
  const auto each = [](auto step) {
    CONVOLVE_UNROLL
    for (int i = 0; i < at_once; ++i) step(i);
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

// Makes the bytes of a block from its segments.
template <int Segments>
HWY_INLINE void MakeBytes(const WordFilter& k, const Words* kept, std::uint8_t* const (&out)[rows]) {
  const Tag<std::uint8_t> d;
  const Tag<std::uint16_t> du;
  const Tag<std::int32_t> d32;
  const Division by{TwoWordsAt(k.multiplier), TwoWordsAt(k.divisor), TwoWordsAt(k.half), TwoWordsAt(k.less)};
  CONVOLVE_UNROLL
  for (int first = 0; first < sums; first += at_once) {
    Words total[at_once], average[at_once];
    CONVOLVE_UNROLL
    for (int i = 0; i < at_once; ++i)
      average[i] = Average<Segments, 0, dot::average_levels(Segments)>(kept + first + i, total[i]);
    Words code[at_once];
    if (Segments == 1 && k.saturates) {
      for (int i = 0; i < at_once; ++i) code[i] = hn::Min(hn::SaturatedSub(total[i], by.less), hn::Set(du, 255));
    } else if (k.ties) {
      Divide<true>(by, total, average, code);
    } else {
      Divide<false>(by, total, average, code);
    }
    for (int i = 0; i < at_once; i += 2) {
      const Bytes bytes = PackWords(hn::BitCast(d32, code[i]), hn::BitCast(d32, code[i + 1]));
      hn::StoreU(hn::TableLookupBytes(bytes, hn::LoadDup128(d, dot::in_turns)), d, out[(first + i) / 2]);
    }
  }
}

template <int Side, int SegmentPairs, bool OneMore>
void FilterWords(const Kernel& kernel, const Block& block) {
  constexpr int segments = (Side * windows_of(Side) - 1) / SegmentPairs + 1 + OneMore;
  const WordFilter& k = *static_cast<const WordFilter*>(kernel.packed.get());
  const Target to(block);
  const Frame frame(k, block.rows);
  Words kept[segments * sums];
  std::uint8_t rest[rows][samples];  // of a block that is not whole
  for (int x = 0; x < to.n; x += samples) {
    block.ahead.fetch<true>(x, samples);
    const int n = std::min(to.n - x, samples);
    const bool whole = to.out[rows - 1] && n == samples;
    std::uint8_t* out[rows];
    for (int i = 0; i < rows; ++i) out[i] = whole ? to.out[i] + x : rest[i];
    SumUp<Side, SegmentPairs, OneMore>(std::make_integer_sequence<int, windows_of(Side)>(), frame, x, kept);
    MakeBytes<segments>(k, kept, out);
    for (int i = 0; i < rows && !whole; ++i)
      if (to.out[i]) std::memcpy(to.out[i] + x, rest[i], n);
  }
}

template <int Side>
decltype(Kernel::run) WordFilterOf(int segment_pairs, bool one_more) {
  constexpr int all = Side * windows_of(Side);
  if (segment_pairs == 2) return one_more ? FilterWords<Side, 2, true> : FilterWords<Side, 2, false>;
  if (segment_pairs == 3) return one_more ? FilterWords<Side, 3, true> : FilterWords<Side, 3, false>;
  return one_more ? FilterWords<Side, all, true> : FilterWords<Side, all, false>;
}

decltype(Kernel::run) WordFilterOfSide(int side, int segment_pairs, bool one_more) {
  if (side == 3) return WordFilterOf<3>(segment_pairs, one_more);
  return side == 5 ? WordFilterOf<5>(segment_pairs, one_more) : WordFilterOf<7>(segment_pairs, one_more);
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
  const double pairs = static_cast<double>(taps.pairs.size()) / 2 + 0.75 * taps.left_over();
  return (4 * pairs + 6 * taps.segments() + 25) / 24;
}

// The taps in segments of as many pairs as take the fewest instructions, and the division of their sums.
std::optional<dot::WordFilter> pack_words(const std::vector<std::int32_t>& taps, int side, double divisor,
                                          double constant, int& segment_pairs) {
  using namespace dot;
  std::optional<WordFilter> best;
  for (const int pairs : {side * windows_of(side), 3, 2}) {
    std::optional<WordTaps> with = make_word_taps(taps, side, side, pairs);
    if (!with || (best && cost_of(*with) >= cost_of(best->taps))) continue;
    const std::optional<WordQuotient> q = make_word_quotient(*with, divisor, constant);
    if (!q) continue;
    segment_pairs = pairs;
    std::vector<TwoWords> start;
    for (int s = 0; s < with->segments(); ++s)
      for (const WordTaps::Parity& of : with->parity) start.push_back(two_words(of.start[s]));
    best = WordFilter{
        *std::move(with),      std::move(start),          q->saturates,      q->ties, two_words(q->multiplier),
        two_words(q->divisor), two_words(q->divisor / 2), two_words(q->less)};
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
  kernel.run = functions.filter(side, segment_pairs, packed->taps.one_more);
  kernel.packed = std::make_shared<WordFilter>(*std::move(packed));
  return true;
}

}  // namespace convolve::cpu
#endif
