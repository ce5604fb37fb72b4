// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, filters of more than 7x9 taps (rows x columns): sparse banded matrix products, for what the warpgroups of
// compute capability 9.0 (wgmma.hpp) do not serve.
//
// A warp's tile is cut into 8 strips of 16 samples, the columns of the right matrix; those of interleaved components
// are of fewer pixels, a component each. The left matrix holds the taps and makes two rows of a strip, 32 outputs, in
// two products a row pair. Of the 32 pixels that a row of a strip can reach, an output takes at most 15 in a row, so
// never both x and x + 16: with those two side by side in k, the taps are a 2:4 sparse matrix, and one product
// (m16n8k64) takes two rows of 32 pixels. Taps are read from memory (the first level cache) once for all row pairs of
// the tile; which of x and x + 16 they belong to is the same in every row and product.
//
//   right: lane 4n + t holds, of both rows, pixels 4t .. + 3 and 4t + 16 .. + 19 of its strip, interleaved by bytes
//   sums:  lane 4g + t holds strips 2t and 2t + 1 in the order of n, output row g / 4, pixels 4 (g & 3) .. + 3
//
// Borders are not code of their own: the groups of four pixels that may lie outside, two a side, are loaded from where
// what stands for them lies, and put in order by a byte permute with a neighbour's.
#include <algorithm>
#include <vector>

#include "cuda/matrix/tiles.cuh"
#include "cuda/matrix/tiles.hpp"

namespace convolve::cuda {
namespace {

constexpr int margin = 8;        ///< pixels that the products see on either side of a strip
constexpr int radii[] = {5, 7};  ///< rows above and below the centre that there are kernels for
constexpr int warps_per_block = 2;

/// Blocks that an SM is to hold: bounds the registers of a thread. `most`: components of a plane.
constexpr int blocks_resident(int most) {
  return most == 4 ? 6 : 8;
}

constexpr int rows_of_tile(int limbs) {
  return limbs == 1 ? 16 : 8;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// A lane's place in its warp's tile.
template <int C>
struct Lane {
  int g = static_cast<int>(threadIdx.x >> 2), t = static_cast<int>(threadIdx.x & 3);
  /// A lane loads strip and component n = g of the right matrix; t: the group of four pixels of its strip.
  int strip = C == 1 ? (g >> 1) + 4 * (g & 1) : C == 2 ? g >> 1 : g >> 2;
  int component = C == 1 ? 0 : C == 2 ? g & 1 : (g >> 1 & 1) + 2 * (g & 1);
  /// A lane makes strips t and t + 4 of single components, else components first and second of a strip.
  int made_strip = C == 4 ? t >> 1 : t;
  int first = C == 4 ? t & 1 : 0, second = C == 4 ? first + 2 : C - 1;
};

/// One of the two groups of four pixels that a lane loads of a row, 16 pixels apart: where what stands for it lies, and
/// what makes it.
struct Group {
  int x;                   ///< pixels
  int neighbour;           ///< lane that holds the other group
  std::uint32_t selector;  ///< of __byte_perm(what is loaded, the neighbour's)

  __device__ __forceinline__ Group(const EdgeAxis& axis, int at) {
    const int lane = static_cast<int>(threadIdx.x);
    const EdgeGroup group = edge_group(axis, at);
    // A group outside is made from two groups inside: this lane loads the outer of them, and another lane has the
    // inner.
    x = at < 0 ? group.first : group.last;
    const bool outside = at < 0 || at >= axis.length;
    neighbour = lane + (outside ? (at < 0 ? group.last - at : group.first - at) / 4 : 0);
    selector = group.first == group.last ? group.selector & 0x3333u
               : at < 0                  ? group.selector
                                         : group.selector ^ 0x4444u;
    if (axis.ghost) selector = outside ? 0x7777u : 0x3210u;
  }
};

/// Component c of four pixels.
__device__ __forceinline__ std::uint32_t component_of(std::uint32_t u, int) {
  return u;
}
__device__ __forceinline__ std::uint32_t component_of(uint2 u, int c) {
  return __byte_perm(u.x, u.y, 0x6420u + 0x1111u * c);
}
__device__ __forceinline__ std::uint32_t component_of(uint4 u, int c) {
  const std::uint32_t selector = 0x40u + 0x11u * c;
  return __byte_perm(__byte_perm(u.x, u.y, selector), __byte_perm(u.z, u.w, selector), 0x5410);
}

template <int radius, int limbs, int C>
__device__ __forceinline__ void make_tile(const TileArgs& args, const TilePlane& plane, unsigned p, int2 origin) {
  constexpr int rows = rows_of_tile(limbs), steps = rows / 2, in_rows = rows + 2 * radius;
  constexpr int taken = radius + 1;  ///< row pairs that a pair of output rows takes
  static_assert(in_rows <= 32);
  const Lane<C> lane;
  const int x = origin.x / C, y = origin.y, id = static_cast<int>(threadIdx.x);
  const int at = x - margin + 16 * lane.strip + 4 * lane.t;
  const Group near(plane.x, at), far(plane.x, at + 16);
  // Lane i knows where row i lies.
  const int row = y - radius + id, lowest = min(0, plane.stride * (plane.y.length - 1));
  const unsigned row_offset = edge_index(plane.y, min(row, y + rows + radius - 1)) * plane.stride - lowest;
  const unsigned ghost_rows = __ballot_sync(~0u, plane.y.ghost && (row < 0 || row >= plane.y.length) && id < in_rows);
  const bool edge = x < margin || x + tile_bytes / C + margin > plane.x.length || ghost_rows != 0;
  const std::uint32_t ghost = __byte_perm(plane.ghost, 0, 0x1111u * lane.component);
  const std::uint8_t* in = args.in[0][p].data + lowest;
  const std::uint8_t *in_near = in + near.x * C, *in_far = in + far.x * C;

  const auto group_of = [&](const std::uint8_t* from, unsigned offset) {
    return component_of(__ldg(reinterpret_cast<const Word<C>*>(from + offset)), lane.component);
  };
  std::uint32_t pixels[steps + radius][4];
  const auto take = [&](int pair) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const unsigned offset = __shfl_sync(~0u, row_offset, 2 * pair + k);
      std::uint32_t a = group_of(in_near, offset), b = group_of(in_far, offset);
      if (edge) {
        const std::uint32_t beside_a = __shfl_sync(~0u, a, near.neighbour),
                            beside_b = __shfl_sync(~0u, b, far.neighbour);
        const bool ghost_row = ghost_rows >> (2 * pair + k) & 1;
        a = __byte_perm(a, plane.x.ghost ? ghost : beside_a, ghost_row ? 0x7777u : near.selector);
        b = __byte_perm(b, plane.x.ghost ? ghost : beside_b, ghost_row ? 0x7777u : far.selector);
      }
      pixels[pair][2 * k] = __byte_perm(a, b, 0x5140);
      pixels[pair][2 * k + 1] = __byte_perm(a, b, 0x7362);
    }
  };
#pragma unroll
  for (int pair = 0; pair < steps; ++pair) take(pair);

