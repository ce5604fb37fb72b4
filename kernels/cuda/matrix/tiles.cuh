// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of `matrix` for large filters and for filters over several frames share: a plan that cuts planes
// into tiles of 128 bytes by a few rows, each a warp's, the kernels' arguments, and where tiles begin and end.
//
// Frames of ghost cells, which stand in beyond the ends of a stream under a constant border, are not read: sums start
// from what these would add. Planes that are not aligned are made one sample to a thread.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <vector>

#include "cuda/common/border_map.cuh"
#include "cuda/common/entry.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/limits.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/common/sample_plane.hpp"
#include "cuda/matrix/dense.cuh"

namespace convolve::cuda {

inline constexpr int tile_bytes = 128;
/// Of three components, five strips of eight pixels.
inline constexpr int triple_tile_bytes = 120;

/// Components of samples of 16 bits are their bytes. Of pixels of four such samples, which come alone, the next plane
/// has the last two's ghost, passthrough and levels.
struct TilePlane {
  std::uint8_t* out;
  std::ptrdiff_t out_stride;
  int stride;  ///< of all frames, where they are aligned
  EdgeAxis x, y;
  unsigned first_block, tiles, band, reciprocal;  ///< band: tiles in two rows; reciprocal: 2^32 / band, rounded up
  std::uint32_t ghost, passthrough;               ///< as in MatrixPlane
  std::uint8_t components, passthrough_components;
  int start[max_components];  ///< of a component's sums: levels, where they are not among those below, and ghost frames
  float base[max_components];   ///< added to a real sum's value
  float level[max_components];  ///< the same, where its limbs are joined
};

struct TileFrame {
  const std::uint8_t* data;
  std::ptrdiff_t stride;
};

struct TileArgs {
  TilePlane plane[max_planes];
  TileFrame in[max_taps][max_planes];  ///< frames that are none of ghosts
  TileFrame centre[max_planes];
  unsigned char tap_frame[max_taps + 1];  ///< the filter's frame that each of `in` is multiplied by; one more is read
  int frames, depth, planes;              ///< depth: frames of the filter
  const uint4* taps;                      ///< matrices of taps, as lanes hold them, in the order of the kernel
  const int* fixed;                       ///< taps as integers: [frame][row][column]
  int taps_x, taps_y, centre_x, centre_y;
  float gain, gain_low;
  Epilogue epilogue;
  Border border;
  unsigned wave;  ///< blocks that run at once, of the kernels that ask for what they read
  // For 16-bit samples, whose bytes are components here:
  std::uint32_t mask[2];  ///< the bits that are theirs of four low bytes, and of four high ones
  SampleNumbers numbers;
};

struct TileKernel {
  void (*run)(TileArgs);
  int rows, warps;              ///< of a tile, and of a block
  std::vector<uint4> matrices;  ///< of taps
  const char* name;
  int early = 0;  ///< launch_pdl()'s capability, where the kernel calls pdl_wait()
  unsigned wave = 0;
  /// For 16-bit samples, whose bytes are the plan's components: what TileArgs has for them, and the kernel that makes
  /// single samples.
  std::uint32_t mask = ~0u;  ///< of two samples
  SampleNumbers numbers{};
  void (*sample)(TileArgs) = nullptr;
};

inline constexpr int sample_warps = 4;  ///< of the blocks that make single samples

/// True where the planes can be cut into tiles of so many rows.
bool holds_tiles(const PlanDesc& desc, int rows, std::string& why);
std::unique_ptr<Plan> make_tile_plan(const Device& device, const PlanDesc& desc, const MatrixTaps& taps,
                                     const TileKernel& kernel);

#ifdef __CUDACC__
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// The first byte (x) and row (y) of a tile; tiles that would end outside the plane move back.
template <int bytes>
__device__ __forceinline__ int2 tile_origin(const TilePlane& plane, unsigned tile, int rows) {
  // Two rows of tiles at a time, so that the warps of a block are neighbours both ways and share what they load.
  const unsigned band = __umulhi(tile, plane.reciprocal), in_band = tile - band * plane.band;
  return {min(static_cast<int>(in_band >> 1) * bytes, plane.x.length * plane.components - bytes),
          min(static_cast<int>(2 * band + (in_band & 1)) * rows, plane.y.length - rows)};
}

/// Stores four pixels of a row, which begins at `out`: value(i, half), half: of single components one of two groups,
/// 64 pixels apart, of two the component; of four, component `odd` + 2 * half, the lane `partner` (by exclusive or)
/// having the others. x, y: of the first pixel.
template <int C, int partner, class Value>
__device__ __forceinline__ void store(const TileArgs& args, const TilePlane& plane, unsigned p, int odd, int x, int y,
                                      std::uint8_t* out, const Value& value) {
  if constexpr (C == 1) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      __stcs(reinterpret_cast<std::uint32_t*>(out + x + 64 * half),
             pack_bytes(value(0, half), value(1, half), value(2, half), value(3, half)));
  } else {
    uint2 word = {pack_bytes(value(0, 0), value(0, 1), value(1, 0), value(1, 1)),
                  pack_bytes(value(2, 0), value(2, 1), value(3, 0), value(3, 1))};
    if constexpr (C == 4) {
      // Lanes that hold the other two components of the same pixels: each ends with two whole pixels.
      const std::uint32_t other = __shfl_xor_sync(~0u, odd ? word.x : word.y, partner), own = odd ? word.y : word.x;
      const std::uint32_t even = odd ? other : own, odds = odd ? own : other;
      word = {__byte_perm(even, odds, 0x5140), __byte_perm(even, odds, 0x7362)};
      x += 2 * odd;
    }
    if (plane.passthrough_components) {
      const TileFrame& from = args.centre[p];
      const auto was = __ldg(reinterpret_cast<const uint2*>(from.data + y * from.stride + x * C));
      word.x = (word.x & ~plane.passthrough) | (was.x & plane.passthrough);
      word.y = (word.y & ~plane.passthrough) | (was.y & plane.passthrough);
    }
    __stcs(reinterpret_cast<uint2*>(out + x * C), word);
  }
}
template <int C, int partner, class Value>
__device__ __forceinline__ void store(const TileArgs& args, const TilePlane& plane, unsigned p, int odd, int x, int y,
                                      const Value& value) {
  store<C, partner>(args, plane, p, odd, x, y, plane.out + y * plane.out_stride, value);
}

