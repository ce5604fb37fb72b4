// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters over several frames of packed 4:2:2 of 8 bits: temporal.cuh makes the sums.
//
// The frame is a plane of pairs, Y0 U Y1 V. Of a tile's 32 pairs the luma is eight strips of 8, the chroma four of
// either: of the 16 strips of a product the first eight are luma, and the others chroma.
//
//   sums:  lane 4g + t holds luma 8g + 4 (t & 1) .. + 3, and of pairs 8 (g & 3) + 4 (t & 1) .. + 3 the chroma g / 4
//
// What is not aligned is made one sample to a thread.
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/matrix/packed_422.cuh"
#include "cuda/matrix/packed_422.hpp"
#include "cuda/matrix/temporal.cuh"

namespace convolve::cuda {
namespace {

using namespace temporal;

constexpr int max_rows = 10;  ///< of a tile

/// Rows of a warp's tile, and blocks that an SM is to hold.
constexpr int tile_rows(int radius, int limbs) {
  return radius <= 1 && limbs == 1 ? max_rows : 8;
}
constexpr int blocks_resident(int radius, int limbs) {
  if (limbs == 1) return radius <= 1 ? 6 : 5;
  return radius <= 1 ? 5 : 4;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// `luma`: its byte in a pair.
template <int luma>
struct PairsLane {
  static constexpr bool bytes_apart = false;
  int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  int strip = g & 3;                                   ///< the chroma's
  int first = luma, second = 1 - luma + 2 * (g >> 2);  ///< bytes of a pair
  static __device__ __forceinline__ const TilePlane& levels(const TilePlane& plane) { return plane; }
};

template <int luma, int rows>
class PairsInput : public TemporalInput<4, rows> {
 public:
  using In = TemporalInput<4, rows>;

  __device__ __forceinline__ PairsInput(std::uint8_t* memory, const TilePlane& plane, int2 origin, int radius)
      : In(memory, plane, origin, radius) {
    const int g = threadIdx.x >> 2, odd = threadIdx.x & 1;
    luma_from_chroma_ = 16 * g - 32 * (g & 3) - 16 * odd;
    chroma_selector_ = 0x0040u + 0x11u * (1 - luma + 2 * (g >> 2));
    ptx::hide(luma_from_chroma_), ptx::hide(chroma_selector_);
  }

  /// Makes the cells beside the frame's sides, as TemporalInput::mend() does; here the luma beside a side comes from
  /// other pairs than the chroma.
  __device__ __forceinline__ void mend(std::uint8_t* memory, const TilePlane& plane) const {
    if (plane.x.ghost) return In::mend(memory, plane);
    std::uint8_t* const row = memory + static_cast<int>(threadIdx.x) * In::pitch;
    if (threadIdx.x < rows) {
      if (this->left_) mend_left(order(), plane.x, row);
      if (this->right_) mend_right(order(), plane.x, row + In::at_last(In::inner + 1));
    }
    __syncwarp();
  }

  template <bool bytes_apart>
  __device__ __forceinline__ void take(unsigned part, int pair, int, std::uint32_t (&left)[4]) const {
    const unsigned from = part + 2 * pair * In::pitch, luma_from = from + luma_from_chroma_;
    const uint4 l = ptx::load_shared(luma_from), m = ptx::load_shared(luma_from + In::group);
    left[0] = luma_of(order(), l.z, l.w), left[2] = luma_of(order(), m.x, m.y);
    const uint4 u = ptx::load_shared(from), v = ptx::load_shared(from + In::group);
    left[1] = __byte_perm(__byte_perm(u.x, u.y, chroma_selector_), __byte_perm(u.z, u.w, chroma_selector_), 0x5410);
    left[3] = __byte_perm(__byte_perm(v.x, v.y, chroma_selector_), __byte_perm(v.z, v.w, chroma_selector_), 0x5410);
  }

  static __device__ constexpr Packed422Order order() { return packed_422_order(luma); }

 private:
  int luma_from_chroma_;  ///< bytes from where the lane's chroma lies to the pairs whose second half its luma begins in
  unsigned chroma_selector_;
};

template <int radius, int limbs, int luma>
__device__ __forceinline__ void make_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                          std::uint8_t* memory) {
  constexpr int rows = tile_rows(radius, limbs);
  using In = PairsInput<luma, rows + 2 * radius>;
  using Lane = PairsLane<luma>;
  make_tile_from<In, Lane, radius, limbs, rows>(
      args, plane, p, origin, memory, [&](const Lane& lane, const TemporalSums<rows>& sum) {
        const int g = lane.g, t = lane.t;
        // The lane that has the first chroma of the pairs that this one stores, and in its word the second half or not.
        const int holder = 4 * (g >> 1) + (t & 2) + (g & 1);
        const unsigned half = t & 1 ? 0x7362 : 0x5140;
        const std::ptrdiff_t x = origin.x + 16 * g + 8 * (t & 1);
        with_epilogue<limbs>(args, plane, lane, [&](const auto& value_of) {
#pragma unroll
          for (int s = 0; s < rows / 2; ++s) {
            const int y = origin.y + 2 * s + (t >> 1);
            const auto value = [&](int i, int k) { return value_of(sum[s][i / 2][2 * k + i % 2], k); };
            const std::uint32_t four = pack_bytes(value(0, 0), value(1, 0), value(2, 0), value(3, 0)),
                                chroma = pack_bytes(value(0, 1), value(1, 1), value(2, 1), value(3, 1));
            const std::uint32_t first = __shfl_sync(~0u, chroma, holder),
                                second = __shfl_sync(~0u, chroma, holder + 16);
            const std::uint32_t both = __byte_perm(first, second, half);
            uint2 pairs = {__byte_perm(four, both, In::order().low), __byte_perm(four, both, In::order().high)};
            if (plane.passthrough_components) {
              const TileFrame& from = args.centre[p];
              const auto was = __ldg(reinterpret_cast<const uint2*>(from.data + y * from.stride + x));
              pairs.x = (pairs.x & ~plane.passthrough) | (was.x & plane.passthrough);
              pairs.y = (pairs.y & ~plane.passthrough) | (was.y & plane.passthrough);
            }
            __stcs(reinterpret_cast<uint2*>(plane.out + y * plane.out_stride + x), pairs);
          }
        });
      });
}

#endif

template <int radius, int limbs, int luma>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_resident(radius, limbs))
    temporal_422_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr int rows = tile_rows(radius, limbs);
  __shared__ __align__(16) std::uint8_t memory[warps_per_block][held * TemporalInput<4, rows + 2 * radius>::bytes];
  std::uint8_t* const mine = memory[threadIdx.y];
  for_tile<true>(args, warps_per_block, rows, [&](const TilePlane& plane, unsigned p, int2 origin) {
    make_tile<radius, limbs, luma>(args, plane, p, origin, mine);
  });
#endif
}