  const uint4 both = __ldg(args.taps + limbs * taken * 64 + id);
  const std::uint32_t where[2] = {both.x, both.y};
  const int start[2] = {plane.start[lane.first], plane.start[lane.second]};
  // Exact sums of two limbs start once.
  const bool real = args.epilogue == Epilogue::separate_limbs;
  int sum[limbs][steps][2][4];
#pragma unroll
  for (int i = 0; i < limbs * steps * 8; ++i)
    sum[i / (steps * 8)][i / 8 % steps][i / 4 % 2][i % 4] = i / (steps * 8) == limbs - 1 || real ? start[i % 2] : 0;
#pragma unroll
  for (int i = 0; i < taken; ++i) {
#pragma unroll
    for (int d = 0; d < limbs; ++d)
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const uint4 taps = __ldg(args.taps + ((i * limbs + d) * 2 + q) * 32 + id);
#pragma unroll
        for (int s = 0; s < steps; ++s) ptx::mma_s8_u8_sparse(sum[d][s][q], taps, pixels[s + i], where[q]);
      }
    if (i + 1 < taken) take(i + steps);
  }

  const float base[2] = {plane.base[lane.first], plane.base[lane.second]};
  const auto epilogue = [&](const auto& value_of) {
#pragma unroll
    for (int s = 0; s < steps; ++s)
      store<C, 1>(args, plane, p, lane.first, x + 16 * lane.made_strip + 4 * (lane.g & 3), y + 2 * s + (lane.g >> 2),
                  [&](int i, int half) {
                    const int e = i % 2 * 2 + half;
                    return value_of(sum[0][s][i / 2][e], sum[limbs - 1][s][i / 2][e], half);
                  });
  };
  if (limbs == 1 && args.epilogue == Epilogue::saturate)
    epilogue([](int sum, int, int) { return sum; });
  else if (limbs == 1 || !real)
    epilogue([&](int high, int low, int) {
      const float whole = __int2float_rn(limbs == 1 ? low : high * 256 + low);
      return __fmaf_rn(whole, args.gain, __fmul_rn(whole, args.gain_low));
    });
  else
    epilogue([&](int high, int low, int half) {
      return __fmaf_rn(__int_as_float(low), args.gain, __fmaf_rn(__int_as_float(high), 256 * args.gain, base[half]));
    });
}

