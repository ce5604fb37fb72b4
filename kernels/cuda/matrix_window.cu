// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters over several frames: banded matrix products as in matrix.cu, frame by frame into the same sums.
//
// A warp makes 8 rows of 128 bytes, whose sums stay in registers while the frames of the window go by; as soon as the
// products have taken a pair of rows, the next frame's is loaded into its place. One product (m16n8k32) takes two input
// rows of 16 strips of 8 samples: those of GRAY8 lie side by side, of interleaved components a pixel's are in
// different strips of the product, so that words, sums and products are as many for any number of components.
//
//   left:  lane 4g + t holds strips g and g + 8, of both input rows pixels 4t .. + 3 less the 4 to the left
//   sums:  lane 4g + t holds strips g and g + 8, output row t / 2, pixels 4 (t & 1) .. + 3
//
// Borders are not code of their own: rows go through edge_index(), and the one group of four pixels a side that may lie
// outside is a byte permute of its neighbours. Frames of ghost cells are no frames: the sums start from theirs. What is
// not aligned is made one sample to a thread.
#include <cuda_runtime.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <limits>
#include <vector>

#include "cuda/edge.cuh"
#include "cuda/launch.hpp"
#include "cuda/matrix.cuh"
#include "cuda/matrix_window.hpp"

