// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/bank/gradient16.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "convolve/is_whole.hpp"
#include "cpu/simd/highway.hpp"

#ifndef CONVOLVE_GRADIENT16_TAPS
#define CONVOLVE_GRADIENT16_TAPS
namespace convolve::cpu::gradient16 {

struct Taps {
  std::int16_t first_row[3], first_column[3], second_row[3], second_column[3];
};

// What ring elements are made with, of all components.
struct Levels {
  std::int16_t zero, ghost;
};

struct Functions {
  decltype(Staging::run) stage;
  decltype(Kernel::run) filter;
  int samples;
};

}  // namespace convolve::cpu::gradient16
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/bank/gradient16.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/division-inl.hpp"
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
namespace {

using gradient16::Functions, gradient16::Levels, gradient16::Taps;
using Word = Vector<std::int16_t>;
constexpr int words = lanes<std::int16_t>;
constexpr int bytes = 2 * words;
constexpr int output_rows = 4, ring_rows = output_rows + 2;

HWY_INLINE Word LoadWords(const std::int16_t* p) {
  return hn::LoadU(Tag<std::int16_t>(), p);
}

void Stage(const Staging& s, const void* const* frame_rows, void* elements, int n) {
  const Tag<std::int16_t> d;
  const hn::Rebind<std::uint8_t, Tag<std::int16_t>> db;
  const auto& levels = *static_cast<const Levels*>(s.packed.get());
  const auto* row = static_cast<const std::uint8_t*>(frame_rows[0]);
  auto* out = static_cast<std::int16_t*>(elements);
  if (!row) {
    std::fill_n(out, n, levels.ghost);
    return;
  }
  const Word zero = hn::Set(d, levels.zero);
  const auto stage = [&](const std::uint8_t* from, std::int16_t* to) {
    hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(db, from)), zero), d, to);
  };
  int i = 0;
  for (; i + words <= n; i += words) stage(row + i, out + i);
  if (i == n) return;
  std::uint8_t rest[words] = {};
  std::memcpy(rest, row + i, n - i);
  stage(rest, out + i);
}

// A factor's taps, in registers.
struct Factor {
  Word tap[3];
  explicit Factor(const std::int16_t (&taps)[3]) {
    for (int i = 0; i < 3; ++i) tap[i] = hn::Set(Tag<std::int16_t>(), taps[i]);
  }
  HWY_INLINE Word Ends(Word a, Word c) const { return hn::Add(hn::Mul(a, tap[0]), hn::Mul(c, tap[2])); }
  HWY_INLINE Word All(Word a, Word b, Word c) const { return hn::Add(Ends(a, c), hn::Mul(b, tap[1])); }
};

// The sums of squares of the pairs of each 128-bit part's lower or upper half.
HWY_INLINE Vector<std::int32_t> SquaresOf(Word pairs) {
#if HWY_TARGET == HWY_AVX3
  return {_mm512_madd_epi16(pairs.raw, pairs.raw)};
#else
  return {_mm256_madd_epi16(pairs.raw, pairs.raw)};
#endif
}

// Code values of as many samples, saturated to 16 bits. Interleaving and packing both work within 128-bit parts, so
// that samples come out in order.
HWY_INLINE Word Magnitudes(const Quantization& q, Word x, Word y) {
  const Tag<std::int16_t> d;
  const Tag<float> df;
  const auto code_values = [&](Word pairs) {
    const auto root = hn::Sqrt(hn::ConvertTo(df, SquaresOf(pairs)));
    return CodeValues(q, root, q.offset.get<float>(), q.offset.get<double>());
  };
  return hn::ReorderDemote2To(d, code_values(hn::InterleaveLower(d, x, y)), code_values(hn::InterleaveUpper(d, x, y)));
}

HWY_INLINE Vector<std::uint8_t> ToBytes(Word low, Word high) {
#if HWY_TARGET == HWY_AVX3
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return {_mm512_permutexvar_epi64(order, _mm512_packus_epi16(low.raw, high.raw))};
#else
  return {_mm256_permute4x64_epi64(_mm256_packus_epi16(low.raw, high.raw), 0xD8)};
#endif
}

