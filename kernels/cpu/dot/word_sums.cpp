// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_sums.hpp"

#include <cmath>
#include <utility>

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

struct WordFilter {
  WordTaps taps;
  BlockEpilogue epilogue;
  std::int32_t start;  // of the 32-bit sums
};

// The functions of a SIMD target; rows is 0 where it has none.
struct WordFunctions {
  int rows = 0, samples = 0;
  decltype(Kernel::run) (*filter)(int side, int segment_rows) = nullptr;
};

}  // namespace convolve::cpu::dot
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX2 && !defined(CONVOLVE_EMULATE)
namespace {

using dot::WordFilter, dot::WordTaps;

constexpr int rows = 4;  // of a block

HWY_INLINE Ints AddWords(Ints a, Ints b) {
  const Tag<std::int16_t> d;
  Ints sum = hn::BitCast(Tag<std::int32_t>(), hn::Add(hn::BitCast(d, a), hn::BitCast(d, b)));
  asm("" : "+x"(sum.raw));  // or GCC adds up products first, and keeps them in memory
  return sum;
}

HWY_INLINE Ints WordsOf(std::int32_t value) {
  return hn::BitCast(Tag<std::int32_t>(), hn::Set(Tag<std::int16_t>(), static_cast<std::int16_t>(value)));
}

HWY_INLINE Ints BytesAt(const std::uint8_t* p) {
  return hn::BitCast(Tag<std::int32_t>(), hn::LoadU(Tag<std::uint8_t>(), p));
}

// 16-bit sums of a row: of the outputs at even places, and of those at odd places.
using WordSums = Ints[2];
// 32-bit sums of a row: of each 128-bit part even outputs 0, 2, 4, 6 and 8 to 14, then odd ones likewise.
using RowSums = Ints[vectors];

// A block's sums on their way. held: of a first segment, until the second one is there.
struct Sums {
  WordSums words[rows], held[rows];
  RowSums total[rows];
};

// Adds the sums of two segments.
HWY_INLINE void Widen(const WordSums& a, const WordSums& b, const RowSums& from, RowSums& to) {
  const Tag<std::int16_t> d;
  const Tag<std::int32_t> d32;
  const Ints ones = WordsOf(1);
  CONVOLVE_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    const auto first = hn::BitCast(d, a[odd]), second = hn::BitCast(d, b[odd]);
    const Ints low = hn::BitCast(d32, hn::InterleaveLower(d, first, second));
    const Ints high = hn::BitCast(d32, hn::InterleaveUpper(d, first, second));
    to[2 * odd] = hn::Add(from[2 * odd], MultiplyWords(low, ones));
    to[2 * odd + 1] = hn::Add(from[2 * odd + 1], MultiplyWords(high, ones));
  }
}

// The sums of the segment of what is left over, of one output row.
HWY_INLINE void SumLeftOver(const WordTaps& taps, const void* const* ring, int x, WordSums& sum) {
  sum[0] = sum[1] = WordsOf(taps.start.back());
  for (const WordTaps::LeftOver& pair : taps.left_over) {
    const auto* p = static_cast<const std::uint8_t*>(ring[pair.row]) + x + pair.column;
    const Ints two = hn::Set(Tag<std::int32_t>(), pair.taps);
    sum[0] = AddWords(sum[0], MultiplyBytes(BytesAt(p), two));
    sum[1] = AddWords(sum[1], MultiplyBytes(BytesAt(p + 1), two));
  }
}

HWY_INLINE Bytes BytesOf(const EpilogueConstants& r, bool saturates, const Phase& phase, const RowSums& sum) {
  const Tag<float> df;
  const Tag<std::int16_t> dw;
  const Tag<std::int32_t> d;
  if (saturates) {
    const auto even = hn::BitCast(dw, PackInts(sum[0], sum[1])), odd = hn::BitCast(dw, PackInts(sum[2], sum[3]));
    return PackWords(hn::BitCast(d, hn::InterleaveLower(dw, even, odd)),
                     hn::BitCast(d, hn::InterleaveUpper(dw, even, odd)));
  }
  const Floats offset = hn::Load(df, phase.offset[0]);
  Ints value[vectors];
  CONVOLVE_UNROLL
  for (int b = 0; b < vectors; ++b)
    value[b] = hn::BitCast(d, hn::Add(hn::MulAdd(hn::ConvertTo(df, sum[b]), r.gain, offset), r.round));
  return PackWords(LowWords(value[0], value[2]), LowWords(value[1], value[3]));
}

// What the kernel needs all the way.
struct Frame {
  const WordFilter& k;
  const void* const* ring;
  const Target& to;
  const EpilogueConstants& constants;
  const Phase& phase;
};

// Ends tap row K of output row i, whose sums of words are there.
template <int Side, int SegmentRows, int K>
HWY_INLINE void EndTapRow(const Frame& f, int x, int i, Sums& sums) {
  constexpr int segment = K / SegmentRows;
  constexpr bool last = K == Side - 1, second = segment % 2 == 1;
  if constexpr (!last && (K + 1) % SegmentRows != 0) return;
  RowSums from;
  CONVOLVE_UNROLL
  for (int b = 0; b < vectors; ++b) from[b] = segment < 2 ? hn::Set(Tag<std::int32_t>(), f.k.start) : sums.total[i][b];
  if constexpr (second) {
    Widen(sums.held[i], sums.words[i], from, sums.total[i]);
  } else if constexpr (last) {
    WordSums left_over;
    SumLeftOver(f.k.taps, f.ring + i, x, left_over);
    Widen(sums.words[i], left_over, from, sums.total[i]);
  } else {
    sums.held[i][0] = sums.words[i][0];
    sums.held[i][1] = sums.words[i][1];
  }
  if constexpr (last) {
    const bool saturates = f.k.epilogue.epilogue == Epilogue::saturate;
    if (f.to.out[i]) Store<true>(f.to, f.phase, i, x, BytesOf(f.constants, saturates, f.phase, sums.total[i]));
  }
}

