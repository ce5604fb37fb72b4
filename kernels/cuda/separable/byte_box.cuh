// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes, all of whose taps are equal, of bytes by running sums, so that a sample costs nearly the same whatever the
// size of the box.
//
//   down the columns     V(y) = V(y - 1) + row that enters - row that leaves         16 bits a sample, two in a word
//   along each row       H(x) = H(x - 1) + V(end of window) - V(begin of window)     per component
//
// A tile is some rows of as many samples as its threads own, 16 bytes each (of three components 48), less what the
// window reaches beside them. A thread adds up the differences of its own outputs; a scan over the threads says what
// came before (byte_box_lanes.cuh). V of a tile's rows goes through shared memory, in which even samples and odd
// ones lie apart: word i of all threads side by side, so that loads at any offset meet no bank twice.
//
// A block makes several tiles, one below the other. Each of them begins with V of its first row, and of large boxes
// that would be most of the work: the tiles of a block make sums of as many rows as a tile has, and each adds up those
// that its first window holds.
//
//   rows of the frame     |  0  |  1  |  2  |  3  |  4  |  5  |       sums, made once each
//   tile 0 begins with    [-----------------).                        of 0 to 2, and rows of 3
//   tile 1                      [-----------------).                  of 1 to 3, and rows of 4
//
// Columns beside the frame have the V of those that they stand for: a tile that reaches beside it lists such cells
// once, and copies them in shared memory for each row.
#pragma once

#include "cuda/common/epilogue.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/byte_box_columns.cuh"
#include "cuda/separable/byte_box_lanes.cuh"

namespace convolve::cuda::byte_box {

/// The first `count` of 16 bytes.
static __device__ __noinline__ void store_some(std::uint8_t* to, uint4 code, int count) {
  const std::uint32_t word[4] = {code.x, code.y, code.z, code.w};
#pragma unroll 1
  for (int b = 0; b < 4; ++b)
#pragma unroll
    for (int w = 0; w < 4; ++w)
      if (4 * w + b < count) to[4 * w + b] = static_cast<std::uint8_t>(word[w] >> 8 * b);
}

/// A tile, as one thread makes it.
template <Kind kind, int warps, Way way>
struct Tile : Columns<kind, warps> {
  using Base = Columns<kind, warps>;
  using S = Shape<kind, warps>;
  using Base::args;
  using Base::first;
  using Base::group;
  using Base::plane;
  using Base::rows;
  using Base::shared;
  using Base::thread;
  using Base::top;
  static constexpr std::uint32_t lower_more = 0x8000;
  static constexpr bool keeps_places = S::vectors == 1;  ///< in registers
  int x, there;                                          ///< the outputs: first byte of a row, how many
  bool out_vectors, passes_some;
  static constexpr int numbers = S::numbers, slots = S::slots;
  std::uint8_t* out;        ///< of the next row
  std::uint32_t own_start;  ///< of the number that the lane has in LaneSums
  float level[way == Way::wide ? S::chains : 1];
  std::uint32_t place[2][2][keeps_places ? S::words + 1 : 1];
  std::uint32_t funnel[2][2];
  bool whole_leaves;  ///< the windows' begins are whole words, as they mostly are

