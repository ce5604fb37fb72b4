// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/float/box.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/float/kernels.hpp"
#include "cpu/float/staging.hpp"
#include "cpu/simd/highway.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/float/box.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/quantize-inl.hpp"
#include "cpu/simd/samples-inl.hpp"

#ifndef CONVOLVE_BOX_CPP_ONCE
#define CONVOLVE_BOX_CPP_ONCE
namespace convolve::cpu::box {

struct Length {
  int taps;
};

struct Functions {
  decltype(RowPass::run) along;
  decltype(Kernel::run) down;
};

}  // namespace convolve::cpu::box
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

// Elements of a row at a time: their partial sums stay in the first level cache.
constexpr int piece = 2048, piece_halo = (max_factored_taps - 1) * max_components + 8 * 64;

// One level of sums along a row: sums[x] is that of `width` neighbours before and of 4 * width after, and Digit of the
// former, from `at` on, are added to out[x]. Each vector is read before any that it overlaps is written.
template <class T, int Digit, bool Grow>
HWY_INLINE void AddLevel(T* sums, T* out, int n, int sums_n, std::ptrdiff_t step, std::ptrdiff_t at, bool first) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  if constexpr (Digit > 0)
    for (int x = 0; x < n; x += N) {
      auto sum = hn::LoadU(d, sums + x + at);
      if constexpr (Digit > 1) sum = hn::Add(sum, hn::LoadU(d, sums + x + at + step));
      if constexpr (Digit > 2) sum = hn::Add(sum, hn::LoadU(d, sums + x + at + 2 * step));
      if (!first) sum = hn::Add(sum, hn::LoadU(d, out + x));
      hn::StoreU(sum, d, out + x);
    }
  if constexpr (Grow)
    for (int x = 0; x < sums_n; x += N) {
      const auto low = hn::Add(hn::LoadU(d, sums + x), hn::LoadU(d, sums + x + step));
      const auto high = hn::Add(hn::LoadU(d, sums + x + 2 * step), hn::LoadU(d, sums + x + 3 * step));
      hn::StoreU(hn::Add(low, high), d, sums + x);
    }
}

template <class T>
void AlongRow(const RowPass& pass, const void* line, void* elements, int n) {
  constexpr int N = lanes<T>;
  const int taps = static_cast<const box::Length*>(pass.packed.get())->taps, step = pass.components;
  const T* in = static_cast<const T*>(line);
  T* out = static_cast<T*>(elements);
  alignas(64) T sums[piece + piece_halo];
  for (int x = 0; x < n; x += piece) {
    const int wanted = std::min(piece, n - x), halo = (taps - 1) * step;
    std::memcpy(sums, in + x, (wanted + halo + N) * sizeof(T));
    std::ptrdiff_t at = 0;
    bool first = true;
    for (int width = 1, rest = taps; rest > 0; width *= 4, rest /= 4) {
      const std::ptrdiff_t apart = static_cast<std::ptrdiff_t>(width) * step;
      const int digit = rest % 4;
      if (digit == 1) AddLevel<T, 1, false>(sums, out + x, wanted, 0, apart, at, first);
      if (digit == 2) AddLevel<T, 2, false>(sums, out + x, wanted, 0, apart, at, first);
      if (digit == 3) AddLevel<T, 3, false>(sums, out + x, wanted, 0, apart, at, first);
      if (digit) first = false;
      at += digit * apart;
      // Sums that would reach past the line's end are left as they are, and not read.
      if (rest / 4 > 0)
        AddLevel<T, 0, true>(sums, out, 0, wanted + halo - 3 * static_cast<int>(apart), apart, 0, false);
    }
  }
}

