// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// wgmma.cu: how a warpgroup makes its part of a tile of 8-bit samples.
//
// Limbs of a tap share their sums: those of the high limb are shifted before the low one's products. The columns of
// a strip are numbered so that a thread ends with four neighbouring pixels.
#pragma once

#include <type_traits>
#include <utility>

#include "cuda/matrix/hopper/input.cuh"

namespace convolve::cuda::wgmma {

#if defined(__CUDACC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The numbers of the block's barriers between the loading warpgroups and the makers: of each stage, that it is full,
/// and that it is empty.
template <int stages>
struct Stage {
  unsigned now = 0;
  __device__ __forceinline__ void advance() { now = now + 1 == stages ? 0 : now + 1; }
  __device__ __forceinline__ unsigned full() const { return 1 + now; }
  __device__ __forceinline__ unsigned empty() const { return 1 + stages + now; }
};

/// The two makers multiply in turn, so that one makes samples meanwhile: left alone they do both at the same time. A
/// turn passes on once its products are sent, not when they are done. The second maker passes one to begin with.
constexpr unsigned first_turn = 1 + 2 * max_stages;
static_assert(makers == 2 && first_turn + makers <= 16);
__device__ __forceinline__ void take_turn() {
  ptx::wait_at_block_barrier<128 * makers>(first_turn + threadIdx.y);
}
__device__ __forceinline__ void pass_turn() {
  ptx::arrive_at_block_barrier<128 * makers>(first_turn + 1 - threadIdx.y);
}

/// Calls what(std::integral_constant) of 0 to count - 1.
template <int count, class What>
__device__ __forceinline__ void static_for(const What& what) {
  [&]<int... n>(std::integer_sequence<int, n...>) {
    (what(std::integral_constant<int, n>{}), ...);
  }
  (std::make_integer_sequence<int, count>{});
}

template <Epilogue epilogue>
__device__ __forceinline__ float value_of(const WgmmaArgs& args, int sum, float level) {
  if (epilogue == Epilogue::quotient) {
    const float whole = __int2float_rn(sum);
    return __fmaf_rn(whole, args.gain, __fmaf_rn(whole, args.gain_low, level));
  }
  const float value = __fmaf_rn(__int_as_float(sum), args.gain, level);
  return epilogue == Epilogue::biased_magic_number ? __fsub_rn(value, MatrixTaps::rounding_bias) : value;
}

/// Adds the products of all input rows by the rows of taps that lead from them to output rows. The first input rows
/// lead to the first output rows alone: their products are narrower. (So are the last ones, but sums that do not begin
/// with the first would not stay in their registers.)
template <WgmmaShape shape>
__device__ __forceinline__ void multiply_short_windows(int (&sum)[8 * group_rows], MatrixDescriptor left,
                                                       MatrixDescriptor right) {
  constexpr int rows = group_rows + shape.height - 1;
  static_for<rows>([&](auto r) {
    if (r < group_rows) begin_products(sum);
    ptx::wgmma_u8_s8<16 * (r < group_rows ? r + 1 : group_rows)>(sum, moved(left, r * shape.pitch()),
                                                                 moved(right, (rows - 1 - r) * 512));
  });
}

/// Adds the products where windows are 48 pixels long, by pairs of input rows: the first 32 pixels of either row by
/// themselves, the last 16 of both in one product. Here the products of the last input rows are the narrower ones.
template <WgmmaShape shape>
__device__ __forceinline__ void multiply_long_windows(int (&sum)[8 * group_rows], MatrixDescriptor left,
                                                      MatrixDescriptor right) {
  constexpr int rows = group_rows + shape.height - 1;
  static_assert(rows % 2 == 0);
  const MatrixDescriptor left_ends = laid_out(moved(left, 32), shape.pitch(), group_rows * shape.pitch());
  const MatrixDescriptor right_ends = laid_out(moved(right, shape.ends_at()), 256, 128);
  static_for<rows>([&](auto r) {
    constexpr auto columns = [](int row) { return 16 * (rows - row < group_rows ? rows - row : group_rows); };
    if (r == 0 || columns(r) != columns(r - 1)) begin_products(sum);
    ptx::wgmma_u8_s8<columns(r)>(sum, moved(left, r * shape.pitch()), moved(right, r * 512));
    if (r % 2 == 0) ptx::wgmma_u8_s8<columns(r)>(sum, moved(left_ends, r * shape.pitch()), moved(right_ends, r * 256));
  });
}

/// Adds the products of all input rows, for which the makers take turns.
template <WgmmaShape shape>
__device__ __forceinline__ void multiply_rows(int (&sum)[8 * group_rows], MatrixDescriptor left,
                                              MatrixDescriptor right) {
  take_turn();
  if constexpr (shape.has_long_windows())
    multiply_long_windows<shape>(sum, left, right);
  else
    multiply_short_windows<shape>(sum, left, right);
  ptx::wgmma_commit();
  pass_turn();
  end_products(sum);
}

/// A warpgroup's sums of a component.
template <WgmmaShape shape>
__device__ __forceinline__ void make_sums(const WgmmaArgs& args, MatrixDescriptor left, MatrixDescriptor right,
                                          int start, int (&sum)[8 * group_rows]) {
#pragma unroll
  for (int i = 0; i < 8 * group_rows; ++i) sum[i] = args.limbs == 1 ? start : 0;
#pragma unroll 1
  for (int more = args.limbs;;) {
    multiply_rows<shape>(sum, left, right);
    if (--more == 0) return;
    right = moved(right, shape.taps_bytes());
#pragma unroll
    for (int i = 0; i < 8 * group_rows; ++i) sum[i] = sum[i] * 256 + (more == 1 ? start : 0);
  }
}

/// The index of a thread's sums of its row r: two pixels there, and the other two four further on.
template <WgmmaShape shape>
constexpr int first_sum(int r) {
  const int row = r % group_rows;
  return 8 * (shape.has_long_windows() ? group_rows - 1 - row : row) + r / group_rows * 2;
}

/// The part of a tile that a thread makes: four neighbouring pixels of 8 rows.
template <WgmmaShape shape>
struct Part {
  MatrixDescriptor left;  ///< its warpgroup's, of the first component
  int at, first_row;      ///< of the tile: the first pixel, and row

