// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// dot: the operations of blocks (dot/packing.hpp) and their way to samples of 8 bits, for each SIMD target that has
// dot-product instructions: those with CONVOLVE_DOT. Include it between foreach_target and the namespace.
#if defined(CONVOLVE_DOT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOLVE_DOT_INL
#undef CONVOLVE_DOT_INL
#else
#define CONVOLVE_DOT_INL
#endif

#include <cstring>

#include "cpu/dot/packing.hpp"
#include "cpu/simd/division-inl.hpp"

#undef CONVOLVE_DOT
#define CONVOLVE_DOT (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2)

#if CONVOLVE_DOT
// Instructions as text: no target of Highway's has these in its attributes. Without the prefix an assembler takes the
// form of AVX-512.
#if HWY_TARGET == HWY_AVX3
#define CONVOLVE_DOT_FORM ""
#else
#define CONVOLVE_DOT_FORM "%{vex%} "
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

using dot::Phase, dot::vectors;
using Ints = Vector<std::int32_t>;
using Floats = Vector<float>;
using Bytes = Vector<std::uint8_t>;

constexpr int most_rows = 4;  // of a block
constexpr int samples = lanes<std::uint8_t>;

// The destination of a block, or of its rows from `first` on. Stores of bytes may change anything, so what is used
// after them is copied.
struct Target {
  int n;
  std::uint8_t* out[most_rows];
  const std::uint8_t* passthrough[most_rows] = {};
  explicit Target(const Block& block, int first = 0) : n(block.n) {
    for (int i = 0; i < most_rows; ++i) {
      out[i] = static_cast<std::uint8_t*>(block.out[first + i]);
      if (block.passthrough) passthrough[i] = static_cast<const std::uint8_t*>(block.passthrough[first + i]);
    }
  }
};

HWY_INLINE Ints WindowAt(Bytes order, const std::uint8_t* p) {
  return hn::BitCast(Tag<std::int32_t>(), hn::TableLookupBytesOr0(hn::LoadU(Tag<std::uint8_t>(), p), order));
}

// 16-bit multiply-adds: pairs of products, summed.
HWY_INLINE Ints MultiplyWords(Ints window, Ints taps) {
#if HWY_TARGET == HWY_AVX3
  return Ints{_mm512_madd_epi16(window.raw, taps.raw)};
#else
  return Ints{_mm256_madd_epi16(window.raw, taps.raw)};
#endif
}
// Multiplies unsigned by signed bytes and adds neighbours, to 16 bits that saturate.
HWY_INLINE Ints MultiplyBytes(Ints window, Ints taps) {
#if HWY_TARGET == HWY_AVX3
  return Ints{_mm512_maddubs_epi16(window.raw, taps.raw)};
#else
  return Ints{_mm256_maddubs_epi16(window.raw, taps.raw)};
#endif
}