/// A tile of a plane that has nothing to filter.
template <int bytes>
__device__ __forceinline__ void copy_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin,
                                          int rows) {
  const int x = origin.x + 4 * static_cast<int>(threadIdx.x);
  const TileFrame& from = args.centre[p];
  if (bytes < 128 && 4 * threadIdx.x >= bytes) return;
#pragma unroll 1
  for (int y = origin.y; y < origin.y + rows; ++y)
    *reinterpret_cast<std::uint32_t*>(plane.out + y * plane.out_stride + x) =
        __ldg(reinterpret_cast<const std::uint32_t*>(from.data + y * from.stride + x));
}

/// The sample of component c, of 8 bits, that a sum of its plain products and its start stands for.
__device__ __forceinline__ std::uint8_t sample_of(const TileArgs& args, const TilePlane& plane, int c, int sum) {
  const bool exact = args.epilogue == Epilogue::saturate || args.epilogue == Epilogue::quotient,
             reading = args.epilogue == Epilogue::magic_number;
  const float v = reading ? __int_as_float(sum) : __int2float_rn(sum);
  const float low = exact ? __fmul_rn(v, args.gain_low) : reading ? -0x1p23f * args.gain : plane.level[c];
  const int code = __float2int_rn(__fmaf_rn(v, args.gain, low));
  return static_cast<std::uint8_t>(min(max(code, 0), 255));
}

__device__ __forceinline__ unsigned plane_of_block(const TileArgs& args) {
  unsigned p = 0;
  while (p + 1 < static_cast<unsigned>(args.planes) && blockIdx.x >= args.plane[p + 1].first_block) ++p;
  return p;
}

/// The sample of a plane that a thread makes, in kernels that make one each: its row, and which of that. `first_block`:
/// the plane's.
struct SamplePlace {
  int y, at;
};
__device__ __forceinline__ SamplePlace sample_place(unsigned first_block, int row_samples) {
  const std::int64_t i =
      static_cast<std::int64_t>(blockIdx.x - first_block) * (32 * sample_warps) + threadIdx.y * 32 + threadIdx.x;
  const int y = static_cast<int>(i / row_samples);
  return {y, static_cast<int>(i - static_cast<std::int64_t>(y) * row_samples)};
}

/// Calls add(tap, row of the frame, column) for the taps of the output at column x of row y, of planes `width` columns
/// wide. What a tap meets is a ghost cell where the column is -1.
template <class Add>
__device__ __forceinline__ void for_each_tap(const TileArgs& args, unsigned p, int x, int y, int width,
                                             const Add& add) {
  for (int f = 0; f < args.frames; ++f) {
    const TileFrame frame = args.in[f][p];
    const int* tap = args.fixed + args.tap_frame[f] * args.taps_y * args.taps_x;
    for (int r = 0; r < args.taps_y; ++r) {
      const int from = border_index(args.border, y - args.centre_y + r, args.plane[p].y.length);
      const std::uint8_t* row = frame.data + from * frame.stride;
      for (int k = 0; k < args.taps_x; ++k)
        add(__ldg(tap++), row, from < 0 ? -1 : border_index(args.border, x - args.centre_x + k, width));
    }
  }
}

/// Calls make(plane, its number, origin) for the warp's tile, where there is anything to filter. `one_plane`: there are
/// no others.
template <bool one_plane = false, int bytes = tile_bytes, class Make>
__device__ __forceinline__ void for_tile(const TileArgs& args, int warps, int rows, const Make& make) {
  const unsigned p = one_plane ? 0 : plane_of_block(args);
  const TilePlane& plane = args.plane[p];
  // All lanes have the same threadIdx.y. From the shuffle the compiler knows it.
  const unsigned warp = __shfl_sync(~0u, threadIdx.y, 0);
  const unsigned tile = (blockIdx.x - plane.first_block) * warps + warp;
  if (tile >= plane.tiles) return;
  const int2 origin = tile_origin<bytes>(plane, tile, rows);
  if (plane.passthrough_components + 1 == 1 << plane.components) {
    pdl_wait();
    copy_tile<bytes>(args, plane, p, origin, rows);
  } else {
    make(plane, p, origin);
  }
}

#endif
#endif

}  // namespace convolve::cuda