// Adds tap row K to output row i.
template <int Side, int SegmentRows, int K>
HWY_INLINE void AddTapRow(const Frame& f, int x, int i, const Ints (&window)[Side], Sums& sums) {
  constexpr int pairs = Side / 2 + 1;
  if constexpr (K >= 0 && K < Side) {
    const WordTaps& taps = f.k.taps;
    if constexpr (K % SegmentRows == 0) sums.words[i][0] = sums.words[i][1] = WordsOf(taps.start[K / SegmentRows]);
    CONVOLVE_UNROLL
    for (int p = 0; p < pairs; ++p) {
      const Ints two = hn::Set(Tag<std::int32_t>(), taps.pairs[K * pairs + p]);
      const int column = dot::pair_column(p, Side);
      sums.words[i][0] = AddWords(sums.words[i][0], MultiplyBytes(window[column], two));
      sums.words[i][1] = AddWords(sums.words[i][1], MultiplyBytes(window[column + 1], two));
    }
    EndTapRow<Side, SegmentRows, K>(f, x, i, sums);
  }
}

template <int Side, int SegmentRows, int R>
HWY_INLINE void AddRingRow(const Frame& f, int x, Sums& sums) {
  const auto* q = static_cast<const std::uint8_t*>(f.ring[R]) + x;
  Ints window[Side];
  CONVOLVE_UNROLL
  for (int c = 0; c < Side; ++c) window[c] = BytesAt(q + c);
  AddTapRow<Side, SegmentRows, R>(f, x, 0, window, sums);
  AddTapRow<Side, SegmentRows, R - 1>(f, x, 1, window, sums);
  AddTapRow<Side, SegmentRows, R - 2>(f, x, 2, window, sums);
  AddTapRow<Side, SegmentRows, R - 3>(f, x, 3, window, sums);
}

template <int Side, int SegmentRows, int... R>
HWY_INLINE void AddRingRows(std::integer_sequence<int, R...>, const Frame& f, int x, Sums& sums) {
  (AddRingRow<Side, SegmentRows, R>(f, x, sums), ...);
}

template <int Side, int SegmentRows>
void FilterWords(const Kernel& kernel, const Block& block) {
  const WordFilter& k = *static_cast<const WordFilter*>(kernel.packed.get());
  const EpilogueConstants constants(kernel.quantization);
  const Target to(block);
  const Frame frame{k, block.rows, to, constants, k.epilogue.phases.front()};
  for (int x = 0; x < to.n; x += samples) {
    block.ahead.fetch<true>(x, samples);
    Sums sums;
    AddRingRows<Side, SegmentRows>(std::make_integer_sequence<int, Side + rows - 1>(), frame, x, sums);
  }
}

decltype(Kernel::run) WordFilterOf(int side, int segment_rows) {
  if (side == 3) return segment_rows == 2 ? FilterWords<3, 2> : FilterWords<3, 3>;
  return segment_rows == 1 ? FilterWords<5, 1> : segment_rows == 2 ? FilterWords<5, 2> : FilterWords<5, 5>;
}

}  // namespace

dot::WordFunctions DotWordSums() {
  return {rows, samples, WordFilterOf};
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
double cost_of(const dot::WordTaps& taps, int side) {
  const double products = 2 * (static_cast<double>(taps.pairs.size()) + 2 * static_cast<double>(taps.left_over.size()));
  return (2 * products + 6 * static_cast<double>(taps.start.size()) + 20 + side) / 24;
}

}  // namespace

bool make_dot_word_sums(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                        const IntegerTaps& taps) {
  using namespace dot;
  const WordFunctions functions = HWY_DYNAMIC_DISPATCH(DotWordSums)();
  const int side = desc.filter.width();
  if (functions.rows == 0 || use_vnni() || group.components != 1 || desc.filter.depth() != 1 ||
      desc.filter.height() != side || (side != 3 && side != 5))
    return false;
  std::optional<WordTaps> packed;
  double cost = 0;
  int segment_rows = 0;
  for (const int rows : {side, 2, 1}) {
    if (side == 3 && rows == 1) continue;
    std::optional<WordTaps> with = make_word_taps(taps.taps, side, side, rows);
    if (!with) continue;
    if (const double c = cost_of(*with, side); !packed || c < cost) {
      packed = std::move(with);
      cost = c;
      segment_rows = rows;
    }
  }
  if (!packed) return false;
  Kernel& kernel = engine.kernel;
  set_shape_and_quantization(kernel, desc, arithmetic, group, taps);
  double max_magnitude = 0;
  for (const int tap : taps.taps) max_magnitude += std::abs(tap) * 255.0 / kernel.quantization.divisor;
  const BlockEpilogue epilogue(kernel.quantization, group, static_cast<double>(taps.sum), max_magnitude);
  if (epilogue.epilogue == Epilogue::division || kernel.quantization.max != 255) return false;
  engine.name = name_of(false, false);
  engine.cost = cost;
  engine.element_size = 1;
  engine.block_rows = functions.rows;
  engine.block_samples = functions.samples;
  engine.reads_past = side - 1;
  const std::int32_t start = epilogue.phases.front().start[0][0] - packed->excess;
  kernel.packed = std::make_shared<WordFilter>(WordFilter{*std::move(packed), epilogue, start});
  kernel.run = functions.filter(side, segment_rows);
  return true;
}

}  // namespace convolve::cpu
#endif
