// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input rows of a tile of `matrix`, small filters, as in dense_input.cuh, but of three components, as RGB has them:
// groups of four pixels are 12 bytes there, which no copy and no load has. Rows are copied 16 bytes at a time where the
// frame lies so, else word by word, and output rows go back through the same memory, so that stores are whole vectors.
#pragma once

#include "cuda/common/launch.hpp"
#include "cuda/matrix/dense.cuh"

namespace convolve::cuda {

#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

/// True where the rows of a tile begin at multiples of 16 bytes.
__device__ __forceinline__ bool in_vectors(const std::uint8_t* plane, std::ptrdiff_t stride, int2 origin) {
  return ((reinterpret_cast<std::uintptr_t>(plane) | static_cast<unsigned>(stride) | static_cast<unsigned>(origin.x)) &
          15) == 0;
}

/// A tile's input rows in shared memory, `rows` of them, in parts as those of Input. A row begins with the 16 bytes
/// before the tile, of which the last 12 are its group of four pixels to the left.
template <int radius, int rows, int first>
struct TriplesInput {
  static constexpr int more = 2, parts = 1 + (rows - first) / more;
  static constexpr int group = 12, vectors = 26;             ///< of 16 bytes, that a row lies in
  static constexpr int begin = 4, end = begin + 33 * group;  ///< where the groups beside the tile lie
  static constexpr int tile_bytes = 32 * group, words = 34 * group / 4;
  static constexpr int pitch = 496;  ///< most of a lane's rows and strips are in different banks
  static constexpr int bytes = rows * pitch;