namespace convolve::cuda {
namespace {

constexpr int margin = 4;      ///< pixels that the products see on either side of a strip
constexpr int most_reach = 3;  ///< rows above and below the centre
constexpr int tile_bytes = 128, tile_rows = 8, steps = tile_rows / 2;
constexpr int warps_per_block = 2;

/// Blocks that an SM is to hold: bounds the registers of a thread. `most`: components of a plane.
constexpr int blocks_resident(int reach, int digits, int most) {
  if (most == 4) return digits == 1 && reach <= 1 ? 8 : 6;
  if (digits == 1) return reach <= 1 ? 12 : 8;
  return reach <= 1 ? 8 : 6;
}

struct WindowPlane {
  std::uint8_t* out;
  std::ptrdiff_t out_stride;
  int stride;  ///< of all frames, where they are aligned
  EdgeAxis x, y;
  unsigned first_block, tiles, band, reciprocal;  ///< band: tiles in two rows; reciprocal: 2^32 / band, rounded up
  std::uint32_t ghost, keep;                      ///< as in MatrixPlane
  std::uint8_t components, copied;
  int start[max_components];   ///< of a component's sums: levels and ghost frames
  float base[max_components];  ///< added to a sum's value
};

struct WindowFrame {
  const std::uint8_t* data;
  std::ptrdiff_t stride;
};

struct WindowArgs {
  WindowPlane plane[max_planes];
  WindowFrame in[max_taps][max_planes];  ///< frames that are none of ghosts
  WindowFrame centre[max_planes];
  unsigned char tap_frame[max_taps];  ///< the filter's frame that each of `in` is multiplied by
  int frames, planes;
  const uint4*
      taps;  ///< [frame][row pair][digit][lane]: the right matrices' words in the order of a lane's two products
  const int* fixed;  ///< taps as integers: [frame][row][column]
  int taps_x, taps_y, centre_x, centre_y;
  float gain, gain_low;
  MatrixFinish finish;
  Border border;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// sum += left * right, u8 by s8.
__device__ __forceinline__ void multiply_add(int (&sum)[4], const std::uint32_t (&left)[4], std::uint32_t right0,
                                             std::uint32_t right1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

/// Where a tile begins, in bytes and rows; those that would end outside the plane move back.
__device__ __forceinline__ int2 tile_origin(const WindowPlane& plane, unsigned tile) {
  // Two rows of tiles at a time, so that the warps of a block are neighbours both ways and share what they load.
  const unsigned band = __umulhi(tile, plane.reciprocal), in_band = tile - band * plane.band;
  return {min(static_cast<int>(in_band >> 1) * tile_bytes, plane.x.length * plane.components - tile_bytes),
          min(static_cast<int>(2 * band + (in_band & 1)) * tile_rows, plane.y.length - tile_rows)};
}

/// A lane's place in its warp's tile.
template <int C>
struct Lane {
  int g = static_cast<int>(threadIdx.x >> 2), t = static_cast<int>(threadIdx.x & 3);
  int strip = C == 4 ? g & 3 : g;
  int first = C == 4 ? g >> 2 : 0, second = C == 4 ? first + 2 : C - 1;  ///< components of strips g and g + 8
};

/// The group of four pixels that a lane loads of a row; of single components two, 64 pixels apart. One that lies
/// outside the frame is made of its inner neighbours, which other lanes hold; only on periodic axes it is loaded, and
/// of single components the other in its stead is another lane's, too.
template <int C>
struct Group {
  static constexpr int span = C == 1 ? 64 : 0;
  int x;  ///< pixels
  bool left_outside, right_outside;
  bool first_wanted, second_wanted;  ///< of memory
  std::uint32_t made;                ///< selector of __byte_perm(), and above it the two lanes that it takes

  __device__ __forceinline__ Group(const EdgeAxis& axis, bool wrap, int at) : x(at) {
    const unsigned lane = threadIdx.x;
    left_outside = at < 0, right_outside = at + span >= axis.length;
    const EdgeGroup low = edge_group(axis, at), high = edge_group(axis, at + span);
    if (wrap && left_outside) x = low.first;
    if (wrap && right_outside) x = high.first - span;
    first_wanted = C == 1 ? !(wrap ? right_outside : left_outside) : wrap || !(left_outside || right_outside);
    second_wanted = !(wrap ? left_outside : right_outside);
    // To the left the groups of pixels 4 and 0, to the right the last and the last but one.
    made = 0x3210u | lane << 16 | lane << 21;
    if (left_outside)
      made = (low.first == low.last ? low.selector | 0x4444u : low.selector) | (lane + 2) << 16 | (lane + 1) << 21;
    if (right_outside)
      made = (high.first == high.last ? high.selector & 0x3333u : high.selector) | (lane - 1) << 16 | (lane - 2) << 21;
  }
};

/// Loads where told to, else leaves what is there.
__device__ __forceinline__ void load(std::uint32_t& to, const std::uint8_t* at, bool wanted) {
  asm("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.nc.u32 %0, [%1];}"
      : "+r"(to)
      : "l"(at), "r"(static_cast<unsigned>(wanted)));
}
__device__ __forceinline__ void load(uint2& to, const std::uint8_t* at, bool wanted) {
  if (wanted) to = __ldg(reinterpret_cast<const uint2*>(at));
}
__device__ __forceinline__ void load(uint4& to, const std::uint8_t* at, bool wanted) {
  if (wanted) to = __ldg(reinterpret_cast<const uint4*>(at));
}

/// What a lane holds of a pair of rows.
template <int C>
struct Raw {
  Word<C> group[C == 1 ? 4 : 2];

  /// `at`: where the lane's group of one of the rows lies; first, second: whether to load it, and that 64 pixels on.
  __device__ __forceinline__ void load_row(int row, const std::uint8_t* at, bool first, bool second) {
    if (C == 1) {
      load(group[2 * row], at, first);
      load(group[2 * row + 1], at + 64, second);
    } else {
      load(group[row], at, first);
    }
  }
};

/// The words of the left matrix, in the raw ones' place where nothing is to be pulled apart.
__device__ __forceinline__ std::uint32_t (&left_words(Raw<1>& raw, int, std::uint32_t (&)[4]))[4] {
  return raw.group;
}
__device__ __forceinline__ std::uint32_t (&left_words(const Raw<2>& raw, int, std::uint32_t (&left)[4]))[4] {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    std::uint32_t c[2];
    planar(raw.group[row], c);
    left[2 * row] = c[0], left[2 * row + 1] = c[1];
  }
  return left;
}
__device__ __forceinline__ std::uint32_t (&left_words(const Raw<4>& raw, int first, std::uint32_t (&left)[4]))[4] {
  const std::uint32_t selector = 0x6240u + 0x1111u * first;  // of two pixels: `first` of both, then `second`
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const uint4 u = raw.group[row];
    const std::uint32_t a = __byte_perm(u.x, u.y, selector), b = __byte_perm(u.z, u.w, selector);
    left[2 * row] = __byte_perm(a, b, 0x5410);
    left[2 * row + 1] = __byte_perm(a, b, 0x7632);
  }
  return left;
}

__device__ __forceinline__ std::uint32_t made_of_neighbours(std::uint32_t word, std::uint32_t made) {
  return __byte_perm(__shfl_sync(~0u, word, made >> 16), __shfl_sync(~0u, word, made >> 21), made);
}

/// Puts what stands for ghost cells in place; left: of two rows, as the left matrix takes them.
template <int C>
__device__ __forceinline__ void bend(const WindowPlane& plane, bool wrap, const Lane<C>& lane, const Group<C>& group,
                                     unsigned ghost_rows, std::uint32_t (&left)[4]) {
  if (plane.x.ghost) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const bool beside = C > 1        ? group.left_outside || group.right_outside
                          : k % 2 == 0 ? group.left_outside
                                       : group.right_outside;
      const std::uint32_t ghost = __byte_perm(plane.ghost, 0, 0x1111u * (k % 2 == 0 ? lane.first : lane.second));
      if (beside || (ghost_rows >> k / 2 & 1)) left[k] = ghost;
    }
  } else if (!wrap) {
    const std::uint32_t itself = 0x3210u | threadIdx.x << 16 | threadIdx.x << 21;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const bool beside = C > 1 || (k % 2 == 0 ? group.left_outside : group.right_outside);
      left[k] = made_of_neighbours(left[k], beside ? group.made : itself);
    }
  } else if (C == 1) {
#pragma unroll
    for (int k = 0; k < 4; k += 2) {
      const std::uint32_t a = __shfl_sync(~0u, left[k + 1], 1), b = __shfl_sync(~0u, left[k], 30);
      if (group.right_outside) left[k] = a;
      if (group.left_outside) left[k + 1] = b;
    }
  }
}

