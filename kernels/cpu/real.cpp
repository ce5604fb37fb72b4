// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/real.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/real.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

// A register block: rows x vectors of sums. Targets with 32 registers hold 16 sums beside their operands.
constexpr int block_rows = 4;
constexpr int block_vectors = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 2;

template <class T>
constexpr int block = lanes<T>* block_vectors;

static_assert(block<float> + max_components <= pattern_length);

// To nearest, ties to even; what does not fit may come out as the most negative integer.
template <class V>
HWY_INLINE auto RoundToInt(V v) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec512<std::int32_t>{_mm512_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec256<std::int32_t>{_mm256_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_SSE4
  return hn::Vec128<std::int32_t>{_mm_cvtps_epi32(v.raw)};
#else
  return hn::NearestInt(v);
#endif
}

// Half a vector of code values in doubles, rounded and clamped.
template <class V>
HWY_INLINE auto RoundWide(const Quantization& q, V sum, const double* offset) {
  const hn::DFromV<V> d;
  const auto v = hn::Add(hn::Div(sum, hn::Set(d, q.divisor)), hn::LoadU(d, offset));
  const auto clamped = hn::Min(hn::Max(hn::Round(v), hn::Zero(d)), hn::Set(d, static_cast<double>(q.max)));
  return hn::DemoteTo(hn::Rebind<std::int32_t, decltype(d)>(), clamped);
}

// Code values, before the shift, of the sums of one vector.
template <class T>
HWY_INLINE auto Quantize(const Quantization& q, Vector<T> sum, int phase) {
  const Tag<T> d;
  if constexpr (sizeof(T) == 8) {
    return RoundWide(q, sum, q.offset.get<double>() + phase);
  } else {
    if (q.wide) {
      const double* offset = q.offset.get<double>() + phase;
#if HWY_TARGET == HWY_SCALAR
      return RoundWide(q, hn::PromoteTo(Tag<double>(), sum), offset);
#else
      const hn::Half<Tag<float>> dh;
      const hn::Rebind<double, decltype(dh)> dd;
      const auto low = RoundWide(q, hn::PromoteTo(dd, hn::LowerHalf(dh, sum)), offset);
      const auto high = RoundWide(q, hn::PromoteTo(dd, hn::UpperHalf(dh, sum)), offset + lanes<float> / 2);
      return hn::Combine(hn::RebindToSigned<Tag<float>>(), high, low);
#endif
    }
    auto v = hn::MulAdd(sum, hn::Set(d, q.gain), hn::LoadU(d, q.offset.get<float>() + phase));
    v = hn::Sub(v, hn::Set(d, q.snap));
    // Demotion saturates at 0.
    return RoundToInt(hn::Min(v, hn::Set(d, q.max)));
  }
}

template <class T, class Sample>
HWY_INLINE void Store(const Quantization& q, const Vector<T> (&sum)[block_vectors], int phase, Sample* out) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  if constexpr (std::is_same_v<Sample, float>) {
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v)
      hn::StoreU(hn::MulAdd(sum[v], hn::Set(d, q.gain), hn::LoadU(d, q.offset.get<float>() + phase + v * N)), d,
                 out + v * N);
  } else {
    using Int = hn::Vec<hn::Rebind<std::int32_t, Tag<T>>>;
    Int value[block_vectors];
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) value[v] = Quantize<T>(q, sum[v], phase + v * N);
    if (q.shift) {
      CONVOLVE_UNROLL
      for (int v = 0; v < block_vectors; ++v)
        value[v] = hn::ShiftLeftSame(hn::Max(value[v], hn::Zero(hn::DFromV<Int>())), q.shift);
    }
    // Packing works within 128-bit parts; one permutation then restores the order.
#if HWY_TARGET == HWY_AVX3
    if constexpr (sizeof(T) == 4 && sizeof(Sample) == 1) {
      const __m512i low = _mm512_packs_epi32(value[0].raw, value[1].raw);
      const __m512i high = _mm512_packs_epi32(value[2].raw, value[3].raw);
      const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
      _mm512_storeu_si512(out, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high)));
      return;
    }
    if constexpr (sizeof(T) == 4 && sizeof(Sample) == 2) {
      const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
      for (int v = 0; v < block_vectors; v += 2)
        _mm512_storeu_si512(out + v * N,
                            _mm512_permutexvar_epi64(order, _mm512_packus_epi32(value[v].raw, value[v + 1].raw)));
      return;
    }
#elif HWY_TARGET == HWY_AVX2
    if constexpr (sizeof(T) == 4 && sizeof(Sample) == 1) {
      const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(value[0].raw, value[1].raw), 0xD8);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                       _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
      return;
    }
    if constexpr (sizeof(T) == 4 && sizeof(Sample) == 2) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                          _mm256_permute4x64_epi64(_mm256_packus_epi32(value[0].raw, value[1].raw), 0xD8));
      return;
    }
#endif
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) {
      const hn::Rebind<Sample, Tag<T>> ds;
      hn::StoreU(hn::DemoteTo(ds, value[v]), ds, out + v * N);
    }
  }
}

