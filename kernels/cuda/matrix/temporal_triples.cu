// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters over several frames of three interleaved components of 8 bits, as RGB has them: temporal.cuh makes
// the sums.
//
// A warp's tile is 40 pixels wide, 120 bytes: five strips of eight pixels, whose three components are 15 of the 16
// strips of a product. Lane 4g + t has components 0 and 1 of strip g where g < 5. Lanes beyond have component 2 of
// strips 2 (g - 5) and the next one; the last of these, of a sixth strip, repeats the fifth.
//
//   bytes of four pixels    R0 G0 B0 R1 | G1 B1 R2 G2 | B2 R3 G3 B3     a component of them takes two byte permutes
//
// Before the samples are stored, lanes g < 5 fetch their third component from the lanes beyond.
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/matrix/temporal.cuh"
#include "cuda/matrix/tiles.hpp"

namespace convolve::cuda {
namespace {

using namespace temporal;

constexpr int tile_rows = 10, components = 3;

/// Blocks that an SM is to hold: bounds the registers of a thread.
constexpr int blocks_resident(int radius, int limbs) {
  return limbs == 1 && radius <= 2 ? 5 : 4;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

constexpr int strips = triple_tile_bytes / (8 * components), group = 4 * components;

struct TriplesLane {
  static constexpr bool bytes_apart = false;
  int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  bool third = g >= strips;
  int strip = third ? 2 * (g - strips) : g, second_strip = third ? min(strip + 1, strips - 1) : g;
  int first = third ? 2 : 0, second = third ? 2 : 1;

  static __device__ __forceinline__ const TilePlane& levels(const TilePlane& plane) { return plane; }
};

/// The input rows of a tile: ten groups of four pixels, and one either side. A row begins in shared memory where the
/// frame's 16 bytes do that hold its first byte, so that tiles inside a frame are copied 16 bytes at a time.
template <int rows>
class TriplesInput {
 public:
  static constexpr int pitch = 192, bytes = rows * pitch;  ///< a lane's strips and rows are in different banks

  __device__ __forceinline__ TriplesInput(std::uint8_t* memory, const TilePlane& plane, int2 origin, int radius)
      : memory_(ptx::address_in_shared(memory)), first_row_(origin.y - radius) {
    first_byte_ = origin.x - group;
    left_ = origin.x == 0;
    right_ = origin.x + triple_tile_bytes == plane.x.length * components;
    inner_ = !left_ && (first_byte_ & ~15) + 16 * pieces <= plane.x.length * components;
    // Of tiles inside a frame, 4 or 12.
    in_row_ = inner_ ? first_byte_ & 15 : 4;
    top_or_bottom_ = first_row_ < 0 || first_row_ + rows > plane.y.length;
    const TriplesLane mine;
    second_from_first_ = 2 * group * (mine.second_strip - mine.strip);
    ptx::hide(memory_), ptx::hide(first_byte_), ptx::hide(in_row_), ptx::hide(second_from_first_);
  }

  /// Starts to copy a frame to `stage`, in bytes from the warp's memory on.
  __device__ __forceinline__ void start(const TilePlane& plane, const std::uint8_t* frame, int stage) const {
    const int lane = threadIdx.x;
    const auto row_at = [&](int r) {
      const int y = first_row_ + r;
      return frame + (top_or_bottom_ ? edge_index(plane.y, y) : y) * plane.stride;
    };
    const bool wide = ((reinterpret_cast<std::uintptr_t>(frame) | static_cast<unsigned>(plane.stride)) & 15) == 0;
    if (wide && inner_) {
      const int from = first_byte_ & ~15;
#pragma unroll
      for (int i = 0; i < rows * pieces; i += 32) {
        const int k = i + lane, r = k / pieces, at = 16 * (k - r * pieces);
        if (i + 32 <= rows * pieces || k < rows * pieces)
          ptx::copy_async<16>(memory_ + stage + r * pitch + at, row_at(r) + (from + at));
      }
    } else {
      const unsigned to = memory_ + stage + in_row_;
#pragma unroll 1
      for (int k = lane; k < rows * words; k += 32) {
        const int r = k / words, word = k - r * words;
        // Of the groups beside the frame, that which holds the border's first or last pixel.
        const int side = word < 3 && left_ ? -4 : word >= words - 3 && right_ ? plane.x.length + 3 : 0;
        const int x =
            side == 0 ? first_byte_ + 4 * word : (edge_index(plane.x, side) & ~3) * components + 4 * (word % 3);
        ptx::copy_async<4>(to + r * pitch + 4 * word, row_at(r) + x);
      }
    }
  }

  __device__ __forceinline__ bool mends(const TilePlane& plane) const {
    return left_ || right_ || (top_or_bottom_ && plane.y.ghost);
  }
  /// Makes the cells outside the frame, of a frame that is there, `memory` being where.
  __device__ __forceinline__ void mend(std::uint8_t* memory, const TilePlane& plane) const {
    const int r = threadIdx.x;
    std::uint8_t *row = memory + r * pitch + in_row_, *last = row + 4 * words - group;
    if (r < rows && plane.x.ghost) {
      const bool all = static_cast<unsigned>(first_row_ + r) >= static_cast<unsigned>(plane.y.length);
      if (left_ || all) fill(row, all ? 4 * words : group, plane.ghost);
      if (right_ && !all) fill(last, group, plane.ghost);
    } else if (r < rows) {
      if (left_) choose_pixels(row, row + group, row, plane.x.low_selector);
      if (right_) choose_pixels(last - group, last, last, plane.x.high_selector);
    }
    __syncwarp();
  }

  __device__ __forceinline__ unsigned part(int strip) const {
    const int t = threadIdx.x & 3;
    unsigned at = memory_ + in_row_ + (t >> 1) * pitch + 2 * group * (strip + (t & 1));
    ptx::hide(at);
    return at;
  }
  template <bool>
  __device__ __forceinline__ void take(unsigned part, int pair, int first, std::uint32_t (&left)[4]) const {
    const unsigned from = part + 2 * pair * pitch;
    std::uint32_t words[6];
    load(from, words);
    take_component(words, first, left[0], left[2]);
    // The strip that most lanes take both of their components from has been loaded.
    if (first == 2) load(from + second_from_first_, words);
    take_component(words, first == 0 ? 1 : 2, left[1], left[3]);
  }

 private:
  static constexpr int words = triple_tile_bytes / 4 + 2 * components;  ///< of a row
  static constexpr int pieces = 10;                                     ///< of 16 bytes, that a row lies in

  /// The words of a strip's eight pixels, of which the second begins at a multiple of eight bytes.
  static __device__ __forceinline__ void load(unsigned from, std::uint32_t (&words)[6]) {
    const auto* const word = static_cast<const std::uint32_t*>(__cvta_shared_to_generic(from));
    const auto* const pairs = reinterpret_cast<const uint2*>(word + 1);
    words[0] = word[0], words[5] = word[5];
#pragma unroll
    for (int i = 0; i < 2; ++i) words[1 + 2 * i] = pairs[i].x, words[2 + 2 * i] = pairs[i].y;
  }
  /// Component c of them.
  static __device__ __forceinline__ void take_component(const std::uint32_t (&words)[6], int c, std::uint32_t& low,
                                                        std::uint32_t& high) {
    const std::uint32_t begin = 0x0630 + 0x0111 * c, end = c == 0 ? 0x5210 : c == 1 ? 0x6210 : 0x7410;
    low = __byte_perm(__byte_perm(words[0], words[1], begin), words[2], end);
    high = __byte_perm(__byte_perm(words[3], words[4], begin), words[5], end);
  }
  static __device__ __forceinline__ void fill(std::uint8_t* to, int bytes, std::uint32_t ghost) {
#pragma unroll 1
    for (int i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(ghost >> 8 * (i % components));
  }
  /// Writes four pixels to `to`: of those at `low` and at `high`, as __byte_perm takes bytes.
  static __device__ __forceinline__ void choose_pixels(const std::uint8_t* low, const std::uint8_t* high,
                                                       std::uint8_t* to, std::uint32_t selector) {
    std::uint8_t chosen[group];
#pragma unroll
    for (int i = 0; i < group; ++i) {
      const unsigned pixel = selector >> (4 * (i / components)) & 7;
      chosen[i] = (pixel < 4 ? low : high)[components * (pixel & 3) + i % components];
    }
#pragma unroll
    for (int i = 0; i < group; ++i) to[i] = chosen[i];
  }

  unsigned memory_;
  int first_row_, first_byte_;  ///< of a row, of the group beside the tile
  int in_row_;                  ///< where that group begins in a row of shared memory; four more than a multiple of 8
  int second_from_first_;       ///< bytes from the strip of a lane's first component to the second's
  bool left_, right_, inner_, top_or_bottom_;  ///< inner_: all pieces are inside the frame
};

/// Four pixels, from a word of each component.
__device__ __forceinline__ uint3 interleaved_triples(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return {__byte_perm(__byte_perm(a, b, 0x1040), c, 0x3410), __byte_perm(__byte_perm(a, b, 0x6205), c, 0x3250),
          __byte_perm(__byte_perm(a, b, 0x0730), c, 0x7216)};
}

/// Bytes of word i of four pixels that stay as they were.
__device__ __forceinline__ std::uint32_t passthrough_of(const TilePlane& plane, int i) {
  std::uint32_t mask = 0;
#pragma unroll
  for (int b = 0; b < 4; ++b) mask |= (plane.passthrough_components >> (4 * i + b) % components & 1) * 255u << 8 * b;
  return mask;
}

/// Stores the tile, by way of shared memory: a lane has four pixels of a row, and rows are stored as whole words.
template <int limbs>
__device__ __forceinline__ void finish_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                            std::uint8_t* memory, const TriplesLane& lane,
                                            const TemporalSums<tile_rows>& sum) {
  const int t = lane.t, holder = 4 * (strips + (lane.g >> 1)) + t;
  const std::ptrdiff_t at = 2 * group * lane.g + group * (t & 1);
  __syncwarp();
  with_epilogue<limbs>(args, plane, lane, [&](const auto& value_of) {
#pragma unroll
    for (int s = 0; s < tile_rows / 2; ++s) {
      const auto value = [&](int i, int k) { return value_of(sum[s][i / 2][2 * k + i % 2], k); };
      const std::uint32_t first = pack_bytes(value(0, 0), value(1, 0), value(2, 0), value(3, 0)),
                          second = pack_bytes(value(0, 1), value(1, 1), value(2, 1), value(3, 1));
      const std::uint32_t even = __shfl_sync(~0u, first, holder), odd = __shfl_sync(~0u, second, holder);
      if (lane.third) continue;
      uint3 four = interleaved_triples(first, second, lane.g & 1 ? odd : even);
      const int row = 2 * s + (t >> 1);
      if (plane.passthrough_components) {
        const TileFrame& from = args.centre[p];
        const auto was =
            reinterpret_cast<const std::uint32_t*>(from.data + (origin.y + row) * from.stride + origin.x + at);
#pragma unroll
        for (int i = 0; i < components; ++i) {
          const std::uint32_t mask = passthrough_of(plane, i);
          word_of(four, i) = (word_of(four, i) & ~mask) | (__ldg(was + i) & mask);
        }
      }
      auto* const to = reinterpret_cast<std::uint32_t*>(memory + row * triple_tile_bytes + at);
#pragma unroll
      for (int i = 0; i < components; ++i) to[i] = word_of(four, i);
    }
  });
  __syncwarp();
  constexpr int words = triple_tile_bytes / 4;
#pragma unroll
  for (int i = threadIdx.x; i < tile_rows * words; i += 32) {
    const int row = i / words;
    const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(memory)[i];
    std::uint8_t* const to = plane.out + (origin.y + row) * plane.out_stride + (origin.x + 4 * (i - row * words));
    __stcs(reinterpret_cast<std::uint32_t*>(to), word);
  }
}

#endif

template <int radius, int limbs>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_resident(radius, limbs))
    temporal_triples_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  using In = TriplesInput<tile_rows + 2 * radius>;
  __shared__ __align__(16) std::uint8_t memory[warps_per_block][held * In::bytes];
  std::uint8_t* const mine = memory[threadIdx.y];
  for_tile<true, triple_tile_bytes>(
      args, warps_per_block, tile_rows, [&](const TilePlane& plane, unsigned p, int2 origin) {
        make_tile_from<In, TriplesLane, radius, limbs, tile_rows>(
            args, plane, p, origin, mine, [&](const TriplesLane& lane, const TemporalSums<tile_rows>& sum) {
              finish_tile<limbs>(args, plane, p, origin, mine, lane, sum);
            });
      });
#endif
}

void (*kernel_for(int radius, int limbs))(TileArgs) {
  return with_radius_and_limbs<2>(radius, limbs, [&]<int r, int l>() { return temporal_triples_kernel<r, l>; });
}

}  // namespace

std::unique_ptr<Plan> make_matrix_temporal_triples(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  const int radius = desc.filter.reach_y();
  return make_tile_plan(device, desc, taps,
                        window_kernel(device, desc.filter, taps, kernel_for(radius, taps.limbs), tile_rows,
                                      blocks_resident(radius, taps.limbs), "window"));
}

}  // namespace convolve::cuda