  __device__ Tile(const Args& args, const Plane& plane, std::uint8_t* memory, int tile_x, int tile_y)
      : Base(args, plane, memory, tile_x, tile_y) {
    x = first - plane.back;
    there = thread < plane.first_thread ? 0 : min(max(plane.row_bytes - x, 0), S::bytes);
    out_vectors = plane.out_wide && there == S::bytes, passes_some = plane.passes_some;
    out = plane.out + top * plane.out_stride + x;
    whole_leaves = plane.leaves.select[0] == whole_words && plane.leaves.select[1] == whole_words;
    own_start = plane.start[LaneSums<slots>::number_of(thread & 31) % S::chains];
    if constexpr (way == Way::wide)
#pragma unroll
      for (int c = 0; c < S::chains; ++c) level[c] = plane.level[c];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const Ends& ends = e ? plane.leaves : plane.enters;
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        funnel[e][s] = ends.select[s];
        if (S::may_funnel(s)) ptx::hide_here(funnel[e][s]);
        if constexpr (keeps_places)
#pragma unroll
          for (int i = 0; i < S::words + S::may_funnel(s); ++i) {
            place[e][s][i] = ptx::address_in_shared(shared.v[0]) + ends.offset[s][i] + 4 * thread;
            ptx::hide_here(place[e][s][i]);
          }
      }
    }
  }
  /// Pairs of V at one end of the windows; `whole`: words as they are.
  template <bool whole>
  __device__ __forceinline__ void get(std::uint32_t (&pair)[2][S::words], int end, int k) const {
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      std::uint32_t word[S::words + 1];
#pragma unroll
      for (int i = 0; i < S::words + (S::may_funnel(s) && !whole); ++i)
        if constexpr (keeps_places) {
          word[i] = ptx::load_word(place[end][s][i] + k * 4 * S::row_words);
        } else {
          const Ends& ends = end ? plane.leaves : plane.enters;
          word[i] = ptx::load_word(ptx::address_in_shared(shared.v[k]) + ends.offset[s][i] + 4 * thread);
        }
#pragma unroll
      for (int i = 0; i < S::words; ++i)
        pair[s][i] = S::may_funnel(s) && !whole ? ptx::permute(word[i], word[i + 1], funnel[end][s]) : word[i];
    }
  }
  /// Sums of windows, less what the thread's first ones have in common with others: `total` is what they add.
  template <bool whole_leaves>
  __device__ __forceinline__ void run(std::uint32_t (&sum)[4 * S::words], std::uint32_t (&total)[S::chains],
                                      int k) const {
    std::uint32_t enters[2][S::words], leaves[2][S::words];
    get<false>(enters, 0, k);
    get<whole_leaves>(leaves, 1, k);
#pragma unroll
    for (int c = 0; c < S::chains; ++c) total[c] = 0;
#pragma unroll
    for (int j = 0; j < 4 * S::words; ++j) {
      std::uint32_t& t = total[S::chain_of(j)];
      if constexpr (way == Way::codes) {
        // 2^15 more in the lower half, where it is not negative then, and nothing is taken from the upper one.
        const std::uint32_t pair = enters[j & 1][j / 4] - leaves[j & 1][j / 4] + lower_more;
        t = j & 2 ? ptx::add_signed_halves(pair, 0x0100, t) : ptx::add_halves(pair, 0x0001, t);
      } else {
        t = ptx::add_halves(enters[j & 1][j / 4], j & 2 ? 0x0100 : 0x0001, t);
        t = ptx::add_halves(leaves[j & 1][j / 4], j & 2 ? 0xFF00 : 0x00FF, t);
      }
      sum[j] = t;
    }
  }
  /// What sample j's sum holds beyond its own. The loops are unrolled, and nothing is left of them.
  static __device__ __forceinline__ std::uint32_t more_of(int j) {
    std::uint32_t more = 0;
#pragma unroll
    for (int i = 0; i < 4 * S::words; ++i)
      if (way == Way::codes && i <= j && S::chain_of(i) == S::chain_of(j) && !(i & 2)) more += lower_more;
    return more;
  }
  static __device__ __forceinline__ std::uint32_t more_of_chain(int c) {
    std::uint32_t more = 0;
#pragma unroll
    for (int i = 0; i < 4 * S::words; ++i)
      if (way == Way::codes && S::chain_of(i) == c && !(i & 2)) more += lower_more;
    return more;
  }
  /// Bytes of four sums.
  __device__ __forceinline__ std::uint32_t pack(const std::uint32_t* sum, const std::uint32_t (&base)[S::chains],
                                                int first_sample) const {
    float value[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const std::uint32_t n = sum[b] + base[S::chain_of(first_sample + b)] - more_of(first_sample + b);
      const float f = way == Way::codes ? __uint_as_float(n) : __int2float_rn(static_cast<int>(n));
      value[b] =
          __fmaf_rn(f, args.gain,
                    way != Way::wide ? args.whole : __fmaf_rn(f, args.gain_low, level[S::chain_of(first_sample + b)]));
    }
    std::uint32_t code;
    if constexpr (way == Way::wide) {
      code = pack_bytes(value[0], value[1], value[2], value[3]);
    } else {
      const std::uint32_t low = ptx::permute(__float_as_uint(value[0]), __float_as_uint(value[1]), 0x0040),
                          high = ptx::permute(__float_as_uint(value[2]), __float_as_uint(value[3]), 0x0040);
      code = ptx::permute(low, high, 0x5410);
    }
    if constexpr (kind == Kind::pairs) return ptx::permute(code, 0, args.luma_at ? 0x2301 : 0x3210);
    return code;
  }
  /// Puts back what is not filtered.
  __device__ __forceinline__ void pass(std::uint32_t (&code)[S::words], int y) const {
    const std::uint8_t* from = plane.in + y * plane.in_stride + x;
#pragma unroll
    for (int i = 0; i < S::vectors; ++i) {
      const uint4 in = plane.wide && there >= 16 * (i + 1) ? __ldg(reinterpret_cast<const uint4*>(from) + i)
                                                           : load_some(from + 16 * i, there - 16 * i);
      const std::uint32_t word[4] = {in.x, in.y, in.z, in.w};
#pragma unroll
      for (int w = 0; w < 4; ++w)
        code[4 * i + w] = (code[4 * i + w] & ~plane.passthrough) | (word[w] & plane.passthrough);
    }
  }
  __device__ __forceinline__ void store(const std::uint32_t (&code)[S::words], std::uint8_t* to) const {
    if (out_vectors)
#pragma unroll
      for (int i = 0; i < S::vectors; ++i)
        reinterpret_cast<uint4*>(to)[i] = {code[4 * i], code[4 * i + 1], code[4 * i + 2], code[4 * i + 3]};
    else if (there > 0)
#pragma unroll
      for (int i = 0; i < S::vectors; ++i)
        store_some(to + 16 * i, {code[4 * i], code[4 * i + 1], code[4 * i + 2], code[4 * i + 3]}, there - 16 * i);
  }
  /// Of the tile's threads.
  __device__ __forceinline__ void sync() const {
    if constexpr (warps == 1)
      __syncwarp();
    else
      ptx::sync_threads(group + 1, S::threads);
  }
  /// What comes before the thread's own differences, of all numbers, by LaneSums.
  __device__ __forceinline__ void find_bases(std::uint32_t (&base)[S::batch][S::chains],
                                             const std::uint32_t (&total)[S::batch][S::chains]) const {
    const int lane = thread & 31, warp = thread >> 5, mine = LaneSums<slots>::number_of(lane);
    std::uint32_t number[slots] = {}, own;
#pragma unroll
    for (int i = 0; i < numbers; ++i) number[i] = total[i / S::chains][i % S::chains] - more_of_chain(i % S::chains);
    LaneSums<slots> sums;
    const std::uint32_t all = sums.gather(number, lane, own);
    if (warps > 1 && lane >= 32 - slots) shared.total[warp][mine] = all;
    std::uint32_t before = all - own + own_start;
    sync();
    if constexpr (warps > 1)
#pragma unroll
      for (int w = 0; w + 1 < warps; ++w) before += w < warp ? shared.total[w][mine] : 0;
    sums.spread(number, lane, before);
#pragma unroll
    for (int i = 0; i < numbers; ++i) base[i / S::chains][i % S::chains] = number[i];
  }
  /// Outputs of the rows whose V lie in shared memory, n and those that follow.
  __device__ __forceinline__ void make(int n) {
    constexpr int batch = S::batch;
    const int lane = thread & 31, warp = thread >> 5;
    std::uint32_t sum[batch][4 * S::words], base[batch][S::chains], total[batch][S::chains];
    if (S::may_funnel(0) && whole_leaves) {
#pragma unroll
      for (int k = 0; k < batch; ++k) run<true>(sum[k], total[k], k);
    } else {
#pragma unroll
      for (int k = 0; k < batch; ++k) run<false>(sum[k], total[k], k);
    }
    find_bases(base, total);
    std::uint8_t* to = out;
    const std::ptrdiff_t stride = plane.out_stride;
#pragma unroll
    for (int k = 0; k < batch; ++k, to += stride) {
      std::uint32_t code[S::words];
#pragma unroll
      for (int i = 0; i < S::words; ++i) code[i] = pack(sum[k] + 4 * i, base[k], 4 * i);
      if (n + k < rows) {
        if (passes_some) pass(code, top + n + k);
        store(code, to);
      }
    }
    out = to;
  }
};

