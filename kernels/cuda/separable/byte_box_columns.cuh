// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes of bytes by running sums, down the columns: see byte_box.cuh.
#pragma once

#include "cuda/common/frame.cuh"
#include "cuda/common/sums/ptx.cuh"
#include "cuda/separable/byte_box.hpp"

namespace convolve::cuda::byte_box {

constexpr int ghost_source = 0xFFF0;

/// Shared memory of a tile. That of a block: its tiles', or the sums of their starts before, and then Mends.
template <class S>
struct Shared {
  std::uint32_t v[S::batch][S::row_words];  ///< V: [stream][word of a thread][thread], pairs of 16 bits
  std::uint32_t behind[S::pitch];           ///< is read and not used
  std::uint32_t total[S::warps][S::slots];
};
struct Mends {
  std::uint32_t count;
  std::uint32_t cell[];  ///< beside the frame: where in a row, and where from
};

template <class S>
struct Words {
  std::uint32_t word[S::words];
};

/// The first `count` of 16 bytes.
static __device__ __noinline__ uint4 load_some(const std::uint8_t* from, int count) {
  std::uint32_t word[4] = {};
#pragma unroll 1
  for (int b = 0; b < 4; ++b)
#pragma unroll
    for (int w = 0; w < 4; ++w)
      if (4 * w + b < count) word[w] |= std::uint32_t{__ldg(from + 4 * w + b)} << 8 * b;
  return {word[0], word[1], word[2], word[3]};
}

/// A thread's columns of a tile: loads rows, sums down the columns, puts them into shared memory.
template <Kind kind, int warps>
struct Columns {
  using S = Shape<kind, warps>;
  const Args& args;
  const Plane& plane;
  std::uint8_t* memory;
  Shared<S>& shared;
  Mends& mends;
  int thread, group;  ///< of the tile; the tile of the block
  int left, block_top, top, rows;
  int first;                ///< byte of a row: the thread's columns
  int inside;               ///< bytes of them that lie in the frame
  bool vectors;             ///< all, and as whole vectors
  bool simple;              ///< true for all threads of the warp: vectors, or nothing
  std::uint32_t select[2];  ///< of even bytes, of odd ones
  std::uint32_t v[2][S::words];

  __device__ Columns(const Args& args, const Plane& plane, std::uint8_t* memory, int tile_x, int tile_y)
      : args(args),
        plane(plane),
        memory(memory),
        shared(*reinterpret_cast<Shared<S>*>(memory + threadIdx.x / S::threads * sizeof(Shared<S>))),
        mends(*reinterpret_cast<Mends*>(memory + args.group_bytes)),
        thread(threadIdx.x % S::threads),
        group(__shfl_sync(~0u, threadIdx.x / S::threads, 0)),
        left(tile_x * plane.outputs - plane.lead),
        block_top(tile_y * args.rows * args.groups),
        top(block_top + group * args.rows),
        rows(min(args.rows, plane.height - top)),
        first(left + thread * S::bytes) {
    inside = first < 0 ? 0 : min(max(plane.row_bytes - first, 0), S::bytes);
    vectors = plane.wide && inside == S::bytes;
    simple = __all_sync(~0u, vectors || inside == 0);
    const bool swapped = kind == Kind::pairs && args.luma_at;
    select[0] = swapped ? 0x4341u : 0x4240u, select[1] = swapped ? 0x4240u : 0x4341u;
  }
  __device__ bool reaches_edge() const { return left < 0 || left + S::span > plane.row_bytes; }

