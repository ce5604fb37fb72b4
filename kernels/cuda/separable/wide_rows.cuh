// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row pass of a warpgroup of wide.cuh: its sums, and the left matrices of its products.
#pragma once

#include <cuda_fp16.h>

#include <type_traits>

#include "cuda/common/limbs/ptx.cuh"
#include "cuda/matrix/hopper/products.cuh"
#include "cuda/separable/wide_input.cuh"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

template <class Sum, int n>
__device__ __forceinline__ void hold(Sum (&sum)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) ptx::hide_behind_memory(sum[i]);
}
/// Begins sums with those of a table in shared memory, whose bits are floats or, of boxes, integers: of those by a
/// ring, whose border has no ghost cells, zeros.
template <class S, class Sum, int n>
__device__ __forceinline__ void start_sums(Sum (&sum)[n], std::uint32_t starts, int lane) {
  if constexpr (S::byte_rows && S::ring) {
#pragma unroll
    for (int i = 0; i < n; ++i) sum[i] = 0;
    return hold(sum);
  }
  const auto start = [](float bits) {
    if constexpr (std::is_integral_v<Sum>)
      return __float_as_int(bits);
    else
      return bits;
  };
#pragma unroll
  for (int i = 0; i < n; i += 4) {
    const float2 v = ptx::load_shared_floats(starts + 8 * i + (lane & 3) * 8);
    sum[i] = sum[i + 2] = start(v.x), sum[i + 1] = sum[i + 3] = start(v.y);
  }
  hold(sum);
}
/// Sends the product that sums begin with, which saves loads and moves: of ones, in the first two columns of the left
/// matrix, by rows of two halves, whose sum a column begins with.
template <int n>
__device__ __forceinline__ void send_starts(float (&sum)[n], const uint4& ones, std::uint32_t starts) {
#pragma unroll
  for (int i = 0; i < n; ++i) sum[i] = 0;
  ptx::multiply_halves(sum, ones, describe_matrix(starts, 32 * n, 128), false);
}
__device__ __forceinline__ uint4 ones_of(int lane) {
  const std::uint32_t two = (lane & 3) == 0 ? 0x3C003C00 : 0;
  uint4 ones{two, two, 0, 0};
  ptx::hold_matrix(ones);
  return ones;
}
/// Half of some sums.
__device__ __forceinline__ float (&half_of(float (&sum)[32], int half))[16] {
  return *reinterpret_cast<float(*)[16]>(sum + 16 * half);
}
/// Of a lane's two rows, the frame's first four bytes and its last ones, for taps beside it.
struct EdgePixels {
  std::uint32_t first[2], last[2];
};
/// Stores sums, a word of two by `pack`, so that products find blocks of 8 columns by 8 rows, columns apart.
template <class Sum, int n, class Pack>
__device__ __forceinline__ void store_sums(const Sum (&sum)[n], std::uint32_t at, Pack&& pack) {
#pragma unroll
  for (int j = 0; j < n / 4; j += 2) {
    const Sum* const s = sum + 4 * j;
    const std::uint32_t word[4] = {pack(s[0], s[1]), pack(s[2], s[3]), pack(s[4], s[5]), pack(s[6], s[7])};
    ptx::store_matrices_transposed(at + j * 128, word);
  }
}
/// Stores the sums of one row of four lanes, that of `half` 0 or that 8 below (2): each eight times, as blocks of 8
/// rows that are alike.
template <class Sum, int n, class Pack>
__device__ __forceinline__ void store_repeated(const Sum (&sum)[n], int half, std::uint32_t at, Pack&& pack) {
#pragma unroll
  for (int j = 0; j < n / 4; ++j)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const std::uint32_t two = pack(sum[4 * j + half + e], sum[4 * j + half + e]);
      ptx::store_shared(at + j * 128 + ((threadIdx.x & 3) * 2 + e) * 16, {two, two, two, two});
    }
}
/// The same, as halves.
template <int n>
__device__ __forceinline__ void store_sums(const float (&sum)[n], std::uint32_t at) {
  store_sums(sum, at, [](float first, float second) { return ptx::pack_halves(first, second); });
}

