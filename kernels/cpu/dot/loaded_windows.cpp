// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/loaded_windows.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/dot/loaded_taps.hpp"
#include "cpu/dot/packing.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dot/loaded_windows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/dot/dot-inl.hpp"
#include "cpu/dot/loaded_codes-inl.hpp"

#ifndef CONVOLVE_DOT_LOADED_WINDOWS_CPP_ONCE
#define CONVOLVE_DOT_LOADED_WINDOWS_CPP_ONCE
namespace convolve::cpu::dot {

struct LoadedTaps {
  std::vector<LimbTaps> limbs;  // of two, low bytes first
  BlockEpilogue epilogue;
};

struct LoadedFunctions {
  int (*block_rows)(int side, LoadedForm form) = nullptr;
  decltype(Kernel::run) (*filter)(int side, LoadedForm form, Rounding how) = nullptr;
};

}  // namespace convolve::cpu::dot
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace {

using dot::LimbTaps, dot::LoadedForm, dot::LoadedTaps;

// That are summed up at a time: more would not stay in registers, but where a row is finished soon after it begins.
constexpr int rows_of(int side, LoadedForm form) {
  if (form == LoadedForm::two_bytes) return 2;
  return side == 3 || side == 5 ? 8 : 4;
}
// A block is as many times these rows.
constexpr int parts_of(LoadedForm form) {
  return form == LoadedForm::two_bytes ? 2 : 1;
}
// Of each row; of taps of 16 bits those of the high and of the low bytes.
template <int Rows, int Limbs>
using Sums = Ints[Rows][Limbs][vectors];

HWY_INLINE Ints LoadWindow(const std::uint8_t* p) {
  Ints window = hn::BitCast(Tag<std::int32_t>(), hn::LoadU(Tag<std::uint8_t>(), p));
  asm("" : "+v"(window.raw));  // or GCC loads it again at each use
  return window;
}
HWY_INLINE Ints AddDot(Ints sum, Ints window, Ints taps) {
  return Dot<dot::Form<true, false>>(sum, window, taps);
}
HWY_INLINE Ints FourTaps(std::int32_t taps) {
  return hn::Set(Tag<std::int32_t>(), taps);
}

// A part's rows on their way out, by masked stores: rows not wanted store nothing, to row 0, as null would be slow.
template <int Rows>
struct Out {
  std::uint8_t* row[Rows];
  __mmask64 wanted[Rows];

  void set(void* const* out, int at) {
    for (int i = 0; i < Rows; ++i) {
      row[i] = static_cast<std::uint8_t*>(out[out[at + i] ? at + i : 0]);
      wanted[i] = out[at + i] ? ~__mmask64{0} : 0;
    }
  }
  HWY_INLINE void first(int n) {
    for (__mmask64& mask : wanted) mask &= (__mmask64{1} << n) - 1;
  }
  HWY_INLINE void store(int i, int x, Bytes bytes) const { _mm512_mask_storeu_epi8(row[i] + x, wanted[i], bytes.raw); }
};

// A block on its way: its place, and what is added to it.
template <int Rows, int Limbs, Rounding How>
struct Walk {
  const void* const* ring;
  int x;
  const LimbTaps* limbs;
  const Ending& ending;
  const Out<Rows>& out;
  Ahead::Lines& ahead;

  // Asks for a line of the rows below beside each of as many rows.
  HWY_INLINE const std::uint8_t* row(int r) const {
    if (r < Rows) ahead.fetch_next();
    const auto* q = static_cast<const std::uint8_t*>(ring[r]) + x;
    asm("" : "+r"(q));  // or GCC keeps x + 1, x + 2, ... in registers
    return q;
  }
  HWY_INLINE void begin(Ints (&sum)[Limbs][vectors]) const {
    CONVOLVE_UNROLL
    for (int p = 0; p < vectors; ++p) {
      sum[0][p] = ending.start;
      if (Limbs > 1) sum[Limbs - 1][p] = hn::Zero(Tag<std::int32_t>());
    }
  }
  HWY_INLINE void finish(int i, Ints (&sum)[Limbs][vectors]) const {
    if constexpr (Limbs > 1) {
      CONVOLVE_UNROLL
      for (int p = 0; p < vectors; ++p) sum[0][p] = hn::Add(sum[0][p], hn::ShiftLeft<8>(sum[1][p]));
    }
    out.store(i, x, ToBytes<How>(ending, sum[0]));
  }
};

// Adds the products of four windows and four taps of each limb: `index` is where these are.
template <int Limbs>
HWY_INLINE void AddFour(Ints (&sum)[Limbs][vectors], const Ints (&window)[vectors], const LimbTaps* limbs,
                        std::vector<std::int32_t> LimbTaps::*which, int index) {
  CONVOLVE_UNROLL
  for (int l = 0; l < Limbs; ++l) {
    const Ints four = FourTaps((limbs[l].*which)[index]);
    CONVOLVE_UNROLL
    for (int p = 0; p < vectors; ++p) sum[l][p] = AddDot(sum[l][p], window[p], four);
  }
}

// Adds a centre tap of 16 bits. Windows have its sample in byte `At` of a lane, which becomes a word.
template <int At, int Limbs>
HWY_INLINE void AddCentre(Ints (&sum)[Limbs][vectors], const Ints (&window)[vectors], const LimbTaps* limbs) {
  const Tag<std::int32_t> di;
  const Ints tap = hn::Set(di, limbs->centre), low_bytes = hn::Set(di, 0x00ff00ff);
  CONVOLVE_UNROLL
  for (int p = 0; p < vectors; ++p) {
    const auto odd = hn::ShiftRight<8>(hn::BitCast(Tag<std::uint16_t>(), window[p]));
    sum[0][p] =
        Dot<dot::Form<true, true>>(sum[0][p], At % 2 ? hn::BitCast(di, odd) : hn::And(window[p], low_bytes), tap);
  }
}

// The products of ring row `r` along the row, into output rows First to Last.
template <int Side, bool Centred, int Groups, int First, int Last, int Rows, int Limbs>
HWY_INLINE Ints AddAlong(Sums<Rows, Limbs>& sum, const std::uint8_t* q, const LimbTaps* limbs, int r) {
  Ints window[vectors];
  CONVOLVE_UNROLL
  for (int g = 0; g < Groups; ++g) {
    CONVOLVE_UNROLL
    for (int p = 0; p < vectors; ++p) window[p] = LoadWindow(q + 4 * g + p);
    CONVOLVE_UNROLL
    for (int i = First; i <= Last; ++i) {
      AddFour(sum[i], window, limbs, &LimbTaps::along, (r - i) * Groups + g);
      if (Centred && i == r - Side / 2 && g == Side / 2 / 4) AddCentre<Side / 2 % 4>(sum[i], window, limbs);
    }
  }
  return window[vectors - 1];
}

// Of the last column the samples of a ring row and the one above, in turns: for samples 0 and 2 of a lane, and 1 and 3.
struct ColumnPairs {
  Ints even, odd;
};
// Windows that begin with the last column: for samples 0 and 1 of a lane.
struct ColumnWindows {
  Ints first, second;
};

// Bytes 0 and 2 of each lane from a, the others from b. A selection by a mask of bits would share a pipe with products.
HWY_INLINE Ints InTurns(Ints a, Ints b) {
  return Ints{_mm512_mask_blend_epi8(0xAAAAAAAAAAAAAAAAu, a.raw, b.raw)};
}

// Adds the last column of the four ring rows that end with R.
template <int Side, int R, int Rows, int Limbs>
HWY_INLINE void AddDown(Sums<Rows, Limbs>& sum, const ColumnPairs& above, const ColumnPairs& pairs,
                        const LimbTaps* limbs) {
  const Ints window[vectors] = {JoinLow(above.even, pairs.even), JoinLow(above.odd, pairs.odd),
                                JoinHigh(above.even, pairs.even), JoinHigh(above.odd, pairs.odd)};
  CONVOLVE_UNROLL
  for (int g = 0; g < Side / 4; ++g) {
    const int i = R - 3 - 4 * g;
    if (i >= 0 && i < Rows) AddFour(sum[i], window, limbs, &LimbTaps::down, g);
  }
}

// Adds the last tap, in the row of which it is the last column.
template <int Limbs>
HWY_INLINE void AddLast(Ints (&sum)[Limbs][vectors], const ColumnWindows& window, const LimbTaps* limbs) {
  CONVOLVE_UNROLL
  for (int l = 0; l < Limbs; ++l) {
    const Ints low = FourTaps(limbs[l].last[0]), high = FourTaps(limbs[l].last[1]);
    sum[l][0] = AddDot(sum[l][0], window.first, low);
    sum[l][1] = AddDot(sum[l][1], window.second, low);
    sum[l][2] = AddDot(sum[l][2], window.first, high);
    sum[l][3] = AddDot(sum[l][3], window.second, high);
  }
}

// Ring rows from R on of a filter with such a column; what is above them is of this column.
template <int Side, bool Centred, int R, int Rows, int Limbs, Rounding How>
HWY_INLINE void AddColumnRows(const Walk<Rows, Limbs, How>& w, Sums<Rows, Limbs>& sum, const ColumnWindows& above,
                              const ColumnPairs& two_above, const ColumnPairs& one_above) {
  if constexpr (R < Side + Rows - 1) {
    constexpr int first = std::max(R - Side + 1, 0), last = std::min(R, Rows - 1);
    const std::uint8_t* const q = w.row(R);
    if constexpr (R < Rows) w.begin(sum[R]);
    const Ints before = AddAlong<Side, Centred, Side / 4, first, last, Rows, Limbs>(sum, q, w.limbs, R);
    const ColumnWindows here{LoadWindow(q + Side - 1), LoadWindow(q + Side)};
    ColumnPairs pairs{before, before};
    if constexpr (R > 0) pairs = {InTurns(above.first, before), InTurns(above.second, here.first)};
    if constexpr (R > 2) AddDown<Side, R, Rows, Limbs>(sum, two_above, pairs, w.limbs);
    if constexpr (R >= Side - 1) {
      AddLast(sum[first], here, w.limbs);
      w.finish(first, sum[first]);
    }
    AddColumnRows<Side, Centred, R + 1>(w, sum, here, one_above, pairs);
  }
}

// Ring rows from R on of a filter without one.
template <int Side, bool Centred, int R, int Rows, int Limbs, Rounding How>
HWY_INLINE void AddRows(const Walk<Rows, Limbs, How>& w, Sums<Rows, Limbs>& sum) {
  if constexpr (R < Side + Rows - 1) {
    constexpr int first = std::max(R - Side + 1, 0), last = std::min(R, Rows - 1);
    if constexpr (R < Rows) w.begin(sum[R]);
    AddAlong<Side, Centred, (Side + 1) / 4, first, last, Rows, Limbs>(sum, w.row(R), w.limbs, R);
    if constexpr (R >= Side - 1) w.finish(first, sum[first]);
    AddRows<Side, Centred, R + 1>(w, sum);
  }
}

template <int Side, LoadedForm Form, Rounding How>
void FilterLoaded(const Kernel& kernel, const Block& block) {
  constexpr int Limbs = Form == LoadedForm::two_bytes ? 2 : 1, Rows = rows_of(Side, Form), Parts = parts_of(Form);
  constexpr bool centred = Form == LoadedForm::wide_centre;
  const auto& k = *static_cast<const LoadedTaps*>(kernel.packed.get());
  const Ending ending(kernel.quantization, k.epilogue.phases[0], How);
  Out<Rows> out[Parts];
  for (int part = 0; part < Parts; ++part) out[part].set(block.out, part * Rows);
  for (int x = 0; x < block.n; x += samples) {
    Ahead::Lines ahead = block.ahead.lines<Rows * Parts>(x);
    for (int part = 0; part < Parts; ++part) {
      if (HWY_UNLIKELY(block.n - x < samples)) out[part].first(block.n - x);
      const Walk<Rows, Limbs, How> walk{block.rows + part * Rows, x, k.limbs.data(), ending, out[part], ahead};
      Sums<Rows, Limbs> sum;
      if constexpr (Side % 4 == 1) {
        const Ints none = hn::Zero(Tag<std::int32_t>());
        AddColumnRows<Side, centred, 0>(walk, sum, {none, none}, {none, none}, {none, none});
      } else {
        AddRows<Side, centred, 0>(walk, sum);
      }
    }
  }
}

template <int Side, LoadedForm Form>
decltype(Kernel::run) LoadedFilterOf(Rounding how) {
  if (how == Rounding::saturation)
    return Form == LoadedForm::one_byte ? FilterLoaded<Side, LoadedForm::one_byte, Rounding::saturation> : nullptr;
  return how == Rounding::once ? FilterLoaded<Side, Form, Rounding::once> : FilterLoaded<Side, Form, Rounding::twice>;
}

template <int Side>
decltype(Kernel::run) LoadedFilterOf(LoadedForm form, Rounding how) {
  switch (form) {
    case LoadedForm::one_byte:
      return LoadedFilterOf<Side, LoadedForm::one_byte>(how);
    case LoadedForm::wide_centre:
      return LoadedFilterOf<Side, LoadedForm::wide_centre>(how);
    case LoadedForm::two_bytes:
      return LoadedFilterOf<Side, LoadedForm::two_bytes>(how);
  }
  return nullptr;
}

decltype(Kernel::run) LoadedFilterOf(int side, LoadedForm form, Rounding how) {
  if (side < 6) return side == 3 ? LoadedFilterOf<3>(form, how) : LoadedFilterOf<5>(form, how);
  return side == 7 ? LoadedFilterOf<7>(form, how) : LoadedFilterOf<9>(form, how);
}

int BlockRowsOf(int side, LoadedForm form) {
  return rows_of(side, form) * parts_of(form);
}

}  // namespace

