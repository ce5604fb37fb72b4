// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a block of tensor_frames.cuh sees of a frame: the rows of its tile in shared memory, with the border's cells in
// place. Asynchronous copies bring what lies inside the frame. The tiles at the sides then copy the cells beside the
// frame from those inside it, where these lie in the tile as well, which they do not under a periodic border: the other
// side of the frame then comes by copies of its own.
//
//   a tile at the right side      x x x x x x x x x x│.  .  .
//                                 ───── copied ──────│ ^──┴── of the tile's own cells, by the border's rule
#pragma once

#include <type_traits>

#include "cuda/common/border_map.cuh"
#include "cuda/common/ptx.cuh"
#include "cuda/separable/tensor_frames.hpp"
#include "cuda/separable/tensor_passes.cuh"
#include "cuda/separable/tensor_taps.hpp"

namespace convolve::cuda::tensor {

/// Where a frame's rows of a tile lie in shared memory, with the blocks that sets reach on either side.
template <int margin>
struct FramesShape {
  static constexpr int blocks = FramesTile::bytes / block_bytes + 2 * margin;
  static constexpr int pitch = (blocks | 1) * block_bytes, rows = FramesTile::rows + 2 * max_radius;
  /// As row_offset() of tensor_input.cuh: what ldmatrix takes lies in different banks.
  static constexpr __host__ __device__ int offset(int row) { return row * pitch + (row + 1) / 8 * 32; }
  static constexpr int bytes = offset(rows);
};

/// A warp's output on its way through shared memory.
struct FramesOutlet {
  static constexpr int row_bytes = FramesTile::sets * block_bytes, pitch = row_bytes + 16, size = 16 * pitch;
};

/// The block's shared memory: the rows of two frames, the row's matrices, and the warps' outlets, which take the place
/// of the frames where all warps are done with these.
template <int margin>
struct FramesMemory {
  static constexpr int stages = 2;  ///< frames whose rows are there or on their way
  static constexpr int rows = stages * FramesShape<margin>::bytes;
  static constexpr int bytes = rows + FramesTile::max_matrices * FramesTile::matrix_bytes;
  static_assert(rows % 16 == 0 && FramesTile::threads / 32 * FramesOutlet::size <= rows);
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <int margin>
struct FramesWindow : FramesShape<margin> {
  using Shape = FramesShape<margin>;
  using Shape::blocks, Shape::pitch, Shape::rows, Shape::offset;
  static constexpr int side = margin * block_bytes;  ///< bytes beside a frame that its samples reach
  const FramesArgs& args;
  const FramesPlane& plane;
  const int left, top;  ///< the window's first byte and the tile's first row in the frame

  /// Where the lane's row of a band of 16 lies. Products take 32 rows, of which the first and the last meet no tap:
  /// what stands in for those that the window does not have is of no interest.
  static __device__ __forceinline__ int row_of(int band, int lane) {
    const int row = 16 * band + Products<Epilogue::saturate, 1>::row_of(lane) - (radius - max_radius);
    return offset(min(max(row, 0), rows - 1));
  }

  /// The first of the rows that the tile takes, their number, and where row i of them lies.
  __device__ __forceinline__ int first() const { return top - args.above; }
  __device__ __forceinline__ int count() const { return args.lines - max(0, top + FramesTile::rows - plane.height); }
  __device__ __forceinline__ int place(int i) const { return offset(max_radius - args.above + i); }

  /// The row of the frame that row y stands for; below 0: ghost cells.
  __device__ __forceinline__ int line_of(int y) const {
    return static_cast<unsigned>(y) < static_cast<unsigned>(plane.height) ? y
                                                                          : border_index(args.border, y, plane.height);
  }
  /// Whether some cells have to be put in once the copies are there.
  __device__ __forceinline__ bool has_cells_to_mend() const {
    return (left < 0 || left + blocks * block_bytes > plane.whole) && !plane.wraps;
  }

  /// Starts to copy a frame's rows. Block-wide.
  __device__ __forceinline__ void send(int frame, std::uint8_t* memory) const {
    const bool columns = left >= 0 && left + blocks * block_bytes <= plane.whole;
    if (columns && first() >= 0 && top - args.above + args.lines <= plane.height)
      copy_inner(args, plane, left, top, frame, memory);
    else
      copy_outer(args, plane, left, top, frame, memory);
  }

  /// Puts in the rows of ghost cells above and below the frame, which no copy writes to. Block-wide.
  __device__ __forceinline__ void fill(std::uint8_t* memory, int stages) const {
    if (args.border != Border::constant || (first() >= 0 && first() + count() <= plane.height)) return;
#pragma unroll 1
    for (int k = threadIdx.x; k < count() * blocks; k += FramesTile::threads) {
      const int i = k / blocks, block = k - i * blocks;
      if (static_cast<unsigned>(first() + i) < static_cast<unsigned>(plane.height)) continue;
      for (int s = 0; s < stages; ++s)
        *reinterpret_cast<uint4*>(memory + s * Shape::bytes + place(i) + block * block_bytes) = {
            plane.ghost, plane.ghost, plane.ghost, plane.ghost};
    }
  }

  /// Puts the cells beside the frame in. Block-wide.
  __device__ __forceinline__ void mend(int frame, std::uint8_t* memory) const {
    mend_apart(args, plane, left, top, frame, memory);
  }

