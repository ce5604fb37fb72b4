// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix: banded (Toeplitz) matrix products on the tensor cores, 8-bit samples by 8-bit digits of the taps.
//
// A warp makes a tile of 128 pixels by a few rows. It is cut into 16 strips of 8 pixels, and two rows are made at a
// time. One product (m16n8k32) takes two input rows: of each strip (one of 16 rows of the left matrix) the 16 pixels
// that its outputs can reach; the right matrix holds the taps that lead from those 2 x 16 inputs to 8 of the strip's
// 2 x 8 outputs. Which k, and which n, stands for which pixel is chosen so that a lane's part of the left matrix is
// words of the frame as they lie there, and that its sums, over the two products that make a strip's 16 outputs, are
// four neighbouring pixels: no shuffle, no shared memory.
//
//   left:  lane 4g + t holds strips g and g + 8, input row t / 2, pixels 8 (t & 1) .. + 7 less the 4 to the left
//   sums:  lane 4g + t holds strips g and g + 8, output row t / 2, pixels 4 (t & 1) .. + 3
//
// Interleaved components are pulled apart by byte permutes and share the right matrix; putting them together again is
// free, since sums are packed in any order.
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "convolve/arithmetic.hpp"
#include "cuda/backend.hpp"
#include "cuda/launch.hpp"
#include "cuda/matrix.cuh"
#include "cuda/matrix_tuning.hpp"

namespace convolve::cuda {
namespace {

constexpr int margin = 4;  ///< pixels that the products see on either side of a strip
constexpr int warps_per_block = 4;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// sum = start + left * right, u8 by s8.
__device__ __forceinline__ void multiply_add(int (&sum)[4], const int* start, const std::uint32_t (&left)[4],
                                             std::uint32_t right0, std::uint32_t right1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
      : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1), "r"(start[0]), "r"(start[1]),
        "r"(start[2]), "r"(start[3]));
}

/// What a warp multiplies by.
template <int reach, int digits>
struct Right {
  static constexpr int taken = reach + 1;  ///< row pairs that a pair of output rows takes
  std::uint32_t word[digits][taken][4];

  __device__ __forceinline__ explicit Right(const uint4* taps) {
#pragma unroll
    for (int d = 0; d < digits; ++d)
#pragma unroll
      for (int i = 0; i < taken; ++i) {
        const uint4 r = __ldg(taps + (d * taken + i) * 32 + threadIdx.x);
        word[d][i][0] = r.x, word[d][i][1] = r.y, word[d][i][2] = r.z, word[d][i][3] = r.w;
      }
  }
};

/// Two rows of the tile: word[0] of the lane's strip g, word[1] of g + 8. left(i, c): row pair i of
/// component `first` + c.
template <int C, MatrixFinish finish, int reach, int digits, class Left>
__device__ __forceinline__ void make_rows(const MatrixArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                          const Right<reach, digits>& right, int first, const Left& left,
                                          Word<C> (&word)[2]) {
  int sum[C][2][4][2];  // [component][strip][pixel][digit]
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (C == 4 && (plane.copied >> c & 1)) {
#pragma unroll
      for (int i = 0; i < 16; ++i) sum[c][i / 8][i / 2 % 4][i % 2] = 0;
      continue;
    }
    // Loaded, since what is computed or constant would be moved into place again for each product.
    const int4 loaded = __ldg(&levels.start[first + (finish == MatrixFinish::real ? 0 : c)]);
    const int start[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
    const int nothing[4] = {};
    int made[digits][2][4];
#pragma unroll
    for (int i = 0; i <= reach; ++i)
#pragma unroll
      for (int d = 0; d < digits; ++d)
#pragma unroll
        for (int q = 0; q < 2; ++q) {
          // Exact sums of two digits start once.
          const bool starts = finish == MatrixFinish::real || d == digits - 1;
          multiply_add(made[d][q],
                       i > 0    ? made[d][q]
                       : starts ? start
                                : nothing,
                       left(i, c), right.word[d][i][2 * q], right.word[d][i][2 * q + 1]);
        }
#pragma unroll
    for (int q = 0; q < 2; ++q)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        int(&to)[2] = sum[c][e / 2][2 * q + e % 2];
        if (finish == MatrixFinish::real)
          to[0] = made[0][q][e], to[1] = made[digits - 1][q][e];
        else
          to[0] = digits == 1 ? made[0][q][e] : made[0][q][e] * 256 + made[digits - 1][q][e];
      }
  }
