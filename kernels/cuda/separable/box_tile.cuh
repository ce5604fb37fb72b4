// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The second kernel of boxes, of one tile: see box.cuh.
#pragma once

#include "cuda/separable/box.cuh"

namespace convolve::cuda::box {

/// Shared memory of a block.
template <int components>
struct Shared {
  static constexpr int span = threads * count;
  std::uint32_t prefix[batch][span];              ///< in vectors of four, vector i at place place_of(i)
  std::uint32_t columns[batch][threads * count];  ///< V, where threads take it from others
  std::uint16_t source[span];                     ///< of such threads' columns: the column; `none`: ghost cells
  std::uint32_t total[batch][components][warps];  ///< of warps
  static constexpr std::uint16_t none = 0xFFFF;
};

/// Threads that are neighbours load and store vectors `count / 4` apart: no two of eight in the same bank.
__device__ __forceinline__ int place_of(int vector) {
  return vector ^ (vector >> 3 & 3);
}

/// f(std::integral_constant<int, shift>) for a shift that is the same for all threads.
template <class F>
__device__ __forceinline__ void with_shift(int shift, F&& f) {
  switch (shift) {
    case 0:
      return f(std::integral_constant<int, 0>{});
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    default:
      return f(std::integral_constant<int, 3>{});
  }
}

/// Sums of a thread, or of those before it, one a component. Of three components a thread's first sample is of any:
/// turned() has them in the frame's order from that of the thread's samples, or back.
template <int components>
struct Totals {
  std::uint32_t of[components];

  __device__ __forceinline__ Totals turned(int first) const {
    if constexpr (components == 3)
      return first == 0 ? *this : first == 1 ? Totals{of[2], of[0], of[1]} : Totals{of[1], of[2], of[0]};
    else
      return *this;
  }
};

/// A tile, as one thread makes it.
template <int components>
struct Tile {
  using Memory = Shared<components>;
  static constexpr int vectors = count / 4;  ///< of sums, of a thread
  const Args& args;
  const Plane& plane;
  Memory& shared;
  int first, top, rows;  ///< the tile's first sample, with what stands before its outputs; first row, rows
  int phase;             ///< the component of the thread's first sample, of three
  Columns<components> columns;
  Sums v;

  __device__ Tile(const Args& args, const Plane& plane, Memory& shared, int x, int y)
      : args(args),
        plane(plane),
        shared(shared),
        first(x * plane.outputs - plane.margin),
        top(y * args.rows),
        rows(min(args.rows, plane.height - top)),
        phase(0),
        columns{args, plane, first + static_cast<int>(threadIdx.x) * count, Source::vectors} {
    if constexpr (components == 3) phase = (columns.first + 3 * 4096) % 3;
  }
  /// True where columns of the tile lie beside the frame.
  __device__ bool reaches_edge() const { return first < 0 || first + Memory::span > plane.samples; }
  __device__ bool is_vector(int sample) const { return plane.wide && sample >= 0 && sample + count <= plane.samples; }