/// The sums of a step, of pixels of C components.
template <class S, class Sum>
struct SumsOfComponents {
  const Plane& plane;
  Sum sum[S::C][S::pixels / 2];

  __device__ __forceinline__ SumsOfComponents(const Plane& plane, std::uint32_t table, int lane) : plane(plane) {
    const std::uint32_t starts = table + S::row_taps_bytes;
    if constexpr (S::start_products) {
      const uint4 ones = ones_of(lane);
      ptx::wgmma_fence();
#pragma unroll
      for (int c = 0; c < S::C; ++c) send_starts(sum[c], ones, starts + c * S::pixels * 32);
      ptx::wgmma_commit();
    } else {
#pragma unroll
      for (int c = 0; c < S::C; ++c) start_sums<S>(sum[c], starts + c * S::pixels * 4, lane);
    }
  }
  __device__ __forceinline__ void hold_all() {
#pragma unroll
    for (int c = 0; c < S::C; ++c) hold(sum[c]);
  }
};
template <class S>
struct RowSums : SumsOfComponents<S, float> {
  using Base = SumsOfComponents<S, float>;
  using Base::Base, Base::sum;
  using P = Piece<S::piece_words>;
  static constexpr int of_product = 32 * S::pixels;

  /// The left matrices of a piece of two rows, of products from `first` on.
  struct Left {
    uint4 part[S::products_at_once][S::C];

    __device__ __forceinline__ Left(const RowSums&, const P (&v)[2], int, int first) {
#pragma unroll
      for (int j = 0; j < S::products_at_once; ++j)
#pragma unroll
        for (int c = 0; c < S::C; ++c) {
          const int k = first + j;
          part[j][c] = {halves_of<S>(v[0], k, 0, c), halves_of<S>(v[1], k, 0, c), halves_of<S>(v[0], k, 1, c),
                        halves_of<S>(v[1], k, 1, c)};
          ptx::hold_matrix(part[j][c]);
        }
    }
  };
  /// Whether there are products behind piece p.
  static __device__ __forceinline__ constexpr bool sends(int) {
    return true;
  }
  static __device__ __forceinline__ constexpr bool waits_for_more(int) {
    return false;
  }
  /// Sends the products of piece p from `first` on.
  __device__ __forceinline__ void multiply(const Left& left, std::uint32_t table, int p, int first) {
    const MatrixDescriptor right = describe_matrix(table, of_product / 2, 128);
#pragma unroll
    for (int j = 0; j < S::products_at_once; ++j)
#pragma unroll
      for (int c = 0; c < S::C; ++c)
        ptx::multiply_halves(sum[c], left.part[j][c], moved(right, (p * S::products_of_piece + first + j) * of_product),
                             true);
  }
  __device__ __forceinline__ void store(std::uint32_t at) const {
#pragma unroll
    for (int c = 0; c < S::C; ++c) store_sums(sum[c], at + c * S::pixels * 16);
  }
  __device__ __forceinline__ void store_repeated(int half, std::uint32_t at) const {
#pragma unroll
    for (int c = 0; c < S::C; ++c)
      wide::store_repeated(sum[c], half, at + c * S::pixels * 16,
                           [](float first, float second) { return ptx::pack_halves(first, second); });
  }
};

/// Of packed 4:2:2, whose pixels here are pairs of two samples of luma and one of either chroma: luma meets the middle
/// of a window alone.
template <class S, class Sum>
struct SumsOfPairs {
  const Plane& plane;
  Sum luma[S::pixels], chroma[2][S::pixels / 2];
  float start;  ///< of a ring, that of all sums