/// One sample to a thread, at any address.
template <int luma>
__global__ void __launch_bounds__(32 * sample_warps) sample_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  pdl_wait();
  const TilePlane& plane = args.plane[0];
  const int row_bytes = plane.x.length * 4;
  const auto [y, at] = sample_place(0, row_bytes);
  if (y >= plane.y.length) return;
  const int byte = at & 3;
  std::uint8_t& out = plane.out[y * plane.out_stride + at];
  if (plane.passthrough_components >> byte & 1) {
    out = __ldg(args.centre[0].data + y * args.centre[0].stride + at);
    return;
  }
  const bool is_luma = (at & 1) == luma;
  const int step = is_luma ? 2 : 4, x = at / step, width = is_luma ? 2 * plane.x.length : plane.x.length;
  const int ghost = plane.ghost >> 8 * byte & 255;
  int sum = plane.start[byte];
  for_each_tap(args, 0, x, y, width, [&](int tap, const std::uint8_t* row, int column) {
    sum += tap * (column < 0 ? ghost : __ldg(row + column * step + at % step));
  });
  out = sample_of(args, plane, byte, sum);
#endif
}

void (*kernel_for(int radius, int limbs, int luma))(TileArgs) {
  return with_radius_and_limbs<2>(radius, limbs, [&]<int r, int l>() {
    return luma == 0 ? temporal_422_kernel<r, l, 0> : temporal_422_kernel<r, l, 1>;
  });
}

}  // namespace

bool serves_matrix_temporal_422(const PlanDesc& pairs, std::string& why) {
  return fits_window(pairs.filter, why) && holds_tiles(pairs, max_rows, why);
}

std::unique_ptr<Plan> make_matrix_temporal_422(const Device& device, const PlanDesc& pairs, int luma,
                                               const MatrixTaps& taps) {
  const int radius = pairs.filter.reach_y(), limbs = taps.limbs;
  TileKernel kernel =
      window_kernel(device, pairs.filter, taps, kernel_for(radius, limbs, luma), tile_rows(radius, limbs),
                    blocks_resident(radius, limbs), "window, luma and chroma at once");
  kernel.sample = luma == 0 ? sample_kernel<0> : sample_kernel<1>;
  return make_tile_plan(device, pairs, taps, kernel);
}

}  // namespace convolve::cuda
