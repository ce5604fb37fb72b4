// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input rows of a tile of `matrix`, filters over several frames: from a frame into shared memory.
//
// Rows and groups of four pixels outside the frame are copied from where the border's rule finds them, so that all
// tiles run the same code; what is to be mirrored, or a ghost, is put right once it is there.
#pragma once

#include "cuda/matrix/tiles.cuh"

namespace convolve::cuda {

#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

/// A tile's input rows of a frame in shared memory, `rows` of them, each of the tile's groups of four pixels and one
/// either side. They lie so that a lane's part of the left matrix are neighbouring bytes, 16 of each two components:
/// single components' quad j holds groups 2j, 2j + 16, 2j + 1 and 2j + 17; others lie as in the frame.
template <int C, int rows>
class TemporalInput {
 public:
  static constexpr int pitch = 176, bytes = rows * pitch;  ///< rows of a pair are in different banks

  /// `memory`: the warp's. `reach`: rows above and below the tile.
  __device__ __forceinline__ TemporalInput(std::uint8_t* memory, const TilePlane& plane, int2 origin, int radius)
      : memory_(ptx::address_in_shared(memory)), first_row_(origin.y - radius) {
    const int lane = threadIdx.x, first_pixel = origin.x / C;
    // Inside the tile, `together` rows at a time.
    const int n = lane % inner, row = lane / inner;
    to_inner_ = row * pitch + (n < 16 ? at(n + 1) : at_last(n + 1));
    x_inner_ = (first_pixel + 4 * n) * C;
    // Beside it; and of single components those that lie in two quads.
    const int side = C == 1 && (lane & 2) ? 16 + (lane & 1) : (inner + 1) * (lane & 1);
    const int begin = first_pixel + 4 * side - 4;
    to_side_ = lane / sides * pitch + (side == 16 || side == 33 ? at_last(side) : at(side));
    x_side_ = (edge_index(plane.x, side == 0 ? begin : begin + 3) & ~3) * C;
    left_ = first_pixel == 0;
    right_ = first_pixel + 4 * inner == plane.x.length;
    top_or_bottom_ = first_row_ < 0 || first_row_ + rows > plane.y.length;
    // Else the compiler makes them anew for each frame.
    ptx::hide(memory_, to_inner_, x_inner_, to_side_, x_side_);
  }

  /// Starts to copy a frame to `stage`, in bytes from the warp's memory on.
  __device__ __forceinline__ void start(const TilePlane& plane, const std::uint8_t* frame, int stage) const {
    const int lane = threadIdx.x;
    const unsigned to_inner = memory_ + stage + to_inner_, to_side = memory_ + stage + to_side_;
    if (!top_or_bottom_) {
      const std::ptrdiff_t stride = plane.stride;
      const std::uint8_t* from = frame + ((first_row_ + lane / inner) * plane.stride + x_inner_);
      ptx::hide(from);  // else the compiler keeps an offset for each row
#pragma unroll
      for (int r = 0; r < rows; r += together, from += together * stride)
        ptx::copy_async<group>(to_inner + r * pitch, from, r + together <= rows || lane / inner < rows - r);
      from = frame + ((first_row_ + lane / sides) * plane.stride + x_side_);
#pragma unroll
      for (int r = 0; r < rows; r += 32 / sides, from += 32 / sides * stride)
        ptx::copy_async<group>(to_side + r * pitch, from, r + 32 / sides <= rows || lane / sides < rows - r);
    } else {
      const auto row = [&](int r) { return frame + edge_index(plane.y, first_row_ + r) * plane.stride; };
#pragma unroll 1
      for (int r = 0; r + lane / inner < rows; r += together)
        ptx::copy_async<group>(to_inner + r * pitch, row(r + lane / inner) + x_inner_);
#pragma unroll 1
      for (int r = 0; r + lane / sides < rows; r += 32 / sides)
        ptx::copy_async<group>(to_side + r * pitch, row(r + lane / sides) + x_side_);
    }
  }