// A vector that stays in a register: GCC would fold its load into each multiply-add, once for every output row.
template <class V>
HWY_INLINE V Held(V v) {
#if HWY_TARGET == HWY_AVX3
  asm("" : "+v"(v.raw));
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  asm("" : "+x"(v.raw));
#endif
  return v;
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
    for (int v = 0; v < block_vectors; ++v)
      in[v] = Held(Load<T, Source>(reinterpret_cast<const char*>(q + v * lanes<T>), 0));
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

// The same for any height.
template <int Width, class T, class Source>
HWY_INLINE void AddRows(int height, Vector<T> (&sum)[block_rows][block_vectors], const void* const* ring, int x,
                        const T* c, int width, int step) {
  static_assert(block_rows == 4);
  for (int r = 0; r < height + block_rows - 1; ++r, c += width) {
    const auto* q = static_cast<const Source*>(ring[r]) + x;
    switch (FirstOutput(r, height) * block_rows + LastOutput(r)) {
#define CONVOLVE_CASE(first, last)                                 \
  case first* block_rows + last:                                   \
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

// Height and Width: known to the compiler, or 0. Source: of the ring, T or samples as they are.
template <class T, class Sample, int Height, int Width, class Source = T>
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
    CONVOLVE_UNROLL
    for (int i = 0; i < R; ++i) {
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
      if constexpr (Height > 0)
        AddRows<Width, T, Source>(std::make_integer_sequence<int, Height + R - 1>(), sum, ring, x, c, width,
                                  k.components);
      else
        AddRows<Width, T, Source>(height, sum, ring, x, c, width, k.components);
    }
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

// The pass down the columns, where a ring row has so little to do that a known height pays.
template <class Sample>
decltype(Kernel::run) ColumnKernel([[maybe_unused]] int height) {
#if HWY_TARGET != HWY_SCALAR
  if (height == 3) return Filter<float, Sample, 3, 1>;
  if (height == 5) return Filter<float, Sample, 5, 1>;
  if (height == 7) return Filter<float, Sample, 7, 1>;
#endif
  return Filter<float, Sample, 0, 1>;
}

// Over samples as they are: while converting them for each tap takes less than another pass over memory.
template <class Sample>
decltype(Kernel::run) SampleKernel([[maybe_unused]] int side) {
#if HWY_TARGET != HWY_SCALAR
  if (side == 3) return Filter<float, Sample, 3, 3, Sample>;
#endif
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if (side == 5) return Filter<float, Sample, 5, 5, Sample>;
#endif
  return nullptr;
}

decltype(Kernel::run) KernelOf(SampleType type, bool wide, int height, int width) {
  if (type == SampleType::f32) return Filter<float, float, 0, 0>;
  if (type == SampleType::u8) {
    if (wide) return Filter<double, std::uint8_t, 0, 0>;
    return width == 1 ? ColumnKernel<std::uint8_t>(height) : Filter<float, std::uint8_t, 0, 0>;
  }
  if (wide) return Filter<double, std::uint16_t, 0, 0>;
  return width == 1 ? ColumnKernel<std::uint16_t>(height) : Filter<float, std::uint16_t, 0, 0>;
}

}  // namespace

KernelFunctions Kernels() {
  return {KernelOf, {SampleKernel<std::uint8_t>, SampleKernel<std::uint16_t>, nullptr}};
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Kernels);

void make_real_kernel(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
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
  kernel.run = HWY_DYNAMIC_DISPATCH(Kernels)().kernel(desc.layout.type, wide, height, width);
}

bool make_sample_kernel(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  const Filter& filter = desc.filter;
  const auto of_side = HWY_DYNAMIC_DISPATCH(Kernels)().samples[static_cast<int>(desc.layout.type)];
  if (!of_side || filter.height() != filter.width() || !of_side(filter.width()) || desc.layout.shift != 0 ||
      combines_frames(filter) || arithmetic.accumulator == Accumulator::double_)
    return false;
  double total = 0, magnitude = 0, most = 0;
  for (const double tap : arithmetic.coefficients) {
    total += tap;
    magnitude += std::abs(tap);
  }
  std::vector<double> start;
  for (int c = 0; c < group.components; ++c) {
    const Component& component = *group.component[c];
    const double ghost = component.ghost;
    if (desc.border == Border::constant && (ghost != std::floor(ghost) || ghost < 0 || ghost > desc.layout.max_value()))
      return false;
    most = std::max(most, desc.layout.max_value() + component.zero);
    start.push_back(-component.zero * total);
  }
  // The zero levels' part is in the sums from the start: see choose_arithmetic.
  const double bound = magnitude * most;
  if (arithmetic.accumulator == Accumulator::exact ? bound >= (1 << 24)
                                                   : (filter.count() + 3) * bound * 0x1p-24 >= 0.95)
    return false;
  make_real_kernel(engine, desc, arithmetic, group, arithmetic.coefficients, filter.depth(), filter.height(),
                   filter.width());
  engine.name = "f32 from samples";
  engine.element_size = bytes_per_sample(desc.layout.type);
  engine.reads_past = (filter.width() - 1) * group.components;
  engine.staging = make_copy_staging(desc, group);
  engine.kernel.start = Pattern(start);
  engine.kernel.run = of_side(filter.width());
  return true;
}

}  // namespace convolve::cpu
#endif
