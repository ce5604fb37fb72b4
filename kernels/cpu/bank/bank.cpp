// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/bank/bank.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "cpu/float/staging.hpp"
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

// What a combination starts with: combined with a sum, it leaves that sum.
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
      if constexpr (combine == Combine::magnitude) {
        CONVOLVE_UNROLL
        for (int v = 0; v < block_vectors; ++v) all[v] = hn::Sqrt(all[v]);
      }
      Sample* out = static_cast<Sample*>(b.out[i]) + x;
      if (x + B <= b.n) {
        Store<T, Sample>(k.quantization, all, phase, out);
      } else {
        alignas(64) Sample rest[B];
        Store<T, Sample>(k.quantization, all, phase, rest);
        std::memcpy(static_cast<void*>(out), rest, (b.n - x) * sizeof(Sample));
      }
    }
    phase += turn;
    if (phase >= k.components) phase -= k.components;
  }
}

template <class T, class Sample>
decltype(Kernel::run) Combined(Combine combine) {
  switch (combine) {
    case Combine::magnitude:
      return FilterBank<T, Sample, Combine::magnitude>;
    case Combine::sum_abs:
      return FilterBank<T, Sample, Combine::sum_abs>;
    case Combine::max_abs:
      return FilterBank<T, Sample, Combine::max_abs>;
    case Combine::max:
      return FilterBank<T, Sample, Combine::max>;
    case Combine::none:
      break;
  }
  return nullptr;
}

}  // namespace

decltype(Kernel::run) BankKernel(SampleType type, bool wide, Combine combine) {
  if (type == SampleType::f32) return Combined<float, float>(combine);
  if (type == SampleType::u8)
    return wide ? Combined<double, std::uint8_t>(combine) : Combined<float, std::uint8_t>(combine);
  return wide ? Combined<double, std::uint16_t>(combine) : Combined<float, std::uint16_t>(combine);
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(BankKernel);

Engine make_bank(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  const Filter& shape = desc.filter;
  const bool wide = arithmetic.accumulator == Accumulator::double_;
  Engine engine;
  make_float_staging(engine, desc, arithmetic, group);
  engine.element_size = wide ? sizeof(double) : sizeof(float);
  engine.block_rows = 4;
  engine.name = wide ? "f64" : "f32";
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
  engine.cost = (wide ? 2.0 : 1.0) * (static_cast<double>(packed->taps.size()) + 8);
  kernel.packed = packed;
  kernel.run = HWY_DYNAMIC_DISPATCH(BankKernel)(desc.layout.type, wide, desc.bank.combine());
  return engine;
}

}  // namespace convolve::cpu
#endif
