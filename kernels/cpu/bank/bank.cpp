// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/bank/bank.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/bank/gradient16.hpp"
#include "cpu/rows/float_staging.hpp"
#include "cpu/simd/highway.hpp"

#ifndef CONVOLVE_BANK_TAPS
#define CONVOLVE_BANK_TAPS
namespace convolve::cpu {

// A tap that is not 0: its row of the ring, and where its first sample lies in that row.
struct BankTap {
  int row, offset;
  float single;
  double wide;
};

// The taps of all kernels, one kernel after the other.
struct BankTaps {
  std::vector<BankTap> taps;
  std::vector<int> ends;  // where each kernel's taps end
  std::optional<GradientTaps> gradient;
};

}  // namespace convolve::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/bank/bank.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/quantize-inl.hpp"
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

// One kernel's sums of a block of samples in one output row. `rows`: from the ring row of the first tap row on.
template <class T>
HWY_INLINE void SumTaps(const BankTap* tap, const BankTap* end, const void* const* rows, int x,
                        Vector<T> (&sum)[block_vectors]) {
  const Tag<T> d;
  CONVOLVE_UNROLL
  for (int v = 0; v < block_vectors; ++v) sum[v] = hn::Zero(d);
  for (; tap != end; ++tap) {
    const T* in = static_cast<const T*>(rows[tap->row]) + x + tap->offset;
    T value;
    if constexpr (sizeof(T) == sizeof(float))
      value = tap->single;
    else
      value = tap->wide;
    const auto factor = hn::Set(d, value);
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) sum[v] = hn::MulAdd(hn::LoadU(d, in + v * lanes<T>), factor, sum[v]);
  }
}

// The value that a combination starts with: combined with a sum, it leaves that sum.
template <class T, Combine combine>
HWY_INLINE Vector<T> Start() {
  const Tag<T> d;
  if constexpr (combine == Combine::max) return hn::Set(d, -std::numeric_limits<T>::infinity());
  return hn::Zero(d);
}

// The combination of those before and one more sum.
template <Combine combine, class V>
HWY_INLINE V Add(V all, V sum) {
  if constexpr (combine == Combine::magnitude) return hn::MulAdd(sum, sum, all);
  if constexpr (combine == Combine::sum_abs) return hn::Add(all, hn::Abs(sum));
  if constexpr (combine == Combine::max_abs) return hn::Max(all, hn::Abs(sum));
  return hn::Max(all, sum);
}

// Results of a block in one output row, to samples.
template <class T, class Sample, Combine combine>
HWY_INLINE void Finish(const Kernel& k, const Block& b, Vector<T> (&all)[block_vectors], int phase, int row, int x) {
  if constexpr (combine == Combine::magnitude) {
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) all[v] = hn::Sqrt(all[v]);
  }
  StoreUpTo<T, Sample>(b.n - x, k.quantization, all, phase, static_cast<Sample*>(b.out[row]) + x);
}

template <class T, class Sample, Combine combine>
void FilterBank(const Kernel& k, const Block& b) {
  constexpr int B = block<T>;
  const auto& bank = *static_cast<const BankTaps*>(k.packed.get());
  const int turn = B % k.components;
  int phase = 0;
  for (int x = 0; x < b.n; x += B) {
    b.ahead.fetch(x, B);
    for (int i = 0; i < block_rows; ++i) {
      if (!b.out[i]) continue;
      Vector<T> all[block_vectors], sum[block_vectors];
      CONVOLVE_UNROLL
      for (int v = 0; v < block_vectors; ++v) all[v] = Start<T, combine>();
      const BankTap* tap = bank.taps.data();
      for (const int kernel_end : bank.ends) {
        const BankTap* const end = bank.taps.data() + kernel_end;
        SumTaps<T>(tap, end, b.rows + i, x, sum);
        tap = end;
        CONVOLVE_UNROLL
        for (int v = 0; v < block_vectors; ++v) all[v] = Add<combine>(all[v], sum[v]);
      }
      Finish<T, Sample, combine>(k, b, all, phase, i, x);
    }
    phase += turn;
    if (phase >= k.components) phase -= k.components;
  }
}

// Each ring row is loaded once for both kernels and all output rows, and passes along the rows before down the columns.
template <class T, class Sample, Combine combine>
void FilterGradient(const Kernel& k, const Block& b) {
  const Tag<T> d;
  constexpr int B = block<T>, ring_rows = block_rows + 2;
  const GradientTaps& g = *static_cast<const BankTaps*>(k.packed.get())->gradient;
  const auto tap = [&](double value) { return hn::Set(d, static_cast<T>(value)); };
  const auto r0 = tap(g.first_row[0]), r2 = tap(g.first_row[2]);
  const auto c0 = tap(g.first_column[0]), c1 = tap(g.first_column[1]), c2 = tap(g.first_column[2]);
  const auto s0 = tap(g.second_row[0]), s1 = tap(g.second_row[1]), s2 = tap(g.second_row[2]);
  const auto e0 = tap(g.second_column[0]), e2 = tap(g.second_column[2]);
  const int step = k.components, turn = B % step;
  int phase = 0;
  for (int x = 0; x < b.n; x += B) {
    b.ahead.fetch(x, B);
    Vector<T> all[block_rows][block_vectors];
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) {
      Vector<T> first[ring_rows], second[ring_rows];
      CONVOLVE_UNROLL
      for (int r = 0; r < ring_rows; ++r) {
        const T* in = static_cast<const T*>(b.rows[r]) + x + v * lanes<T>;
        const auto left = hn::LoadU(d, in), middle = hn::LoadU(d, in + step), right = hn::LoadU(d, in + 2 * step);
        first[r] = hn::MulAdd(right, r2, hn::Mul(left, r0));
        second[r] = hn::MulAdd(right, s2, hn::MulAdd(middle, s1, hn::Mul(left, s0)));
      }
      CONVOLVE_UNROLL
      for (int i = 0; i < block_rows; ++i) {
        const auto one = hn::MulAdd(first[i + 2], c2, hn::MulAdd(first[i + 1], c1, hn::Mul(first[i], c0)));
        const auto other = hn::MulAdd(second[i + 2], e2, hn::Mul(second[i], e0));
        all[i][v] = Add<combine>(Add<combine>(Start<T, combine>(), one), other);
      }
    }
    CONVOLVE_UNROLL
    for (int i = 0; i < block_rows; ++i)
      if (b.out[i]) Finish<T, Sample, combine>(k, b, all[i], phase, i, x);
    phase += turn;
    if (phase >= k.components) phase -= k.components;
  }
}