  __device__ __forceinline__ explicit Part(const std::uint8_t* input) {
    // All lanes have the same threadIdx.y. From the shuffle the compiler knows it.
    const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.y), 0);
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    left = describe_matrix(ptx::address_in_shared(input) + group * warpgroup_rows * shape.pitch(), 16,
                           group_rows * shape.pitch());
    // A warp ends with the sums of 8 rows: of these four by four, and of a lane's four pixels.
    at = 4 * lane;
    first_row = warpgroup_rows * group + 8 * warp;
  }
  /// The address of its first input row.
  __device__ __forceinline__ const std::uint8_t* own(const std::uint8_t* input) const {
    return input + (first_row + shape.height / 2) * shape.pitch() + shape.margin + at;
  }
};

/// Stores a part, of C bytes a pixel: row_of(r) has its rows.
template <class Sample, int C, WgmmaShape shape, class Row>
__device__ __forceinline__ void store_part(const Tile& tile, const Part<shape>& part, const Row& row_of) {
  const WgmmaPlane& plane = *tile.plane;
  const int x = tile.x + part.at, y = tile.y + part.first_row;
  std::uint8_t* out = plane.out + y * plane.out_stride + static_cast<std::ptrdiff_t>(x) * C;
  const bool whole =
      plane.aligned && tile.x + tile_width <= plane.across.length && tile.y + tile_rows <= plane.down.length;
  // Planes of few components are faster with a loop of their own, others without: their rows take more code to make.
  if (C <= 2 && whole) {
#pragma unroll
    for (int r = 0; r < 2 * group_rows; ++r, out += plane.out_stride) *reinterpret_cast<Word<C>*>(out) = row_of(r);
    return;
  }
#pragma unroll
  for (int r = 0; r < 2 * group_rows; ++r, out += plane.out_stride) {
    constexpr int samples = C / sizeof(Sample);
    const Word<C> word = row_of(r);
    if (C > 2 && whole) {
      *reinterpret_cast<Word<C>*>(out) = word;
    } else if (y + r < plane.down.length) {
#pragma unroll
      for (int n = 0; n < 4 * samples; ++n)
        if (x + n / samples < plane.across.length)
          reinterpret_cast<Sample*>(out)[n] = reinterpret_cast<const Sample*>(&word)[n];
    }
  }
}