/// Sums to samples: value(i, half) is pixel i of strip g + 8 * half. (x, y): where the lane's samples are.
template <int C, class Value>
__device__ __forceinline__ void store(const WindowArgs& args, const WindowPlane& plane, unsigned p, const Lane<C>& lane,
                                      int x, int y, const Value& value) {
  std::uint8_t* out = plane.out + y * plane.out_stride;
  if constexpr (C == 1) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      __stcs(reinterpret_cast<std::uint32_t*>(out + x + 64 * half),
             pack(value(0, half), value(1, half), value(2, half), value(3, half)));
  } else {
    uint2 word = {pack(value(0, 0), value(0, 1), value(1, 0), value(1, 1)),
                  pack(value(2, 0), value(2, 1), value(3, 0), value(3, 1))};
    if constexpr (C == 4) {
      // Lanes that hold the other two components of the same pixels: each ends with two whole pixels.
      const bool odd = lane.first;
      const std::uint32_t other = __shfl_xor_sync(~0u, odd ? word.x : word.y, 16), own = odd ? word.y : word.x;
      const std::uint32_t even = odd ? other : own, odds = odd ? own : other;
      word = {__byte_perm(even, odds, 0x5140), __byte_perm(even, odds, 0x7362)};
      x += 2 * lane.first;
    }
    if (plane.copied) {
      const WindowFrame& from = args.centre[p];
      const auto was = __ldg(reinterpret_cast<const uint2*>(from.data + y * from.stride + x * C));
      word.x = (word.x & ~plane.keep) | (was.x & plane.keep);
      word.y = (word.y & ~plane.keep) | (was.y & plane.keep);
    }
    __stcs(reinterpret_cast<uint2*>(out + x * C), word);
  }
}