  static __device__ __forceinline__ bool is_left(int2 origin) { return origin.x == 0; }
  static __device__ __forceinline__ bool is_right(const MatrixPlane& plane, int2 origin) {
    return origin.x + matrix_tile_width == plane.width;
  }
  /// Starts to copy them once the stream is there. What lies outside the frame comes from where the border's rule finds
  /// it; the groups beside the frame, and ghost cells, still want `mend_sides`.
  static __device__ __forceinline__ void start(std::uint8_t* memory, const MatrixPlane& plane, const MatrixLevels&,
                                               int2 origin, int) {
    const int lane = threadIdx.x, first_row = origin.y - radius;
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(memory));
    const bool vectorial = in_vectors(plane.in, plane.in_stride, origin), left = is_left(origin),
               right = is_right(plane, origin);
    const bool inside = first_row >= 0 && first_row + rows <= plane.height;
    const auto row_at = [&](int r) {
      return plane.in + (inside ? first_row + r : edge_index(plane.down, first_row + r)) * plane.in_stride;
    };
    const auto end_row = [](int r) {
      if (r + 1 == rows || (r + 1 >= first && (r + 1 - first) % more == 0)) ptx::commit_copies();
    };
    // The group beside the tile, of a row a lane.
    const auto copy_side = [&](int at, int x) {
      const std::uint8_t* from = row_at(lane) + (edge_index(plane.across, x) & ~3) * 3;
#pragma unroll
      for (int i = 0; i < 3; ++i) ptx::copy_async<4>(to + lane * pitch + at + 4 * i, from + 4 * i);
    };
    pdl_wait();
    if (lane < rows && (!vectorial || left)) copy_side(begin, origin.x - 4);
    if (lane < rows && (!vectorial || right)) copy_side(end, origin.x + matrix_tile_width + 3);
    if (vectorial) {
      const bool mine = lane >= (left ? 1 : 0) && lane < (right ? vectors - 1 : vectors);
      const unsigned to_lane = to + 16 * lane;
      const int x = 3 * origin.x - 16 + 16 * lane;
      if (inside) {
        const std::uint8_t* from = plane.in + first_row * plane.in_stride + x;
#pragma unroll
        for (int r = 0; r < rows; ++r, from += plane.in_stride) {
          ptx::copy_async<16>(to_lane + r * pitch, from, mine);
          end_row(r);
        }
      } else {
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          ptx::copy_async<16>(to_lane + r * pitch, row_at(r) + x, mine);
          end_row(r);
        }
      }
    } else {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const std::uint8_t* from = row_at(r) + 3 * origin.x + 4 * lane;
#pragma unroll
        for (int i = 0; i < 3; ++i)
          ptx::copy_async<4>(to + r * pitch + begin + group + 4 * lane + 128 * i, from + 128 * i);
        end_row(r);
      }
    }
  }

  /// Waits for the rows of a part.
  template <int part>
  static __device__ __forceinline__ void wait() {
    ptx::wait_for_copies<parts - 1 - part>();
    __syncwarp();
  }

  /// Makes the cells outside the frame, once all rows are there.
  static __device__ __forceinline__ void mend_sides(std::uint8_t* memory, const MatrixPlane& plane, int2 origin) {
    const bool left = is_left(origin), right = is_right(plane, origin);
    const int r = threadIdx.x, y = origin.y - radius + r;
    const bool beyond = static_cast<unsigned>(y) >= static_cast<unsigned>(plane.height);
    const bool any_beyond = origin.y < radius || origin.y - radius + rows > plane.height;
    if (!left && !right && !(any_beyond && plane.down.ghost)) return;
    wait<parts - 1>();
    std::uint8_t* row = memory + r * pitch;
    if (r < rows && plane.across.ghost) {
      if (left || beyond) fill(row + begin, beyond ? words / 3 : 1, plane.ghost);
      if (right && !beyond) fill(row + end, 1, plane.ghost);
    } else if (r < rows) {
      if (left) choose_pixels<3>(row + begin, row + begin + group, row + begin, plane.across.low_selector);
      if (right) choose_pixels<3>(row + end - group, row + end, row + end, plane.across.high_selector);
    }
    __syncwarp();
  }

  /// The lane's part of a pair of rows, of each component.
  static __device__ __forceinline__ void take(const std::uint8_t* memory, int pair, std::uint32_t (&left)[3][4]) {
    const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    const std::uint8_t* from = memory + begin + (t >> 1) * pitch + 2 * (g + (t & 1)) * group + 2 * pair * pitch;
#pragma unroll
    for (int strip = 0; strip < 2; ++strip) {
      const auto* word = reinterpret_cast<const std::uint32_t*>(from + 16 * strip * group);
      // The second word lies at a multiple of eight bytes.
      const uint2 middle = *reinterpret_cast<const uint2*>(word + 1), last = *reinterpret_cast<const uint2*>(word + 3);
      std::uint32_t low[3], high[3];
      planar(uint3{word[0], middle.x, middle.y}, low);
      planar(uint3{last.x, last.y, word[5]}, high);
#pragma unroll
      for (int c = 0; c < 3; ++c) left[c][strip] = low[c], left[c][2 + strip] = high[c];
    }
  }

  /// Stores a pair of output rows, of which each lane has four pixels of two strips, as vectors, by way of the memory
  /// of input rows that nobody needs any more. `out`: where the first strip's pixels go.
  static __device__ __forceinline__ void store(std::uint8_t* memory, int pair, const uint3 (&pixels)[2],
                                               std::uint8_t* out, std::ptrdiff_t stride, bool vectorial) {
    const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
    if (!vectorial) {
      reinterpret_cast<uint3*>(out)[0] = pixels[0];
      reinterpret_cast<uint3*>(out)[16] = pixels[1];
      return;
    }
    std::uint8_t* two_rows = memory + 2 * pair * pitch;
    const int own = (2 * g + (t & 1)) * group;
    __syncwarp();
#pragma unroll
    for (int strip = 0; strip < 2; ++strip)
      *reinterpret_cast<uint3*>(two_rows + (t >> 1) * pitch + own + 16 * strip * group) = pixels[strip];
    __syncwarp();
    constexpr int row_vectors = tile_bytes / 16, rest = 2 * row_vectors - 32;  // rest: beyond one a lane
    const auto copy = [&](int row, int at) {
      *reinterpret_cast<uint4*>(out - (t >> 1) * stride - own + row * stride + 16 * at) =
          *reinterpret_cast<const uint4*>(two_rows + row * pitch + 16 * at);
    };
    const int second = lane >= row_vectors;
    copy(second, lane - second * row_vectors);
    if (lane < rest) copy(1, lane + row_vectors - rest);
  }

 private:
  /// Writes groups of ghost cells.
  static __device__ __forceinline__ void fill(std::uint8_t* to, int groups, std::uint32_t ghost) {
    const uint3 four = {__byte_perm(ghost, 0, 0x0210), __byte_perm(ghost, 0, 0x1021), __byte_perm(ghost, 0, 0x2102)};
#pragma unroll 1
    for (int i = 0; i < groups; ++i) reinterpret_cast<uint3*>(to)[i] = four;
  }
};

#endif

}  // namespace convolve::cuda
