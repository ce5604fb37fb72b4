// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row pass of a warpgroup of wide.cuh by products of bytes as they were loaded, a component by itself: exact sums
// of boxes, or of real taps that are bytes. They are stored in as many bits as halves have, those of boxes as two limbs
// each, others as halves.
#pragma once

#include "cuda/common/hopper/tensor/ptx.cuh"
#include "cuda/separable/wide_rows.cuh"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Two sums, each as `limb` times an upper limb and a lower one.
template <int limb>
__device__ __forceinline__ std::uint32_t pack_limbs(std::int32_t first, std::int32_t second) {
  const std::uint32_t two = __byte_perm(first, second, 0x5410);
  if constexpr (limb == 128) return two + (two & 0xFF80FF80);
  // A sum by 255, rounded down: of v less than 65535 (v + v / 256 + 1) / 256.
  const std::uint32_t more = two + __byte_perm(two, 0, 0x4341) + 0x00010001;
  return two + __byte_perm(more, 0, 0x4341);
}
/// V of two sums.
template <class S>
struct PackSums {
  const Plane& plane;
  __device__ __forceinline__ std::uint32_t operator()(std::int32_t first, std::int32_t second) const {
    if constexpr (S::boxes) return pack_limbs<S::limb>(first, second);
    const auto v = [&](std::int32_t sum) { return fmaf(__int2float_rn(sum), plane.row_scale, plane.row_start); };
    return ptx::pack_halves(v(first), v(second));
  }
};

/// Adds what taps beside the frame make of its first and last samples, which are bytes `first_at` and `last_at`, to the
/// sums of a lane. The table has for two columns each what the taps of either side add up to.
template <int n>
__device__ __forceinline__ void add_edge_pixels(std::int32_t (&sum)[n], const EdgePixels& pixels,
                                                std::uint32_t first_at, std::uint32_t last_at, std::uint32_t table,
                                                int lane) {
  std::int32_t first[2], last[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    first[h] = static_cast<std::int32_t>(__byte_perm(pixels.first[h], 0, 0x4440 | first_at));
    last[h] = static_cast<std::int32_t>(__byte_perm(pixels.last[h], 0, 0x4440 | last_at));
  }
#pragma unroll
  for (int i = 0; i < n; i += 4) {
    const uint4 taps = ptx::load_shared_four_words(table + (i + (lane & 3)) * 16);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      sum[i + 2 * h] += static_cast<std::int32_t>(taps.x) * first[h] + static_cast<std::int32_t>(taps.z) * last[h];
      sum[i + 2 * h + 1] += static_cast<std::int32_t>(taps.y) * first[h] + static_cast<std::int32_t>(taps.w) * last[h];
    }
  }
}

/// Word j of a piece's component c: four pixels.
template <class S>
__device__ __forceinline__ std::uint32_t bytes_of(const Piece<S::piece_words>& v, int j, int c) {
  const std::uint32_t* const w = v.word;
  if constexpr (S::C == 1) return w[j];
  if constexpr (S::C == 2) return __byte_perm(w[2 * j], w[2 * j + 1], c ? 0x7531 : 0x6420);
  if constexpr (S::C == 3) {
    const std::uint32_t most = __byte_perm(w[3 * j], w[3 * j + 1], c == 0 ? 0x0630 : c == 1 ? 0x0741 : 0x0052);
    return __byte_perm(most, w[3 * j + 2], c == 0 ? 0x5210 : c == 1 ? 0x6210 : 0x7410);
  }
  const std::uint32_t of = c < 2 ? 0x5140 : 0x7362;
  return __byte_perm(__byte_perm(w[0], w[1], of), __byte_perm(w[2], w[3], of), c & 1 ? 0x7632 : 0x5410);
}

/// The left matrices of a component: two words a row each. Where a piece has one, it waits for the next piece.
template <int words, int pieces>
struct ByteLeft {
  static constexpr int products = words < 2 ? 1 : words / 2;
  /// The product that piece p is the last of; below 0: none.
  static __device__ __forceinline__ constexpr int first_product(int p) {
    return words > 1 ? p * products : p % 2 == 1 || p + 1 == pieces ? p / 2 : -1;
  }
  uint4 part[products];
  /// `word(row, j)`. `before`: of two pieces, the words of the first one.
  template <class F>
  __device__ __forceinline__ void set(F&& word, std::uint32_t (&before)[2], int p) {
#pragma unroll
    for (int j = 0; j < products; ++j)
      if constexpr (words > 1) {
        part[j] = {word(0, 2 * j), word(1, 2 * j), word(0, 2 * j + 1), word(1, 2 * j + 1)};
      } else if (p % 2 == 1) {
        part[j] = {before[0], before[1], word(0, 0), word(1, 0)};
      } else if (p + 1 == pieces) {
        part[j] = {word(0, 0), word(1, 0), 0, 0};
      } else {
        before[0] = word(0, 0), before[1] = word(1, 0);
      }
    if (first_product(p) >= 0)
#pragma unroll
      for (int j = 0; j < products; ++j) ptx::hold_matrix(part[j]);
  }
  template <int n>
  __device__ __forceinline__ void multiply(std::int32_t (&sum)[n], MatrixDescriptor right, int p) const {
    if (first_product(p) < 0) return;
#pragma unroll
    for (int j = 0; j < products; ++j) ptx::multiply_bytes(sum, part[j], moved(right, (first_product(p) + j) * 64 * n));
  }
};

/// The sums of a step, of pixels of C components.
template <class S>
struct ByteRowSums : SumsOfComponents<S, std::int32_t> {
  using Base = SumsOfComponents<S, std::int32_t>;
  using Base::Base, Base::sum, Base::plane;
  using P = Piece<S::piece_words>;
  using Part = ByteLeft<S::piece_pixels / 4, S::pieces>;
  std::uint32_t before[S::C][2];