template <int reach, int digits, int C>
__device__ __forceinline__ void make_tile(const WindowArgs& args, const WindowPlane& plane, unsigned p, int2 origin) {
  constexpr int taken = reach + 1, pairs = steps + reach;  ///< row pairs: that a pair of output rows takes, of input
  const Lane<C> lane;
  const int x = origin.x / C, y = origin.y;
  const bool wrap = args.border == Border::wrap;
  const Group<C> group(plane.x, wrap, x - margin + 8 * lane.strip + 4 * lane.t);
  const int stride = plane.stride, lowest = min(0, stride * (plane.y.length - 1));
  unsigned offset[2 * pairs];  ///< of the rows, from the lowest address of a frame
  unsigned ghost_rows = 0;
#pragma unroll
  for (int i = 0; i < 2 * pairs; ++i) offset[i] = (y - reach) * stride - lowest + i * stride;
  if (y < reach || y + tile_rows + reach > plane.y.length) {
#pragma unroll
    for (int i = 0; i < 2 * pairs; ++i) {
      const int at = y - reach + i;
      offset[i] = edge_index(plane.y, at) * stride - lowest;
      if (plane.y.ghost && (at < 0 || at >= plane.y.length)) ghost_rows |= 1u << i;
    }
  }
  const bool edge = x == 0 || origin.x + tile_bytes == plane.x.length * C || ghost_rows != 0;
  const auto frame = [&](int f) {
    const std::uint8_t* at = args.in[f][p].data + (lowest + group.x * C);
    // Else the compiler adds the lane's part to every offset, which would no longer be the same for all lanes.
    asm("" : "+l"(at));
    return at;
  };

  const int start[2] = {plane.start[lane.first], plane.start[lane.second]};
  int sum[steps][digits][2][4];
#pragma unroll
  for (int i = 0; i < steps * digits * 8; ++i)
    sum[i / (digits * 8)][i / 8 % digits][i / 4 % 2][i % 4] = digits == 1 ? start[i / 2 % 2] : 0;

  // As soon as the products have taken a pair of rows, the next frame's come into their place.
  Raw<C> raw[pairs] = {};
  const std::uint8_t* in = frame(0);
#pragma unroll
  for (int i = 0; i < 2 * pairs; ++i)
    raw[i / 2].load_row(i % 2, in + offset[i], group.first_wanted, group.second_wanted);
  // So are those that they are multiplied by.
  std::uint32_t right[taken][digits][4];
  const auto load_right = [&](int f, int r) {
    const uint4* taps = args.taps + (args.tap_frame[f] * taken + r) * (digits * 32) + threadIdx.x;
#pragma unroll
    for (int d = 0; d < digits; ++d) {
      const uint4 word = __ldg(taps + d * 32);
      right[r][d][0] = word.x, right[r][d][1] = word.y, right[r][d][2] = word.z, right[r][d][3] = word.w;
    }
  };
#pragma unroll
  for (int r = 0; r < taken; ++r) load_right(0, r);
#pragma unroll 1
  for (int f = 0; f < args.frames; ++f) {
    const bool more = f + 1 < args.frames;
    const int next = more ? f + 1 : f;
    in = frame(next);
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      std::uint32_t pulled[4];
      std::uint32_t(&left)[4] = left_words(raw[i], lane.first, pulled);
      if (edge) bend(plane, wrap, lane, group, ghost_rows >> 2 * i, left);
#pragma unroll
      for (int r = 0; r < taken; ++r)
#pragma unroll
        for (int d = 0; d < digits; ++d)
#pragma unroll
          for (int q = 0; q < 2; ++q)
            if (i - r >= 0 && i - r < steps)
              multiply_add(sum[i - r][d][q], left, right[r][d][2 * q], right[r][d][2 * q + 1]);
#pragma unroll
      for (int k = 0; k < 2; ++k)
        raw[i].load_row(k, in + offset[2 * i + k], more && group.first_wanted, more && group.second_wanted);
      if (i >= steps - 1) load_right(next, i - (steps - 1));
    }
  }

  const float base[2] = {plane.base[lane.first], plane.base[lane.second]};
  int high = 256;
  asm("" : "+r"(high));  // a multiply-add, not a shift and an addition
  const auto finish = [&](const auto& value_of) {
#pragma unroll
    for (int s = 0; s < steps; ++s)
      store(args, plane, p, lane, x + 8 * lane.strip + 4 * (lane.t & 1), y + 2 * s + (lane.t >> 1),
            [&](int i, int half) {
              const int q = i / 2, e = 2 * half + i % 2;
              return value_of(digits == 1 ? sum[s][0][q][e] : sum[s][0][q][e] * high + sum[s][digits - 1][q][e], half);
            });
  };
  if (digits == 1 && args.finish == MatrixFinish::pack)
    finish([](int sum, int) { return sum; });
  else if (digits == 1 || args.finish == MatrixFinish::quotient)
    finish([&](int sum, int half) {
      const float whole = __int2float_rn(digits == 1 ? sum : sum + start[half]);
      return __fmaf_rn(whole, args.gain, __fmul_rn(whole, args.gain_low));
    });
  else
    finish([&](int sum, int half) { return __fmaf_rn(__int2float_rn(sum), args.gain, base[half]); });
}