  /// Finds where this thread has its columns from.
  __device__ void find_source() {
    if (is_vector(columns.first)) return;
    bool others = true;
#pragma unroll 1
    for (int j = 0; j < count; ++j) {
      const int i = sample_index<components>(args, plane, columns.first + j);
      const int at = i - first;
      others = others && (i < 0 || (at >= 0 && at < Memory::span && is_vector(i / count * count)));
      shared.source[threadIdx.x * count + j] = i < 0 ? Memory::none : static_cast<std::uint16_t>(at);
    }
    columns.source = others ? Source::others : Source::samples;
  }
  /// V of the row before the first, less that row's first.
  __device__ __forceinline__ void start() {
    v.clear();
    if (columns.source == Source::others) return;
    if (columns.source == Source::vectors)
#pragma unroll 4
      for (int g = 0; g < args.groups; ++g) columns.add_group(v, top / group + g);
    else
#pragma unroll 1
      for (int g = 0; g < args.groups; ++g) columns.add_group_by_samples(v, top / group + g);
    const int from = top - args.centre_y + args.groups * group, end = top - args.centre_y + args.height - 1;
    if (columns.source == Source::vectors && from >= 0 && end <= plane.height) {
      const std::uint8_t* at = columns.row(from);
#pragma unroll 4
      for (int y = from; y < end; ++y, at += plane.in_stride)
        v.add(__ldg(reinterpret_cast<const uint4*>(at)), args.shift);
    } else {
#pragma unroll 1
      for (int y = from; y < end; ++y) v.add(columns.load(y), args.shift);
    }
  }
  __device__ __forceinline__ void load(int n, uint4 (&enters)[batch], uint4 (&leaves)[batch]) const {
    if (columns.source == Source::others) return;
    const int leaving = top - args.centre_y + n - 1, entering = leaving + args.height;
    if (columns.source == Source::vectors && leaving >= 0 && entering + batch <= plane.height) {
      const std::uint8_t *leaves_at = columns.row(leaving), *enters_at = columns.row(entering);
#pragma unroll
      for (int k = 0; k < batch; ++k, leaves_at += plane.in_stride, enters_at += plane.in_stride) {
        leaves[k] = __ldg(reinterpret_cast<const uint4*>(leaves_at));
        enters[k] = __ldg(reinterpret_cast<const uint4*>(enters_at));
      }
    } else {
      // One copy of the long code that this is; registers have no index.
#pragma unroll 1
      for (int i = 0; i < 2 * batch; ++i) {
        const uint4 row = columns.load(i < batch ? leaving + i : entering + i - batch);
#pragma unroll
        for (int k = 0; k < batch; ++k) {
          if (i == k) leaves[k] = row;
          if (i == batch + k) enters[k] = row;
        }
      }
    }
    if (n == 0) leaves[0] = {};
  }
  /// V of columns beside the frame from threads that have it.
  __device__ __forceinline__ void take_from_others(Sums (&sums)[batch]) {
    if (columns.source == Source::vectors)
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        auto* to = reinterpret_cast<uint4*>(shared.columns[k] + threadIdx.x * count);
        const auto& column = sums[k].column;
        to[0] = {column[0], column[1], column[2], column[3]};
        to[1] = {column[4], column[5], column[6], column[7]};
      }
    __syncthreads();
    if (columns.source != Source::others) return;
#pragma unroll
    for (int j = 0; j < count; ++j) {
      const unsigned at = shared.source[threadIdx.x * count + j];
      const std::uint32_t ghosts = args.height * (plane.ghost[j & 3] >> args.shift);
#pragma unroll
      for (int k = 0; k < batch; ++k) sums[k].column[j] = at == Memory::none ? ghosts : shared.columns[k][at];
    }
  }
  /// Prefix sums of `batch` rows to shared memory.
  __device__ __forceinline__ void make_prefix(const Sums (&sums)[batch]) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    Totals<components> before[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      Totals<components> own{};
#pragma unroll
      for (int j = 0; j < count; ++j) own.of[j % components] = own.of[j % components] + sums[k].column[j];
      own = own.turned(phase);
#pragma unroll
      for (int c = 0; c < components; ++c) {
        std::uint32_t sum = own.of[c];
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
          const std::uint32_t other = __shfl_up_sync(~0u, sum, d);
          sum += lane >= d ? other : 0;
        }
        before[k].of[c] = sum - own.of[c];
        if (lane == 31) shared.total[k][c][warp] = sum;
      }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < batch; ++k) {
#pragma unroll
      for (int c = 0; c < components; ++c)
#pragma unroll
        for (int w = 0; w + 1 < warps; ++w) before[k].of[c] += w < warp ? shared.total[k][c][w] : 0;
      put_prefix(sums[k], before[k].turned(phase == 0 ? 0 : 3 - phase), k);
    }
  }
  __device__ __forceinline__ void put_prefix(const Sums& sums, Totals<components> run, int k) {
    std::uint32_t p[count];
#pragma unroll
    for (int j = 0; j < count; ++j) {
      std::uint32_t& sum = run.of[j % components];
      p[j] = sum;
      sum += sums.column[j];
    }
#pragma unroll
    for (int i = 0; i < vectors; ++i)
      reinterpret_cast<uint4*>(shared.prefix[k])[place_of(threadIdx.x * vectors + i)] = {p[4 * i], p[4 * i + 1],
                                                                                         p[4 * i + 2], p[4 * i + 3]};
  }
  /// The prefix sums from sample `at` of the tile on, past those before the vector that holds it, for this thread.
  __device__ __forceinline__ void get_prefix(std::uint32_t (&to)[count + 4], int at, int k) const {
#pragma unroll
    for (int i = 0; i <= vectors; ++i) {
      // The last one may lie behind the tile, where no output needs it.
      const int vector = min(threadIdx.x * vectors + at / 4 + i, Memory::span / 4 - 1);
      const uint4 p = reinterpret_cast<const uint4*>(shared.prefix[k])[place_of(vector)];
      to[4 * i] = p.x, to[4 * i + 1] = p.y, to[4 * i + 2] = p.z, to[4 * i + 3] = p.w;
    }
  }
  /// Box sums of this thread's outputs.
  __device__ __forceinline__ void look_up(std::uint32_t (&sum)[count], int k) const {
    std::uint32_t begin[count + 4], end[count + 4];
    get_prefix(begin, plane.begin, k);
    get_prefix(end, plane.end, k);
    with_shift(plane.begin & 3, [&](auto b) {
      with_shift(plane.end & 3, [&](auto e) {
#pragma unroll
        for (int j = 0; j < count; ++j) sum[j] = end[j + e.value] - begin[j + b.value];
      });
    });
  }
  /// Words of samples.
  __device__ __forceinline__ void make_samples(std::uint32_t (&code)[4], const std::uint32_t (&sum)[count]) const {
    float value[count];
#pragma unroll
    for (int j = 0; j < count; ++j)
      value[j] = __int2float_rn(static_cast<int>(sum[j] - plane.start[j & 3])) * args.factor;
    if (args.divisor != 0)
#pragma unroll
      for (int j = 0; j < count; ++j) value[j] = remainder_value(value[j], args.gain, plane.level[j & 3], args.divisor);
    else
#pragma unroll
      for (int j = 0; j < count; ++j)
        value[j] = __fadd_rn(__fmaf_rn(value[j], args.gain, plane.level[j & 3]), -args.rounding_bias);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t low = ptx::round_to_u16(fminf(value[2 * i], args.max)),
                          high = ptx::round_to_u16(fminf(value[2 * i + 1], args.max));
      code[i] = (low | high << 16) << args.shift;
    }
  }
  __device__ __forceinline__ void store(const std::uint32_t (&sum)[count], int y) const {
    const int x = columns.first + plane.margin;
    std::uint32_t code[4];
    make_samples(code, sum);
    if (plane.passes_some) {
      const uint4 in = is_vector(x) ? __ldg(reinterpret_cast<const uint4*>(row_of(plane.in, plane.in_stride, y, x)))
                                    : load_any<components>(args, plane, line_at(args, plane, y), x);
      const std::uint32_t word[4] = {in.x, in.y, in.z, in.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
        code[i] = (code[i] & ~plane.passthrough[i & 1]) | (word[i] & plane.passthrough[i & 1]);
    }
    auto* to = const_cast<std::uint8_t*>(row_of(plane.out, plane.out_stride, y, x));
    if (plane.out_wide && x + count <= plane.samples) {
      *reinterpret_cast<uint4*>(to) = {code[0], code[1], code[2], code[3]};
      return;
    }
#pragma unroll
    for (int j = 0; j < count; ++j)
      if (x + j < plane.samples) reinterpret_cast<Sample*>(to)[j] = static_cast<Sample>(code[j / 2] >> 16 * (j % 2));
  }
  static __device__ const std::uint8_t* row_of(const std::uint8_t* plane, std::ptrdiff_t stride, int y, int x) {
    return plane + y * stride + static_cast<std::ptrdiff_t>(x) * static_cast<int>(sizeof(Sample));
  }
};