#pragma unroll
  for (int strip = 0; strip < 2; ++strip)
#pragma unroll
    for (int w = 0; w < C; ++w) {
      const auto sample = [&](int b) {
        const int c = (4 * w + b) % C;
        return value_of<finish>(args, sum[c][strip][(4 * w + b) / C], levels.base[first + c]);
      };
      word_of(word[strip], w) = pack(sample(0), sample(1), sample(2), sample(3));
    }
}

template <int reach, int digits, int C, MatrixFinish finish>
__device__ __forceinline__ void make_inner(const MatrixArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                           int2 origin) {
  constexpr int rows = matrix_tile(C, reach, digits).rows, ahead = matrix_tile(C, reach, digits).ahead;
  constexpr int steps = rows / 2, pairs = steps + reach;  ///< of output and of input rows
  constexpr int at_once = reach + ahead < pairs ? reach + ahead : pairs;
  const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  const Right<reach, digits> right(args.taps);
  const std::ptrdiff_t in_step = 2 * plane.in_stride, out_step = 2 * plane.out_stride;
  const std::uint8_t* in =
      plane.in + (origin.y - reach + (t >> 1)) * plane.in_stride + (origin.x - margin + 8 * g + 8 * (t & 1)) * C;
  const std::uint8_t* was = plane.in + (origin.y + (t >> 1)) * plane.in_stride + (origin.x + 8 * g + 4 * (t & 1)) * C;
  std::uint8_t* out = plane.out + (origin.y + (t >> 1)) * plane.out_stride + (origin.x + 8 * g + 4 * (t & 1)) * C;

  Word<C> raw[pairs][4];
  std::uint32_t left[pairs][C][4];
  const auto load = [&](int i) {
    const auto* p = reinterpret_cast<const Word<C>*>(in);
    raw[i][0] = __ldg(p), raw[i][2] = __ldg(p + 1), raw[i][1] = __ldg(p + 16), raw[i][3] = __ldg(p + 17);
    in += in_step;
  };
  const auto pull_apart = [&](int i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      std::uint32_t c[C];
      planar(raw[i][k], c);
#pragma unroll
      for (int j = 0; j < C; ++j) left[i][j][k] = c[j];
    }
  };
#pragma unroll
  for (int i = 0; i < at_once; ++i) load(i);
#pragma unroll
  for (int i = 0; i < reach; ++i) pull_apart(i);
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    if (s + at_once < pairs) load(s + at_once);
    pull_apart(s + reach);
    Word<C> word[2];
    make_rows<C, finish>(
        args, plane, levels, right, 0, [&](int i, int c) -> const std::uint32_t(&)[4] { return left[s + i][c]; }, word);
    auto* to = reinterpret_cast<Word<C>*>(out);
    if (C > 1 && plane.copied) {
      const auto* from = reinterpret_cast<const Word<C>*>(was);
#pragma unroll
      for (int strip = 0; strip < 2; ++strip) {
        Word<C> before = __ldg(from + 16 * strip);
#pragma unroll
        for (int w = 0; w < C; ++w)
          word_of(word[strip], w) = (word_of(word[strip], w) & ~plane.keep) | (word_of(before, w) & plane.keep);
      }
      was += in_step;
    }
    to[0] = word[0];
    to[16] = word[1];
    out += out_step;
  }
}

/// Where a tile of so many rows begins.
__device__ __forceinline__ int2 tile_origin(const MatrixPlane& plane, unsigned tile, int rows) {
  const unsigned y = plane.tiles_x == 1 ? tile : __umulhi(tile, plane.reciprocal), x = tile - y * plane.tiles_x;
  return {min(max(static_cast<int>(x) * matrix_tile_width, plane.left), plane.right - matrix_tile_width),
          min(max(static_cast<int>(y) * rows, plane.top), plane.bottom - rows)};
}