/// A tile of a plane that has nothing to filter.
__device__ __forceinline__ void copy_tile(const WindowArgs& args, const WindowPlane& plane, unsigned p, int2 origin) {
  const int x = origin.x + 4 * static_cast<int>(threadIdx.x);
  const WindowFrame& from = args.centre[p];
#pragma unroll 1
  for (int y = origin.y; y < origin.y + tile_rows; ++y)
    *reinterpret_cast<std::uint32_t*>(plane.out + y * plane.out_stride + x) =
        __ldg(reinterpret_cast<const std::uint32_t*>(from.data + y * from.stride + x));
}

__device__ __forceinline__ unsigned plane_of_block(const WindowArgs& args) {
  unsigned p = 0;
  while (p + 1 < static_cast<unsigned>(args.planes) && blockIdx.x >= args.plane[p + 1].first_block) ++p;
  return p;
}

#endif

/// `most`: the most components of a plane; 4 comes alone.
template <int reach, int digits, int most>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_resident(reach, digits, most))
    window_kernel(const __grid_constant__ WindowArgs args) {
#if __CUDA_ARCH__ >= 800
  const unsigned p = plane_of_block(args);
  const WindowPlane& plane = args.plane[p];
  // The same in all lanes, as the compiler cannot know of threadIdx.y.
  const unsigned warp = __shfl_sync(~0u, threadIdx.y, 0);
  const unsigned tile = (blockIdx.x - plane.first_block) * warps_per_block + warp;
  if (tile >= plane.tiles) return;
  const int2 origin = tile_origin(plane, tile);
  if (plane.copied + 1 == 1 << plane.components)
    copy_tile(args, plane, p, origin);
  else if constexpr (most == 4)
    make_tile<reach, digits, 4>(args, plane, p, origin);
  else if (plane.components == 2)
    make_tile<reach, digits, 2>(args, plane, p, origin);
  else
    make_tile<reach, digits, 1>(args, plane, p, origin);
#endif
}

/// One sample to a thread, at any address.
__global__ void __launch_bounds__(32 * warps_per_block) sample_kernel(const __grid_constant__ WindowArgs args) {
#if __CUDA_ARCH__ >= 800
  const unsigned p = plane_of_block(args);
  const WindowPlane& plane = args.plane[p];
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x - plane.first_block) * (32 * warps_per_block) +
                         threadIdx.y * 32 + threadIdx.x;
  const int C = plane.components, row_samples = plane.x.length * C;
  const int y = static_cast<int>(i / row_samples),
            at = static_cast<int>(i - static_cast<std::int64_t>(y) * row_samples);
  if (y >= plane.y.length) return;
  const int x = at / C, c = at - x * C;
  std::uint8_t& out = plane.out[y * plane.out_stride + at];
  if (plane.copied >> c & 1) {
    out = __ldg(args.centre[p].data + y * args.centre[p].stride + at);
    return;
  }
  const int ghost = plane.ghost >> 8 * c & 255;
  int sum = args.finish == MatrixFinish::scaled ? 0 : plane.start[c];
  for (int f = 0; f < args.frames; ++f) {
    const WindowFrame frame = args.in[f][p];
    const int* tap = args.fixed + args.tap_frame[f] * args.taps_y * args.taps_x;
    for (int r = 0; r < args.taps_y; ++r) {
      const int from = border_index(args.border, y - args.centre_y + r, plane.y.length);
      const std::uint8_t* row = frame.data + from * frame.stride + c;
      for (int k = 0; k < args.taps_x; ++k) {
        const int column = border_index(args.border, x - args.centre_x + k, plane.x.length);
        sum += __ldg(tap++) * (from < 0 || column < 0 ? ghost : __ldg(row + column * C));
      }
    }
  }
  const float v = __int2float_rn(sum);
  const float low = args.finish == MatrixFinish::scaled ? plane.base[c] : __fmul_rn(v, args.gain_low);
  const int code = __float2int_rn(__fmaf_rn(v, args.gain, low));
  out = static_cast<std::uint8_t>(min(max(code, 0), 255));
#endif
}

using WindowKernel = void (*)(WindowArgs);

