// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters over several frames of samples of up to 16 bits: temporal.cuh sums their low and high bytes as
// components of their own, of which a lane has both in the end. What is not aligned is made one sample to a thread.
#include <cuda_runtime.h>

#include "cuda/matrix/temporal.cuh"
#include "cuda/matrix/temporal_four_input.cuh"
#include "cuda/matrix/u16_byte_taps.hpp"

namespace convolve::cuda {
namespace {

using namespace temporal;

constexpr int rows = 8;  ///< of a tile

/// Blocks that an SM is to hold: bounds the registers of a thread.
constexpr int blocks_resident(int radius, int limbs) {
  return radius >= 2 && limbs == 3 ? 3 : 4;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// The place of a lane in a tile of four components a pixel, which are two planes' here.
struct FourLane {
  static constexpr bool bytes_apart = true;
  int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  int strip = g & 1;
  int first = g & 2, second = first + 1;  ///< of its plane's
  __device__ __forceinline__ const TilePlane& levels(const TilePlane& plane) const { return (&plane)[g >> 2]; }
};

/// C: bytes of a pixel.
template <int C>
struct LaneAndInput {
  using Lane = TemporalLane<std::uint16_t, C>;
  template <int input_rows>
  using Input = TemporalInput<C, input_rows>;
};
template <>
struct LaneAndInput<8> {
  using Lane = FourLane;
  template <int input_rows>
  using Input = TemporalFourInput<input_rows>;
};

/// The sum of code values that the sums of a sample's bytes come to; `c`: the low byte's component.
__device__ __forceinline__ float joined(const TileArgs& args, const TilePlane& levels, int c, int low, int high) {
  return args.epilogue == Epilogue::quotient ? __int2float_rn(high * 256 + low) * args.gain
                                             : __fmaf_rn(__int2float_rn(high), 256 * args.gain,
                                                         __fmaf_rn(__int2float_rn(low), args.gain, levels.level[c]));
}

/// Two lanes, `partner` apart, hold two pieces each, as words, of what one of them is to have both of the first piece,
/// and the other, the odd one, both of the second.
__device__ __forceinline__ uint2 exchanged(uint2 word, bool odd, int partner) {
  const std::uint32_t other = __shfl_xor_sync(~0u, odd ? word.x : word.y, partner), own = odd ? word.y : word.x;
  return {odd ? other : own, odd ? own : other};
}

template <int C>
__device__ __forceinline__ void finish_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                            const typename LaneAndInput<C>::Lane& lane, const TemporalSums<rows>& sum) {
  using Four = PixelGroup<std::uint16_t, 1>;
  const int c = lane.first;
  const TilePlane& levels = lane.levels(plane);
  const float offset = levels.base[c];
#pragma unroll
  for (int s = 0; s < rows / 2; ++s) {
    int x = origin.x / C + 8 * lane.strip + 4 * (lane.t & 1);
    const int y = origin.y + 2 * s + (lane.t >> 1);
    float four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) four[i] = joined(args, levels, c, sum[s][i / 2][i % 2], sum[s][i / 2][2 + i % 2]);
    const Four made = quantized<Four, 1>(four, &offset, args.numbers);
    uint2 word = {made.word[0], made.word[1]};
    if constexpr (C >= 4) {
      // Another lane holds the other component of the same pixels: each ends with two pixels of both.
      const bool odd = c != 0;
      const uint2 both = exchanged(word, odd, C == 4 ? 16 : 8);
      word = {__byte_perm(both.x, both.y, 0x5410), __byte_perm(both.x, both.y, 0x7632)};
      x += odd ? 2 : 0;
    }
    if constexpr (C == 8) {
      // And another the other two components: each ends with one whole pixel.
      const bool last = lane.g >= 4;
      word = exchanged(word, last, 16);
      x += last;
    }
    if (plane.passthrough_components) {
      const TileFrame& from = args.centre[p];
      const auto was = __ldg(reinterpret_cast<const uint2*>(from.data + y * from.stride + x * C));
      const std::uint32_t last = C == 8 ? (&plane)[1].passthrough : plane.passthrough;
      word.x = (word.x & ~plane.passthrough) | (was.x & plane.passthrough);
      word.y = (word.y & ~last) | (was.y & last);
    }
    __stcs(reinterpret_cast<uint2*>(plane.out + y * plane.out_stride + x * C), word);
  }
}

template <int radius, int limbs, int C>
__device__ __forceinline__ void make_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                          std::uint8_t* memory) {
  using Lane = typename LaneAndInput<C>::Lane;
  make_tile_from<typename LaneAndInput<C>::template Input<rows + 2 * radius>, Lane, radius, limbs, rows>(
      args, plane, p, origin, memory,
      [&](const Lane& lane, const TemporalSums<rows>& sum) { finish_tile<C>(args, plane, p, origin, lane, sum); });
}

