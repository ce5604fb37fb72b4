// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/fixed16/separable.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "cpu/engine/integer_taps.hpp"
#include "cpu/fixed16/packing.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/fixed16/separable.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/fixed16/staging-inl.hpp"

#ifndef CONVOLVE_FIXED16_SEPARABLE_CPP_ONCE
#define CONVOLVE_FIXED16_SEPARABLE_CPP_ONCE
namespace convolve::cpu::fixed16 {

// The functions of a SIMD target; null where it has none.
struct Functions {
  int samples = 0;
  decltype(Staging::run) stage[2];  // by "exact"
  decltype(RowPass::run) (*along)(bool exact, Axis axis, bool one_component) = nullptr;
  decltype(Kernel::run) (*down)(bool exact, Axis axis, bool centred) = nullptr;
};

constexpr int block_rows = 4;
// Columns at a time, so that the ring is read from the first level cache for all output rows but the first.
constexpr int columns_at_once = 512;

}  // namespace convolve::cpu::fixed16
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
// In plain C++ it is for tests alone, where a sanitizer follows each lane.
#if HWY_TARGET != HWY_SCALAR && (HWY_TARGET != HWY_EMU128 || defined(CONVOLVE_EMULATE))
namespace {

using fixed16::Axis, fixed16::block_rows, fixed16::columns_at_once, fixed16::PackedColumn, fixed16::PackedTaps,
    fixed16::Words;
template <int Taps, bool Mirrored>
constexpr int products = Mirrored ? (Taps + 1) / 2 : Taps;

template <int N>
HWY_INLINE void SetTaps(const Words& taps, Word (&tap)[N]) {
  for (int i = 0; i < N; ++i) tap[i] = hn::Set(Tag<std::int16_t>(), taps[i]);
}

// The samples under the taps of an axis.
struct OnRow {
  const std::int16_t* p;
  int step;
  HWY_INLINE Word At(int tap) const { return LoadWords(p + tap * step); }
};
struct OnColumn {
  const void* const* rows;
  int x;
  HWY_INLINE Word At(int tap) const { return LoadWords(static_cast<const std::int16_t*>(rows[tap]) + x); }
};

template <bool Exact, int Taps, bool Mirrored, int I, class Line>
HWY_INLINE Word ProductOf(const Word* tap, const Line& line) {
  if constexpr (Mirrored && I < Taps / 2)
    return Product<Exact>(hn::Add(line.At(I), line.At(Taps - 1 - I)), tap[I]);
  else
    return Product<Exact>(line.At(I), tap[I]);
}

template <bool Exact, int Taps, bool Mirrored, class Line, int... I>
HWY_INLINE Word SumOfEach(std::integer_sequence<int, I...>, const Word* tap, const Line& line) {
  Word sum = ProductOf<Exact, Taps, Mirrored, 0>(tap, line);
  ((sum = hn::Add(sum, ProductOf<Exact, Taps, Mirrored, I + 1>(tap, line))), ...);
  return sum;
}

template <bool Exact, int Taps, bool Mirrored, class Line>
HWY_INLINE Word SumOf(const Word (&tap)[products<Taps, Mirrored>], const Line& line) {
  return SumOfEach<Exact, Taps, Mirrored>(std::make_integer_sequence<int, products<Taps, Mirrored> - 1>(), tap, line);
}

template <bool Exact, int Taps, bool Mirrored, bool OneComponent>
void AlongRow(const RowPass& pass, const void* line, void* elements, int n) {
  const auto& k = *static_cast<const PackedTaps*>(pass.packed.get());
  const auto* in = static_cast<const std::int16_t*>(line);
  auto* out = static_cast<std::int16_t*>(elements);
  const int step = OneComponent ? 1 : pass.components;
  Word tap[products<Taps, Mirrored>];
  SetTaps(k.taps, tap);
  for (int x = 0; x < n; x += 2 * words) {
    const Word first = SumOf<Exact, Taps, Mirrored>(tap, OnRow{in + x, step});
    const Word second = SumOf<Exact, Taps, Mirrored>(tap, OnRow{in + x + words, step});
    hn::StoreU(first, Tag<std::int16_t>(), out + x);
    hn::StoreU(second, Tag<std::int16_t>(), out + x + words);
  }
}

// The constants of the epilogue.
struct EpilogueConstants {
  Word multiplier, second, divisor, half, one;
  Epilogue epilogue;
  bool twice;
  explicit EpilogueConstants(const PackedColumn& k) : epilogue(k.epilogue), twice(k.second != 0) {
    const Tag<std::int16_t> d;
    multiplier = hn::Set(d, k.multiplier);
    second = hn::Set(d, k.second);
    divisor = hn::Set(d, k.divisor);
    half = hn::Set(d, k.half);
    one = hn::Set(d, 1);
  }
};

// The upper halves of products without signs.
HWY_INLINE Word HighProduct(Word a, Word b) {
  const Tag<std::uint16_t> du;
  return hn::BitCast(Tag<std::int16_t>(), hn::MulHigh(hn::BitCast(du, a), hn::BitCast(du, b)));
}

// Ties go to even where integers divide; only even divisors have them.
template <bool Exact>
HWY_INLINE Word Finish(const EpilogueConstants& f, Word sum, Word start) {
  if (!Exact) return hn::MulFixedPoint15(hn::SaturatedAdd(sum, start), f.multiplier);
  const Word from = hn::Add(sum, start);
  Word value = HighProduct(from, f.multiplier);
  if (f.epilogue == Epilogue::power_of_2)
    return HighProduct(hn::Add(hn::Add(from, f.half), hn::And(value, f.one)), f.multiplier);
  if (f.twice) value = HighProduct(value, f.second);
  if (f.epilogue == Epilogue::odd) return value;
  const Word tie = hn::VecFromMask(Tag<std::int16_t>(), hn::Eq(hn::Mul(value, f.divisor), from));
  return hn::Sub(value, hn::And(hn::And(value, f.one), tie));
}

// To bytes, saturated, in order.
HWY_INLINE Vector<std::uint8_t> PackWords(Word low, Word high) {
#if HWY_TARGET == HWY_AVX3
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return {_mm512_permutexvar_epi64(order, _mm512_packus_epi16(low.raw, high.raw))};
#elif HWY_TARGET == HWY_AVX2
  return {_mm256_permute4x64_epi64(_mm256_packus_epi16(low.raw, high.raw), 0xD8)};
#else
  const Tag<std::uint8_t> d;
  const hn::Half<Tag<std::uint8_t> > dh;
  return hn::Combine(d, hn::DemoteTo(dh, high), hn::DemoteTo(dh, low));
#endif
}

// An output row, the input under it, and what is asked for beside it: of the block of rows below.
struct Line {
  const void* const* ring;
  std::uint8_t* out;
  const std::uint8_t* centre;
  const char *next_in, *next_out;
};

// What the centre tap adds to a vector of sums from `start` on. Twice the largest word is a product too: its sign is
// turned.
HWY_INLINE Word AddCentre(const std::uint8_t* p, Word less_centre, Word start) {
  return hn::Sub(start, hn::MulFixedPoint15(hn::ShiftLeft<7>(LoadSamples<true>(p, start, start)), less_centre));
}

// Samples [x, end) of a row; `phase`: the first one's component.
template <bool Exact, int Taps, bool Mirrored, bool Centred>
HWY_INLINE void DownRow(const PackedColumn& k, const EpilogueConstants& epilogue,
                        const Word (&tap)[products<Taps, Mirrored>], const Line& line, int x, int end, int phase,
                        int components) {
  constexpr int samples = lanes<std::uint8_t>;
  const Tag<std::uint8_t> db;
  const int turn = samples % components;
  const void* rows[Taps];
  std::copy_n(line.ring, Taps, rows);
  const std::int16_t* const start = k.start.data();
  const Word less_centre = hn::Set(Tag<std::int16_t>(), k.less_centre);
  Word low_start = LoadWords(start + phase), high_start = LoadWords(start + phase + words);
  for (; x < end; x += samples) {
    __builtin_prefetch(line.next_in + x, 0, 3);
    Ahead::fetch_own(line.next_out + x);
    const Word low = SumOf<Exact, Taps, Mirrored>(tap, OnColumn{rows, x});
    const Word high = SumOf<Exact, Taps, Mirrored>(tap, OnColumn{rows, x + words});
    Word low_from = low_start, high_from = high_start;
    if constexpr (Centred) {
      const std::uint8_t* centre = line.centre + x;
      std::uint8_t rest[samples];
      if (HWY_UNLIKELY(x + samples > end))
        centre = static_cast<const std::uint8_t*>(std::memcpy(rest, centre, end - x));
      low_from = AddCentre(centre, less_centre, low_start);
      high_from = AddCentre(centre + words, less_centre, high_start);
    }
    const auto bytes = PackWords(Finish<Exact>(epilogue, low, low_from), Finish<Exact>(epilogue, high, high_from));
    if (HWY_LIKELY(x + samples <= end)) {
      hn::StoreU(bytes, db, line.out + x);
    } else {
      std::uint8_t rest[samples];
      hn::StoreU(bytes, db, rest);
      std::memcpy(line.out + x, rest, end - x);
    }
    if (turn == 0) continue;
    phase = phase + turn < components ? phase + turn : phase + turn - components;
    low_start = LoadWords(start + phase);
    high_start = LoadWords(start + phase + words);
  }
}

template <bool Exact, int Taps, bool Mirrored, bool Centred>
void DownColumns(const Kernel& kernel, const Block& block) {
  const auto& k = *static_cast<const PackedColumn*>(kernel.packed.get());
  const EpilogueConstants epilogue(k);
  Word tap[products<Taps, Mirrored>];
  SetTaps(k.taps, tap);
  // Bytes of one frame are asked for on the way; others before.
  const bool on_the_way = block.ahead.step == 1 && block.ahead.inputs == Ahead::usual_rows;
  for (int x = 0; x < block.n; x += columns_at_once) {
    if (!on_the_way) block.ahead.fetch<true>(x, columns_at_once);
    for (int i = 0; i < block_rows; ++i) {
      auto* out = static_cast<std::uint8_t*>(block.out[i]);
      if (!out) continue;
      const auto* centre = Centred ? static_cast<const std::uint8_t*>(block.centre[i]) : nullptr;
      Line line{block.rows + i, out, centre, block.ahead.in[i], block.ahead.out[i]};
      if (!on_the_way) line.next_in = line.next_out = reinterpret_cast<const char*>(out);
      DownRow<Exact, Taps, Mirrored, Centred>(k, epilogue, tap, line, x, std::min(x + columns_at_once, block.n),
                                              x % kernel.components, kernel.components);
    }
  }
}

// By number of taps: 1, 2, 3, ... as they are, and 1, 3, 5, ... mirrored.
template <bool Exact, bool Mirrored>
constexpr std::make_integer_sequence<int, Mirrored ? (fixed16::max_taps(Exact, true) + 1) / 2
                                                   : fixed16::max_taps(Exact, false)>
    counts;
template <bool Mirrored>
constexpr int taps_at(int i) {
  return Mirrored ? 2 * i + 1 : i + 1;
}

template <bool Exact, bool Mirrored, bool OneComponent, int... I>
constexpr auto passes_of(std::integer_sequence<int, I...>) {
  return std::array{AlongRow<Exact, taps_at<Mirrored>(I), Mirrored, OneComponent>...};
}
template <bool Exact, bool Mirrored, bool Centred, int... I>
constexpr auto columns_of(std::integer_sequence<int, I...>) {
  return std::array{DownColumns<Exact, taps_at<Mirrored>(I), Mirrored, Centred>...};
}

template <bool Exact, bool OneComponent>
decltype(RowPass::run) AlongOf(Axis axis) {
  static constexpr auto plain = passes_of<Exact, false, OneComponent>(counts<Exact, false>);
  static constexpr auto mirrored = passes_of<Exact, true, OneComponent>(counts<Exact, true>);
  return axis.mirrored ? mirrored[axis.taps / 2] : plain[axis.taps - 1];
}

decltype(RowPass::run) Along(bool exact, Axis axis, bool one_component) {
  if (exact) return one_component ? AlongOf<true, true>(axis) : AlongOf<true, false>(axis);
  return one_component ? AlongOf<false, true>(axis) : AlongOf<false, false>(axis);
}

template <bool Exact, bool Centred>
decltype(Kernel::run) DownOf(Axis axis) {
  static constexpr auto plain = columns_of<Exact, false, Centred>(counts<Exact, false>);
  static constexpr auto mirrored = columns_of<Exact, true, Centred>(counts<Exact, true>);
  return axis.mirrored ? mirrored[axis.taps / 2] : plain[axis.taps - 1];
}

// Exact: without a centre tap.
decltype(Kernel::run) Down(bool exact, Axis axis, bool centred) {
  if (exact) return DownOf<true, false>(axis);
  return centred ? DownOf<false, true>(axis) : DownOf<false, false>(axis);
}

}  // namespace

