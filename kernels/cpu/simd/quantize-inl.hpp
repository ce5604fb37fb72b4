// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// quantize: register blocks of sums to samples, for each SIMD target. Include it between foreach_target and the
// namespace.
#if defined(CONVOLVE_QUANTIZE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOLVE_QUANTIZE_INL
#undef CONVOLVE_QUANTIZE_INL
#else
#define CONVOLVE_QUANTIZE_INL
#endif

#include <cstring>

#include "cpu/engine/engine.hpp"
#include "cpu/simd/division-inl.hpp"
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

// A register block: rows x vectors of sums. Targets with 32 registers hold 16 sums beside their operands.
constexpr int block_rows = 4;
constexpr int block_vectors = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 2;

template <class T>
constexpr int block = lanes<T>* block_vectors;

static_assert(block<float> + max_components <= pattern_length);

// Code values, before the shift, of the sums of one vector.
template <class T>
HWY_INLINE auto Quantize(const Quantization& q, Vector<T> sum, int phase) {
  if constexpr (sizeof(T) == 8)
    return RoundWide(q, sum, q.offset.get<double>() + phase);
  else
    return CodeValues(q, sum, q.offset.get<float>() + phase, q.offset.get<double>() + phase);
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
      hn::StoreU(PackInOrder(value), Tag<std::uint8_t>(), out);
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

// Stores the first `left` samples of a block: all of them where it is whole.
template <class T, class Sample>
HWY_INLINE void StoreUpTo(int left, const Quantization& q, const Vector<T> (&sum)[block_vectors], int phase,
                          Sample* out) {
  if (left >= block<T>) {
    Store<T, Sample>(q, sum, phase, out);
  } else {
    alignas(64) Sample rest[block<T>];
    Store<T, Sample>(q, sum, phase, rest);
    std::memcpy(static_cast<void*>(out), rest, left * sizeof(Sample));
  }
}

}  // namespace
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
