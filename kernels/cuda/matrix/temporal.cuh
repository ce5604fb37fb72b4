// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a warp of temporal.cu, temporal_422.cu, temporal_triples.cu or temporal_u16.cu makes its tile: banded matrix
// products as in dense.cu, frame by frame into the same sums.
//
// A warp makes 8 or 10 rows of 128 bytes, whose sums stay in registers while the frames of the window go by. What it
// takes of the frames is copied to shared memory, the next frame's while this one's products are made. One product
// (m16n8k32) takes two input rows of 16 strips of 8 samples: those of GRAY8 lie side by side, of interleaved components
// a pixel's are in different strips of the product, so that sums and products are as many for any number of components.
// A sample of 16 bits is two components, its low byte and its high one.
//
//   left:  lane 4g + t holds strips g and g + 8, input row t / 2, pixels 8 (t & 1) .. + 7 less the 4 to the left
//   sums:  lane 4g + t holds strips g and g + 8, output row t / 2, pixels 4 (t & 1) .. + 3
//
// Frames of ghost cells, which stand in beyond the ends of a stream under a constant border, are not read: the sums
// start from what these would add.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "cuda/common/launch.hpp"
#include "cuda/common/pixels.cuh"
#include "cuda/common/ptx.cuh"
#include "cuda/matrix/temporal_input.cuh"
#include "cuda/matrix/tiles.cuh"
#include "cuda/matrix/tiles.hpp"

namespace convolve::cuda::temporal {

constexpr int margin = 4;      ///< pixels that the products see on either side of a strip
constexpr int max_radius = 3;  ///< rows above and below the centre
constexpr int warps_per_block = 4;

/// True where the products see as far as the filter reaches; else `why` says that they do not.
bool fits_window(const Filter& filter, std::string& why);

/// What make_tile_plan() is told of a kernel: that of tiles of so many rows, of whose blocks an SM is to hold
/// `resident`.
TileKernel window_kernel(const Device& device, const Filter& filter, const MatrixTaps& taps, void (*run)(TileArgs),
                         int rows, int resident, const char* name);

/// make.template operator()<radius, limbs>(), for filters that fits_window() and up to so many limbs.
template <int max_limbs, class Make>
auto with_radius_and_limbs(int radius, int limbs, const Make& make) {
  const auto with_limbs = [&]<int r>() {
    if constexpr (max_limbs >= 3)
      if (limbs == 3) return make.template operator()<r, 3>();
    return limbs == 1 ? make.template operator()<r, 1>() : make.template operator()<r, 2>();
  };
  return radius == 0   ? with_limbs.template operator()<0>()
         : radius == 1 ? with_limbs.template operator()<1>()
         : radius == 2 ? with_limbs.template operator()<2>()
                       : with_limbs.template operator()<max_radius>();
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Frames of which a warp's rows are in shared memory. More leave the taps too little of the first level cache.
constexpr int held = 2;

/// Waits until the warp's rows of the oldest frame that is on its way are there.
__device__ __forceinline__ void wait_for_rows() {
  ptx::wait_for_copies<held - 1>();
  __syncwarp();
}

/// Sums of a lane's two strips, [row pair][product][sum]; of samples of 16 bits those of low bytes, then of high ones.
template <int rows>
using TemporalSums = int[rows / 2][2][4];

/// The lane's place, and its components of strips g and g + 8.
template <class Sample, int C>
struct TemporalLane {
  static constexpr bool bytes_apart = sizeof(Sample) == 2;  ///< two components are a sample's bytes
  int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  int strip = C == 4 ? g & 3 : g;
  int first = C != 4 ? 0 : bytes_apart ? g >> 2 << 1 : g >> 2;
  int second = C != 4 ? C - 1 : bytes_apart ? first + 1 : first + 2;
  /// What their levels are of.
  static __device__ __forceinline__ const TilePlane& levels(const TilePlane& plane) { return plane; }
};

/// Calls finish(the lane, its sums) when the sums are made. `In`, `Lane`: as TemporalInput and TemporalLane.
template <class In, class Lane, int radius, int limbs, int rows, class Finish>
__device__ __forceinline__ void make_tile_from(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                               std::uint8_t* memory, const Finish& finish) {
  constexpr int steps = rows / 2;                            ///< pairs of output rows
  constexpr int taken = radius + 1, pairs = steps + radius;  ///< row pairs: that a pair of output rows takes, of input
  const In input(memory, plane, origin, radius);
  const Lane lane;

  const int start[2] = {lane.levels(plane).start[lane.first], lane.levels(plane).start[lane.second]};
  TemporalSums<rows> sum;
#pragma unroll
  for (int i = 0; i < steps * 8; ++i) sum[i / 8][i / 4 % 2][i % 4] = start[i / 2 % 2];

  std::uint32_t right[taken][limbs][4];
  const uint4* taps = args.taps + threadIdx.x;
  ptx::hide(taps);
  const auto load_right = [&](unsigned matrix, int r) {
#pragma unroll
    for (int d = 0; d < limbs; ++d) {
      const uint4 word = __ldg(taps + matrix * (taken * limbs * 32) + (r * limbs + d) * 32);
      right[r][d][0] = word.x, right[r][d][1] = word.y, right[r][d][2] = word.z, right[r][d][3] = word.w;
    }
  };
#pragma unroll
  for (int r = 0; r < taken; ++r) load_right(args.tap_frame[0], r);
  const unsigned part = input.part(lane.strip);
  const bool mends = input.mends(plane);
  // The first frame's rows: it has been in the window for longest, and is waited for first.
  if (blockIdx.x < args.wave)
    prefetch_rows<rows, tile_bytes / cache_line, 32>(
        args.in[0][p].data + static_cast<std::ptrdiff_t>(origin.y) * plane.stride + origin.x, plane.stride,
        static_cast<int>(threadIdx.x), rows, tile_bytes);
  pdl_wait();

  const int frames = args.frames;
  int put = 0;
#pragma unroll 1
  for (; put < held; ++put) {
    if (put < frames) input.start(plane, args.in[put][p].data, put * In::bytes);
    ptx::commit_copies();
  }
  int frame = 0, at = 0;  // stages are counted in bytes
#pragma unroll 1
  do {
    wait_for_rows();
    if (mends) input.mend(memory + at, plane);
    std::uint32_t left[pairs][4];
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      input.template take<Lane::bytes_apart>(part + at, i, lane.first, left[i]);
      if (Lane::bytes_apart)
#pragma unroll
        for (int w = 0; w < 4; ++w) left[i][w] &= args.mask[w % 2];
      const int s = i - radius;
      if (s < 0) continue;
      // The frame's products of high limbs: joined at once, they take few registers.
      int high[2][4] = {}, highest[2][4] = {};
#pragma unroll
      for (int r = 0; r < taken; ++r)
#pragma unroll
        for (int q = 0; q < 2; ++q) {
          if (limbs == 3) ptx::mma_u8_s8(highest[q], left[s + r], right[r][0] + 2 * q, highest[q]);
          if (limbs >= 2) ptx::mma_u8_s8(high[q], left[s + r], right[r][limbs - 2] + 2 * q, high[q]);
          ptx::mma_u8_s8(sum[s][q], left[s + r], right[r][limbs - 1] + 2 * q, sum[s][q]);
        }
#pragma unroll
      for (int q = 0; q < 2; ++q)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (limbs == 3) high[q][e] += highest[q][e] * 256;
          if (limbs >= 2) sum[s][q][e] += high[q][e] * 256;
        }
    }
    // Taps for the next frame as soon as these have been used for the last time.
#pragma unroll
    for (int r = 0; r < taken; ++r) load_right(args.tap_frame[frame + 1], r);
    if (frame + held < frames) {
      __syncwarp();
      input.start(plane, args.in[frame + held][p].data, at);
    }
    ptx::commit_copies();
    at = at == (held - 1) * In::bytes ? 0 : at + In::bytes;
  } while (++frame < frames);

