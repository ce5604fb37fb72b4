// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rows of a strip on their way to shared memory: see large_strips.cuh.
#pragma once

#include "cuda/common/strips/ptx.cuh"
#include "cuda/separable/large_pairs.cuh"
#include "cuda/separable/large_rows.cuh"

namespace convolve::cuda::large {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// load_beside() out of line: it is long and rare, and would stand in a loop once a turn.
template <int C, int unit, int warps, bool pairs, bool skewed>
__device__ __noinline__ void load_beside_apart(const Args& args, const Plane& plane, std::uint8_t* shared, int left,
                                               int bytes, int y, int pitch) {
  load_beside<C, unit, warps, pairs, skewed>(args, plane, shared, RowWindow<C>(args, plane, left, bytes), y, pitch);
}

/// Sends for the rows of a strip, so many at a time, a unit here, in order. `apart`: where registers suffice for a
/// call. `joined`: one test leads to all that is rare, where that spills no registers.
template <int C, int unit, int stages, int warps, bool pairs, bool apart, bool joined, bool skewed>
struct StripLoader {
  static constexpr int threads = 32 * warps;
  /// Threads that take a piece of a row each, rows that are sent for at once, and bytes that those threads reach. Of
  /// three components, 24 pieces are what most filters up to 31 taps take in, and a unit is two rounds.
  static constexpr int row_threads = C == 3 ? 24 : 32, at_once = threads / row_threads, reach = 16 * row_threads;
  static constexpr int passes = (unit - 1) / warps + 1;  ///< of mend(), a warp a row
  const Args& args;
  const Plane& plane;
  RowWindow<C> window;
  int left, bytes;       ///< what that was made of
  int y, pitch, height;  ///< `y`: the first row of the next unit
  int inside;            ///< rows from 0 on that a unit which lies inside of the frame may begin with
  std::ptrdiff_t stride;
  const std::uint8_t* from;  ///< this thread's piece of its first row of that unit
  std::uint8_t* shared;
  std::uint32_t to;
  bool first, second;                                     ///< this thread has a piece of each of its rows, and another
  int beside;                                             ///< what becomes of cells beside the frame: one of these
  static constexpr int none = 0, loaded = 1, mended = 2;  ///< mended: copied from what has come, by mend()

  /// Makes the table of cells, of which the others know after the next barrier.
  __device__ StripLoader(const Args& args, const Plane& plane, std::uint8_t* shared, int left, int top, int bytes,
                         int pitch)
      : args(args),
        plane(plane),
        window(args, plane, left, bytes),
        left(left),
        bytes(bytes),
        y(top),
        pitch(pitch),
        height(plane.height),
        inside(max(plane.height - unit + 1, 0)),
        stride(plane.in_stride),
        shared(shared) {
    const int row = first_row(), at = 16 * (threadIdx.x % row_threads);
    from = plane.in + (top + row) * stride + window.first + at;
    to = ptx::address_in_shared(shared) + row_start<skewed>(row, pitch) + at;
    first = at >= window.begin && at < window.end;
    second = at + reach >= window.begin && at + reach < window.end;
    ptx::hide(from);
    ptx::hide(to);
    ptx::hide(stride);
    // Only where the window holds all that one fold leads to, and the frame's rows end with a whole piece.
    const int begins = window.first, ends = window.first + window.end, far = (plane.width - 1 - args.reach_x) * C;
    const bool mends =
        plane.simple && plane.wide && args.border != Border::wrap && (begins >= 0 || (args.reach_x + 1) * C <= ends) &&
        (begins + window.bytes <= plane.row_bytes || (ends == plane.row_bytes && (begins <= 0 || far >= begins)));
    beside = window.words == 0 ? none : mends ? mended : loaded;
    ptx::hide(beside);
    if (joined && beside == loaded) inside = 0;
    ptx::hide(inside);
    if (beside != mended) return;
#pragma unroll 1
    for (int word = threadIdx.x; word < window.words; word += threads)
      cells()[word] = {cell_of(word, 0), cell_of(word, 1), cell_of(word, 2), cell_of(word, 3)};
  }

  __device__ __forceinline__ void send(int stage) {
    if (static_cast<unsigned>(y) < static_cast<unsigned>(inside)) {
      const std::uint8_t* row = from;
      std::uint32_t at = to + stage * unit * pitch;
#pragma unroll
      for (int i = 0; i * at_once < unit; ++i, row += at_once * stride, at += at_once * pitch) {
        if (unit % at_once != 0 && (i + 1) * at_once > unit && first_row() >= unit % at_once) break;
        copy_row(at + other_start(i), row);
      }
    } else {
#pragma unroll 1
      for (int r = first_row(); r < unit; r += at_once) send_edge_row(stage, r);
      if (joined) load_cells(stage);
    }
    if (!joined) load_cells(stage);
    y += unit;
    from += unit * stride;
  }
  /// Fills the cells beside the frame of a unit that has come: a warp those of some rows.
  __device__ __forceinline__ void mend(int stage) const {
    const int warp = threadIdx.x >> 5;
    std::uint8_t* const rows = shared + stage * unit * pitch + row_start<skewed>(warp, pitch);
    const auto row = [&](int i) { return rows + i * warps * pitch + other_start(i); };
#pragma unroll 1
    for (int word = threadIdx.x & 31; word < window.words; word += 32) {
      const ushort4 of = cells()[word];
      std::uint32_t value[passes];
#pragma unroll
      for (int i = 0; i < passes; ++i)
        if (has_pass(i)) value[i] = plane.columns.ghost ? plane.ghost : word_from(row(i), of);
#pragma unroll
      for (int i = 0; i < passes; ++i)
        if (has_pass(i)) *reinterpret_cast<std::uint32_t*>(row(i) + cell_at(4 * word)) = value[i];
    }
  }