dot::LoadedFunctions DotLoadedWindows() {
  return {BlockRowsOf, LoadedFilterOf};
}
#else
dot::LoadedFunctions DotLoadedWindows() {
  return {};
}
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(DotLoadedWindows);

namespace dot {
namespace {

// Instructions for 16 samples, on the scale of the other engines. `slow`: eight rows take longer than four would.
double cost_of(int side, LoadedForm form, bool slow) {
  const double dots = side % 4 == 1 ? side * (side / 4) + side / 4 + 1 : side * ((side + 1) / 4);
  return (form == LoadedForm::two_bytes ? 2.0 : 0.95) * dots + (form == LoadedForm::wide_centre ? 1 : 0) +
         (slow ? 6.5 : 2.5);
}

// How these sums are rounded. The gain is off by 2^-23 of itself at most. Quotients by an odd divisor are 1 / (2 *
// divisor) from a tie at least, which the gain's error does not reach while sums are below 2^22; the reciprocal of a
// power of two is exact.
Rounding rounding_of(const Quantization& q, const BlockEpilogue& epilogue, double max_sum) {
  if (epilogue.epilogue == Epilogue::saturate) return Rounding::saturation;
  const double divisor = q.divisor, offset = q.offset.wide.front();
  const bool odd = std::fmod(divisor, 2) == 1, power_of_2 = std::exp2(std::ilogb(divisor)) == divisor;
  return offset == std::floor(offset) && (odd || power_of_2) && max_sum < 0x1p22 ? Rounding::once : Rounding::twice;
}

}  // namespace
}  // namespace dot