template <class T, class Sample, Combine combine>
decltype(Kernel::run) Pick(bool gradient) {
  return gradient ? FilterGradient<T, Sample, combine> : FilterBank<T, Sample, combine>;
}

template <class T, class Sample>
decltype(Kernel::run) Combined(Combine combine, bool gradient) {
  switch (combine) {
    case Combine::magnitude:
      return Pick<T, Sample, Combine::magnitude>(gradient);
    case Combine::sum_abs:
      return Pick<T, Sample, Combine::sum_abs>(gradient);
    case Combine::max_abs:
      return Pick<T, Sample, Combine::max_abs>(gradient);
    case Combine::max:
      return Pick<T, Sample, Combine::max>(gradient);
    case Combine::none:
      break;
  }
  return nullptr;
}

}  // namespace

decltype(Kernel::run) BankKernel(SampleType type, bool wide, Combine combine, bool gradient) {
  if (type == SampleType::f32) return Combined<float, float>(combine, gradient);
  if (type == SampleType::u8)
    return wide ? Combined<double, std::uint8_t>(combine, gradient) : Combined<float, std::uint8_t>(combine, gradient);
  return wide ? Combined<double, std::uint16_t>(combine, gradient) : Combined<float, std::uint16_t>(combine, gradient);
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(BankKernel);

namespace {

// A kernel's factors in the numbers of the bank's arithmetic.
SpaceFactors factors_of(const Filter& kernel, const Arithmetic& arithmetic) {
  SpaceFactors factors = in_numbers_of(arithmetic, *kernel.space_factors());
  if (arithmetic.exact_taps)
    for (double& tap : factors.row) tap *= arithmetic.divisor / static_cast<double>(kernel.exact()->divisor);
  return factors;
}

std::optional<GradientTaps> gradient_of(const Bank& bank, const Arithmetic& arithmetic) {
  const std::vector<Filter>& kernels = bank.kernels();
  if (kernels.size() != 2 || kernels[0].height() != 3 || kernels[0].width() != 3) return std::nullopt;
  if (!kernels[0].space_factors() || !kernels[1].space_factors()) return std::nullopt;
  SpaceFactors first = factors_of(kernels[0], arithmetic), second = factors_of(kernels[1], arithmetic);
  // Either may come first: no combination asks for an order.
  if (first.row[1] != 0 || second.column[1] != 0) std::swap(first, second);
  if (first.row[1] != 0 || second.column[1] != 0) return std::nullopt;
  GradientTaps taps;
  std::copy_n(first.row.begin(), 3, taps.first_row);
  std::copy_n(first.column.begin(), 3, taps.first_column);
  std::copy_n(second.row.begin(), 3, taps.second_row);
  std::copy_n(second.column.begin(), 3, taps.second_column);
  return taps;
}

}  // namespace

Engine make_bank(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  const Filter& shape = desc.filter;
  const bool wide = arithmetic.accumulator == Accumulator::double_;
  Engine engine;
  make_float_staging(engine, desc, arithmetic, group);
  engine.element_size = wide ? sizeof(double) : sizeof(float);
  engine.block_rows = 4;
  Kernel& kernel = engine.kernel;
  kernel.height = shape.height();
  kernel.width = shape.width();
  kernel.components = group.components;
  kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  const auto packed = std::make_shared<BankTaps>();
  std::size_t at = 0;
  for (std::size_t i = 0; i < desc.bank.kernels().size(); ++i) {
    for (int y = 0; y < shape.height(); ++y)
      for (int x = 0; x < shape.width(); ++x)
        if (const double tap = arithmetic.coefficients[at++]; tap != 0)
          packed->taps.push_back({y, x * group.components, static_cast<float>(tap), tap});
    packed->ends.push_back(static_cast<int>(packed->taps.size()));
  }
  packed->gradient = gradient_of(desc.bank, arithmetic);
  engine.name = packed->gradient ? (wide ? "f64, both factored" : "f32, both factored") : wide ? "f64" : "f32";
  engine.cost = (wide ? 2.0 : 1.0) * (static_cast<double>(packed->taps.size()) + 8);
  kernel.packed = packed;
  kernel.run =
      HWY_DYNAMIC_DISPATCH(BankKernel)(desc.layout.type, wide, desc.bank.combine(), packed->gradient.has_value());
  if (packed->gradient) use_gradient16(engine, desc, arithmetic, group, *packed->gradient);
  return engine;
}

}  // namespace convolve::cpu
#endif