/// Copies what a tile's outputs are in the input.
template <int components>
__device__ __forceinline__ void copy_tile(const Tile<components>& tile) {
  const int x = tile.columns.first + tile.plane.margin;
  if (static_cast<int>(threadIdx.x) * count >= tile.plane.outputs) return;
  for (int y = tile.top; y < tile.top + tile.rows; ++y)
    for (int j = 0; j < count && x + j < tile.plane.samples; ++j)
      reinterpret_cast<Sample*>(
          const_cast<std::uint8_t*>(tile.row_of(tile.plane.out, tile.plane.out_stride, y, x)))[j] =
          reinterpret_cast<const Sample*>(tile.row_of(tile.plane.in, tile.plane.in_stride, y, x))[j];
}

/// Kernel 2, of one plane.
template <int components>
__device__ __forceinline__ void filter_tile(const Args& args, const Plane& plane, std::uint8_t* memory) {
  auto& shared = *reinterpret_cast<Shared<components>*>(memory);
  const int block = blockIdx.x - plane.first_tile, y = block / plane.tiles_x;
  Tile<components> tile(args, plane, shared, block - y * plane.tiles_x, y);
  if (plane.passes_all) {
    pdl_wait();
    return copy_tile(tile);
  }
  const bool edge = tile.reaches_edge() || !plane.wide;
  if (edge) tile.find_source();
  const int x = tile.columns.first + plane.margin;
  const bool makes = static_cast<int>(threadIdx.x) * count < plane.outputs && x < plane.samples;
  pdl_wait();
  tile.start();
  uint4 enters[batch] = {}, leaves[batch] = {};
  tile.load(0, enters, leaves);
#pragma unroll 1
  for (int n = 0; n < tile.rows; n += batch) {
    Sums sums[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      tile.v.replace(enters[k], leaves[k], args.shift);
      sums[k] = tile.v;
    }
    if (edge) tile.take_from_others(sums);
    tile.make_prefix(sums);
    if (n + batch < tile.rows) tile.load(n + batch, enters, leaves);
    __syncthreads();
    if (makes)
#pragma unroll 1
      for (int k = 0; k < min(batch, tile.rows - n); ++k) {
        std::uint32_t sum[count];
        tile.look_up(sum, k);
        tile.store(sum, tile.top + n + k);
      }
  }
}

}  // namespace convolve::cuda::box