  /// Where the thread's columns of row y are, or would be.
  __device__ __forceinline__ const std::uint8_t* row(int y) const { return plane.in + y * plane.in_stride + first; }
  /// `count` rows from y on, any, of which the first is at `at`; of rows from y + `wanted` on, zeros.
  template <int count>
  __device__ __forceinline__ void load_rows(Words<S> (&to)[count], int y, const std::uint8_t* at,
                                            int wanted = count) const {
    const std::ptrdiff_t stride = plane.in_stride;
    if (simple && y >= 0 && y + count <= plane.height) {
#pragma unroll
      for (int k = 0; k < count; ++k, at += stride)
#pragma unroll
        for (int i = 0; i < S::vectors; ++i) {
          uint4 four{};
          if (vectors && k < wanted) four = __ldg(reinterpret_cast<const uint4*>(at) + i);
          set(to[k], i, four);
        }
      return;
    }
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const bool ghost = plane.lines.ghost && static_cast<unsigned>(y + k) >= static_cast<unsigned>(plane.height);
      const int from = min(max(edge_index(plane.lines, y + k), 0), plane.height - 1);
      const std::uint8_t* const there = row(from);
#pragma unroll
      for (int i = 0; i < S::vectors; ++i) {
        // Columns beside the frame stay 0, whatever the row: halves of words are to be sums.
        const std::uint32_t cells = inside > 0 && ghost && k < wanted ? plane.ghost : 0;
        uint4 four{cells, cells, cells, cells};
        if (vectors && !ghost && k < wanted) four = __ldg(reinterpret_cast<const uint4*>(there) + i);
        if (!simple && !vectors && !ghost && inside > 0 && k < wanted)
          four = load_some(there + 16 * i, inside - 16 * i);
        set(to[k], i, four);
      }
    }
  }
  static __device__ __forceinline__ void set(Words<S>& to, int i, const uint4& four) {
    to.word[4 * i] = four.x, to.word[4 * i + 1] = four.y, to.word[4 * i + 2] = four.z, to.word[4 * i + 3] = four.w;
  }
  __device__ __forceinline__ void add(const Words<S>& in) {
#pragma unroll
    for (int i = 0; i < S::words; ++i)
#pragma unroll
      for (int s = 0; s < 2; ++s) v[s][i] += __byte_perm(in.word[i], 0, select[s]);
  }
  __device__ __forceinline__ void replace(const Words<S>& enters, const Words<S>& leaves) {
#pragma unroll
    for (int i = 0; i < S::words; ++i)
#pragma unroll
      for (int s = 0; s < 2; ++s)
        v[s][i] += __byte_perm(enters.word[i], 0, select[s]) - __byte_perm(leaves.word[i], 0, select[s]);
  }
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < 2 * S::words; ++i) (&v[0][0])[i] = 0;
  }
  /// Adds `count` rows from y on.
  __device__ __forceinline__ void add_rows(int y, int count) {
    constexpr int many = S::at_once;
    Words<S> in[many];
#pragma unroll 1
    for (; count >= many; y += many, count -= many) {
      load_rows(in, y, row(y));
#pragma unroll
      for (int k = 0; k < many; ++k) add(in[k]);
    }
    if (count == 0) return;
    load_rows(in, y, row(y), count);
#pragma unroll
    for (int k = 0; k < many; ++k) add(in[k]);
  }
  /// The same. While some are added, as many more are under way.
  __device__ __forceinline__ void add_rows_in_turns(int y, int count) {
    constexpr int many = S::at_once;
    if (count <= 0) return;
    Words<S> one[many], other[many];
    const auto add_and_load = [&](const Words<S>(&now)[many], Words<S>(&next)[many]) {
      y += many, count -= many;
      if (count > 0) load_rows(next, y, row(y), count);
#pragma unroll
      for (int k = 0; k < many; ++k) add(now[k]);
      return count > 0;
    };
    load_rows(one, y, row(y), count);
    while (add_and_load(one, other) && add_and_load(other, one)) {
    }
  }
  template <bool in_turns>
  __device__ __forceinline__ void add_rows(int y, int count) {
    if constexpr (in_turns)
      add_rows_in_turns(y, count);
    else
      add_rows(y, count);
  }
  /// V of the first row, less what enters there. The tiles of a block make sums of units of rows, and each adds up
  /// those of its window, or takes them from sums of all units before.
  template <bool in_turns>
  __device__ __forceinline__ void start() {
    const int y = block_top - args.centre_y;
    clear();
    if (args.window_units > 0) {
      auto* const unit = reinterpret_cast<std::uint32_t*>(memory);
      constexpr int pitch = 2 * S::words * S::threads;
      const int units = args.tile_units * (args.groups - 1) + args.window_units;
#pragma unroll 1
      for (int u = group; u < units; u += args.groups) {
        add_rows<in_turns>(y + u * args.unit_rows, args.unit_rows);
#pragma unroll
        for (int i = 0; i < 2 * S::words; ++i) unit[u * pitch + i * S::threads + thread] = (&v[0][0])[i];
        clear();
      }
      __syncthreads();
      const int begin = group * args.tile_units, end = begin + args.window_units;
      if (args.adds_all_before) {
        for (int i = threadIdx.x; i < pitch; i += blockDim.x) {
          std::uint32_t sum = 0;
#pragma unroll 4
          for (int u = 0; u < units; ++u) unit[u * pitch + i] = sum += unit[u * pitch + i];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 2 * S::words; ++i) {
          const std::uint32_t* const at = unit + i * S::threads + thread;
          (&v[0][0])[i] = at[(end - 1) * pitch] - (begin > 0 ? at[(begin - 1) * pitch] : 0);
        }
      } else {
#pragma unroll 2
        for (int u = begin; u < end; ++u)
#pragma unroll
          for (int i = 0; i < 2 * S::words; ++i) (&v[0][0])[i] += unit[u * pitch + i * S::threads + thread];
      }
      __syncthreads();
    }
    add_rows<in_turns>(y + group * args.rows + args.window_units * args.unit_rows, args.rest);
  }
  __device__ __forceinline__ void put(int k) const {
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int i = 0; i < S::words; ++i) shared.v[k][s * S::stream_words + i * S::pitch + S::pad + thread] = v[s][i];
  }
  /// Zeros before what threads put.
  __device__ void clear_pads() const {
    for (int i = thread; i < S::batch * 2 * S::words * S::pad; i += S::threads)
      (&shared.v[0][0])[i / S::pad * S::pitch + i % S::pad] = 0;
  }
  /// Where byte `at` of a tile has its V, in halves of words of a row.
  __device__ int half_of(int at) const {
    const int i = at >> 2, s = (at & 1) ^ (kind == Kind::pairs ? args.luma_at : 0);
    return 2 * (s * S::stream_words + i % S::words * S::pitch + S::pad + i / S::words) + (at >> 1 & 1);
  }
  /// The byte of a row that byte x, beside the frame, stands for; -1: a ghost cell.
  __device__ int source_of(int x) const {
    constexpr int c = kind == Kind::one ? 1 : kind == Kind::two ? 2 : kind == Kind::three ? 3 : 4, many = 1024;
    const bool luma = kind == Kind::pairs && (x & 1) == args.luma_at;
    const int step = luma ? 2 : c;
    const int pixel = (x + many * c) / step - many * c / step, offset = x - pixel * step;
    const int from = index_at(args.border, pixel, luma ? 2 * plane.pixels : plane.pixels);
    return from < 0 ? -1 : from * step + offset;
  }
  /// Lists the cells beside the frame that outputs need.
  __device__ void find_mends() {
    const int before = max(min(plane.before, -left), 0);
    const int after = max(min(plane.row_bytes + plane.after, left + S::span) - plane.row_bytes, 0);
    if (threadIdx.x == 0) mends.count = before + after;
    for (int i = threadIdx.x; i < before + after; i += blockDim.x) {
      const int x = i < before ? i - before : plane.row_bytes + i - before;
      const int from = source_of(x), at = from - left;
      const bool there = from >= 0 && at >= 0 && at < S::span;
      mends.cell[i] = half_of(x - left) | (there ? half_of(at) : ghost_source + (x & 3)) << 16;
    }
  }
  __device__ __forceinline__ void mend() const {
    const int count = mends.count;
#pragma unroll 1
    for (int i = thread; i < count; i += S::threads) {
      const std::uint32_t cell = mends.cell[i], to = cell & 0xFFFF, from = cell >> 16;
      const bool ghost = from >= ghost_source;
      std::uint32_t value[S::batch];
#pragma unroll
      for (int k = 0; k < S::batch; ++k)
        value[k] = reinterpret_cast<const std::uint16_t*>(shared.v[k])[ghost ? 0 : from];
#pragma unroll
      for (int k = 0; k < S::batch; ++k)
        reinterpret_cast<std::uint16_t*>(shared.v[k])[to] =
            static_cast<std::uint16_t>(ghost ? args.height * (plane.ghost >> 8 * (from & 3) & 255) : value[k]);
    }
  }
};

}  // namespace convolve::cuda::byte_box
