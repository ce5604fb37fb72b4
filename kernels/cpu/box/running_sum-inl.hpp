// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RunningSum: sums of all elements up to each one, component by component, for each SIMD target. Include it between
// foreach_target and the namespace.
//
//   lanes                    a    b    c    d    e    f    g    h       one component, blocks of four lanes
//   + those 1 to the left    a   ab   bc   cd    e   ef   fg   gh       within 128-bit blocks
//   + those 2 to the left    a   ab  abc abcd    e   ef  efg efgh
//   + the block before                          ae.. each lane of it takes the last sum of its component
//   + the vectors before     the same, with the last block of the vector before
//
// After Hillis and Steele, Data parallel algorithms (1986). Sums are modulo 2^16 or 2^32: differences of two of them
// are right where they fit.
#if defined(CONVOLVE_RUNNING_SUM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOLVE_RUNNING_SUM_INL
#undef CONVOLVE_RUNNING_SUM_INL
#else
#define CONVOLVE_RUNNING_SUM_INL
#endif

#include <array>

#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR
// Sums of T, an unsigned integer, over `Components` interleaved components. Vectors come in order; lane j of the first
// belongs to component j % Components.
template <class T, int Components>
class RunningSum {
  static constexpr int N = lanes<T>;
  using V = Vector<T>;

 public:
  // Written out: GCC compiles one of its own for the baseline.
  HWY_INLINE RunningSum() : before_(hn::Zero(Tag<T>())) {}
  /// For each lane, the sum of its component's elements up to it, in all vectors so far.
  HWY_INLINE V Add(V v) {
    const V local = InVector(v), sum = hn::Add(local, before_);
    before_ = hn::Add(Turn(before_), LastOf(local));
    return sum;
  }

  /// After `vectors` vectors, puts the sums where the first vector has their components: the next may begin a row.
  HWY_INLINE void Rewind(int vectors) {
    for (; N % Components != 0 && vectors % Components != 0; ++vectors) before_ = Turn(before_);
  }

 private:
  static constexpr int block_bytes = 16, block_lanes = block_bytes / static_cast<int>(sizeof(T));
  static constexpr int blocks = N / block_lanes;
  using Bytes = std::array<std::uint8_t, N * sizeof(T)>;

  // Byte indices, within blocks, that give each lane the last lane of its component in a block that lies `distance`
  // blocks to the left; with `further`, one block further for each block.
  static constexpr Bytes LastLanes(int distance, bool further) {
    Bytes bytes{};
    for (int i = 0; i < N; ++i) {
      const int block = i / block_lanes, at = i % block_lanes + block_lanes * (distance + (further ? block : 0));
      int from = block_lanes - 1;
      while ((at - from) % Components != 0) --from;
      for (std::size_t b = 0; b < sizeof(T); ++b)
        bytes[i * sizeof(T) + b] = static_cast<std::uint8_t>(from * sizeof(T) + b);
    }
    return bytes;
  }
  // Those that give each lane one of the component that its lane in the next vector belongs to.
  static constexpr Bytes Turned() {
    Bytes bytes{};
    for (int i = 0; i < N; ++i) {
      int from = i % block_lanes + N % Components;
      if (from >= block_lanes) from -= Components;
      for (std::size_t b = 0; b < sizeof(T); ++b)
        bytes[i * sizeof(T) + b] = static_cast<std::uint8_t>(from * sizeof(T) + b);
    }
    return bytes;
  }

  static HWY_INLINE V Lookup(V v, const Bytes& bytes) {
    const Tag<std::uint8_t> d;
    return hn::BitCast(Tag<T>(), hn::TableLookupBytes(hn::BitCast(d, v), hn::LoadU(d, bytes.data())));
  }

  // Blocks `Distance` to the left, and 0 where there are none.
  template <int Distance>
  static HWY_INLINE V BlocksBefore(V v) {
#if HWY_TARGET == HWY_AVX3
    return V{_mm512_alignr_epi64(v.raw, _mm512_setzero_si512(), 8 - 2 * Distance)};
#else
    return hn::ConcatLowerLower(Tag<T>(), v, hn::Zero(Tag<T>()));
#endif
  }

  template <int Distance>
  static HWY_INLINE V InBlock(V v) {
    if constexpr (Distance < block_lanes)
      return InBlock<2 * Distance>(hn::Add(v, hn::ShiftLeftLanes<Distance>(Tag<T>(), v)));
    else
      return v;
  }

  static HWY_INLINE V InVector(V v) {
    static constexpr Bytes one = LastLanes(1, false), two = LastLanes(2, false);
    v = InBlock<Components>(v);
    if constexpr (blocks > 1) v = hn::Add(v, Lookup(BlocksBefore<1>(v), one));
    if constexpr (blocks > 2) v = hn::Add(v, Lookup(BlocksBefore<2>(v), two));
    return v;
  }

  // For each lane of the next vector, the last sum of its component.
  static HWY_INLINE V LastOf(V v) {
    static constexpr Bytes last = LastLanes(1, true);
#if HWY_TARGET == HWY_AVX3
    v = V{_mm512_shuffle_i64x2(v.raw, v.raw, 0xFF)};
#elif HWY_TARGET == HWY_AVX2
    v = hn::ConcatUpperUpper(Tag<T>(), v, v);
#endif
    return Lookup(v, last);
  }

  static HWY_INLINE V Turn(V v) {
    if constexpr (N % Components == 0) {
      return v;
    } else {
      static constexpr Bytes turned = Turned();
      return Lookup(v, turned);
    }
  }

  V before_;
};
#endif

}  // namespace
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
