// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/real.hpp"

#include <cstring>

#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/real.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A register block: rows x vectors of sums. Targets with 32 registers hold 16 sums beside their operands.
constexpr int block_rows = 4;
constexpr int block_vectors = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 2;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;
template <class T>
constexpr int lanes = HWY_LANES(T);
template <class T>
constexpr int block = lanes<T>* block_vectors;

static_assert(block<float> + max_components <= pattern_length);

// Lanes of T from samples at any address.
template <class T, class Sample>
HWY_INLINE Vector<T> Load(const char* p, int shift) {
  const Tag<T> d;
  if constexpr (std::is_same_v<Sample, float>) {
    return hn::LoadU(d, reinterpret_cast<const float*>(p));
  } else {
    const hn::Rebind<std::int32_t, Tag<T>> di;
    auto v = hn::PromoteTo(di, hn::LoadU(hn::Rebind<Sample, Tag<T>>(), reinterpret_cast<const Sample*>(p)));
    if (shift) v = hn::ShiftRightSame(v, shift);
    if constexpr (sizeof(T) == 4)
      return hn::ConvertTo(d, v);
    else
      return hn::PromoteTo(d, v);
  }
}

// The sum of a vector's worth of samples over the frames, from sample `i` on, with zero taken off.
template <class T, class Sample>
HWY_INLINE Vector<T> LoadFrames(const Staging& s, const char* const* rows, std::size_t i, const T* zero,
                                const T* ghost) {
  const Tag<T> d;
  const auto z = hn::LoadU(d, zero);
  if (s.weights.empty()) return hn::Sub(Load<T, Sample>(rows[0] + i * sizeof(Sample), s.shift), z);
  auto sum = hn::Zero(d);
  for (std::size_t t = 0; t < s.weights.size(); ++t) {
    const auto v = rows[t] ? hn::Sub(Load<T, Sample>(rows[t] + i * sizeof(Sample), s.shift), z) : hn::LoadU(d, ghost);
    sum = hn::MulAdd(v, hn::Set(d, static_cast<T>(s.weights[t])), sum);
  }
  return sum;
}

template <class T, class Sample>
void Stage(const Staging& s, const void* const* frame_rows, void* elements, int n) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  T* out = static_cast<T*>(elements);
  const char* rows[max_taps];
  const int frames = s.weights.empty() ? 1 : static_cast<int>(s.weights.size());
  for (int t = 0; t < frames; ++t) rows[t] = static_cast<const char*>(frame_rows[t]);
  const T *zero = s.zero.get<T>(), *ghost = s.ghost.get<T>();
  const int turn = N % s.components;
  int phase = 0, i = 0;
  if (s.weights.empty() && !rows[0]) {
    for (; i < n; i += N, phase = (phase + turn) % s.components) hn::StoreU(hn::LoadU(d, ghost + phase), d, out + i);
    return;
  }
  for (; i + N <= n; i += N) {
    hn::StoreU(LoadFrames<T, Sample>(s, rows, i, zero + phase, ghost + phase), d, out + i);
    phase += turn;
    if (phase >= s.components) phase -= s.components;
  }
  if (i >= n) return;
  alignas(64) Sample rest[max_taps][N] = {};
  for (int t = 0; t < frames; ++t)
    if (rows[t]) {
      std::memcpy(rest[t], rows[t] + i * sizeof(Sample), (n - i) * sizeof(Sample));
      rows[t] = reinterpret_cast<const char*>(rest[t]);
    }
  hn::StoreU(LoadFrames<T, Sample>(s, rows, 0, zero + phase, ghost + phase), d, out + i);
}

template <class T>
void Pass(const RowPass& pass, const void* line, void* elements, int n) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  const T* in = static_cast<const T*>(line);
  T* out = static_cast<T*>(elements);
  const int taps = static_cast<int>(pass.coefficients.size());
  for (int x = 0; x < n; x += 4 * N, in += 4 * N, out += 4 * N) {
    Vector<T> sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (int k = 0; k < taps; ++k) {
      const auto c = hn::Set(d, static_cast<T>(pass.coefficients[k]));
      CONVOLVE_UNROLL
      for (int v = 0; v < 4; ++v) sum[v] = hn::MulAdd(hn::LoadU(d, in + k * pass.components + v * N), c, sum[v]);
    }
    CONVOLVE_UNROLL
    for (int v = 0; v < 4; ++v) hn::StoreU(sum[v], d, out + v * N);
  }
}

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
#if HWY_TARGET == HWY_AVX3
    if constexpr (sizeof(T) == 4 && sizeof(Sample) == 1) {
      const __m512i low = _mm512_packs_epi32(value[0].raw, value[1].raw);
      const __m512i high = _mm512_packs_epi32(value[2].raw, value[3].raw);
      const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
      _mm512_storeu_si512(out, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high)));
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

