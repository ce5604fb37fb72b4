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
#include <vector>

#include "cuda/matrix_tiles.cuh"
#include "cuda/matrix_tiles.hpp"

namespace convolve::cuda {
namespace {

constexpr int margin = 4;      ///< pixels that the products see on either side of a strip
constexpr int most_reach = 3;  ///< rows above and below the centre
constexpr int tile_rows = 8;
constexpr int warps_per_block = 2;

/// Blocks that an SM is to hold: bounds the registers of a thread. `most`: components of a plane.
constexpr int blocks_resident(int reach, int digits, int most) {
  if (most == 4) return digits == 1 && reach <= 1 ? 8 : 6;
  if (digits == 1) return reach <= 1 ? 12 : 8;
  return reach <= 1 ? 8 : 6;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

constexpr int steps = tile_rows / 2;

/// sum += left * right, u8 by s8.
__device__ __forceinline__ void multiply_add(int (&sum)[4], const std::uint32_t (&left)[4], std::uint32_t right0,
                                             std::uint32_t right1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
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
__device__ __forceinline__ void bend(const TilePlane& plane, bool wrap, const Lane<C>& lane, const Group<C>& group,
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

template <int reach, int digits, int C>
__device__ __forceinline__ void make_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin) {
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

  const float level[2] = {plane.level[lane.first], plane.level[lane.second]};
  int high = 256;
  asm("" : "+r"(high));  // a multiply-add, not a shift and an addition
  const auto finish = [&](const auto& value_of) {
#pragma unroll
    for (int s = 0; s < steps; ++s)
      store<C, 16>(args, plane, p, lane.first, x + 8 * lane.strip + 4 * (lane.t & 1), y + 2 * s + (lane.t >> 1),
                   [&](int i, int half) {
                     const int q = i / 2, e = 2 * half + i % 2;
                     return value_of(digits == 1 ? sum[s][0][q][e] : sum[s][0][q][e] * high + sum[s][digits - 1][q][e],
                                     half);
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
    finish([&](int sum, int half) { return __fmaf_rn(__int2float_rn(sum), args.gain, level[half]); });
}

#endif

/// `most`: the most components of a plane; 4 comes alone.
template <int reach, int digits, int most>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_resident(reach, digits, most))
    window_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  for_tile(args, warps_per_block, tile_rows, [&](const TilePlane& plane, unsigned p, int2 origin) {
    if constexpr (most == 4)
      make_tile<reach, digits, 4>(args, plane, p, origin);
    else if (plane.components == 2)
      make_tile<reach, digits, 2>(args, plane, p, origin);
    else
      make_tile<reach, digits, 1>(args, plane, p, origin);
  });
#endif
}

using WindowKernel = void (*)(TileArgs);

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

}  // namespace

bool serves_matrix_window(const PlanDesc& desc, std::string& why) {
  if (reach_x(desc.filter) > margin || reach_y(desc.filter) > most_reach) {
    why = "filters over several frames of more than 9x7 taps";
    return false;
  }
  return holds_tiles(desc, tile_rows, why);
}

std::unique_ptr<Plan> make_matrix_window(const PlanDesc& desc, const MatrixTaps& taps) {
  const int reach = reach_y(desc.filter);
  int most = 1;
  for (int p = 0; p < desc.layout.planes; ++p) most = std::max(most, desc.layout.plane[p].components);
  return make_tile_plan(desc, taps,
                        {kernel_for(reach, taps.digits, most), tile_rows, warps_per_block,
                         right_matrices(desc.filter, taps, reach), "window"});
}

}  // namespace convolve::cuda