#endif

/// `most`: the most bytes of a pixel of a plane; 8 come alone.
template <int radius, int limbs, int most>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_resident(radius, limbs))
    temporal_u16_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  using Input = typename LaneAndInput<most>::template Input<rows + 2 * radius>;
  __shared__ __align__(16) std::uint8_t memory[warps_per_block][held * Input::bytes];
  std::uint8_t* const mine = memory[threadIdx.y];
  for_tile<most == 8>(args, warps_per_block, rows, [&](const TilePlane& plane, unsigned p, int2 origin) {
    if (most == 8 || (most == 4 && plane.components == 4))
      make_tile<radius, limbs, most>(args, plane, p, origin, mine);
    else
      make_tile<radius, limbs, 2>(args, plane, p, origin, mine);
  });
#endif
}

/// One sample to a thread, at any address that a sample may have.
__global__ void __launch_bounds__(32 * sample_warps) sample_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  using Four = PixelGroup<std::uint16_t, 1>;
  pdl_wait();
  const unsigned p = plane_of_block(args);
  const TilePlane& plane = args.plane[p];
  const int C = plane.components / 2, row_samples = plane.x.length * C;
  const auto [y, at] = sample_place(plane.first_block, row_samples);
  if (y >= plane.y.length) return;
  const int x = at / C, c = 2 * (at - x * C);
  const auto row_of = [](const std::uint8_t* data, std::ptrdiff_t stride, int row) {
    return reinterpret_cast<const std::uint16_t*>(data + row * stride);
  };
  std::uint16_t& out = reinterpret_cast<std::uint16_t*>(plane.out + y * plane.out_stride)[at];
  if (plane.passthrough_components >> c & 1) {
    out = __ldg(row_of(args.centre[p].data, args.centre[p].stride, y) + at);
    return;
  }
  const TilePlane& levels = (&plane)[c / 4];
  const int k = c % 4;
  const std::uint32_t mask = (args.mask[0] & 255) | (args.mask[1] & 255) << 8, ghost = levels.ghost >> 8 * k & 0xFFFF;
  int low = levels.start[k], high = levels.start[k + 1];
  for_each_tap(args, p, x, y, plane.x.length, [&](int tap, const std::uint8_t* row, int column) {
    const std::uint32_t word =
        column < 0 ? ghost : __ldg(reinterpret_cast<const std::uint16_t*>(row) + column * C + c / 2) & mask;
    low += tap * static_cast<int>(word & 255);
    high += tap * static_cast<int>(word >> 8);
  });
  const float value = joined(args, levels, k, low, high), four[4] = {value, value, value, value};
  out = static_cast<std::uint16_t>(quantized<Four, 1>(four, &levels.base[k], args.numbers).word[0]);
#endif
}

void (*kernel_for(int radius, int limbs, int most))(TileArgs) {
  return with_radius_and_limbs<3>(radius, limbs, [&]<int r, int l>() {
    return most == 2   ? temporal_u16_kernel<r, l, 2>
           : most == 4 ? temporal_u16_kernel<r, l, 4>
                       : temporal_u16_kernel<r, l, 8>;
  });
}

}  // namespace

bool serves_matrix_temporal_u16(const PlanDesc& desc, MatrixTaps& taps, std::string& why) {
  if (max_components_of(desc.layout) == 3) {
    why = "several frames of pixels of three 16-bit components";
    return false;
  }
  return fits_window(desc.filter, why) && holds_tiles(desc, rows, why) && make_u16_byte_taps(desc, taps, why);
}

std::unique_ptr<Plan> make_matrix_temporal_u16(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  const int radius = desc.filter.reach_y();
  TileKernel kernel =
      window_kernel(device, desc.filter, taps, kernel_for(radius, taps.limbs, 2 * max_components_of(desc.layout)), rows,
                    blocks_resident(radius, taps.limbs), "window of bytes");
  kernel.mask = sample_mask(desc.layout.shift);
  kernel.numbers = make_sample_numbers(desc.layout, u16_arithmetic(desc));
  kernel.sample = sample_kernel;
  return make_tile_plan(device, desc, taps, kernel);
}

}  // namespace convolve::cuda
