// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/float/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "convolve/is_whole.hpp"
#include "cpu/rows/copy_staging.hpp"
#include "cpu/simd/highway.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/float/kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/quantize-inl.hpp"
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

// A sample of 16 bits that lies in the upper ones.
template <int Shift>
struct HighBits {
  std::uint16_t word;
};

template <class T, class Source>
HWY_INLINE Vector<T> From(const Source* p) {
  return Load<T, Source>(reinterpret_cast<const char*>(p), 0);
}
template <class T, int Shift>
HWY_INLINE Vector<T> From(const HighBits<Shift>* p) {
  return Load<T, std::uint16_t>(reinterpret_cast<const char*>(p), Shift);
}

// Adds one ring row into output rows First..Last of the block. `c`: the taps of this ring row in output row 0. Width 0:
// as many as `width` says.
template <int Width, int First, int Last, class T, class Source>
HWY_INLINE void AddRow(Vector<T> (&sum)[block_rows][block_vectors], const Source* q, const T* c, int width, int step) {
  const Tag<T> d;
  if (Width) width = Width;
  for (int k = 0; k < width; ++k, q += step, ++c) {
    Vector<T> in[block_vectors];
    CONVOLVE_UNROLL
    // Held: GCC would fold the load into each multiply-add, once for every output row.
    for (int v = 0; v < block_vectors; ++v) in[v] = Held(From<T>(q + v * lanes<T>));
    CONVOLVE_UNROLL
    for (int i = First; i <= Last; ++i) {
      const auto tap = hn::Set(d, c[-i * width]);
      CONVOLVE_UNROLL
      for (int v = 0; v < block_vectors; ++v) sum[i][v] = hn::MulAdd(in[v], tap, sum[i][v]);
    }
  }
}

// Output row i takes ring row r with tap row r - i.
constexpr int FirstOutput(int r, int height) {
  return r < height ? 0 : r - height + 1;
}
constexpr int LastOutput(int r) {
  return r < block_rows ? r : block_rows - 1;
}

// All ring rows of one frame; the height is known to the compiler.
template <int Width, class T, class Source, int... Row>
HWY_INLINE void AddRows(std::integer_sequence<int, Row...>, Vector<T> (&sum)[block_rows][block_vectors],
                        const void* const* ring, int x, const T* c, int width, int step) {
  constexpr int height = static_cast<int>(sizeof...(Row)) - block_rows + 1;
  (AddRow<Width, FirstOutput(Row, height), LastOutput(Row), T, Source>(sum, static_cast<const Source*>(ring[Row]) + x,
                                                                       c + Row * width, width, step),
   ...);
}

// Adds the rows of a filter of any height.
template <int Width, class T, class Source>
HWY_INLINE void AddRows(int height, Vector<T> (&sum)[block_rows][block_vectors], const void* const* ring, int x,
                        const T* c, int width, int step) {
  static_assert(block_rows == 4);
  for (int r = 0; r < height + block_rows - 1; ++r, c += width) {
    const auto* q = static_cast<const Source*>(ring[r]) + x;
    switch (FirstOutput(r, height) * block_rows + LastOutput(r)) {
#define CONVOLVE_CASE(first, last)                                 \
  case (first)*block_rows + (last):                                \
    AddRow<Width, first, last, T, Source>(sum, q, c, width, step); \
    break;
      CONVOLVE_CASE(0, 0)
      CONVOLVE_CASE(0, 1)
      CONVOLVE_CASE(0, 2)
      CONVOLVE_CASE(0, 3)
      CONVOLVE_CASE(1, 1)
      CONVOLVE_CASE(1, 2)
      CONVOLVE_CASE(1, 3)
      CONVOLVE_CASE(2, 2)
      CONVOLVE_CASE(2, 3)
      CONVOLVE_CASE(3, 3)
#undef CONVOLVE_CASE
    }
  }
}

// Starts the sums of a block with the centre tap's products: of the samples under the outputs, as they lie in the
// frame.
template <class T, class Sample>
HWY_INLINE void StartWithCentre(Vector<T> (&sum)[block_rows][block_vectors], const Kernel& k, const Block& b, int x,
                                int phase) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  const auto tap = hn::Set(d, static_cast<T>(k.centre));
  const int shift = k.quantization.shift, left = b.n - x;
  CONVOLVE_UNROLL
  for (int i = 0; i < block_rows; ++i) {
    const Sample* p = static_cast<const Sample*>(b.centre[i]) + x;
    Sample rest[block<T>];
    if (HWY_UNLIKELY(left < block<T>)) {
      std::fill_n(rest, block<T>, Sample{});
      p = static_cast<const Sample*>(std::memcpy(rest, p, left * sizeof(Sample)));
    }
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) {
      const auto in = Load<T, Sample>(reinterpret_cast<const char*>(p + v * N), shift);
      sum[i][v] = hn::Mul(hn::Sub(in, hn::LoadU(d, k.zero.get<T>() + phase + v * N)), tap);
    }
  }
}