 private:
  /// Cells beside the frame, where they are loaded.
  __device__ __forceinline__ void load_cells(int stage) const {
    if (beside != loaded) return;
    std::uint8_t* const cells_of = shared + stage * unit * pitch;
    if constexpr (apart)
      load_beside_apart<C, unit, warps, pairs, skewed>(args, plane, cells_of, left, bytes, y, pitch);
    else
      load_beside<C, unit, warps, pairs, skewed>(args, plane, cells_of, window, y, pitch);
  }
  static __device__ __forceinline__ int first_row() {
    return threadIdx.x / row_threads;
  }
  /// By what this warp's row of pass i begins farther on than the one of pass 0, see row_start().
  static __device__ __forceinline__ int other_start(int i) {
    static_assert(!skewed || (warps % 2 == 0 && at_once == warps));
    const int warp = threadIdx.x >> 5;
    return skewed && i * warps % 4 ? pair_rows_apart - (warp & 2) * pair_rows_apart : 0;
  }
  /// By word beside the frame, where in the row the bytes lie that it stands for: strip_cells_bytes() behind the rows.
  __device__ __forceinline__ ushort4* cells() const {
    return reinterpret_cast<ushort4*>(shared + stages * unit * pitch);
  }
  /// Whether this warp has a row of pass i of a unit.
  static __device__ __forceinline__ bool has_pass(int i) {
    return unit % warps == 0 || i + 1 < passes || static_cast<int>(threadIdx.x >> 5) < unit % warps;
  }
  /// Where in the window the word lies that is the one from byte `at` on, of those beside the frame.
  __device__ __forceinline__ int cell_at(int at) const {
    return at < window.begin ? at : at - window.begin + window.end;
  }
  /// Where in the window the byte lies that byte b of such a word stands for. Words farther out than taps reach may
  /// stand for what was not loaded: they get the window's first or last pixel, a whole one where pixels are read as
  /// words.
  __device__ __forceinline__ std::uint16_t cell_of(int word, int b) const {
    const int byte = window.first + cell_at(4 * word) + b;
    const int at = pairs ? pair_byte_of(args, plane, byte) : byte_of(byte, b);
    return static_cast<std::uint16_t>(
        min(max(at - window.first, window.begin), window.end - (C == 4 && !pairs ? 4 : 1)));
  }
  static __device__ __forceinline__ std::uint32_t word_from(const std::uint8_t* row, const ushort4& of) {
    if constexpr (C == 4 && !pairs) return *reinterpret_cast<const std::uint32_t*>(row + of.x);
    return row[of.x] | row[of.y] << 8 | row[of.z] << 16 | std::uint32_t{row[of.w]} << 24;
  }
  __device__ __forceinline__ void copy_row(std::uint32_t at, const std::uint8_t* row) const {
    ptx::copy_async_past_l1(at, row, first);
    ptx::copy_async_past_l1(at + reach, row + reach, second);
  }
  /// Row r of a unit some of whose rows lie beside the frame.
  __device__ __forceinline__ void send_edge_row(int stage, int r) const {
    const int stands_for = row_at<unit>(args, plane, y + r);
    if (stands_for >= 0) {
      copy_row(to + stage * unit * pitch + row_start<skewed>(r, pitch) - row_start<skewed>(first_row(), pitch),
               from + (stands_for - y - first_row()) * plane.in_stride);
    } else {
      std::uint8_t* const cells = shared + stage * unit * pitch + row_start<skewed>(r, pitch);
#pragma unroll 1
      for (int i = 16 * (threadIdx.x % row_threads); i < window.bytes; i += reach)
        *reinterpret_cast<uint4*>(cells + i) = {plane.ghost, plane.ghost, plane.ghost, plane.ghost};
    }
  }
  /// The byte that stands for byte `at` of the frame's row, which is byte `b` of a word.
  __device__ __forceinline__ int byte_of(int at, int b) const {
    const int pixel = pixel_of<C>(at);
    return edge_index(plane.columns, pixel) * C + (C == 3 ? at - 3 * pixel : b & (C - 1));
  }
};

#endif

}  // namespace convolve::cuda::large