/// Sample i of those that lie outside the inner ones: first the bands of rows above and below, then the columns
/// between.
__device__ __forceinline__ void make_sample(const MatrixArgs& args, const MatrixPlane& plane,
                                            const MatrixLevels& levels, unsigned i) {
  const unsigned C = plane.components, row_samples = plane.width * C;
  const unsigned band_rows = plane.top + plane.height - plane.bottom, band = band_rows * row_samples;
  unsigned y, at;  // at: sample in the row
  if (i < band) {
    y = i / row_samples;
    at = i - y * row_samples;
    if (y >= static_cast<unsigned>(plane.top)) y += plane.bottom - plane.top;
  } else {
    const unsigned row = (plane.left + plane.width - plane.right) * C;
    i -= band;
    y = row > 0 ? i / row : plane.height;
    at = i - y * row;
    y += plane.top;
    if (y >= static_cast<unsigned>(plane.bottom)) return;
    if (at >= plane.left * C) at += (plane.right - plane.left) * C;
  }
  const int x = static_cast<int>(at / C), c = static_cast<int>(at - x * C);
  std::uint8_t& out = plane.out[static_cast<int>(y) * plane.out_stride + at];
  if (plane.copied >> c & 1) {
    out = plane.in[static_cast<int>(y) * plane.in_stride + at];
    return;
  }
  const int left = x - args.centre_x, ghost = plane.ghost >> 8 * c & 255;
  const bool whole = left >= 0 && left + args.taps_x <= plane.width;
  const int* tap = args.fixed;
  int sum = 0;
  for (int r = 0; r < args.taps_y; ++r, tap += args.taps_x) {
    const int from = border_index(args.border, static_cast<int>(y) - args.centre_y + r, plane.height);
    const std::uint8_t* row = plane.in + from * plane.in_stride + c;
    if (whole && from >= 0) {
      row += left * static_cast<int>(C);
#pragma unroll 5
      for (int k = 0; k < args.taps_x; ++k, row += C) sum += __ldg(tap + k) * __ldg(row);
    } else {
      for (int k = 0; k < args.taps_x; ++k) {
        const int column = from < 0 ? -1 : border_index(args.border, left + k, plane.width);
        sum += __ldg(tap + k) * (column < 0 ? ghost : __ldg(row + column * static_cast<int>(C)));
      }
    }
  }
  float value;
  if (args.finish == MatrixFinish::real) {
    value = __fmaf_rn(__int2float_rn(sum), args.gain, levels.level[c]);
  } else {
    const float whole_sum = __int2float_rn(sum + levels.sum_start[c]);
    value = __fmaf_rn(whole_sum, args.gain, __fmul_rn(whole_sum, args.gain_low));
  }
  out = static_cast<std::uint8_t>(min(max(__float2int_rn(value), 0), static_cast<int>(args.max & 255)));
}

template <int reach, int digits, int C>
__device__ __forceinline__ void make_tile(const MatrixArgs& args, const MatrixPlane& plane, const MatrixLevels& levels,
                                          int2 origin) {
  if (args.finish == MatrixFinish::quotient)
    make_inner<reach, digits, C, MatrixFinish::quotient>(args, plane, levels, origin);
  else
    make_inner<reach, digits, C, digits == 1 ? MatrixFinish::pack : MatrixFinish::real>(args, plane, levels, origin);
}

#endif

/// `most`: the most components of a plane; 4 comes alone.
template <int reach, int digits, int most>
__global__ void __launch_bounds__(32 * warps_per_block, matrix_tile(most, reach, digits).blocks_resident)
    matrix_kernel(const __grid_constant__ MatrixArgs args) {
#if __CUDA_ARCH__ >= 800
  for_plane(
      args, warps_per_block,
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned tile) {
        const int rows = matrix_tile(plane.components, reach, digits).rows;
        const int2 origin = tile_origin(plane, tile, rows);
        if (plane.copied + 1 == 1 << plane.components)
          copy_inner(plane, origin, rows);
        else if (most != 2 || plane.components == most)
          make_tile<reach, digits, most>(args, plane, levels, origin);
        else
          make_tile<reach, digits, 1>(args, plane, levels, origin);
      },
      [&](const MatrixPlane& plane, const MatrixLevels& levels, unsigned block) {
        make_sample(args, plane, levels, block * 32 * warps_per_block + threadIdx.y * 32 + threadIdx.x);
      });