  /// True where cells outside the frame are to be made.
  __device__ __forceinline__ bool mends(const TilePlane& plane) const {
    return left_ || right_ || (top_or_bottom_ && plane.y.ghost);
  }
  /// Makes them, of a frame that is there, `memory` being where.
  __device__ __forceinline__ void mend(std::uint8_t* memory, const TilePlane& plane) const {
    const int r = threadIdx.x;
    std::uint8_t *row = memory + r * pitch, *first = row, *last = row + at_last(inner + 1);
    if (r < rows && plane.x.ghost) {
      Word<C> ghosts;
#pragma unroll
      for (int w = 0; w < C; ++w) word_of(ghosts, w) = plane.ghost;
      const bool all = static_cast<unsigned>(first_row_ + r) >= static_cast<unsigned>(plane.y.length);
      for (int n = 0; all && n < pitch; n += group) *reinterpret_cast<Word<C>*>(row + n) = ghosts;
      if (left_) *reinterpret_cast<Word<C>*>(first) = ghosts;
      if (right_) *reinterpret_cast<Word<C>*>(last) = ghosts;
    } else if (r < rows) {
      if (left_) choose_pixels<C>(first, row + at(1), first, plane.x.low_selector);
      if (right_) choose_pixels<C>(row + at_last(inner), last, last, plane.x.high_selector);
    }
    __syncwarp();
  }

  /// The address of a lane's part of the first pair of rows, for strip `strip` and the one 8 further in the product.
  __device__ __forceinline__ unsigned part(int strip) const {
    const int t = threadIdx.x & 3;
    unsigned at = memory_ + (t >> 1) * pitch + (strip + (t & 1)) * (C == 1 ? 16 : 2 * group);
    ptx::hide(at);
    return at;
  }
  /// Loads the lane's words of the left matrix from a pair of rows. `first`: its first component; of four components
  /// the second is the next one where they are bytes of a sample (`bytes_apart`), else the one after.
  template <bool bytes_apart>
  static __device__ __forceinline__ void take(unsigned part, int pair, int first, std::uint32_t (&left)[4]) {
    const unsigned from = part + 2 * pair * pitch;
    const uint4 u = ptx::load_shared(from);
    if constexpr (C == 1) {
      left[0] = u.x, left[1] = u.y, left[2] = u.z, left[3] = u.w;
    } else if constexpr (C == 2) {
      left[0] = __byte_perm(u.x, u.y, 0x6420), left[1] = __byte_perm(u.x, u.y, 0x7531);
      left[2] = __byte_perm(u.z, u.w, 0x6420), left[3] = __byte_perm(u.z, u.w, 0x7531);
    } else {
      const uint4 v = ptx::load_shared(from + group);
      // Two pixels at a time: component `first` of both, then the next component.
      const std::uint32_t selector = (bytes_apart ? 0x5140u : 0x6240u) + 0x1111u * first;
      const std::uint32_t a = __byte_perm(u.x, u.y, selector), b = __byte_perm(u.z, u.w, selector),
                          c = __byte_perm(v.x, v.y, selector), d = __byte_perm(v.z, v.w, selector);
      left[0] = __byte_perm(a, b, 0x5410), left[1] = __byte_perm(a, b, 0x7632);
      left[2] = __byte_perm(c, d, 0x5410), left[3] = __byte_perm(c, d, 0x7632);
    }
  }

 protected:
  static constexpr int group = 4 * C, inner = 32 / C;         ///< bytes of a group; groups of a row of the tile
  static constexpr int together = C, sides = C == 1 ? 4 : 2;  ///< rows copied at once; groups of a row beside those

  /// Where group n lies, the tile's first being 1; of single components as one of the first 18, or of the last 18.
  static __device__ __forceinline__ int at(int n) {
    return C == 1 ? 8 * n : n * group;
  }
  static __device__ __forceinline__ int at_last(int n) {
    return C == 1 ? 8 * (n - 16) + 4 : n * group;
  }

  unsigned memory_;
  int first_row_;
  int to_inner_, to_side_, x_inner_, x_side_;  ///< where a lane copies to, from `stage` on, and from; bytes
  bool left_, right_, top_or_bottom_;
};

#endif

}  // namespace convolve::cuda