// Height and Width: known to the compiler, or 0. Source: of the ring, T or samples as they are. Centred: with a tap of
// its own for the input under each output sample.
template <class T, class Sample, int Height, int Width, class Source = T, bool Centred = false>
void Filter(const Kernel& k, const Block& b) {
  const Tag<T> d;
  constexpr int R = block_rows, B = block<T>;
  const int height = Height ? Height : k.height, width = Width ? Width : k.width;
  const T* coefficients;
  if constexpr (sizeof(T) == 4)
    coefficients = k.coefficients_f.data();
  else
    coefficients = k.coefficients.data();
  const int turn = B % k.components;
  int phase = 0;
  for (int x = 0; x < b.n; x += B) {
    b.ahead.fetch(x, B);
    Vector<T> sum[R][block_vectors];
    if constexpr (Centred) StartWithCentre<T, Sample>(sum, k, b, x, phase);
    CONVOLVE_UNROLL
    for (int i = 0; i < R && !Centred; ++i) {
      CONVOLVE_UNROLL
      for (int v = 0; v < block_vectors; ++v) {
        if constexpr (std::is_same_v<Source, T>)
          sum[i][v] = hn::Zero(d);
        else
          sum[i][v] = hn::LoadU(d, k.start.get<T>() + phase + v * lanes<T>);
      }
    }
    for (int t = 0; t < k.depth; ++t) {
      const void* const* ring = b.rows + t * b.frame_rows;
      const T* c = coefficients + t * height * width;
      if constexpr (Height > 0) {
        AddRows<Width, T, Source>(std::make_integer_sequence<int, Height + R - 1>(), sum, ring, x, c, width,
                                  k.components);
      } else {
        const auto [first, count] = k.tap_rows[t];
        if (count) AddRows<Width, T, Source>(count, sum, ring + first, x, c + first * width, width, k.components);
      }
    }
    CONVOLVE_UNROLL
    for (int i = 0; i < R; ++i) {
      if (!b.out[i]) continue;
      StoreUpTo<T, Sample>(b.n - x, k.quantization, sum[i], phase, static_cast<Sample*>(b.out[i]) + x);
    }
    phase += turn;
    if (phase >= k.components) phase -= k.components;
  }
}

// The pass down the columns, where a ring row has so little to do that a known height pays.
template <class Sample, bool Centred>
decltype(Kernel::run) ColumnKernel([[maybe_unused]] int height) {
#if HWY_TARGET != HWY_SCALAR
  if (height == 3) return Filter<float, Sample, 3, 1, float, Centred>;
  if (height == 5) return Filter<float, Sample, 5, 1, float, Centred>;
  if (height == 7) return Filter<float, Sample, 7, 1, float, Centred>;
#endif
  return Filter<float, Sample, 0, 1, float, Centred>;
}

// Over samples as they are: while converting them for each tap takes less than another pass over memory.
template <class Sample, class Source>
decltype(Kernel::run) OfSide([[maybe_unused]] int side) {
#if HWY_TARGET != HWY_SCALAR
  if (side == 3) return Filter<float, Sample, 3, 3, Source>;
#endif
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if (side == 5) return Filter<float, Sample, 5, 5, Source>;
#endif
  return nullptr;
}

decltype(Kernel::run) SampleKernelOf(SampleType type, int shift, int side) {
  if (type == SampleType::u8 && shift == 0) return OfSide<std::uint8_t, std::uint8_t>(side);
  if (type != SampleType::u16) return nullptr;
  switch (shift) {
    case 0:
      return OfSide<std::uint16_t, std::uint16_t>(side);
    case 4:
      return OfSide<std::uint16_t, HighBits<4>>(side);
    case 6:
      return OfSide<std::uint16_t, HighBits<6>>(side);
    default:
      return nullptr;
  }
}