#endif

/// `most`: the most components of a plane; 4 comes alone.
template <int radius, int limbs, int most>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_resident(most))
    sparse_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  for_tile(args, warps_per_block, rows_of_tile(limbs), [&](const TilePlane& plane, unsigned p, int2 origin) {
    if constexpr (most == 4)
      make_tile<radius, limbs, 4>(args, plane, p, origin);
    else if (plane.components == 2)
      make_tile<radius, limbs, 2>(args, plane, p, origin);
    else
      make_tile<radius, limbs, 1>(args, plane, p, origin);
  });
#endif
}

template <int radius>
auto kernel_for(int limbs, int components) {
  if (limbs == 1) return components == 4 ? sparse_kernel<radius, 1, 4> : sparse_kernel<radius, 1, 2>;
  return components == 4 ? sparse_kernel<radius, 2, 4> : sparse_kernel<radius, 2, 2>;
}

/// The taps as lanes hold them, [row pair][limb][product], and behind them which two of four in k they belong to.
std::vector<uint4> left_matrices(const Filter& filter, const MatrixTaps& taps, int radius) {
  std::vector<uint4> words;
  // The output that row m of product q makes, and whether it takes pixel x of the window or x + 16.
  const auto out_column = [](int m, int q) { return 4 * (m & 3) + 2 * q + (m >> 3); };
  const auto is_far = [&](int m, int q, int x) { return x <= out_column(m, q); };
  for (int pair = 0; pair <= radius; ++pair)
    for (int d = 0; d < taps.limbs; ++d)
      for (int q = 0; q < 2; ++q)
        for (int lane = 0; lane < 32; ++lane) {
          unsigned word[4] = {};
          for (int i = 0; i < 4; ++i)      // register: which half of m, which row of the pair
            for (int b = 0; b < 4; ++b) {  // byte: two of each of two groups of four
              const int m = (lane >> 2) + 8 * (i & 1), group = 2 * (lane & 3) + (b >> 1) + 8 * (i >> 1);
              // Group 4j + t is word j of lane t.
              const int j = group >> 2, x = 4 * (group & 3) + 2 * (j & 1) + (b & 1);
              const int in_row = 2 * pair + (j >> 1) - radius, in_column = x + (is_far(m, q, x) ? 16 : 0) - margin;
              const int row = in_row - (m >> 2 & 1) + filter.centre_y();
              const int column = in_column - out_column(m, q) + filter.centre_x();
              if (row < 0 || row >= filter.height() || column < 0 || column >= filter.width()) continue;
              const int tap = taps.limb(d, static_cast<std::size_t>(row) * filter.width() + column);
              word[i] |= static_cast<unsigned>(tap & 255) << 8 * b;
            }
          words.push_back({word[0], word[1], word[2], word[3]});
        }
  // The selectors of the sparse operand name, of every four columns, the two that have taps: lane t tells for m = g + 8
  // (t & 1), groups 8 (t >> 1) .. + 7.
  for (int lane = 0; lane < 32; ++lane) {
    unsigned where[2] = {};
    for (int q = 0; q < 2; ++q)
      for (int k = 0; k < 8; ++k) {
        const int m = (lane >> 2) + 8 * (lane & 1), group = 8 * (lane >> 1 & 1) + k;
        const int x = 4 * (group & 3) + 2 * (group >> 2 & 1);
        const unsigned first = is_far(m, q, x) ? 1 : 0, second = is_far(m, q, x + 1) ? 3 : 2;
        where[q] |= (first | second << 2) << 4 * k;
      }
    words.push_back({where[0], where[1], 0, 0});
  }
  return words;
}

}  // namespace

bool serves_matrix_sparse(const PlanDesc& desc, std::string& why) {
  return holds_tiles(desc, rows_of_tile(1), why);
}

std::unique_ptr<Plan> make_matrix_sparse(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  const Filter& filter = desc.filter;
  const bool far = filter.reach_y() > radii[0];
  const int most = max_components_of(desc.layout);
  return make_tile_plan(device, desc, taps,
                        {far ? kernel_for<radii[1]>(taps.limbs, most) : kernel_for<radii[0]>(taps.limbs, most),
                         rows_of_tile(taps.limbs), warps_per_block, left_matrices(filter, taps, radii[far]), "sparse"});
}

}  // namespace convolve::cuda