  struct Left {
    Part part[S::C];
    __device__ __forceinline__ Left(ByteRowSums& sums, const P (&v)[2], int p, int) {
#pragma unroll
      for (int c = 0; c < S::C; ++c)
        part[c].set([&](int row, int j) { return bytes_of<S>(v[row], j, c); }, sums.before[c], p);
    }
  };
  static __device__ __forceinline__ constexpr bool sends(int p) {
    return Part::first_product(p) >= 0;
  }
  static __device__ __forceinline__ constexpr bool waits_for_more(int p) {
    return S::ring && !sends(p);
  }
  __device__ __forceinline__ void multiply(const Left& left, std::uint32_t table, int p, int) {
    const MatrixDescriptor right = describe_matrix(table, 16 * S::pixels, 128);
#pragma unroll
    for (int c = 0; c < S::C; ++c) left.part[c].multiply(sum[c], right, p);
  }
  /// With edges: adds the taps beside the frame.
  __device__ __forceinline__ void add_edges(const EdgePixels& pixels, std::uint32_t table, int lane) {
#pragma unroll
    for (int c = 0; c < S::C; ++c) add_edge_pixels(sum[c], pixels, c, c + 4 - S::C, table + S::row_taps_bytes, lane);
  }
  __device__ __forceinline__ void store(std::uint32_t at) const {
#pragma unroll
    for (int c = 0; c < S::C; ++c) store_sums(sum[c], at + c * S::pixels * 16, PackSums<S>{plane});
  }
  __device__ __forceinline__ void store_repeated(int half, std::uint32_t at) const {
#pragma unroll
    for (int c = 0; c < S::C; ++c) wide::store_repeated(sum[c], half, at + c * S::pixels * 16, PackSums<S>{plane});
  }
};

/// Of packed 4:2:2, as PairSums.
template <class S>
struct BytePairSums : SumsOfPairs<S, std::int32_t> {
  using Base = SumsOfPairs<S, std::int32_t>;
  using Base::Base, Base::luma, Base::chroma, Base::has_luma, Base::plane;
  using P = Piece<4>;
  using Chroma = ByteLeft<1, S::pieces>;
  using Luma = ByteLeft<2, S::luma_pieces>;
  std::uint32_t before[2][2];

  struct Left {
    Luma luma;
    Chroma chroma[2];
    __device__ __forceinline__ Left(BytePairSums& sums, const P (&v)[2], int p, int) {
      const std::uint32_t two[2][2] = {{sums.chroma_of(v[0], 0), sums.chroma_of(v[0], 1)},  // [row][half]
                                       {sums.chroma_of(v[1], 0), sums.chroma_of(v[1], 1)}};
#pragma unroll
      for (int c = 0; c < 2; ++c)
        chroma[c].set([&](int row, int) { return __byte_perm(two[row][0], two[row][1], c ? 0x7632 : 0x5410); },
                      sums.before[c], p);
      if (!has_luma(p)) return;
      luma.set([&](int row,
                   int j) { return __byte_perm(v[row].word[2 * j], v[row].word[2 * j + 1], sums.plane.luma_halves); },
               sums.before[0], p - S::first_luma);
    }
  };
  /// Measured: pieces without products wait as all do.
  static __device__ __forceinline__ constexpr bool sends(int) {
    return true;
  }
  /// By a ring: two pieces at a time (one H100, 2026-11-27: 2 to 3 % less time).
  static __device__ __forceinline__ constexpr bool waits_for_more(int p) {
    return S::ring && p % 2 == 0;
  }
  __device__ __forceinline__ void multiply(const Left& left, std::uint32_t table, int p, int) {
    const MatrixDescriptor of_pairs = describe_matrix(table + S::luma_taps_bytes, 16 * S::pixels, 128);
#pragma unroll
    for (int c = 0; c < 2; ++c) left.chroma[c].multiply(chroma[c], of_pairs, p);
    if (has_luma(p)) left.luma.multiply(luma, describe_matrix(table, 32 * S::pixels, 128), p - S::first_luma);
  }
  __device__ __forceinline__ void add_edges(const EdgePixels& pixels, std::uint32_t table, int lane) {
    const std::uint32_t luma_at = plane.luma_halves & 1, edge_taps = table + S::row_taps_bytes;
    add_edge_pixels(luma, pixels, luma_at, luma_at + 2, edge_taps, lane);
#pragma unroll
    for (int c = 0; c < 2; ++c)
      add_edge_pixels(chroma[c], pixels, 1 - luma_at + 2 * c, 1 - luma_at + 2 * c, edge_taps + 16 * S::pixels, lane);
  }
  __device__ __forceinline__ void store(std::uint32_t at) const {
    store_sums(luma, at, PackSums<S>{plane});
#pragma unroll
    for (int c = 0; c < 2; ++c) store_sums(chroma[c], at + (2 + c) * S::pixels * 16, PackSums<S>{plane});
  }
  __device__ __forceinline__ void store_repeated(int half, std::uint32_t at) const {
    wide::store_repeated(luma, half, at, PackSums<S>{plane});
#pragma unroll
    for (int c = 0; c < 2; ++c)
      wide::store_repeated(chroma[c], half, at + (2 + c) * S::pixels * 16, PackSums<S>{plane});
  }
};

template <class S>
requires(S::byte_rows && !S::pairs) struct SumsOf<S> {
  using Type = ByteRowSums<S>;
};
template <class S>
requires(S::byte_rows&& S::pairs) struct SumsOf<S> {
  using Type = BytePairSums<S>;
};

#endif

}  // namespace convolve::cuda::wide