bool make_dot_loaded_windows(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                             const ComponentGroup& group, const IntegerTaps& taps, dot::LoadedForm form) {
  using namespace dot;
  const LoadedFunctions functions = HWY_DYNAMIC_DISPATCH(DotLoadedWindows)();
  const int side = desc.filter.width();
  if (!functions.filter || !use_vnni() || desc.filter.depth() != 1 || group.components != 1 ||
      desc.filter.height() != side || (side != 3 && side != 5 && side != 7 && side != 9))
    return false;
  Kernel& kernel = engine.kernel;
  set_shape_and_quantization(kernel, desc, arithmetic, group, taps);
  const Quantization& q = kernel.quantization;
  double max_sum = 0;
  for (const int tap : taps.taps) max_sum += std::abs(tap) * 255.0;
  BlockEpilogue epilogue(q, group, static_cast<double>(taps.sum), max_sum / q.divisor);
  if (epilogue.epilogue == Epilogue::division || q.max != 255) return false;
  kernel.run = functions.filter(side, form, rounding_of(q, epilogue, max_sum));
  if (!kernel.run) return false;
  engine.name = form == LoadedForm::wide_centre ? "8-bit dot products, with a centre tap"
                                                : name_of(true, form == LoadedForm::two_bytes);
  engine.cost = cost_of(side, form, side == 3 && group.stride != 1 && !arithmetic.exact_taps);
  engine.element_size = 1;
  engine.block_rows = engine.ahead_rows = functions.block_rows(side, form);
  engine.block_samples = max_samples;
  engine.copies_passthrough = true;
  engine.reads_past = side + 1;
  kernel.packed = std::make_shared<LoadedTaps>(LoadedTaps{pack_limbs(taps.taps, side, form), std::move(epilogue)});
  return true;
}

}  // namespace convolve::cpu
#endif