 private:
  /// Out of line: what few tiles run takes no registers from the others.
  static __device__ __noinline__ void mend_apart(const FramesArgs& args, const FramesPlane& plane, int left, int top,
                                                 int frame, std::uint8_t* memory) {
    FramesWindow{{}, args, plane, left, top}.mend_here(frame, memory);
  }
  __device__ __forceinline__ void mend_here(int frame, std::uint8_t* memory) const {
    if (plane.whole == plane.row_bytes && args.border != Border::wrap) {
      if (left < 0) copy_side(memory, -side);
      if (left + blocks * block_bytes > plane.row_bytes) copy_side(memory, plane.row_bytes);
      return;
    }
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      const int at = left + block * block_bytes;
      if ((at < 0 || at + block_bytes > plane.whole) && at < plane.row_bytes + side) gather(frame, memory, block);
    }
  }

  /// The blocks of a row are shared out to the threads: `main` of them in one go, then the others of more rows.
  static constexpr int main = FramesTile::bytes / block_bytes, main_rows = FramesTile::threads / main;
  static constexpr int others = blocks - main, other_rows = FramesTile::threads / others;
  static_assert(main_rows % 8 == 0 && other_rows % 8 == 0);

  /// Copies the rows of a tile that reaches nothing beside the frame. Out of line, so that it takes no registers from
  /// the sums.
  static __device__ __noinline__ void copy_inner(const FramesArgs& args, const FramesPlane& plane, int left, int top,
                                                 int frame, std::uint8_t* memory) {
    const FramesWindow window{{}, args, plane, left, top};
    const int id = threadIdx.x, lines = args.lines;
    const std::ptrdiff_t stride = plane.in_stride[frame];
    const std::uint8_t* const begin = plane.in[frame] + (window.first() * stride + left);
    const auto copy = [&](int row, int at, auto step) {
      const std::uint8_t* from = begin + (row * stride + at);
      std::uint32_t to = ptx::address_in_shared(memory) + window.place(row) + at;
#pragma unroll
      for (int i = 0; i < rows; i += step, from += step * stride, to += step * pitch + step / 8 * 32)
        if (row + i < lines) ptx::copy_async_past_l1(to, from);
    };
    copy(id / main, id % main * block_bytes, std::integral_constant<int, main_rows>());
    copy(id / others, (main + id % others) * block_bytes, std::integral_constant<int, other_rows>());
  }
  /// Copies the rows of any tile. Out of line: what few tiles run takes no registers from the others.
  static __device__ __noinline__ void copy_outer(const FramesArgs& args, const FramesPlane& plane, int left, int top,
                                                 int frame, std::uint8_t* memory) {
    const FramesWindow window{{}, args, plane, left, top};
    const int id = threadIdx.x, lines = window.count();
    const std::ptrdiff_t stride = plane.in_stride[frame];
    const auto copy = [&](int row, int block, int step) {
      int at = left + block * block_bytes;
      if (plane.wraps) at += at < 0 ? plane.row_bytes : at < plane.row_bytes ? 0 : -plane.row_bytes;
      if (at < 0 || at + block_bytes > plane.whole) return;
      const std::uint32_t to = ptx::address_in_shared(memory) + block * block_bytes;
#pragma unroll 2
      for (int i = row; i < lines; i += step) {
        const int line = window.line_of(window.first() + i);
        if (line >= 0) ptx::copy_async_past_l1(to + window.place(i), plane.in[frame] + (line * stride + at));
      }
    };
    copy(id / main, id % main, main_rows);
    copy(id / others, main + id % others, other_rows);
  }

  /// A byte of the frame's rows as a pixel, or a pair of pixels, of its component, and the component's first byte.
  struct Place {
    int step, x, first;
    __device__ __forceinline__ Place(const FramesPlane& plane, int byte) : step(plane.step[byte & 1]) {
      constexpr int before = 16;  // pixels: no dividend is below 0
      x = byte >> (step >> 1), first = byte & (step - 1);
      if (step == 3) x = (byte + 3 * before) / 3 - before, first = byte - 3 * x;
    }
  };
  __device__ __forceinline__ std::uint8_t ghost_of(int byte) const {
    return static_cast<std::uint8_t>(plane.ghost >> 8 * (byte & 3));
  }

  /// The cells from a byte on, of all rows, from those of the same row.
  __device__ __forceinline__ void copy_side(std::uint8_t* memory, int from) const {
    constexpr int together = FramesTile::threads / side;
    static_assert(together % 8 == 0);
    const int byte = from + static_cast<int>(threadIdx.x) % side, to = byte - left, row = threadIdx.x / side;
    if (to >= blocks * block_bytes) return;
    const Place place_of_byte(plane, byte);
    const int x = border_index(args.border, place_of_byte.x, plane.length[byte & 1]);
    // Cells that no sample reaches may have their sources anywhere.
    const int source = min(max(place_of_byte.step * x + place_of_byte.first - left, 0), blocks * block_bytes - 1);
    std::uint8_t* line = memory + place(row);
#pragma unroll 2
    for (int i = row; i < count(); i += together, line += together * pitch + together / 8 * 32)
      line[to] = x < 0 ? ghost_of(byte) : line[source];
  }
  /// A column of blocks from the frame, byte by byte: the sides of frames whose rows are no whole blocks, or that are
  /// not aligned.
  __device__ __forceinline__ void gather(int frame, std::uint8_t* memory, int block) const {
    constexpr int together = FramesTile::threads / block_bytes;
    const int own = block * block_bytes + static_cast<int>(threadIdx.x) % block_bytes, byte = left + own;
    const Place at(plane, byte);
    const int x = border_index(args.border, at.x, plane.length[byte & 1]);
    const std::uint8_t* const in = plane.in[frame] + (at.step * x + at.first);
#pragma unroll 4
    for (int i = threadIdx.x / block_bytes; i < count(); i += together) {
      const int line = line_of(first() + i);
      memory[place(i) + own] = line < 0 || x < 0 ? ghost_of(byte) : __ldg(in + line * plane.in_stride[frame]);
    }
  }
};

#endif

}  // namespace convolve::cuda::tensor
