// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/fixed16/direct.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "cpu/engine/integer_taps.hpp"
#include "cpu/fixed16/packing.hpp"
#include "cpu/rows/copy_staging.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/fixed16/direct.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/samples-inl.hpp"

#ifndef CONVOLVE_FIXED16_DIRECT_CPP_ONCE
#define CONVOLVE_FIXED16_DIRECT_CPP_ONCE
namespace convolve::cpu::fixed16 {

constexpr int max_words = 32;  // of a vector

// What is added to the sums of the samples at even and at odd places, for a position of a block's first sample within
// a pixel.
struct Start {
  alignas(64) std::int16_t even[max_words], odd[max_words];
};

struct PackedDirect {
  std::vector<Start> start;
  // Each tap twice, in the order in which the kernel takes them: [frame][ring row][column][output rows it is in].
  std::vector<std::int32_t> taps;
  std::int16_t multiplier = 0;  // of a sum
  int width = 0;                // of a row of taps
};

// The functions of a SIMD target; rows is 0 where it has none.
struct DirectFunctions {
  int rows = 0, samples = 0;
  // By the taps of a row of one component; 0: of several components.
  decltype(Kernel::run) (*filter)(int width) = nullptr;
};

}  // namespace convolve::cpu::fixed16
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR && (HWY_TARGET != HWY_EMU128 || defined(CONVOLVE_EMULATE))
namespace {

using fixed16::PackedDirect, fixed16::Start;
using Word = Vector<std::int16_t>;
using Bytes = Vector<std::uint8_t>;

constexpr int rows = 4;  // of a block
constexpr int samples = lanes<std::uint8_t>;

// Sums of the samples at even places, and of those at odd places, of each output row.
using Sums = Word[rows][2];

HWY_INLINE void AddProduct(Word& sum, Word in, Word tap) {
  sum = Held(hn::Add(sum, hn::MulFixedPoint15(in, tap)));  // or GCC adds up products first, and keeps them in memory
}

HWY_INLINE Word NextTap(const std::int32_t*& taps) {
  return hn::BitCast(Tag<std::int16_t>(), hn::Set(Tag<std::int32_t>(), *taps++));
}

// Samples less 128, in the upper halves of words: those at even places and those at odd places.
struct Pair {
  Word even, odd;
  HWY_INLINE explicit Pair(const std::uint8_t* p) {
    const Tag<std::int16_t> d;
    const Tag<std::uint8_t> db;
    const Word bytes = hn::BitCast(d, hn::Xor(hn::LoadU(db, p), hn::Set(db, 0x80)));
    even = hn::ShiftLeft<8>(bytes);
    odd = hn::And(bytes, hn::Set(d, static_cast<std::int16_t>(0xff00)));
  }
};

// Adds a row of taps of one component to output rows First..Last. The samples at even places from column k on and those
// at odd places take turns: with tap k each makes outputs of its own parity, and the next one those of the other.
template <int Width, int First, int Last>
HWY_INLINE void AddColumns(Sums& sum, const std::uint8_t* q, const std::int32_t*& taps) {
  Pair in(q);
  CONVOLVE_UNROLL
  for (int k = 0; k < Width; ++k) {
    const Word here = k % 2 ? in.odd : in.even;
    if (k % 2) in = Pair(q + k + 1);
    const Word next = k % 2 ? in.even : in.odd;
    CONVOLVE_UNROLL
    for (int i = First; i <= Last; ++i) {
      const Word tap = NextTap(taps);
      AddProduct(sum[i][0], here, tap);
      AddProduct(sum[i][1], next, tap);
    }
  }
}

// The block's place in the ring, and what is next.
struct Walk {
  const void* const* ring;
  const std::int32_t* taps;
  int x, width, step;  // step: samples of a pixel
};

// Adds ring row r to output rows First..Last. Width: known to the compiler, or 0: of several components.
template <int Width, int First, int Last>
HWY_INLINE void AddRingRow(Walk& w, int r, Sums& sum) {
  const auto* q = static_cast<const std::uint8_t*>(w.ring[r]) + w.x;
  if constexpr (Width > 0) {
    AddColumns<Width, First, Last>(sum, q, w.taps);
  } else {
    for (int p = 0; p < w.width; ++p, q += w.step) {
      const Pair in(q);
      CONVOLVE_UNROLL
      for (int i = First; i <= Last; ++i) {
        const Word tap = NextTap(w.taps);
        AddProduct(sum[i][0], in.even, tap);
        AddProduct(sum[i][1], in.odd, tap);
      }
    }
  }
}

// All ring rows of one frame: the first and the last three are not in all output rows.
template <int Width>
HWY_INLINE void AddRows(Walk& w, int height, Sums& sum) {
  static_assert(rows == 4);
  AddRingRow<Width, 0, 0>(w, 0, sum);
  AddRingRow<Width, 0, 1>(w, 1, sum);
  AddRingRow<Width, 0, 2>(w, 2, sum);
  for (int r = 3; r < height; ++r) AddRingRow<Width, 0, 3>(w, r, sum);
  AddRingRow<Width, 1, 3>(w, height, sum);
  AddRingRow<Width, 2, 3>(w, height + 1, sum);
  AddRingRow<Width, 3, 3>(w, height + 2, sum);
}

// To bytes, saturated, in order.
HWY_INLINE Bytes Interleave(Word even, Word odd) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  alignas(16) constexpr std::uint8_t in_turns[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
#if HWY_TARGET == HWY_AVX3
  const Bytes bytes{_mm512_packus_epi16(even.raw, odd.raw)};
#elif HWY_TARGET == HWY_AVX2
  const Bytes bytes{_mm256_packus_epi16(even.raw, odd.raw)};
#else
  const Bytes bytes{_mm_packus_epi16(even.raw, odd.raw)};
#endif
  return hn::TableLookupBytes(bytes, hn::LoadDup128(Tag<std::uint8_t>(), in_turns));
#else
  const Tag<std::int16_t> d;
  const auto clamped = [&](Word v) { return hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, 255)); };
  return hn::BitCast(Tag<std::uint8_t>(), hn::Or(clamped(even), hn::ShiftLeft<8>(clamped(odd))));