#endif
}

template <int reach, int digits>
MatrixKernel kernel_for(int components) {
  return components == 1   ? matrix_kernel<reach, digits, 1>
         : components == 2 ? matrix_kernel<reach, digits, 2>
                           : matrix_kernel<reach, digits, 4>;
}

template <int reach>
MatrixKernel kernel_for(int digits, int components) {
  return digits == 1 ? kernel_for<reach, 1>(components) : kernel_for<reach, 2>(components);
}

constexpr int most_reach = 3;

MatrixKernel kernel_for(int reach, int digits, int components) {
  return reach == 1   ? kernel_for<1>(digits, components)
         : reach == 2 ? kernel_for<2>(digits, components)
                      : kernel_for<3>(digits, components);
}

int reach_y(const Filter& f) {
  return std::max({1, f.centre_y(), f.height() - 1 - f.centre_y()});
}
int reach_x(const Filter& f) {
  return std::max(f.centre_x(), f.width() - 1 - f.centre_x());
}

bool is_large(const Filter& f) {
  return reach_y(f) > most_reach || reach_x(f) > margin;
}

/// The right matrices, [digit][row pair][lane], words in the order of a lane's two products.
std::vector<uint4> right_matrices(const Filter& filter, const MatrixTaps& taps, int reach) {
  std::vector<uint4> right;
  for (int d = 0; d < taps.digits; ++d)
    for (int pair = 0; pair <= reach; ++pair)
      for (int lane = 0; lane < 32; ++lane) {
        const int n = lane >> 2, t = lane & 3;
        const int out_row = n >> 2, row = 2 * pair + (t >> 1) - reach - out_row + filter.centre_y();
        unsigned word[4] = {};
        for (int q = 0; q < 2; ++q)
          for (int half = 0; half < 2; ++half)
            for (int byte = 0; byte < 4; ++byte) {
              const int out_column = 4 * (n >> 1 & 1) + 2 * q + (n & 1);
              const int column = 8 * (t & 1) + 4 * half + byte - margin - out_column + filter.centre_x();
              if (row < 0 || row >= filter.height() || column < 0 || column >= filter.width()) continue;
              const int tap = taps.digit(d, static_cast<std::size_t>(row) * filter.width() + column);
              word[2 * q + half] |= static_cast<unsigned>(tap & 255) << 8 * byte;
            }
        right.push_back({word[0], word[1], word[2], word[3]});
      }
  return right;
}

std::vector<MatrixLevels> levels_of(const MatrixTaps& taps, int planes) {
  std::vector<MatrixLevels> all(static_cast<std::size_t>(planes));
  const bool real = taps.finish == MatrixFinish::real;
  for (int p = 0; p < planes; ++p) {
    MatrixLevels& levels = all[p];
    for (int c = 0; c < max_components; ++c) {
      const int start = real ? taps.real_start : taps.start[p][c];
      levels.start[c] = {start, start, start, start};
      levels.base[c] = taps.base[p][c];
      levels.level[c] = taps.level[p][c];
      levels.sum_start[c] = taps.start[p][c];
    }
    if (real) levels.high_start = levels.start[0];
  }
  return all;
}