/// Copies what a tile's outputs are in the input.
template <Kind kind, int warps>
__device__ __noinline__ void copy_tile(const Plane& plane, int left, int top, int rows, int thread) {
  const int count = min(plane.outputs, plane.row_bytes - left);
  for (int y = top; y < top + rows; ++y)
    for (int i = thread; i < count; i += 32 * warps)
      plane.out[y * plane.out_stride + left + i] = __ldg(plane.in + y * plane.in_stride + left + i);
}

template <Kind kind, int warps, Way way, bool in_turns>
__device__ __forceinline__ void filter_tile(const Args& args, const Plane& plane, std::uint8_t* memory) {
  using S = Shape<kind, warps>;
  constexpr int batch = S::batch;
  const int block = blockIdx.x - plane.first_block, y = block / plane.tiles_x, x = block - y * plane.tiles_x;
  Tile<kind, warps, way> tile(args, plane, memory, x, y);
  if (plane.passes_all) {
    pdl_wait();
    return copy_tile<kind, warps>(plane, x * plane.outputs, tile.top, tile.rows, tile.thread);
  }
  const bool edge = tile.reaches_edge();
  if (edge) {
    tile.find_mends();
    __syncthreads();
  }
  pdl_wait();
  tile.template start<in_turns>();
  const int leaving = tile.top - args.centre_y - 1, entering = leaving + args.height;
  Words<S> enters[batch], leaves[batch];
  const std::uint8_t *entering_at = tile.row(entering), *leaving_at = tile.row(leaving);
  const std::ptrdiff_t stride = batch * plane.in_stride;
  tile.load_rows(enters, entering, entering_at);
  tile.load_rows(leaves, leaving, leaving_at);
  leaves[0] = {};
  tile.clear_pads();
#pragma unroll 1
  for (int n = 0; n < tile.rows; n += batch) {
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      tile.replace(enters[k], leaves[k]);
      tile.put(k);
    }
    if (n + batch < tile.rows) {
      tile.load_rows(enters, entering + n + batch, entering_at += stride);
      tile.load_rows(leaves, leaving + n + batch, leaving_at += stride);
    }
    tile.sync();
    if (edge) {
      tile.mend();
      tile.sync();
    }
    tile.make(n);
  }
}