// Each ring row is loaded once for both kernels and all output rows, and passes along the rows before down the columns.
void Filter(const Kernel& k, const Block& b) {
  const Tag<std::uint8_t> db;
  const Taps& taps = *static_cast<const Taps*>(k.packed.get());
  const Factor first_row(taps.first_row), first_column(taps.first_column), second_row(taps.second_row),
      second_column(taps.second_column);
  const int step = k.components;
  for (int at = 0; at < b.n; at += bytes) {
    b.ahead.fetch(at, bytes);
    Word value[output_rows][2];
    CONVOLVE_UNROLL
    for (int half = 0; half < 2; ++half) {
      Word first[ring_rows], second[ring_rows];
      CONVOLVE_UNROLL
      for (int r = 0; r < ring_rows; ++r) {
        const auto* in = static_cast<const std::int16_t*>(b.rows[r]) + at + half * words;
        const Word left = LoadWords(in), middle = LoadWords(in + step), right = LoadWords(in + 2 * step);
        first[r] = first_row.Ends(left, right);
        second[r] = second_row.All(left, middle, right);
      }
      CONVOLVE_UNROLL
      for (int i = 0; i < output_rows; ++i)
        value[i][half] = Magnitudes(k.quantization, first_column.All(first[i], first[i + 1], first[i + 2]),
                                    second_column.Ends(second[i], second[i + 2]));
    }
    for (int i = 0; i < output_rows; ++i) {
      if (!b.out[i]) continue;
      auto* out = static_cast<std::uint8_t*>(b.out[i]) + at;
      const auto result = ToBytes(value[i][0], value[i][1]);
      if (at + bytes <= b.n) {
        hn::StoreU(result, db, out);
      } else {
        std::uint8_t rest[bytes];
        hn::StoreU(result, db, rest);
        std::memcpy(out, rest, b.n - at);
      }
    }
  }
}

}  // namespace

gradient16::Functions Gradient16() {
  return {Stage, Filter, bytes};
}
#else
gradient16::Functions Gradient16() {
  return {};
}
#endif

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Gradient16);

namespace {

// Squares of sums up to this are whole numbers in f32.
constexpr double largest_sum = 4096;

bool is_small_whole(double value) {
  return is_whole(value) && std::abs(value) <= largest_sum;
}

// The factor in 16 bits; false where a tap is no small integer.
bool pack(const double (&taps)[3], std::int16_t (&packed)[3]) {
  if (!std::all_of(taps, taps + 3, is_small_whole)) return false;
  std::copy_n(taps, 3, packed);
  return true;
}

double magnitude_of(const double (&taps)[3]) {
  return std::abs(taps[0]) + std::abs(taps[1]) + std::abs(taps[2]);
}

bool alike(const Pattern& pattern) {
  return std::all_of(pattern.wide.begin(), pattern.wide.end(), [&](double v) { return v == pattern.wide.front(); });
}

}  // namespace

void use_gradient16(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                    const GradientTaps& taps) {
  const gradient16::Functions functions = HWY_DYNAMIC_DISPATCH(Gradient16)();
  if (!functions.filter || desc.layout.type != SampleType::u8 || desc.layout.shift != 0 ||
      desc.bank.combine() != Combine::magnitude || arithmetic.accumulator == Accumulator::double_)
    return;
  const Staging staging = make_staging(desc.layout, group);
  const double zero = staging.zero.wide.front(), ghost = staging.ghost.wide.front();
  if (!alike(staging.zero) || !alike(staging.ghost) || !alike(engine.kernel.quantization.offset)) return;
  const double largest_element = std::max({std::abs(zero), std::abs(255 - zero), std::abs(ghost)});
  if (!is_small_whole(zero) || !is_small_whole(ghost)) return;
  gradient16::Taps packed{};
  if (!pack(taps.first_row, packed.first_row) || !pack(taps.first_column, packed.first_column) ||
      !pack(taps.second_row, packed.second_row) || !pack(taps.second_column, packed.second_column))
    return;
  const double first = magnitude_of(taps.first_row) * magnitude_of(taps.first_column);
  const double second = magnitude_of(taps.second_row) * magnitude_of(taps.second_column);
  if (std::max(first, second) * largest_element > largest_sum) return;
  engine.element_size = sizeof(std::int16_t);
  engine.block_samples = functions.samples;
  engine.staging = staging;
  engine.staging.packed = std::make_shared<gradient16::Levels>(
      gradient16::Levels{static_cast<std::int16_t>(zero), static_cast<std::int16_t>(ghost)});
  engine.staging.run = functions.stage;
  engine.kernel.packed = std::make_shared<gradient16::Taps>(packed);
  engine.kernel.run = functions.filter;
  engine.name = "16-bit integers, both factored";
  engine.cost /= 2;
}

}  // namespace convolve::cpu
#endif