class MatrixPlan final : public Plan {
 public:
  MatrixPlan(const PlanDesc& desc, const MatrixTaps& taps)
      : shape_(desc.filter.shape()), digits_(taps.digits), reach_(reach_y(desc.filter)), large_(is_large(desc.filter)) {
    taps_ =
        DeviceArray<uint4>(large_ ? large_matrix_taps(desc.filter, taps) : right_matrices(desc.filter, taps, reach_));
    levels_ = DeviceArray<MatrixLevels>(levels_of(taps, desc.layout.planes));
    fixed_ = DeviceArray<int>(taps.fixed);
    args_.taps = taps_.get();
    args_.levels = levels_.get();
    args_.fixed = fixed_.get();
    args_.taps_x = desc.filter.width();
    args_.taps_y = desc.filter.height();
    args_.centre_x = desc.filter.centre_x();
    args_.centre_y = desc.filter.centre_y();
    args_.planes = desc.layout.planes;
    args_.max = 0x01010101u * static_cast<unsigned>(desc.layout.max_value());
    args_.gain = taps.gain;
    args_.gain_low = taps.gain_low;
    args_.finish = taps.finish;
    args_.border = desc.border;
    int most = 1;
    for (int p = 0; p < desc.layout.planes; ++p) most = std::max(most, desc.layout.plane[p].components);
    warps_ = large_ ? large_matrix_tile(most, digits_).warps : warps_per_block;
    for (int p = 0; p < desc.layout.planes; ++p) add_plane(desc.layout.plane[p], p);
    kernel_ = large_ ? large_matrix_kernel(digits_, most) : kernel_for(reach_, digits_, most);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    unsigned blocks = 0;
    for (unsigned p = 0; p < args_.planes; ++p) {
      MatrixPlane& plane = args_.plane[p];
      const PlaneView &from = window.image[0]->plane[p], &to = out.plane[p];
      plane.in = static_cast<const std::uint8_t*>(from.data);
      plane.out = static_cast<std::uint8_t*>(to.data);
      plane.in_stride = from.stride;
      plane.out_stride = to.stride;
      const auto bits = reinterpret_cast<std::uintptr_t>(from.data) | reinterpret_cast<std::uintptr_t>(to.data) |
                        static_cast<std::uintptr_t>(from.stride) | static_cast<std::uintptr_t>(to.stride);
      plane.first_block = blocks;
      blocks += set_tiles(plane, bits % (4u * plane.components) == 0);
    }
    kernel_<<<blocks, dim3(32, warps_), 0, static_cast<cudaStream_t>(stream)>>>(args_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override {
    constexpr const char* finishes[] = {"packed", "quotient", "fixed point"};
    return "matrix " + shape_ + ", " + std::to_string(digits_) + " digits, " +
           finishes[static_cast<int>(args_.finish)] + (large_ ? ", sparse" : "");
  }

 private:
  void add_plane(const PlaneLayout& layout, int p) {
    MatrixPlane& plane = args_.plane[p];
    plane.width = layout.component[0].width;
    plane.height = layout.component[0].height;
    plane.components = static_cast<std::uint8_t>(layout.components);
    for (int b = 0; b < 4; ++b) {
      const int c = b % layout.components;
      const Component& component = layout.component[c];
      if (!component.filtered) plane.copied |= static_cast<std::uint8_t>(1u << c), plane.keep |= 0xFFu << 8 * b;
      plane.ghost |= static_cast<unsigned>(std::clamp(component.ghost, 0.0, 255.0)) << 8 * b;
    }
  }

  /// Divides a plane into tiles and what lies around them, and returns the number of blocks.
  unsigned set_tiles(MatrixPlane& plane, bool aligned) const noexcept {
    const bool direct = aligned && args_.max == ~0u;
    large_ ? set_large_tiles(plane, direct) : set_small_tiles(plane, direct);
    if (plane.tiles > 0) plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.tiles_x - 1) / plane.tiles_x);
    return plane.edge_blocks + (plane.tiles + warps_ - 1) / warps_;
  }

  void set_small_tiles(MatrixPlane& plane, bool direct) const noexcept {
    const int rows = matrix_tile(plane.components, reach_, digits_).rows;
    plane.left = margin;
    plane.right = plane.width - margin - (plane.width & 3);
    plane.top = reach_;
    plane.bottom = plane.height - reach_;
    if (direct && plane.right - plane.left >= matrix_tile_width && plane.bottom - plane.top >= rows) {
      plane.tiles_x = static_cast<unsigned>((plane.right - 1) / matrix_tile_width + 1);
      plane.tiles = plane.tiles_x * static_cast<unsigned>((plane.bottom - 1) / rows + 1);
    } else {
      plane.left = plane.right = plane.top = plane.bottom = 0;
      plane.tiles = 0;
    }
    const std::int64_t inner = static_cast<std::int64_t>(plane.right - plane.left) * (plane.bottom - plane.top);
    const std::int64_t samples = (static_cast<std::int64_t>(plane.width) * plane.height - inner) * plane.components;
    plane.edge_blocks = static_cast<unsigned>((samples + 32 * warps_ - 1) / (32 * warps_));
  }