// Adds one ring row into output rows First..Last of the block. `c`: the taps of this ring row in output row 0.
template <int First, int Last, class T>
HWY_INLINE void AddRow(Vector<T> (&sum)[block_rows][block_vectors], const T* q, const T* c, int width, int step) {
  const Tag<T> d;
  for (int k = 0; k < width; ++k, q += step, ++c) {
    Vector<T> in[block_vectors];
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) in[v] = hn::LoadU(d, q + v * lanes<T>);
    CONVOLVE_UNROLL
    for (int i = First; i <= Last; ++i) {
      const auto tap = hn::Set(d, c[-i * width]);
      CONVOLVE_UNROLL
      for (int v = 0; v < block_vectors; ++v) sum[i][v] = hn::MulAdd(in[v], tap, sum[i][v]);
    }
  }
}

template <class T, class Sample>
void Filter(const Kernel& k, const Block& b) {
  const Tag<T> d;
  constexpr int R = block_rows, B = block<T>;
  static_assert(R == 4);
  const int rows = k.height + R - 1;
  const T* coefficients;
  if constexpr (sizeof(T) == 4)
    coefficients = k.coefficients_f.data();
  else
    coefficients = k.coefficients.data();
  int phase = 0;
  for (int x = 0; x < b.n; x += B, phase = (phase + B) % k.components) {
    b.ahead.fetch(x);
    Vector<T> sum[R][block_vectors];
    CONVOLVE_UNROLL
    for (int i = 0; i < R; ++i) {
      CONVOLVE_UNROLL
      for (int v = 0; v < block_vectors; ++v) sum[i][v] = hn::Zero(d);
    }
    for (int t = 0; t < k.depth; ++t)
      for (int r = 0; r < rows; ++r) {
        const T* q = static_cast<const T*>(b.rows[t * rows + r]) + x;
        const T* c = coefficients + (t * k.height + r) * k.width;
        // Output row i takes ring row r with tap row r - i.
        const int first = HWY_MAX(0, r - k.height + 1), last = HWY_MIN(R - 1, r);
        switch (first * R + last) {
          case 0:
            AddRow<0, 0>(sum, q, c, k.width, k.components);
            break;
          case 1:
            AddRow<0, 1>(sum, q, c, k.width, k.components);
            break;
          case 2:
            AddRow<0, 2>(sum, q, c, k.width, k.components);
            break;
          case 3:
            AddRow<0, 3>(sum, q, c, k.width, k.components);
            break;
          case R + 1:
            AddRow<1, 1>(sum, q, c, k.width, k.components);
            break;
          case R + 2:
            AddRow<1, 2>(sum, q, c, k.width, k.components);
            break;
          case R + 3:
            AddRow<1, 3>(sum, q, c, k.width, k.components);
            break;
          case 2 * R + 2:
            AddRow<2, 2>(sum, q, c, k.width, k.components);
            break;
          case 2 * R + 3:
            AddRow<2, 3>(sum, q, c, k.width, k.components);
            break;
          case 3 * R + 3:
            AddRow<3, 3>(sum, q, c, k.width, k.components);
            break;
        }
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
  }
}

}  // namespace

RealFunctions Functions() {
  return {{{Stage<float, std::uint8_t>, Stage<double, std::uint8_t>},
           {Stage<float, std::uint16_t>, Stage<double, std::uint16_t>},
           {Stage<float, float>, nullptr}},
          {Pass<float>, Pass<double>},
          {{Filter<float, std::uint8_t>, Filter<double, std::uint8_t>},
           {Filter<float, std::uint16_t>, Filter<double, std::uint16_t>},
           {Filter<float, float>, nullptr}}};
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Functions);

RealFunctions real_functions() {
  return HWY_DYNAMIC_DISPATCH(Functions)();
}

}  // namespace convolve::cpu
#endif