/// Four pairs of a row, from what the lanes of a warp have of the four components of a tile of pairs.
template <int luma_byte>
__device__ __forceinline__ uint4 pairs_of_row(const std::uint32_t (&apart)[4]) {
  constexpr Packed422Order order = packed_422_order(luma_byte);
  const int lane = static_cast<int>(threadIdx.x) & 31, holder = 2 * lane & 31;
  std::uint32_t luma[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t left = __shfl_sync(~0u, apart[0], holder + i), right = __shfl_sync(~0u, apart[1], holder + i);
    luma[i] = lane < 16 ? left : right;
  }
  const std::uint32_t low = __byte_perm(apart[2], apart[3], 0x5140), high = __byte_perm(apart[2], apart[3], 0x7362);
  return {__byte_perm(luma[0], low, order.low), __byte_perm(luma[0], low, order.high),
          __byte_perm(luma[1], high, order.low), __byte_perm(luma[1], high, order.high)};
}

/// Makes a warpgroup's part of a tile from its components' input rows; calls done() when it has no more use for them.
template <class Sample, WgmmaShape shape, int C, class Done>
__device__ __forceinline__ void make_tile(const WgmmaArgs& args, const Tile& tile, const std::uint8_t* input,
                                          MatrixDescriptor right, const Done& done) {
  const WgmmaPlane& plane = *tile.plane;
  const Part<shape> part(input);
  const std::uint8_t* own = part.own(input);
  std::uint32_t packed[C][2 * group_rows];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (plane.passthrough_components >> c & 1) {
#pragma unroll
      for (int r = 0; r < 2 * group_rows; ++r)
        packed[c][r] = *reinterpret_cast<const std::uint32_t*>(own + c * shape.input_bytes() + r * shape.pitch());
      if (c == C - 1) done();
      continue;
    }
    int sum[8 * group_rows];
    make_sums<shape>(args, moved(part.left, c * shape.input_bytes()), right, plane.start[c], sum);
    if (c == C - 1) done();
    const float level = plane.level[c];
    const auto finish_by = [&]<Epilogue epilogue>(std::integral_constant<Epilogue, epilogue>) {
#pragma unroll
      for (int r = 0; r < 2 * group_rows; ++r) {
        const int* of = sum + first_sum<shape>(r);
        packed[c][r] = pack_bytes(value_of<epilogue>(args, of[0], level), value_of<epilogue>(args, of[1], level),
                                  value_of<epilogue>(args, of[4], level), value_of<epilogue>(args, of[5], level));
      }
    };
    if (args.epilogue == 0)
      finish_by(std::integral_constant<Epilogue, wgmma_epilogues[0]>{});
    else if (args.epilogue == 1)
      finish_by(std::integral_constant<Epilogue, wgmma_epilogues[1]>{});
    else
      finish_by(std::integral_constant<Epilogue, wgmma_epilogues[2]>{});
  }

  store_part<std::uint8_t, C>(tile, part, [&](int r) {
    std::uint32_t apart[C];
#pragma unroll
    for (int c = 0; c < C; ++c) apart[c] = packed[c][r];
    if constexpr (luma_byte<Sample> >= 0)
      return pairs_of_row<luma_byte<Sample>>(apart);
    else
      return interleaved<C>(apart);
  });
}

#endif

}  // namespace convolve::cuda::wgmma