fixed16::Functions FixedSeparable() {
  return {lanes<std::uint8_t>, {Stage<false>, Stage<true>}, Along, Down};
}
#else
fixed16::Functions FixedSeparable() {
  return {};
}
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(FixedSeparable);

bool make_fixed16_separable(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                            const ComponentGroup& group, const std::vector<double>& column,
                            const std::vector<double>& row, double centre) {
  using namespace fixed16;
  const Functions functions = HWY_DYNAMIC_DISPATCH(FixedSeparable)();
  const bool exact = arithmetic.accumulator == Accumulator::exact;
  const std::ptrdiff_t most_taps = max_taps(exact, true);
  if (!functions.along || std::ssize(column) > most_taps || std::ssize(row) > most_taps ||
      arithmetic.accumulator == Accumulator::double_ || desc.layout.max_value() != 255 ||
      !holds_bytes(desc.layout, desc.border, group) || (desc.filter.depth() > 1 && !combines_frames(desc.filter)) ||
      (centre != 0 && (exact || desc.filter.depth() > 1)))
    return false;
  const std::vector<double> weights = frame_weights(desc.filter, arithmetic);
  Kernel& kernel = engine.kernel;
  kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  const std::vector<double>& offset = kernel.quantization.offset.wide;
  const Factors factors{weights, column, row};
  Packed packed;
  if (!(exact ? pack_integers(packed, group, offset, arithmetic.divisor, factors)
              : pack_fractions(packed, group, offset, factors, centre)))
    return false;
  for (const Axis& axis : {packed.along, packed.down})
    if (axis.taps > max_taps(exact, axis.mirrored)) return false;

  engine.name = exact         ? "16-bit integers"
                : centre == 0 ? "16-bit fixed point"
                              : "16-bit fixed point, with a centre tap";
  engine.reads_centre = centre != 0;
  engine.element_size = 2;
  engine.block_rows = block_rows;
  engine.block_samples = functions.samples;
  engine.staging = make_staging(desc.layout, group);
  engine.staging.packed = packed.staging;
  engine.staging.run = functions.stage[exact];
  engine.staging.weights = weights;
  engine.row_passes = {
      {group.components, row, packed.row, 0, 2, functions.along(exact, packed.along, group.components == 1)}};
  kernel.height = desc.filter.height();
  kernel.components = group.components;
  kernel.packed = packed.column;
  kernel.run = functions.down(exact, packed.down, engine.reads_centre);
  // Measured, against the other engines of the same target.
  const auto axis_cost = [](const Axis& axis) { return (axis.mirrored || axis.taps == 1 ? 0.35 : 0.48) * axis.taps; };
  // Of vectors of 64 bytes, those that do not start on a cache line take as long as two.
  const bool long_vectors = functions.samples == 64;
  engine.cost = (use_vnni() ? (long_vectors ? 8.5 : 6) : (long_vectors ? 4 : 0.2)) + axis_cost(packed.along) +
                axis_cost(packed.down) + 0.7 * static_cast<double>(weights.size());
  if (engine.reads_centre) engine.cost += 0.4;
  if (!group.all_filtered()) engine.cost += 1.5;                 // put back in a pass of their own
  if (functions.samples % group.components) engine.cost += 0.3;  // patterns turn
  return true;
}

}  // namespace convolve::cpu
#endif
