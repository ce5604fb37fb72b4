// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters over several frames: banded matrix products as in dense.cu, frame by frame into the same sums.
//
// A warp makes 8 rows of 128 bytes, whose sums stay in registers while the frames of the window go by. What it takes of
// the frames is copied to shared memory, the next frame's while this one's products are made. One product (m16n8k32)
// takes two input rows of 16 strips of 8 samples: those of GRAY8 lie side by side, of interleaved components a pixel's
// are in different strips of the product, so that sums and products are as many for any number of components.
//
//   left:  lane 4g + t holds strips g and g + 8, input row t / 2, pixels 8 (t & 1) .. + 7 less the 4 to the left
//   sums:  lane 4g + t holds strips g and g + 8, output row t / 2, pixels 4 (t & 1) .. + 3
//
// Frames of ghost cells are no frames: the sums start from theirs. What is not aligned is made one sample to a thread.
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "cuda/common/launch.hpp"
#include "cuda/matrix/temporal_input.cuh"
#include "cuda/matrix/tiles.cuh"
#include "cuda/matrix/tiles.hpp"

namespace convolve::cuda {
namespace {

constexpr int margin = 4;      ///< pixels that the products see on either side of a strip
constexpr int max_radius = 3;  ///< rows above and below the centre
constexpr int warps_per_block = 4;
constexpr int max_rows = 10;  ///< of a tile

/// Rows of a warp's tile, as measured. `most`: components of a plane.
constexpr int tile_rows(int radius, int limbs, int most) {
  return radius <= 1 && (limbs == 2) == (most < 4) ? max_rows : 8;
}

/// Blocks that an SM is to hold: bounds the registers of a thread. `most`: components of a plane.
constexpr int blocks_resident(int radius, int limbs, int most) {
  if (limbs == 1) return radius <= 1 ? 6 : 5;
  return radius <= 1 && most != 2 ? 5 : 4;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Frames of which a warp's rows are in shared memory. More leave the taps too little of the first level cache.
constexpr int held = 2;

/// Waits until the warp's rows of the oldest frame that is on its way are there.
__device__ __forceinline__ void wait_for_rows() {
  ptx::wait_for_copies<held - 1>();
  __syncwarp();
}

template <int radius, int limbs, int C, int rows>
__device__ __forceinline__ void make_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                          std::uint8_t* memory) {
  constexpr int steps = rows / 2;                            ///< pairs of output rows
  constexpr int taken = radius + 1, pairs = steps + radius;  ///< row pairs: that a pair of output rows takes, of input
  using In = TemporalInput<C, rows + 2 * radius>;
  const In input(memory, plane, origin, radius);
  const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  const int strip = C == 4 ? g & 3 : g;
  const int first = C == 4 ? g >> 2 : 0, second = C == 4 ? first + 2 : C - 1;  // components of strips g and g + 8

  const int start[2] = {plane.start[first], plane.start[second]};
  int sum[steps][2][4];
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
  const unsigned part = input.part(strip);
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
      In::take(part + at, i, first, left[i]);
      const int s = i - radius;
      if (s < 0) continue;
      int high[2][4] = {};  // the frame's products of high limbs: joined at once, they take few registers
#pragma unroll
      for (int r = 0; r < taken; ++r)
#pragma unroll
        for (int q = 0; q < 2; ++q) {
          if (limbs == 2) ptx::mma_u8_s8(high[q], left[s + r], right[r][0] + 2 * q, high[q]);
          ptx::mma_u8_s8(sum[s][q], left[s + r], right[r][limbs - 1] + 2 * q, sum[s][q]);
        }
#pragma unroll
      for (int q = 0; q < 2; ++q)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (limbs == 2) sum[s][q][e] += high[q][e] * 256;
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

  const int x = origin.x / C, y = origin.y;
  const auto epilogue = [&](const auto& value_of) {
    std::uint8_t* out = plane.out + (y + (t >> 1)) * plane.out_stride;
#pragma unroll
    for (int s = 0; s < steps; ++s, out += 2 * plane.out_stride)
      store<C, 16>(args, plane, p, first, x + 8 * strip + 4 * (t & 1), y + 2 * s + (t >> 1), out, [&](int i, int half) {
        const int q = i / 2, e = 2 * half + i % 2;
        return value_of(sum[s][q][e], half);
      });
  };
  if (args.epilogue == MatrixEpilogue::magic_number) {
    const float off = -0x1p23f * args.gain;
    epilogue([&](int sum, int) { return __fmaf_rn(__int_as_float(sum), args.gain, off); });
  } else if (limbs == 1 && args.epilogue == MatrixEpilogue::saturate) {
    epilogue([](int sum, int) { return sum; });
  } else if (limbs == 1 || args.epilogue == MatrixEpilogue::quotient) {
    epilogue([&](int sum, int) {
      const float whole = __int2float_rn(sum);
      return __fmaf_rn(whole, args.gain, __fmul_rn(whole, args.gain_low));
    });
  } else {
    const float level[2] = {plane.level[first], plane.level[second]};
    epilogue([&](int sum, int half) { return __fmaf_rn(__int2float_rn(sum), args.gain, level[half]); });
  }
}

#endif

/// `most`: the most components of a plane; 4 comes alone, and 1 is one plane.
template <int radius, int limbs, int most>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_resident(radius, limbs, most))
    temporal_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr int rows = tile_rows(radius, limbs, most);
  // As many for any number of components.
  __shared__ __align__(16) std::uint8_t memory[warps_per_block][held * TemporalInput<1, rows + 2 * radius>::bytes];
  std::uint8_t* const mine = memory[threadIdx.y];
  for_tile<most == 1>(args, warps_per_block, rows, [&](const TilePlane& plane, unsigned p, int2 origin) {
    if constexpr (most != 2)
      make_tile<radius, limbs, most, rows>(args, plane, p, origin, mine);
    else if (plane.components == 2)
      make_tile<radius, limbs, 2, rows>(args, plane, p, origin, mine);
    else
      make_tile<radius, limbs, 1, rows>(args, plane, p, origin, mine);
  });
#endif
}