  __device__ __forceinline__ SumsOfPairs(const Plane& plane, std::uint32_t table, int lane) : plane(plane) {
    const std::uint32_t starts = table + S::row_taps_bytes;
    if constexpr (S::bands) {
      const std::uint32_t two = ptx::load_shared_word(starts);  // a half and what it lacks
      const float2 parts = __half22float2(*reinterpret_cast<const __half2*>(&two));
      start = parts.x + parts.y;
#pragma unroll
      for (int i = 0; i < S::pixels; ++i) luma[i] = 0, chroma[0][i / 2] = chroma[1][i / 2] = start;
      hold(chroma[0]), hold(chroma[1]);
    } else if constexpr (S::start_products) {
      const uint4 ones = ones_of(lane);
      ptx::wgmma_fence();
      send_starts(luma, ones, starts);
#pragma unroll
      for (int c = 0; c < 2; ++c) send_starts(chroma[c], ones, starts + (2 + c) * S::pixels * 32);
      ptx::wgmma_commit();
    } else {
      start_sums<S>(luma, starts, lane);
#pragma unroll
      for (int c = 0; c < 2; ++c) start_sums<S>(chroma[c], starts + (2 + c) * S::pixels * 4, lane);
    }
  }
  /// Of a ring: luma begins behind the products of the pieces that it does not meet.
  __device__ __forceinline__ void begin_luma() {
#pragma unroll
    for (int i = 0; i < S::pixels; ++i) luma[i] = start;
    hold(luma);
  }
  /// Both chroma of the pairs in half h of a row's piece.
  __device__ __forceinline__ std::uint32_t chroma_of(const Piece<4>& v, int h) const {
    return __byte_perm(v.word[2 * h], v.word[2 * h + 1], plane.chroma_bytes);
  }
  static __device__ __forceinline__ constexpr bool has_luma(int p) {
    return p >= S::first_luma && p < S::first_luma + S::luma_pieces;
  }
  __device__ __forceinline__ void hold_all() {
    hold(luma), hold(chroma[0]), hold(chroma[1]);
  }
};
template <class S>
struct PairSums : SumsOfPairs<S, float> {
  using Base = SumsOfPairs<S, float>;
  using Base::Base, Base::luma, Base::chroma, Base::has_luma, Base::plane;
  using P = Piece<4>;
  static constexpr int of_luma = 32 * 2 * S::pixels, of_chroma = 32 * S::pixels;

  struct Left {
    uint4 luma[2], chroma[2];