  finish(lane, sum);
}
template <class Sample, int radius, int limbs, int C, int rows, class Finish>
__device__ __forceinline__ void make_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                          std::uint8_t* memory, const Finish& finish) {
  make_tile_from<TemporalInput<C, rows + 2 * radius>, TemporalLane<Sample, C>, radius, limbs, rows>(
      args, plane, p, origin, memory, finish);
}

/// Calls store(value_of), value_of(sum, half) being the sample of a lane's sum, of 8 bits, before it is rounded.
/// `lane`: whose components they are.
template <int limbs, class Lane, class Store>
__device__ __forceinline__ void with_epilogue(const TileArgs& args, const TilePlane& plane, const Lane& lane,
                                              const Store& store) {
  if (args.epilogue == Epilogue::magic_number) {
    const float off = -0x1p23f * args.gain;
    store([&](int sum, int) { return __fmaf_rn(__int_as_float(sum), args.gain, off); });
  } else if (limbs == 1 && args.epilogue == Epilogue::saturate) {
    store([](int sum, int) { return sum; });
  } else if (limbs == 1 || args.epilogue == Epilogue::quotient) {
    store([&](int sum, int) {
      const float whole = __int2float_rn(sum);
      return __fmaf_rn(whole, args.gain, __fmul_rn(whole, args.gain_low));
    });
  } else {
    const float level[2] = {plane.level[lane.first], plane.level[lane.second]};
    store([&](int sum, int half) { return __fmaf_rn(__int2float_rn(sum), args.gain, level[half]); });
  }
}

#endif

}  // namespace convolve::cuda::temporal
