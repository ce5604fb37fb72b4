// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes, all of whose taps are equal, of 16-bit samples by running sums, so that a sample costs the same whatever the
// size of the box.
//
//   kernel 1    sums of 16 rows, column by column                      an eighth of the frame's bytes
//   kernel 2    down the columns     V(y) = V(y - 1) + row that enters - row that leaves
//               along each row       P(x) = V(0) + ... + V(x - 1)      prefix sums, per component
//                                    H(x) = P(end of window) - P(begin of window)
//
// A block of kernel 2 makes a tile: some rows of as many samples as its threads own, 16 bytes each, less what the
// window reaches beside them. Its first V is put together from sums of 16 rows, those of which the window is no whole
// number, from rows. Then it goes down, `batch` rows between two barriers: threads keep V of their columns in
// registers, make prefix sums (of a thread, of a warp by shuffles, of the block through shared memory) and look both
// ends of each window up. All sums are integers; what overflows on the way comes out right, for each result fits 32
// bits.
//
// Columns beside the frame have the V of those that they stand for: their threads take it from shared memory where a
// thread of the block owns those, and else go down columns as well, sample by sample.
#pragma once

#include "cuda/common/epilogue.cuh"
#include "cuda/common/frame.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/box.hpp"

namespace convolve::cuda::box {

/// Sums of a thread's columns.
struct Sums {
  std::uint32_t column[count];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < count; ++i) column[i] = 0;
  }
  /// Sample i of a vector, without the bits below it.
  static __device__ __forceinline__ std::uint32_t sample(const uint4& v, int i, int shift) {
    const std::uint32_t in = i / 2 == 0 ? v.x : i / 2 == 1 ? v.y : i / 2 == 2 ? v.z : v.w;
    return i % 2 ? in >> (16 + shift) : (in & 0xFFFF) >> shift;
  }
  __device__ __forceinline__ void add(const uint4& v, int shift) {
#pragma unroll
    for (int i = 0; i < count; ++i) column[i] += sample(v, i, shift);
  }
  __device__ __forceinline__ void replace(const uint4& enters, const uint4& leaves, int shift) {
#pragma unroll
    for (int i = 0; i < count; ++i) column[i] += sample(enters, i, shift) - sample(leaves, i, shift);
  }
};

/// The sample that sample `i` of a row stands for; -1: a ghost cell.
template <int components>
__device__ __forceinline__ int sample_index(const Args& args, const Plane& plane, int i) {
  if (static_cast<unsigned>(i) < static_cast<unsigned>(plane.samples)) return i;
  constexpr int many = 1024;  // pixels, so that nothing below zero is divided
  const int shifted = i + many * components, c = shifted % components;
  const int pixel = index_at(args.border, shifted / components - many, plane.pixels);
  return pixel < 0 ? -1 : pixel * components + c;
}

/// A row of the frame, or of ghost cells.
struct Line {
  const std::uint8_t* data;  ///< null: ghost cells
};
__device__ __forceinline__ Line line_at(const Args& args, const Plane& plane, int y) {
  y = index_at(args.border, y, plane.height);
  return {y < 0 ? nullptr : plane.in + y * plane.in_stride};
}

__device__ __forceinline__ uint4 ghost_vector(const Plane& plane) {
  const std::uint32_t even = plane.ghost[0] | plane.ghost[1] << 16, odd = plane.ghost[2] | plane.ghost[3] << 16;
  return {even, odd, even, odd};
}

/// 16 bytes of a row, sample by sample: any may lie beside the frame.
template <int components>
static __device__ __noinline__ uint4 load_any(const Args& args, const Plane& plane, Line line, int first) {
  std::uint32_t word[4] = {};
#pragma unroll 1
  for (int j = 0; j < count; ++j) {
    const int i = line.data ? sample_index<components>(args, plane, first + j) : -1;
    const std::uint32_t value =
        i < 0 ? plane.ghost[(first + j) & 3] : std::uint32_t{__ldg(reinterpret_cast<const Sample*>(line.data) + i)};
    const std::uint32_t part = value << 16 * (j % 2);
    const int w = j / 2;
    word[0] |= w == 0 ? part : 0, word[1] |= w == 1 ? part : 0, word[2] |= w == 2 ? part : 0,
        word[3] |= w == 3 ? part : 0;
  }
  return {word[0], word[1], word[2], word[3]};
}