// The pass down the columns, with a centre tap.
decltype(Kernel::run) CentredKernelOf(SampleType type, bool wide, int height) {
  switch (type) {
    case SampleType::u8:
      return wide ? Filter<double, std::uint8_t, 0, 1, double, true> : ColumnKernel<std::uint8_t, true>(height);
    case SampleType::u16:
      return wide ? Filter<double, std::uint16_t, 0, 1, double, true> : ColumnKernel<std::uint16_t, true>(height);
    case SampleType::f32:
      return Filter<float, float, 0, 1, float, true>;
  }
  return nullptr;
}

decltype(Kernel::run) KernelOf(SampleType type, bool wide, int height, int width) {
  if (type == SampleType::f32) return Filter<float, float, 0, 0>;
  if (type == SampleType::u8) {
    if (wide) return Filter<double, std::uint8_t, 0, 0>;
    return width == 1 ? ColumnKernel<std::uint8_t, false>(height) : Filter<float, std::uint8_t, 0, 0>;
  }
  if (wide) return Filter<double, std::uint16_t, 0, 0>;
  return width == 1 ? ColumnKernel<std::uint16_t, false>(height) : Filter<float, std::uint16_t, 0, 0>;
}

}  // namespace

KernelFunctions Kernels() {
  return {KernelOf, CentredKernelOf, SampleKernelOf};
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Kernels);

KernelFunctions float_kernels() {
  return HWY_DYNAMIC_DISPATCH(Kernels)();
}

namespace {

TapRows tap_rows(const double* taps, int height, int width) {
  const auto is_empty = [&](int y) {
    return std::all_of(taps + y * width, taps + (y + 1) * width, [](double tap) { return tap == 0; });
  };
  int first = 0, last = height;
  while (first < last && is_empty(first)) ++first;
  while (first < last && is_empty(last - 1)) --last;
  return {first, last - first};
}

}  // namespace

void make_float_kernel(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                       const std::vector<double>& coefficients, int depth, int height, int width) {
  const bool wide = arithmetic.accumulator == Accumulator::double_;
  engine.element_size = wide ? sizeof(double) : sizeof(float);
  engine.block_rows = 4;
  engine.name = wide ? "f64" : "f32";
  Kernel& kernel = engine.kernel;
  kernel.depth = depth;
  kernel.height = height;
  kernel.width = width;
  kernel.components = group.components;
  kernel.coefficients = coefficients;
  kernel.coefficients_f.assign(coefficients.begin(), coefficients.end());
  kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  bool all_rows = true;
  for (int t = 0; t < depth; ++t) {
    const TapRows& rows =
        kernel.tap_rows.emplace_back(tap_rows(coefficients.data() + t * height * width, height, width));
    all_rows &= rows.count == height;
  }
  kernel.run = float_kernels().kernel(desc.layout.type, wide, all_rows ? height : 0, width);
}

bool make_sample_kernel(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                        const ComponentGroup& group) {
  const Filter& filter = desc.filter;
  if (filter.height() != filter.width() || combines_frames(filter) || arithmetic.accumulator == Accumulator::double_)
    return false;
  const auto run = float_kernels().samples(desc.layout.type, desc.layout.shift, filter.width());
  if (!run) return false;
  double total = 0, magnitude = 0, most = 0;
  for (const double tap : arithmetic.coefficients) {
    total += tap;
    magnitude += std::abs(tap);
  }
  std::vector<double> start;
  for (int c = 0; c < group.components; ++c) {
    const Component& component = *group.component[c];
    const double ghost = component.ghost;
    if (has_ghost_cells(desc.border) && (!is_whole(ghost) || ghost < 0 || ghost > desc.layout.max_value()))
      return false;
    most = std::max(most, desc.layout.max_value() + component.zero);
    start.push_back(-component.zero * total);
  }
  // The zero levels' part is in the sums from the start: see choose_arithmetic.
  const double bound = magnitude * most;
  if (arithmetic.accumulator == Accumulator::exact ? bound >= (1 << 24)
                                                   : (filter.count() + 3) * bound * 0x1p-24 >= 0.95)
    return false;
  make_float_kernel(engine, desc, arithmetic, group, arithmetic.coefficients, filter.depth(), filter.height(),
                    filter.width());
  engine.name = "f32 from samples";
  engine.element_size = bytes_per_sample(desc.layout.type);
  engine.reads_past = (filter.width() - 1) * group.components;
  engine.staging = make_copy_staging(desc, group);
  engine.kernel.start = Pattern(start);
  engine.kernel.run = run;
  return true;
}

}  // namespace convolve::cpu
#endif