template <PlaneMix mix, int warps, Way way>
__global__ void __launch_bounds__(32 * most_warps(mix), 1) box_kernel(const __grid_constant__ Args args) {
  // Measured: planes of one and two components in one launch, of boxes over more than 128 rows.
  constexpr bool in_turns = way == Way::wide_codes && mix == PlaneMix::one_and_two;
  extern __shared__ __align__(16) std::uint8_t memory[];
  if constexpr (mix == PlaneMix::none) {
    filter_tile<Kind::pairs, warps, way, in_turns>(args, args.plane[0], memory);
  } else if constexpr (mix == PlaneMix::three) {
    filter_tile<Kind::three, warps, way, in_turns>(args, args.plane[0], memory);
  } else if constexpr (mix == PlaneMix::four) {
    filter_tile<Kind::four, warps, way, in_turns>(args, args.plane[0], memory);
  } else {
    int p = 0;
    while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
    const Plane& plane = args.plane[p];
    if (mix == PlaneMix::one || plane.components == 1)
      filter_tile<Kind::one, warps, way, in_turns>(args, plane, memory);
    else if constexpr (mix == PlaneMix::one_and_two)
      filter_tile<Kind::two, warps, way, in_turns>(args, plane, memory);
  }
}

}  // namespace convolve::cuda::byte_box