/// Where a thread has its columns' sums from.
enum class Source : std::uint8_t { vectors, samples, others };

/// 16 bytes of any row; `whole`: all lie in the frame. Out of line: rows inside of the frame are loaded without it.
template <int components>
static __device__ __noinline__ uint4 load_line(const Args& args, const Plane& plane, bool whole, int y, int first) {
  const Line line = line_at(args, plane, y);
  if (!whole) return load_any<components>(args, plane, line, first);
  if (!line.data) return ghost_vector(plane);
  return __ldg(reinterpret_cast<const uint4*>(line.data +
                                              static_cast<std::ptrdiff_t>(first) * static_cast<int>(sizeof(Sample))));
}

/// A thread's columns.
template <int components>
struct Columns {
  const Args& args;
  const Plane& plane;
  int first;  ///< sample
  Source source;

  /// Row y, which lies in the frame.
  __device__ __forceinline__ const std::uint8_t* row(int y) const {
    return plane.in + y * plane.in_stride + static_cast<std::ptrdiff_t>(first) * static_cast<int>(sizeof(Sample));
  }
  /// Any row, of columns that no other thread has.
  __device__ __forceinline__ uint4 load(int y) const {
    return load_line<components>(args, plane, source == Source::vectors, y, first);
  }
  /// Adds the sums of group `g`.
  __device__ __forceinline__ void add_group(Sums& sums, int g) const {
    const auto* from = reinterpret_cast<const uint4*>(sums_of(g) + first);
    const uint4 v[2] = {from[0], from[1]};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      sums.column[4 * i] += v[i].x, sums.column[4 * i + 1] += v[i].y;
      sums.column[4 * i + 2] += v[i].z, sums.column[4 * i + 3] += v[i].w;
    }
  }
  /// Adds the sums of group `g` to columns of which any may lie beside the frame.
  __device__ __forceinline__ void add_group_by_samples(Sums& sums, int g) const {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      const int i = sample_index<components>(args, plane, first + j);
      sums.column[j] += i < 0 ? group * (plane.ghost[(first + j) & 3] >> args.shift) : sums_of(g)[i];
    }
  }

 private:
  __device__ __forceinline__ const std::uint32_t* sums_of(int g) const {
    return plane.sums + static_cast<std::ptrdiff_t>(g) * plane.pitch;
  }
};

/// Kernel 1, of one plane: group g is rows 16 g - centre_y on, which may lie beside the frame.
template <int components>
__device__ __forceinline__ void sum_groups(const Args& args, const Plane& plane) {
  const int block = blockIdx.x - plane.first_sums, g = block / plane.sums_x;
  const int first = ((block - g * plane.sums_x) * threads + static_cast<int>(threadIdx.x)) * count;
  pdl_wait();
  if (first >= plane.samples) return;
  const bool whole = plane.wide && first + count <= plane.samples;
  const Columns<components> columns{args, plane, first, whole ? Source::vectors : Source::samples};
  Sums sums;
  sums.clear();
  const int top = group * g - args.centre_y;
  if (whole && top >= 0 && top + group <= plane.height) {
    const std::uint8_t* at = columns.row(top);
#pragma unroll
    for (int r = 0; r < group; ++r, at += plane.in_stride)
      sums.add(__ldg(reinterpret_cast<const uint4*>(at)), args.shift);
  } else {
#pragma unroll 1
    for (int r = 0; r < group; ++r) sums.add(columns.load(top + r), args.shift);
  }
  auto* to = reinterpret_cast<uint4*>(plane.sums + static_cast<std::ptrdiff_t>(g) * plane.pitch + first);
  to[0] = {sums.column[0], sums.column[1], sums.column[2], sums.column[3]};
  to[1] = {sums.column[4], sums.column[5], sums.column[6], sums.column[7]};
}

}  // namespace convolve::cuda::box