#endif
}

template <int Width>
void FilterFixed(const Kernel& kernel, const Block& block) {
  const Tag<std::int16_t> d;
  const Tag<std::uint8_t> db;
  const auto& k = *static_cast<const PackedDirect*>(kernel.packed.get());
  const Word multiplier = hn::Set(d, k.multiplier);
  const int components = kernel.components, turn = samples % components, n = block.n;
  std::uint8_t* out[rows];
  for (int i = 0; i < rows; ++i) out[i] = static_cast<std::uint8_t*>(block.out[i]);
  int position = 0;
  for (int x = 0; x < n; x += samples) {
    block.ahead.fetch<true>(x, samples);
    const Start& start = k.start[position];
    position += turn;
    if (position >= components) position -= components;
    Sums sum;
    for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
    Walk walk{block.rows, k.taps.data(), x, k.width, components};
    for (int t = 0; t < kernel.depth; ++t, walk.ring += block.frame_rows) AddRows<Width>(walk, kernel.height, sum);
    CONVOLVE_UNROLL
    for (int i = 0; i < rows; ++i) {
      if (!out[i]) continue;
      const Word even = hn::SaturatedAdd(sum[i][0], hn::Load(d, start.even));
      const Word odd = hn::SaturatedAdd(sum[i][1], hn::Load(d, start.odd));
      const Bytes bytes = Interleave(hn::MulFixedPoint15(even, multiplier), hn::MulFixedPoint15(odd, multiplier));
      if (HWY_LIKELY(x + samples <= n)) {
        hn::StoreU(bytes, db, out[i] + x);
      } else {
        alignas(64) std::uint8_t rest[samples];
        hn::Store(bytes, db, rest);
        std::memcpy(out[i] + x, rest, n - x);
      }
    }
  }
}

template <int... Width>
constexpr auto FiltersOf(std::integer_sequence<int, Width...>) {
  return std::array{FilterFixed < Width == 1 ? 0 : Width > ...};
}

decltype(Kernel::run) FixedFilterOf(int width) {
  static constexpr auto filters = FiltersOf(std::make_integer_sequence<int, max_compiled_taps + 1>());
  return filters[width];
}

}  // namespace

fixed16::DirectFunctions FixedDirect() {
  return {rows, samples, FixedFilterOf};
}
#else
fixed16::DirectFunctions FixedDirect() {
  return {};
}
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(FixedDirect);