// Form: Pairs, windows of two samples widened to 16 bits, and taps of 16 bits; else four samples and taps of 8 bits.
// Vnni, dot-product instructions; else multiply-adds, for which no pair of byte products may exceed 16 bits.
template <class Form>
HWY_INLINE Ints Dot(Ints sum, Ints window, Ints taps) {
  const Tag<std::int32_t> d;
  if constexpr (!Form::vnni) {
    const auto ones = hn::BitCast(d, hn::Set(Tag<std::int16_t>(), 1));
    sum = hn::Add(sum, Form::pairs ? MultiplyWords(window, taps) : MultiplyWords(MultiplyBytes(window, taps), ones));
    asm("" : "+v"(sum.raw));  // or GCC adds up products first, and keeps them in memory
    return sum;
  }
#ifdef CONVOLVE_EMULATE
  constexpr int bits = 32 / Form::taps;
  for (int i = 0; i < Form::taps; ++i) {
    const auto sample = hn::And(hn::ShiftRightSame(window, bits * i), hn::Set(d, (1 << bits) - 1));
    const auto tap = hn::ShiftRightSame(hn::ShiftLeftSame(taps, 32 - bits * (i + 1)), 32 - bits);
    // Pairs can be sums of an earlier pass, with signs.
    const auto signed_sample = hn::ShiftRightSame(hn::ShiftLeftSame(sample, 16), 16);
    sum = hn::Add(sum, hn::Mul(Form::pairs ? signed_sample : sample, tap));
  }
#else
  if constexpr (Form::pairs)
    asm(CONVOLVE_DOT_FORM "vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(window.raw), "v"(taps.raw));
  else
    asm(CONVOLVE_DOT_FORM "vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(window.raw), "v"(taps.raw));
#endif
  return sum;
}

// The constants of Epilogue::biased_product, apart from the offsets.
struct EpilogueConstants {
  Floats gain, round;
  Bytes apart, most;
  explicit EpilogueConstants(const Quantization& q) {
    const Tag<float> df;
    const Tag<std::uint8_t> db;
    gain = hn::Set(df, q.gain);
    round = hn::Set(df, whole - q.rounding_bias);
    most = hn::Set(db, static_cast<std::uint8_t>(q.max));
    apart = hn::LoadDup128(db, rounded_order);
  }
};

// 32-bit integers to 16 bits, saturated, within 128-bit parts.
HWY_INLINE Ints PackInts(Ints low, Ints high) {
  return hn::BitCast(Tag<std::int32_t>(), hn::ReorderDemote2To(Tag<std::int16_t>(), low, high));
}

// Uniform: all registers have the offsets of the first.
template <bool Uniform>
HWY_INLINE Bytes RoundToBytes(const EpilogueConstants& r, const Phase& phase, Ints (&sum)[vectors]) {
  const Tag<float> df;
  CONVOLVE_UNROLL
  for (int b = 0; b < vectors; ++b) {
    const Floats offset = hn::Load(df, phase.offset[Uniform ? 0 : b]);
    const Floats value = hn::Add(hn::MulAdd(hn::ConvertTo(df, sum[b]), r.gain, offset), r.round);
    sum[b] = hn::BitCast(Tag<std::int32_t>(), value);
  }
  return hn::Min(PackRounded(sum, r.apart), r.most);
}

HWY_INLINE Bytes SaturateToBytes(const Ints (&sum)[vectors]) {
  return PackWords(PackInts(sum[0], sum[1]), PackInts(sum[2], sum[3]));
}

// Uniform: of one component, so nothing is copied.
template <bool Uniform>
HWY_INLINE void Store(const Target& to, const Phase& phase, int i, int x, Bytes bytes) {
  const int left = to.n - x;
#if HWY_TARGET == HWY_AVX3
  const __mmask64 wanted = left >= samples ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
  if (!Uniform && to.passthrough[i]) {
    const __mmask64 copied = _mm512_movepi8_mask(_mm512_load_si512(phase.passthrough));
    bytes.raw = _mm512_mask_loadu_epi8(bytes.raw, wanted & copied, to.passthrough[i] + x);
  }
  _mm512_mask_storeu_epi8(to.out[i] + x, wanted, bytes.raw);
#else
  const Tag<std::uint8_t> d;
  const auto merged = [&](const std::uint8_t* inputs) {
    return hn::IfVecThenElse(hn::Load(d, phase.passthrough), hn::LoadU(d, inputs), bytes);
  };
  const bool copies = !Uniform && to.passthrough[i];
  if (HWY_LIKELY(left >= samples)) {
    hn::StoreU(copies ? merged(to.passthrough[i] + x) : bytes, d, to.out[i] + x);
  } else {
    alignas(64) std::uint8_t rest[samples];
    if (copies) {
      std::memcpy(rest, to.passthrough[i] + x, left);
      bytes = merged(rest);
    }
    hn::Store(bytes, d, rest);
    std::memcpy(to.out[i] + x, rest, left);
  }
#endif
}

// The rows of a block by what takes longer. Apart from the kernels, whose registers it would take.
[[gnu::noinline]] void FinishApart(const Quantization& q, const EpilogueConstants& constants, const Phase& phase,
                                   const Ints (*sum)[vectors], int rows, const Target& to, int x) {
  for (int i = 0; i < rows; ++i) {
    if (!to.out[i]) continue;
    Ints value[vectors];
    for (int b = 0; b < vectors; ++b) value[b] = CodeValues(q, sum[i][b], phase.offset[b], phase.wide_offset[b]);
    Store<false>(to, phase, i, x, hn::Min(SaturateToBytes(value), constants.most));
  }
}

// The rows of a block on their way out.
template <bool Uniform, int Rows>
HWY_INLINE void FinishBlock(const Quantization& q, const EpilogueConstants& given, Epilogue epilogue,
                            const Phase& phase, Ints (&sum)[Rows][vectors], const Target& to, int x) {
  const EpilogueConstants* held = &given;
  asm("" : "+r"(held));  // or the compiler keeps what is needed here in registers that sums and windows need
  const EpilogueConstants& constants = *held;
  if (epilogue == Epilogue::division) {
    Ints sums[Rows][vectors];
    CONVOLVE_UNROLL
    for (int i = 0; i < Rows; ++i) {
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) sums[i][b] = sum[i][b];
    }
    FinishApart(q, constants, phase, sums, Rows, to, x);
    return;
  }
  CONVOLVE_UNROLL
  for (int i = 0; i < Rows; ++i)
    if (to.out[i])
      Store<Uniform>(to, phase, i, x,
                     epilogue == Epilogue::saturate ? hn::Min(SaturateToBytes(sum[i]), constants.most)
                                                    : RoundToBytes<Uniform>(constants, phase, sum[i]));
}

// Half of a block's sums, on the way out: to words, a register for each row, or as they are where they finish apart.
template <bool Uniform, int Rows>
HWY_INLINE void KeepHalf(const EpilogueConstants& given, Epilogue epilogue, const Phase& phase,
                         const Ints (&sum)[Rows][vectors / 2], int half, Ints (&kept)[Rows][vectors]) {
  const Tag<float> df;
  const EpilogueConstants* held = &given;
  asm("" : "+r"(held));  // see FinishBlock
  const int first = half * (vectors / 2);
  CONVOLVE_UNROLL
  for (int i = 0; i < Rows; ++i) {
    if (epilogue == Epilogue::division) {
      kept[i][first] = sum[i][0];
      kept[i][first + 1] = sum[i][1];
    } else if (epilogue == Epilogue::saturate) {
      kept[i][half] = PackInts(sum[i][0], sum[i][1]);
    } else {
      Ints value[vectors / 2];
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors / 2; ++b) {
        const Floats offset = hn::Load(df, phase.offset[Uniform ? 0 : first + b]);
        value[b] = hn::BitCast(Tag<std::int32_t>(),
                               hn::Add(hn::MulAdd(hn::ConvertTo(df, sum[i][b]), held->gain, offset), held->round));
      }
      kept[i][half] = LowWords(value[0], value[1]);
    }
  }
}