    __device__ __forceinline__ Left(const PairSums& sums, const P (&v)[2], int p, int) {
      const std::uint32_t two[4] = {sums.chroma_of(v[0], 0), sums.chroma_of(v[1], 0), sums.chroma_of(v[0], 1),
                                    sums.chroma_of(v[1], 1)};
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const std::uint32_t of = c ? 0x4342 : 0x4140;
        chroma[c] = {__byte_perm(two[0], 0, of), __byte_perm(two[1], 0, of), __byte_perm(two[2], 0, of),
                     __byte_perm(two[3], 0, of)};
        ptx::hold_matrix(chroma[c]);
      }
      if (!has_luma(p)) return;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const std::uint32_t of = sums.plane.luma_halves;
        constexpr int low = S::bands ? 1 : 0, high = 1 - low;
        luma[j] = {__byte_perm(v[0].word[2 * j + low], 0, of), __byte_perm(v[1].word[2 * j + low], 0, of),
                   __byte_perm(v[0].word[2 * j + high], 0, of), __byte_perm(v[1].word[2 * j + high], 0, of)};
        ptx::hold_matrix(luma[j]);
      }
    }
  };
  static __device__ __forceinline__ constexpr bool sends(int) {
    return true;
  }
  /// Whether those of piece p are sent together with those of the piece behind it: where there are registers for it, or
  /// where they are few.
  static __device__ __forceinline__ constexpr bool waits_for_more(int p) {
    return (S::chunks == 2 || (S::ring && !has_luma(p))) && p % 2 == 0;
  }
  __device__ __forceinline__ void multiply(const Left& left, std::uint32_t table, int p, int) {
    const MatrixDescriptor of_pairs = describe_matrix(table + S::luma_taps_bytes, of_chroma / 2, 128);
#pragma unroll
    for (int c = 0; c < 2; ++c) ptx::multiply_halves(chroma[c], left.chroma[c], moved(of_pairs, p * of_chroma), true);
    if constexpr (S::bands)
      if (p == S::first_luma - 1) this->begin_luma();
    if (!has_luma(p)) return;
    if constexpr (S::bands) return multiply_bands(left, table, p - S::first_luma);
    const MatrixDescriptor right = describe_matrix(table, of_luma / 2, 128);
#pragma unroll
    for (int j = 0; j < 2; ++j)
      ptx::multiply_halves(luma, left.luma[j], moved(right, (2 * (p - S::first_luma) + j) * of_luma), true);
  }
  /// Of luma's pieces number a, by blocks that repeat: the two halves of a strip take in all but one of them. Along the
  /// columns of a product distances grow from block to block, and along its rows they would shrink: so those are in
  /// reverse.
  __device__ __forceinline__ void multiply_bands(const Left& left, std::uint32_t table, int a) {
    const MatrixDescriptor right = describe_matrix(table, 128, 128);
#pragma unroll
    for (int c = 0; c < 2; ++c)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        if (a >= c && a - c < S::luma_pieces - 1)
          ptx::multiply_halves(half_of(luma, c), left.luma[j], moved(right, ((a - c) * 7 + 2 - 2 * j) * 128), true);
  }
  /// Adds the products of the taps beside the frame and its first and last pixels: each sample is in two columns of the
  /// left matrix, for a tap is two halves. The second of four lanes has the first pair, the third one the last pair.
  __device__ __forceinline__ void add_edges(const EdgePixels& pixels, std::uint32_t table, int lane) {
    const std::uint32_t luma_at = plane.luma_halves & 1;
    const int t = lane & 3;
    const auto left_of = [&pixels, t](std::uint32_t at) {
      const std::uint32_t bytes = 0x4040 + at * 0x0101;
      const auto word = [&](int row) { return t == 1 ? pixels.first[row] : t == 2 ? pixels.last[row] : 0; };
      uint4 left{__byte_perm(word(0), 0, bytes), __byte_perm(word(1), 0, bytes), 0, 0};
      ptx::hold_matrix(left);
      return left;
    };
    const uint4 left[3] = {left_of(luma_at + (t == 2 ? 2 : 0)), left_of(1 - luma_at), left_of(3 - luma_at)};
    const MatrixDescriptor right = describe_matrix(table + S::row_taps_bytes, 0, 128);
    ptx::wgmma_fence();
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      ptx::multiply_halves(half_of(luma, c), left[0], moved(right, c * S::pixels * 16), true);
      ptx::multiply_halves(chroma[c], left[1 + c], moved(right, (2 + c) * S::pixels * 16), true);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait();
    this->hold_all();
  }
  __device__ __forceinline__ void store(std::uint32_t at) const {
    store_sums(luma, at);
#pragma unroll
    for (int c = 0; c < 2; ++c) store_sums(chroma[c], at + (2 + c) * S::pixels * 16);
  }
  __device__ __forceinline__ void store_repeated(int half, std::uint32_t at) const {
    const auto pack = [](float first, float second) { return ptx::pack_halves(first, second); };
    wide::store_repeated(luma, half, at, pack);
#pragma unroll
    for (int c = 0; c < 2; ++c) wide::store_repeated(chroma[c], half, at + (2 + c) * S::pixels * 16, pack);
  }
};

template <class S>
struct SumsOf {
  using Type = RowSums<S>;
};
template <class S>
requires(S::pairs && !S::byte_rows) struct SumsOf<S> {
  using Type = PairSums<S>;
};

#endif

}  // namespace convolve::cuda::wide
