// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input rows of a tile of `matrix`, filters over several frames of pixels of four 16-bit components: as
// TemporalInput has those of fewer. A tile is 16 pixels wide, with four more on either side.
#pragma once

#include "cuda/matrix/temporal_input.cuh"

namespace convolve::cuda {

#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

/// A tile's input rows of a frame in shared memory, `rows` of them. Eight pixels are 64 bytes; 16 bytes lie between
/// them and the next eight, so that the words that a warp reads at once are in different banks.
template <int rows>
class TemporalFourInput {
 public:
  static constexpr int eight = 64 + 16;                          ///< from eight pixels to the next
  static constexpr int pitch = 3 * eight, bytes = rows * pitch;  ///< rows of a pair are in different banks

  /// `memory`: the warp's. `radius`: rows above and below the tile.
  __device__ __forceinline__ TemporalFourInput(std::uint8_t* memory, const TilePlane& plane, int2 origin, int radius)
      : memory_(ptx::address_in_shared(memory)), first_row_(origin.y - radius) {
    const int lane = threadIdx.x, first_pixel = origin.x / pixel, n = lane % inner, side = lane % sides;
    to_inner_ = lane / inner * pitch + at(n + 2);
    x_inner_ = origin.x + 16 * n;
    // Two pieces of four pixels on either side.
    const bool right = side >= 2;
    const int begin = right ? first_pixel + 16 : first_pixel - 4;
    to_side_ = lane / sides * pitch + at(right ? side + inner : side);
    x_side_ = (edge_index(plane.x, right ? begin + 3 : begin) & ~3) * pixel + 16 * (side & 1);
    left_ = first_pixel == 0;
    right_ = first_pixel + 16 == plane.x.length;
    top_or_bottom_ = first_row_ < 0 || first_row_ + rows > plane.y.length;
    // Else the compiler makes them anew for each frame.
    ptx::hide(memory_, to_inner_, x_inner_, to_side_, x_side_);
  }

  /// Starts to copy a frame to `stage`, in bytes from the warp's memory on.
  __device__ __forceinline__ void start(const TilePlane& plane, const std::uint8_t* frame, int stage) const {
    copy<inner>(plane, frame + x_inner_, memory_ + stage + to_inner_);
    copy<sides>(plane, frame + x_side_, memory_ + stage + to_side_);
  }

  /// True where cells outside the frame are to be made.
  __device__ __forceinline__ bool mends(const TilePlane& plane) const {
    return left_ || right_ || (top_or_bottom_ && plane.y.ghost);
  }
  /// Makes them, of a frame that is there, `memory` being where.
  __device__ __forceinline__ void mend(std::uint8_t* memory, const TilePlane& plane) const {
    const int r = threadIdx.x;
    std::uint8_t *row = memory + r * pitch, *first = row, *last = row + at(inner + 2);
    if (r < rows && plane.x.ghost) {
      const std::uint32_t front = plane.ghost, back = (&plane)[1].ghost;
      const uint4 ghosts = {front, back, front, back};
      const bool all = static_cast<unsigned>(first_row_ + r) >= static_cast<unsigned>(plane.y.length);
      for (int n = 0; all && n < pitch; n += 16) *reinterpret_cast<uint4*>(row + n) = ghosts;
      for (int n = 0; n < 32; n += 16) {
        if (left_) *reinterpret_cast<uint4*>(first + n) = ghosts;
        if (right_) *reinterpret_cast<uint4*>(last + n) = ghosts;
      }
    } else if (r < rows) {
      if (left_) choose(first, row + at(2), first, plane.x.low_selector);
      if (right_) choose(row + at(inner), last, last, plane.x.high_selector);
    }
    __syncwarp();
  }

  /// Where a lane's part of the first pair of rows begins, of strip `strip`: its two components of the first pixel.
  __device__ __forceinline__ unsigned part(int strip) const {
    const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    unsigned at = memory_ + (t >> 1) * pitch + (strip + (t & 1)) * eight + 4 * (g >> 2);
    ptx::hide(at);
    return at;
  }
  /// The lane's words of the left matrix from a pair of rows, of the component whose low byte is `first` of the two.
  template <bool bytes_apart>
  static __device__ __forceinline__ void take(unsigned part, int pair, int first, std::uint32_t (&left)[4]) {
    static_assert(bytes_apart);
    const unsigned from = part + 2 * pair * pitch;
    const std::uint32_t selector = 0x5140u + 0x1111u * first;
    std::uint32_t two[4];  // the low bytes of two pixels, then the high ones
#pragma unroll
    for (int i = 0; i < 4; ++i) two[i] = __byte_perm(word_at(from + 16 * i), word_at(from + 16 * i + 8), selector);
    left[0] = __byte_perm(two[0], two[1], 0x5410), left[1] = __byte_perm(two[0], two[1], 0x7632);
    left[2] = __byte_perm(two[2], two[3], 0x5410), left[3] = __byte_perm(two[2], two[3], 0x7632);
  }

 private:
  static constexpr int pixel = 8, inner = 8, sides = 4;  ///< bytes; pieces of 16 of a row of the tile, and beside it

  /// Where piece n lies, the leftmost being 0.
  static __device__ constexpr int at(int n) {
    return n / 4 * eight + n % 4 * 16;
  }

  static __device__ __forceinline__ std::uint32_t word_at(unsigned address) {
    return *static_cast<const std::uint32_t*>(__cvta_shared_to_generic(address));
  }

  /// Copies one piece of each row to a lane, `across` of them of a row. from, to: of the first row that is the lane's.
  template <int across>
  __device__ __forceinline__ void copy(const TilePlane& plane, const std::uint8_t* from, unsigned to) const {
    constexpr int together = 32 / across;  // rows
    const int mine = static_cast<int>(threadIdx.x) / across;
    if (!top_or_bottom_) {
      const std::ptrdiff_t stride = plane.stride;
      const std::uint8_t* next = from + (first_row_ + mine) * plane.stride;
      ptx::hide(next);  // else the compiler keeps an offset for each row
#pragma unroll
      for (int r = 0; r < rows; r += together, next += together * stride)
        ptx::copy_async<16>(to + r * pitch, next, r + together <= rows || mine < rows - r);
    } else {
#pragma unroll 1
      for (int r = 0; r + mine < rows; r += together)
        ptx::copy_async<16>(to + r * pitch, from + edge_index(plane.y, first_row_ + r + mine) * plane.stride);
    }
  }

  /// As choose_pixels(): pixels of four samples of 16 bits.
  static __device__ __forceinline__ void choose(const std::uint8_t* low, const std::uint8_t* high, std::uint8_t* to,
                                                std::uint32_t selector) {
    uint2 chosen[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned k = selector >> 4 * i & 7;
      chosen[i] = *reinterpret_cast<const uint2*>(k < 4 ? low + pixel * k : high + pixel * (k - 4));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) reinterpret_cast<uint2*>(to)[i] = chosen[i];
  }

  unsigned memory_;
  int first_row_;
  int to_inner_, to_side_, x_inner_, x_side_;  ///< where a lane copies to, from `stage` on, and from; bytes
  bool left_, right_, top_or_bottom_;
};

#endif

}  // namespace convolve::cuda