template <class T, class Sample>
void DownColumns(const Kernel& k, const Block& b) {
  const Tag<T> d;
  constexpr int R = block_rows, B = block<T>, N = lanes<T>;
  const int height = k.height, turn = B % k.components;
  const auto tap = hn::Set(d, static_cast<T>(k.coefficients[0]));
  const auto at = [&](int row, int x) { return hn::LoadU(d, static_cast<const T*>(b.rows[row]) + x); };
  auto* state = static_cast<T*>(b.state);
  int phase = 0;
  for (int x = 0; x < b.n; x += B) {
    b.ahead.fetch(x, B);
    Vector<T> run[block_vectors], sum[R][block_vectors];
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) run[v] = b.state_is_new ? hn::Zero(d) : hn::LoadU(d, state + x + v * N);
    if (b.state_is_new)
      for (int r = 0; r < height - 1; ++r) {
        CONVOLVE_UNROLL
        for (int v = 0; v < block_vectors; ++v) run[v] = hn::Add(run[v], at(r, x + v * N));
      }
    CONVOLVE_UNROLL
    for (int i = 0; i < R; ++i) {
      CONVOLVE_UNROLL
      for (int v = 0; v < block_vectors; ++v) {
        const auto whole = hn::Add(run[v], at(height - 1 + i, x + v * N));
        sum[i][v] = hn::Mul(whole, tap);
        run[v] = hn::Sub(whole, at(i, x + v * N));
      }
    }
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) hn::StoreU(run[v], d, state + x + v * N);
    CONVOLVE_UNROLL
    for (int i = 0; i < R; ++i) {
      if (!b.out[i]) continue;
      Sample* out = static_cast<Sample*>(b.out[i]) + x;
      if (x + B <= b.n) {
        Store<T, Sample>(k.quantization, sum[i], phase, out);
      } else {
        alignas(64) Sample rest[B];
        Store<T, Sample>(k.quantization, sum[i], phase, rest);
        std::memcpy(static_cast<void*>(out), rest, (b.n - x) * sizeof(Sample));
      }
    }
    phase += turn;
    if (phase >= k.components) phase -= k.components;
  }
}

}  // namespace

box::Functions Box(SampleType type, bool wide) {
  if (type == SampleType::u8)
    return wide ? box::Functions{AlongRow<double>, DownColumns<double, std::uint8_t>}
                : box::Functions{AlongRow<float>, DownColumns<float, std::uint8_t>};
  return wide ? box::Functions{AlongRow<double>, DownColumns<double, std::uint16_t>}
              : box::Functions{AlongRow<float>, DownColumns<float, std::uint16_t>};
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Box);

namespace {

// A row is read when it enters the box and when it leaves it, and not between: rings need not stay in the cache, and
// wide strips stage less beside them.
constexpr int ring_bytes = 4 << 20;
constexpr double exact_in_single = 1 << 24;

bool all_equal(const std::vector<double>& taps) {
  return std::all_of(taps.begin(), taps.end(), [&](double tap) { return tap == taps.front(); });
}

// The largest magnitude of an element, or nothing where elements are no whole numbers.
double largest_element(const PlanDesc& desc, const ComponentGroup& group, const std::vector<double>& weights) {
  double largest = 0;
  for (int c = 0; c < group.components; ++c) {
    const Component& k = *group.component[c];
    const double levels[]{desc.layout.max_value() - k.zero, k.zero,
                          desc.border == Border::constant ? k.ghost - k.zero : 0};
    for (const double level : levels) {
      if (level != std::floor(level)) return -1;
      largest = std::max(largest, std::abs(level));
    }
  }
  return weights.empty() ? largest : largest * magnitude_of(weights);
}

}  // namespace

bool make_float_box(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                    const std::vector<double>& column, const std::vector<double>& row) {
  const std::vector<double> weights = frame_weights(desc.filter, arithmetic);
  if (desc.layout.type == SampleType::f32 || !all_equal(column) || !all_equal(row) || column[0] * row[0] == 0 ||
      (!weights.empty() && !arithmetic.exact_taps))
    return false;
  const double element = largest_element(desc, group, weights);
  if (element < 0) return false;
  const double largest = element * static_cast<double>(column.size() * row.size());
  Arithmetic sums = arithmetic;
  if (largest * (arithmetic.exact_taps ? std::abs(column[0] * row[0]) : 1) >= exact_in_single)
    sums.accumulator = Accumulator::double_;
  const bool wide = sums.accumulator == Accumulator::double_;
  make_float_kernel(engine, desc, sums, group, std::vector<double>(column.size(), column[0] * row[0]), 1,
                    desc.filter.height(), 1);
  make_float_staging(engine, desc, sums, group);
  const auto functions = HWY_DYNAMIC_DISPATCH(Box)(desc.layout.type, wide);
  RowPass& pass = engine.row_passes.emplace_back();
  pass.components = group.components;
  pass.packed = std::make_shared<box::Length>(box::Length{static_cast<int>(row.size())});
  pass.line_element_size = engine.element_size;
  pass.run = functions.along;
  engine.kernel.run = functions.down;
  engine.has_state = true;
  engine.ring_bytes = ring_bytes;
  engine.name = wide ? "f64, running sums" : "f32, running sums";
  engine.cost = 3.0 * static_cast<double>(weights.size()) + 14 + 3 * std::log2(static_cast<double>(row.size()));
  return true;
}

}  // namespace convolve::cpu
#endif
