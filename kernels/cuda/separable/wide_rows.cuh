// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row pass of a warpgroup of wide.cuh: its sums, and the left matrices of its products.
#pragma once

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
  if constexpr (S::boxes && S::ring) {
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
  Sum sum[S::C][S::pixels / 2];

  __device__ __forceinline__ SumsOfComponents(const Plane&, std::uint32_t table, int lane) {
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

  __device__ __forceinline__ SumsOfPairs(const Plane& plane, std::uint32_t table, int lane) : plane(plane) {
    const std::uint32_t starts = table + S::row_taps_bytes;
    if constexpr (S::start_products) {
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
  using Base::Base, Base::luma, Base::chroma, Base::has_luma;
  using P = Piece<4>;
  static constexpr int of_luma = 32 * 2 * S::pixels, of_chroma = 32 * S::pixels;

  struct Left {
    uint4 luma[2], chroma[2];

    __device__ __forceinline__ Left(const PairSums& sums, const P (&v)[2], int p, int) {
      std::uint32_t two[2][2];  // pairs' chroma, [half][row]
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int r = 0; r < 2; ++r)
          two[h][r] = __byte_perm(v[r].word[2 * h], v[r].word[2 * h + 1], sums.plane.chroma_bytes);
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const std::uint32_t of = c ? 0x4342 : 0x4140;
        chroma[c] = {__byte_perm(two[0][0], 0, of), __byte_perm(two[0][1], 0, of), __byte_perm(two[1][0], 0, of),
                     __byte_perm(two[1][1], 0, of)};
        ptx::hold_matrix(chroma[c]);
      }
      if (!has_luma(p)) return;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const std::uint32_t of = sums.plane.luma_halves;
        luma[j] = {__byte_perm(v[0].word[2 * j], 0, of), __byte_perm(v[1].word[2 * j], 0, of),
                   __byte_perm(v[0].word[2 * j + 1], 0, of), __byte_perm(v[1].word[2 * j + 1], 0, of)};
        ptx::hold_matrix(luma[j]);
      }
    }
  };
  static __device__ __forceinline__ constexpr bool sends(int) {
    return true;
  }
  __device__ __forceinline__ void multiply(const Left& left, std::uint32_t table, int p, int) {
    const MatrixDescriptor of_pairs = describe_matrix(table + S::luma_taps_bytes, of_chroma / 2, 128);
#pragma unroll
    for (int c = 0; c < 2; ++c) ptx::multiply_halves(chroma[c], left.chroma[c], moved(of_pairs, p * of_chroma), true);
    if (!has_luma(p)) return;
    const MatrixDescriptor right = describe_matrix(table, of_luma / 2, 128);
#pragma unroll
    for (int j = 0; j < 2; ++j)
      ptx::multiply_halves(luma, left.luma[j], moved(right, (2 * (p - S::first_luma) + j) * of_luma), true);
  }
  __device__ __forceinline__ void store(std::uint32_t at) const {
    store_sums(luma, at);
#pragma unroll
    for (int c = 0; c < 2; ++c) store_sums(chroma[c], at + (2 + c) * S::pixels * 16);
  }
};

template <class S>
struct SumsOf {
  using Type = RowSums<S>;
};
template <class S>
requires(S::pairs && !S::boxes) struct SumsOf<S> {
  using Type = PairSums<S>;
};

#endif

}  // namespace convolve::cuda::wide