template <int reach>
WindowKernel kernel_for(int digits, int components) {
  if (digits == 1) return components == 4 ? window_kernel<reach, 1, 4> : window_kernel<reach, 1, 2>;
  return components == 4 ? window_kernel<reach, 2, 4> : window_kernel<reach, 2, 2>;
}

WindowKernel kernel_for(int reach, int digits, int components) {
  return reach == 0   ? kernel_for<0>(digits, components)
         : reach == 1 ? kernel_for<1>(digits, components)
         : reach == 2 ? kernel_for<2>(digits, components)
                      : kernel_for<3>(digits, components);
}

int reach_y(const Filter& f) {
  return std::max(f.centre_y(), f.height() - 1 - f.centre_y());
}
int reach_x(const Filter& f) {
  return std::max(f.centre_x(), f.width() - 1 - f.centre_x());
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
          unsigned word[4] = {};  // [product][row of the pair]
          for (int i = 0; i < 16; ++i) {
            const int q = i / 8, row = i / 4 % 2, byte = i % 4;
            const int from = 4 * t + byte - margin, to = 4 * (n >> 1 & 1) + 2 * q + (n & 1);
            word[2 * q + row] |= digit(d, frame, 2 * pair + row - reach - (n >> 2), from - to) << 8 * byte;
          }
          right.push_back({word[0], word[1], word[2], word[3]});
        }
  return right;
}