using TemporalKernel = void (*)(TileArgs);

template <int radius, int limbs>
TemporalKernel kernel_for(int most) {
  return most == 1   ? temporal_kernel<radius, limbs, 1>
         : most == 2 ? temporal_kernel<radius, limbs, 2>
                     : temporal_kernel<radius, limbs, 4>;
}

template <int radius>
TemporalKernel kernel_for(int limbs, int most) {
  return limbs == 1 ? kernel_for<radius, 1>(most) : kernel_for<radius, 2>(most);
}

TemporalKernel kernel_for(int radius, int limbs, int most) {
  return radius == 0   ? kernel_for<0>(limbs, most)
         : radius == 1 ? kernel_for<1>(limbs, most)
         : radius == 2 ? kernel_for<2>(limbs, most)
                       : kernel_for<3>(limbs, most);
}

std::vector<uint4> right_matrices(const Filter& filter, const MatrixTaps& taps, int radius) {
  std::vector<uint4> right;
  // The limb at a row and column from the centre.
  const auto limb = [&](int d, int frame, int row, int column) -> unsigned {
    row += filter.centre_y(), column += filter.centre_x();
    if (row < 0 || row >= filter.height() || column < 0 || column >= filter.width()) return 0;
    const int tap = (frame * filter.height() + row) * filter.width() + column;
    return static_cast<unsigned>(taps.limb(d, static_cast<std::size_t>(tap))) & 255;
  };
  for (int frame = 0; frame < filter.depth(); ++frame)
    for (int pair = 0; pair <= radius; ++pair)
      for (int d = 0; d < taps.limbs; ++d)
        for (int lane = 0; lane < 32; ++lane) {
          const int n = lane >> 2, t = lane & 3;
          unsigned word[4] = {};  // [product][half]
          for (int i = 0; i < 16; ++i) {
            const int q = i / 8, half = i / 4 % 2, byte = i % 4;
            const int from = 8 * (t & 1) + 4 * half + byte - margin, to = 4 * (n >> 1 & 1) + 2 * q + (n & 1);
            word[2 * q + half] |= limb(d, frame, 2 * pair + (t >> 1) - radius - (n >> 2), from - to) << 8 * byte;
          }
          right.push_back({word[0], word[1], word[2], word[3]});
        }
  return right;
}

}  // namespace

bool serves_matrix_temporal(const PlanDesc& desc, std::string& why) {
  if (desc.filter.reach_x() > margin || desc.filter.reach_y() > max_radius) {
    why = "filters over several frames of more than 7x9 taps";
    return false;
  }
  return holds_tiles(desc, max_rows, why);
}

std::unique_ptr<Plan> make_matrix_temporal(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  const int radius = desc.filter.reach_y();
  const int most = std::max(max_components_of(desc.layout), desc.layout.planes == 1 ? 1 : 2);
  return make_tile_plan(device, desc, taps,
                        {kernel_for(radius, taps.limbs, most), tile_rows(radius, taps.limbs, most), warps_per_block,
                         right_matrices(desc.filter, taps, radius), "window", device.capability,
                         static_cast<unsigned>(device.multiprocessors * blocks_resident(radius, taps.limbs, most))});
}

}  // namespace convolve::cuda