namespace fixed16 {
namespace {

constexpr double word_limit = 32767, middle = 128;

// Samples less `middle` times 2^8 are multiplied with taps times 2^(7 + bits), of which the upper 16 bits stay: sums
// are fractions of 2^-bits. False: they do not fit 16 bits.
bool round_taps(const std::vector<double>& taps, int bits, std::vector<std::int32_t>& rounded, double& error) {
  const double unit = std::ldexp(1.0, 7 + bits), products = static_cast<double>(taps.size());
  double total = 0;
  rounded.clear();
  error = 0;
  for (const double tap : taps) {
    const double value = std::nearbyint(tap * unit);
    if (!(std::abs(value) <= word_limit)) return false;
    rounded.push_back(static_cast<std::int32_t>(value));
    total += std::abs(value);
    error += std::abs(value / unit - tap) * middle;
  }
  error += std::ldexp(0.5 * (products + 1), -bits);
  return total + 0.5 * products <= word_limit;
}

// The levels that sums start from, as fractions. False: they do not fit 16 bits.
bool make_starts(PackedDirect& packed, const ComponentGroup& group, const std::vector<double>& offset, double sum,
                 int bits) {
  packed.start.assign(group.components, {});
  for (int p = 0; p < group.components; ++p)
    for (int i = 0; i < 2 * max_words; ++i) {
      const int c = (p + i) % group.components;
      const double start = std::nearbyint(std::ldexp(offset[c] + (middle - group.component[c]->zero) * sum, bits));
      if (!(std::abs(start) <= word_limit)) return false;
      // Not one expression: GCC 12 miscounts the index of such a choice where sanitizers look at it.
      std::int16_t* const half = i % 2 ? packed.start[p].odd : packed.start[p].even;
      half[i / 2] = static_cast<std::int16_t>(start);
    }
  return true;
}

// Measured, against the other engines of the same target.
double cost_of(double taps, bool one_component, bool long_vectors) {
  if (!use_vnni()) return (one_component ? 0.2 : 0.25) * taps + 1.2;
  return long_vectors ? (one_component ? 0.61 : 0.58) * taps + 3 : 0.5 * taps + 4.2;
}

}  // namespace
}  // namespace fixed16

bool make_fixed16_direct(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                         const ComponentGroup& group) {
  using namespace fixed16;
  const DirectFunctions functions = HWY_DYNAMIC_DISPATCH(FixedDirect)();
  const int width = desc.filter.width(), height = desc.filter.height(), depth = desc.filter.depth();
  if (functions.rows == 0 || arithmetic.accumulator != Accumulator::single || height < 3 || width < 2 ||
      width > max_compiled_taps || desc.layout.max_value() != 255 || !holds_bytes(desc.layout, desc.border, group))
    return false;
  const std::vector<double>& taps = arithmetic.coefficients;
  Kernel& kernel = engine.kernel;
  kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  double sum = 0, error = 0;
  for (const double tap : taps) sum += tap;
  auto packed = std::make_shared<PackedDirect>();
  std::vector<std::int32_t> rounded;
  int bits = 7;  // what saturates is then beyond 255
  while (bits > 0 && !(round_taps(taps, bits, rounded, error) &&
                       make_starts(*packed, group, kernel.quantization.offset.wide, sum, bits)))
    --bits;
  if (bits == 0 || !(error <= max_fraction_error)) return false;

  const bool one_component = group.components == 1;
  packed->multiplier = static_cast<std::int16_t>(1 << (15 - bits));
  packed->width = width;
  for (int t = 0; t < depth; ++t)
    for (int r = 0; r < height + functions.rows - 1; ++r)
      for (int column = 0; column < width; ++column)
        for (int i = 0; i < functions.rows; ++i)
          if (r - i >= 0 && r - i < height) {
            const auto tap = static_cast<std::uint32_t>(rounded[(t * height + r - i) * width + column]) & 0xffff;
            packed->taps.push_back(static_cast<std::int32_t>(0x10001u * tap));
          }
  engine.name = "16-bit fixed point";
  engine.cost = cost_of(static_cast<double>(taps.size()), one_component, functions.samples == 64) + 1.5 * (depth - 1);
  if (!group.all_filtered()) engine.cost += 1.5;  // put back in a pass of their own
  engine.element_size = 1;
  engine.block_rows = functions.rows;
  engine.block_samples = functions.samples;
  engine.reads_past = one_component ? width / 2 * 2 : (width - 1) * group.components;
  engine.staging = make_copy_staging(desc, group);
  kernel.depth = depth;
  kernel.height = height;
  kernel.components = group.components;
  kernel.run = functions.filter(one_component ? width : 0);
  kernel.packed = std::move(packed);
  return true;
}

}  // namespace convolve::cpu
#endif