class WindowPlan final : public Plan {
 public:
  WindowPlan(const PlanDesc& desc, const MatrixTaps& taps)
      : shape_(desc.filter.shape()),
        depth_(desc.filter.depth()),
        centre_(desc.filter.centre_t()),
        taps_(taps),
        reach_(reach_y(desc.filter)) {
    matrices_ = DeviceArray<uint4>(right_matrices(desc.filter, taps, reach_));
    fixed_ = DeviceArray<int>(taps.fixed);
    args_.taps = matrices_.get();
    args_.fixed = fixed_.get();
    args_.planes = desc.layout.planes;
    args_.taps_x = desc.filter.width();
    args_.taps_y = desc.filter.height();
    args_.centre_x = desc.filter.centre_x();
    args_.centre_y = desc.filter.centre_y();
    args_.gain = taps.gain;
    args_.gain_low = taps.gain_low;
    args_.finish = taps.finish;
    args_.border = desc.border;
    // What each frame of ghost cells of level 1 would add.
    const std::size_t area = taps.fixed.size() / static_cast<std::size_t>(depth_);
    for (std::size_t i = 0; i < taps.fixed.size(); ++i) frame_sum_[i / area] += taps.fixed[i];
    int most = 1;
    for (int p = 0; p < desc.layout.planes; ++p) {
      add_plane(desc.layout.plane[p], desc.border, args_.plane[p]);
      most = std::max(most, desc.layout.plane[p].components);
    }
    kernel_ = kernel_for(reach_, taps.digits, most);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    assert(window.depth == depth_ && window.image[centre_]);
    args_.frames = 0;
    int ghost_sum = 0;
    for (int t = 0; t < depth_; ++t) {
      if (const Image* image = window.image[t]) {
        for (int p = 0; p < args_.planes; ++p) args_.in[args_.frames][p] = frame_of(image->plane[p]);
        args_.tap_frame[args_.frames++] = static_cast<unsigned char>(t);
      } else {
        ghost_sum += frame_sum_[t];
      }
    }
    for (int p = 0; p < args_.planes; ++p) {
      WindowPlane& plane = args_.plane[p];
      plane.out = static_cast<std::uint8_t*>(out.plane[p].data);
      plane.out_stride = out.plane[p].stride;
      plane.stride = static_cast<int>(args_.in[0][p].stride);
      args_.centre[p] = frame_of(window.image[centre_]->plane[p]);
      for (int c = 0; c < max_components; ++c) {
        const int ghosts = ghost_sum * static_cast<int>(plane.ghost >> 8 * c & 255);
        plane.start[c] = taps_.start[p][c] + ghosts;
        plane.base[c] = taps_.level[p][c] + static_cast<float>(ghosts) * taps_.gain;
      }
    }
    const bool direct = is_direct();
    unsigned blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      WindowPlane& plane = args_.plane[p];
      plane.first_block = blocks;
      const std::int64_t samples = static_cast<std::int64_t>(plane.x.length) * plane.y.length * plane.components;
      blocks += direct ? (plane.tiles + warps_per_block - 1) / warps_per_block
                       : static_cast<unsigned>((samples + 32 * warps_per_block - 1) / (32 * warps_per_block));
    }
    const auto kernel = direct ? kernel_ : sample_kernel;
    kernel<<<blocks, dim3(32, warps_per_block), 0, static_cast<cudaStream_t>(stream)>>>(args_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override {
    const char* finish = args_.finish == MatrixFinish::pack     ? "packed"
                         : args_.finish == MatrixFinish::scaled ? "fixed point"
                                                                : "quotient";
    return "matrix " + shape_ + ", " + std::to_string(taps_.digits) + " digits, " + finish + ", window";
  }

 private:
  static WindowFrame frame_of(const PlaneView& view) noexcept {
    return {static_cast<const std::uint8_t*>(view.data), view.stride};
  }

  static void add_plane(const PlaneLayout& layout, Border border, WindowPlane& plane) {
    plane.x = edge_axis(border, layout.component[0].width);
    plane.y = edge_axis(border, layout.component[0].height);
    plane.components = static_cast<std::uint8_t>(layout.components);
    for (int b = 0; b < 4; ++b) {
      const int c = b % layout.components;
      const Component& component = layout.component[c];
      if (!component.filtered) plane.copied |= static_cast<std::uint8_t>(1u << c), plane.keep |= 0xFFu << 8 * b;
      plane.ghost |= static_cast<unsigned>(std::clamp(component.ghost, 0.0, 255.0)) << 8 * b;
    }
    const auto pieces = [](int length, int piece) { return static_cast<unsigned>((length + piece - 1) / piece); };
    plane.band = 2 * pieces(plane.x.length * layout.components, tile_bytes);
    plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.band - 1) / plane.band);
    plane.tiles = plane.band * pieces(plane.y.length, 2 * tile_rows);
  }

  /// True where all frames have the same stride, groups of four pixels are aligned, and offsets fit 32 bits.
  bool is_direct() const noexcept {
    for (int p = 0; p < args_.planes; ++p) {
      const WindowPlane& plane = args_.plane[p];
      const std::ptrdiff_t stride = args_.in[0][p].stride;
      auto bits = reinterpret_cast<std::uintptr_t>(plane.out) | static_cast<std::uintptr_t>(plane.out_stride) |
                  static_cast<std::uintptr_t>(stride);
      for (int f = 0; f < args_.frames; ++f) {
        if (args_.in[f][p].stride != stride) return false;
        bits |= reinterpret_cast<std::uintptr_t>(args_.in[f][p].data);
      }
      if (bits % (4u * plane.components) != 0 || std::abs(stride) >= std::numeric_limits<int>::max() / plane.y.length)
        return false;
    }
    return true;
  }

  std::string shape_;
  int depth_, centre_;
  MatrixTaps taps_;
  int reach_;
  int frame_sum_[max_taps] = {};
  DeviceArray<uint4> matrices_;
  DeviceArray<int> fixed_;
  WindowArgs args_{};
  WindowKernel kernel_ = nullptr;
};

}  // namespace

bool serves_matrix_window(const PlanDesc& desc, std::string& why) {
  why.clear();
  if (desc.layout.bits != 8) {
    why = "samples of fewer than 8 bits";
  } else if (reach_x(desc.filter) > margin || reach_y(desc.filter) > most_reach) {
    why = "filters over several frames of more than 9x7 taps";
  } else {
    for (int p = 0; p < desc.layout.planes; ++p) {
      const PlaneLayout& plane = desc.layout.plane[p];
      const int width = plane.component[0].width;
      if (width % 4 != 0 || width * plane.components < tile_bytes || plane.component[0].height < tile_rows)
        why =
            "filters over several frames of planes of fewer than 128 bytes by 8 rows, or of a width that is no "
            "multiple of 4";
    }
  }
  return why.empty();
}

std::unique_ptr<Plan> make_matrix_window(const PlanDesc& desc, const MatrixTaps& taps) {
  return std::make_unique<WindowPlan>(desc, taps);
}

}  // namespace convolve::cuda