// A block of which both halves are kept.
template <bool Uniform, int Rows>
HWY_INLINE void FinishHalves(const Quantization& q, const EpilogueConstants& constants, Epilogue epilogue,
                             const Phase& phase, const Ints (&kept)[Rows][vectors], const Target& to, int x) {
  if (epilogue == Epilogue::division) {
    FinishApart(q, constants, phase, kept, Rows, to, x);
    return;
  }
  const bool whole = Uniform && to.out[Rows - 1] && to.n - x >= samples;
  CONVOLVE_UNROLL
  for (int i = 0; i < Rows; ++i) {
    Bytes bytes = PackWords(kept[i][0], kept[i][1]);
    if (epilogue != Epilogue::saturate) bytes = hn::TableLookupBytes(bytes, constants.apart);
    bytes = hn::Min(bytes, constants.most);
    if (HWY_LIKELY(whole))
      hn::StoreU(bytes, Tag<std::uint8_t>(), to.out[i] + x);
    else if (to.out[i])
      Store<Uniform>(to, phase, i, x, bytes);
  }
}

// Starts the sums of a block, or of a part of it from register `first` on.
template <bool Uniform, int Rows, int Count>
HWY_INLINE void StartBlock(const Phase& phase, Ints (&sum)[Rows][Count], int first = 0) {
  CONVOLVE_UNROLL
  for (int i = 0; i < Rows; ++i) {
    CONVOLVE_UNROLL
    for (int b = 0; b < Count; ++b) sum[i][b] = hn::Load(Tag<std::int32_t>(), phase.start[Uniform ? 0 : first + b]);
  }
}

}  // namespace
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef CONVOLVE_DOT_FORM
#endif  // CONVOLVE_DOT

#endif