  void set_large_tiles(MatrixPlane& plane, bool direct) const noexcept {
    const LargeMatrixTile tile = large_matrix_tile(plane.components, digits_);
    const auto pieces = [](int length, int piece) { return (length + piece - 1) / piece; };
    const int tiles_x = (plane.width - large_matrix_margin) / matrix_tile_width - 1;
    const int tiles_y = (plane.height - large_matrix_reach) / tile.rows - 1;
    const int across = pieces(plane.width, matrix_tile_width);
    if (direct && tiles_x > 0 && tiles_y > 0) {
      plane.right = (tiles_x + 1) * matrix_tile_width;
      plane.top = tile.rows;
      plane.bottom = (tiles_y + 1) * tile.rows;
      plane.tiles_x = static_cast<unsigned>(tiles_x);
      plane.tiles = static_cast<unsigned>(tiles_x) * static_cast<unsigned>(tiles_y);
      const int band_rows = tile.rows / tile.rows_at_once + pieces(plane.height - plane.bottom, tile.rows_at_once);
      const int columns = 1 + pieces(plane.width - plane.right, matrix_tile_width);
      plane.band_tiles = static_cast<unsigned>(across * band_rows);
      plane.edge_tiles = plane.band_tiles + static_cast<unsigned>(columns * (tiles_y * tile.rows / tile.rows_at_once));
    } else {
      plane.top = plane.bottom = plane.height;
      plane.tiles = 0;
      plane.band_tiles = plane.edge_tiles = static_cast<unsigned>(across * pieces(plane.height, tile.rows_at_once));
    }
    plane.edge_blocks = (plane.edge_tiles + warps_ - 1) / warps_;
  }

  std::string shape_;
  int digits_, reach_;
  bool large_;
  unsigned warps_ = 0;
  DeviceArray<uint4> taps_;
  DeviceArray<MatrixLevels> levels_;
  DeviceArray<int> fixed_;
  MatrixArgs args_{};
  MatrixKernel kernel_ = nullptr;
};

bool serves(const Device& device, const PlanDesc& desc, std::string& why) {
  const FrameLayout& layout = desc.layout;
  why.clear();
  if (device.capability < 80)
    why = "GPUs of compute capability below 8.0";
  else if (layout.type != SampleType::u8 || layout.shift != 0)
    why = "samples other than plain 8-bit ones";
  else if (desc.filter.depth() != 1)
    why = "filters over several frames";
  int most = 0;
  for (int p = 0; p < layout.planes && why.empty(); ++p) most = std::max(most, layout.plane[p].components);
  for (int p = 0; p < layout.planes && why.empty(); ++p) {
    const PlaneLayout& plane = layout.plane[p];
    if (!plane.uniform() || plane.components == 3 || (most == 4 && plane.components != 4))
      why = "planes of three components, or unevenly interleaved";
    for (int c = 0; c < plane.components && why.empty(); ++c) {
      const double ghost = plane.component[c].ghost;
      if (desc.border == Border::constant && plane.component[c].filtered &&
          (ghost != static_cast<int>(ghost) || ghost < 0 || ghost > layout.max_value()))
        why = "a border value that is no whole code value";
    }
  }
  MatrixTaps taps;
  return why.empty() && make_matrix_taps(desc, taps, why);
}

std::unique_ptr<Plan> make(const Device&, const PlanDesc& desc) {
  MatrixTaps taps;
  std::string why;
  if (!make_matrix_taps(desc, taps, why)) throw PlanError("matrix: " + why);
  return std::make_unique<MatrixPlan>(desc, taps);
}

}  // namespace

const Entry matrix{Algorithm::matrix, serves, make};

}  // namespace convolve::cuda
