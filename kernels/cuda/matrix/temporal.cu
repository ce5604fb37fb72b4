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
constexpr int most_reach = 3;  ///< rows above and below the centre
constexpr int warps_per_block = 4;
constexpr int most_rows = 10;  ///< of a tile

/// Rows of a warp's tile, as measured. `most`: components of a plane.
constexpr int tile_rows(int reach, int digits, int most) {
  return reach <= 1 && (digits == 2) == (most < 4) ? most_rows : 8;
}

/// Blocks that an SM is to hold: bounds the registers of a thread. `most`: components of a plane.
constexpr int blocks_resident(int reach, int digits, int most) {
  if (digits == 1) return reach <= 1 ? 6 : 5;
  return reach <= 1 && most != 2 ? 5 : 4;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Frames of which a warp's rows are in shared memory. More leave the taps too little of the first level cache.
constexpr int held = 2;

/// Waits for all but the newest `newer` of the groups of copies that this thread committed.
template <int newer>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(newer) : "memory");
  __syncwarp();
}

template <int reach, int digits, int C, int rows>
__device__ __forceinline__ void make_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                          std::uint8_t* memory) {
  constexpr int steps = rows / 2;                          ///< pairs of output rows
  constexpr int taken = reach + 1, pairs = steps + reach;  ///< row pairs: that a pair of output rows takes, of input
  using In = WindowInput<C, rows + 2 * reach>;
  const In input(memory, plane, origin, reach);
  const int g = threadIdx.x >> 2, t = threadIdx.x & 3;
  const int strip = C == 4 ? g & 3 : g;
  const int first = C == 4 ? g >> 2 : 0, second = C == 4 ? first + 2 : C - 1;  // components of strips g and g + 8

  const int start[2] = {plane.start[first], plane.start[second]};
  int sum[steps][2][4];
#pragma unroll
  for (int i = 0; i < steps * 8; ++i) sum[i / 8][i / 4 % 2][i % 4] = start[i / 2 % 2];

  std::uint32_t right[taken][digits][4];
  const uint4* taps = args.taps + threadIdx.x;
  asm("" : "+l"(taps));
  const auto load_right = [&](unsigned matrix, int r) {
#pragma unroll
    for (int d = 0; d < digits; ++d) {
      const uint4 word = __ldg(taps + matrix * (taken * digits * 32) + (r * digits + d) * 32);
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
  wait_for_stream();

  const int frames = args.frames;
  int put = 0;
#pragma unroll 1
  for (; put < held; ++put) {
    if (put < frames) input.start(plane, args.in[put][p].data, put * In::bytes);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  int frame = 0, at = 0;  // stages are counted in bytes
#pragma unroll 1
  do {
    wait_for_copies<held - 1>();
    if (mends) input.mend(memory + at, plane);
    std::uint32_t left[pairs][4];
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      In::take(part + at, i, first, left[i]);
      const int s = i - reach;
      if (s < 0) continue;
      int high[2][4] = {};  // the frame's products of high digits: joined at once, they take few registers
#pragma unroll
      for (int r = 0; r < taken; ++r)
#pragma unroll
        for (int q = 0; q < 2; ++q) {
          if (digits == 2) multiply_add(high[q], high[q], left[s + r], right[r][0] + 2 * q);
          multiply_add(sum[s][q], sum[s][q], left[s + r], right[r][digits - 1] + 2 * q);
        }
#pragma unroll
      for (int q = 0; q < 2; ++q)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (digits == 2) sum[s][q][e] += high[q][e] * 256;
    }
    // Taps for the next frame as soon as these have been used for the last time.
#pragma unroll
    for (int r = 0; r < taken; ++r) load_right(args.tap_frame[frame + 1], r);
    if (frame + held < frames) {
      __syncwarp();
      input.start(plane, args.in[frame + held][p].data, at);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    at = at == (held - 1) * In::bytes ? 0 : at + In::bytes;
  } while (++frame < frames);

  const int x = origin.x / C, y = origin.y;
  const auto finish = [&](const auto& value_of) {
    std::uint8_t* out = plane.out + (y + (t >> 1)) * plane.out_stride;
#pragma unroll
    for (int s = 0; s < steps; ++s, out += 2 * plane.out_stride)
      store<C, 16>(args, plane, p, first, x + 8 * strip + 4 * (t & 1), y + 2 * s + (t >> 1), out, [&](int i, int half) {
        const int q = i / 2, e = 2 * half + i % 2;
        return value_of(sum[s][q][e], half);
      });
  };
  if (args.finish == MatrixFinish::reading) {
    const float off = -0x1p23f * args.gain;
    finish([&](int sum, int) { return __fmaf_rn(__int_as_float(sum), args.gain, off); });
  } else if (digits == 1 && args.finish == MatrixFinish::pack) {
    finish([](int sum, int) { return sum; });
  } else if (digits == 1 || args.finish == MatrixFinish::quotient) {
    finish([&](int sum, int) {
      const float whole = __int2float_rn(sum);
      return __fmaf_rn(whole, args.gain, __fmul_rn(whole, args.gain_low));
    });
  } else {
    const float level[2] = {plane.level[first], plane.level[second]};
    finish([&](int sum, int half) { return __fmaf_rn(__int2float_rn(sum), args.gain, level[half]); });
  }
}

#endif

/// `most`: the most components of a plane; 4 comes alone, and 1 is one plane.
template <int reach, int digits, int most>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_resident(reach, digits, most))
    window_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  constexpr int rows = tile_rows(reach, digits, most);
  // As many for any number of components.
  __shared__ __align__(16) std::uint8_t memory[warps_per_block][held * WindowInput<1, rows + 2 * reach>::bytes];
  std::uint8_t* const mine = memory[threadIdx.y];
  for_tile<most == 1>(args, warps_per_block, rows, [&](const TilePlane& plane, unsigned p, int2 origin) {
    if constexpr (most != 2)
      make_tile<reach, digits, most, rows>(args, plane, p, origin, mine);
    else if (plane.components == 2)
      make_tile<reach, digits, 2, rows>(args, plane, p, origin, mine);
    else
      make_tile<reach, digits, 1, rows>(args, plane, p, origin, mine);
  });
#endif
}

using WindowKernel = void (*)(TileArgs);

template <int reach, int digits>
WindowKernel kernel_for(int most) {
  return most == 1   ? window_kernel<reach, digits, 1>
         : most == 2 ? window_kernel<reach, digits, 2>
                     : window_kernel<reach, digits, 4>;
}

template <int reach>
WindowKernel kernel_for(int digits, int most) {
  return digits == 1 ? kernel_for<reach, 1>(most) : kernel_for<reach, 2>(most);
}

WindowKernel kernel_for(int reach, int digits, int most) {
  return reach == 0   ? kernel_for<0>(digits, most)
         : reach == 1 ? kernel_for<1>(digits, most)
         : reach == 2 ? kernel_for<2>(digits, most)
                      : kernel_for<3>(digits, most);
}

std::vector<uint4> right_matrices(const Filter& filter, const MatrixTaps& taps, int reach) {
  std::vector<uint4> right;
  // The digit at a row and column from the centre.
  const auto digit = [&](int d, int frame, int row, int column) -> unsigned {
    row += filter.centre_y(), column += filter.centre_x();
    if (row < 0 || row >= filter.height() || column < 0 || column >= filter.width()) return 0;
    const int tap = (frame * filter.height() + row) * filter.width() + column;
    return static_cast<unsigned>(taps.digit(d, static_cast<std::size_t>(tap))) & 255;
  };
  for (int frame = 0; frame < filter.depth(); ++frame)
    for (int pair = 0; pair <= reach; ++pair)
      for (int d = 0; d < taps.digits; ++d)
        for (int lane = 0; lane < 32; ++lane) {
          const int n = lane >> 2, t = lane & 3;
          unsigned word[4] = {};  // [product][half]
          for (int i = 0; i < 16; ++i) {
            const int q = i / 8, half = i / 4 % 2, byte = i % 4;
            const int from = 8 * (t & 1) + 4 * half + byte - margin, to = 4 * (n >> 1 & 1) + 2 * q + (n & 1);
            word[2 * q + half] |= digit(d, frame, 2 * pair + (t >> 1) - reach - (n >> 2), from - to) << 8 * byte;
          }
          right.push_back({word[0], word[1], word[2], word[3]});
        }
  return right;
}

}  // namespace

bool serves_matrix_window(const PlanDesc& desc, std::string& why) {
  if (desc.filter.reach_x() > margin || desc.filter.reach_y() > most_reach) {
    why = "filters over several frames of more than 9x7 taps";
    return false;
  }
  return holds_tiles(desc, most_rows, why);
}

std::unique_ptr<Plan> make_matrix_window(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  const int reach = desc.filter.reach_y();
  const int most = std::max(most_components(desc.layout), desc.layout.planes == 1 ? 1 : 2);
  return make_tile_plan(desc, taps,
                        {kernel_for(reach, taps.digits, most), tile_rows(reach, taps.digits, most), warps_per_block,
                         right_matrices(desc.filter, taps, reach), "window", device.capability,
                         static_cast<unsigned>(device.multiprocessors * blocks_resident(reach, taps.digits, most))});
}

}  // namespace convolve::cuda
