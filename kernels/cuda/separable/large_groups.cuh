// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for large filters of bytes with exact taps by warpgroups: both passes in one kernel, V in shared memory.
//
// A block goes down a strip of 64 pixels, 64 rows a step. Both passes have a banded matrix to the left, which makes 64
// outputs of all that they can reach: it stays in registers, each warp with 16 of its rows. What it is multiplied by
// lies in shared memory: the input, as bytes, and V, the two bytes of each value apart.
//
//   row pass       V(64 pixels, 64 rows) = row matrix * input(window of pixels, 64 rows)
//   column pass    out(64 rows, 64 bytes) = column matrix * V(rows of the last steps, 64 bytes)
//
// V of a step is stored transposed by stmatrix, and lies in a ring of a few steps: each row is filtered once. A
// warpgroup loads (large_groups_loader.cuh). The others, the makers, have steps in turn. The rows of the row matrix are
// in such an order that a lane ends with 16 neighbouring bytes of a row.
#pragma once

#include "cuda/common/epilogue.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/matrix/hopper/products.cuh"
#include "cuda/separable/large_groups_loader.cuh"

namespace convolve::cuda::large_groups {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Where a block's barriers and buffers lie.
template <int units>
struct Layout {
  static constexpr Shape shape{units};
  static constexpr int stages = shape.stages(), slots = shape.slots();
  std::uint32_t base;
  __device__ std::uint32_t full(int stage) const { return base + 8 * stage; }
  __device__ std::uint32_t empty(int stage) const { return base + 64 + 8 * stage; }
  __device__ std::uint32_t made(int slot) const { return base + 128 + 8 * slot; }
  __device__ std::uint32_t slot(int i) const { return base + Shape::barrier_bytes + i * Shape::slot_bytes; }
  __device__ std::uint32_t stage(int i) const { return slot(slots) + i * shape.stage_bytes(); }
  __device__ void init() const {
    for (int i = 0; i < stages; ++i) ptx::init_barrier(full(i), 128), ptx::init_barrier(empty(i), 4);
    for (int i = 0; i < slots; ++i) ptx::init_barrier(made(i), 4);
    ptx::publish_barriers();
  }
};

/// A place in a ring, and the parity of its round.
template <int count>
struct Ring {
  int at;
  unsigned parity = 0;
  __device__ explicit Ring(int steps) : at(steps % count), parity(steps / count & 1) {}
  __device__ __forceinline__ void advance(int steps) {
    at += steps;
    while (at >= count) at -= count, parity ^= 1;
  }
};

/// The loading warpgroup.
template <class L>
__device__ __forceinline__ void load_strip(const L& layout, const Args& args, const Plane& plane, int left, int top,
                                           int steps) {
  constexpr int under_way = L::stages - 2;
  const Loader<L::shape.units> loader(args, plane, left, top);
  Ring<L::stages> stage(0), arrived(0);
  pdl_wait();
#pragma unroll 1
  for (int step = 0; step < steps + under_way; ++step) {
    if (step < steps) {
      ptx::wait_for_phase(layout.empty(stage.at), stage.parity ^ 1);
      loader.send_step(layout.stage(stage.at), step);
      stage.advance(1);
    }
    ptx::commit_copies();
    if (step < under_way) continue;
    ptx::wait_for_copies<under_way>();
    loader.mend(layout.stage(arrived.at), step - under_way);
    ptx::fence_shared_for_wgmma();
    ptx::arrive_at_barrier(layout.full(arrived.at));
    arrived.advance(1);
  }
  ptx::wait_for_all_copies();
}

/// A warpgroup that makes samples.
template <class L>
struct Maker {
  static constexpr Shape shape = L::shape;
  static constexpr int units = shape.units;
  uint4 row[units], column[units];  ///< the left matrices' words
  const L& layout;
  const Args& args;
  const Plane& plane;
  int warp, lane;

  __device__ __forceinline__ Maker(const L& layout, const Args& args, const Plane& plane)
      : layout(layout), args(args), plane(plane), lane(threadIdx.x & 31) {
    warp = __shfl_sync(~0u, threadIdx.x >> 5 & 3, 0);
    const int thread = threadIdx.x & 127;
#pragma unroll
    for (int i = 0; i < units; ++i) row[i] = __ldg(args.row_taps + i * 128 + thread);
#pragma unroll
    for (int i = 0; i < units; ++i) column[i] = __ldg(args.column_taps + i * 128 + thread);
  }

  /// V of a stage's rows.
  __device__ __forceinline__ void filter_rows(int stage, int slot) const {
    constexpr int of_product = 2 * shape.piece_bytes();
    const MatrixDescriptor right = describe_matrix(layout.stage(stage), shape.piece_bytes(), 128);
    int sum[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) sum[i] = args.row_start;
    begin_products(sum);
#pragma unroll
    for (int i = 0; i < units; ++i) ptx::wgmma_s8_u8_registers(sum, row[i], moved(right, i * of_product), true);
    ptx::wgmma_commit();
    end_products(sum);
    if (lane == 0) ptx::arrive_at_barrier(layout.empty(stage));
    store_sums(sum, layout.slot(slot));
    ptx::fence_shared_for_wgmma();
    __syncwarp();
    if (lane == 0) ptx::arrive_at_barrier(layout.made(slot));
  }
  /// Stores V of a step, as 8 x 8 matrices of byte pairs: each has 8 pixels of 16 rows, of a limb.
  __device__ __forceinline__ void store_sums(const int (&sum)[32], std::uint32_t slot) const {
    const std::uint32_t at = slot + (2 * warp + (lane >> 3 & 1)) * 128 + (lane & 7) * 16;
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
      std::uint32_t word[4];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int* of = sum + 4 * j + 2 * h;
        const std::uint32_t first = __byte_perm(of[0], of[1], 0x5410), second = __byte_perm(of[4], of[5], 0x5410);
        word[h] = __byte_perm(first, second, 0x6420), word[2 + h] = __byte_perm(first, second, 0x7531);
      }
      ptx::store_matrices(at + (lane >> 4) * Shape::limb_bytes + j / 2 * 1024, word);
    }
  }

  /// The strip's 64 bytes of the output step that V's slot `last` ends. Makes 16 bytes of two rows of a lane: `y` is
  /// the block's first row of the step.
  __device__ __forceinline__ void filter_columns(int last, int left, int y) const {
    int sum[32];
    const int oldest = last - (shape.slots_of_step() - 1);
    const int first = oldest < 0 ? oldest + L::slots : oldest;
    ptx::wgmma_fence();
    add_products(
        sum, first, Shape::limb_bytes,
        [](auto& to, const uint4& taps, MatrixDescriptor right, bool adds) {
          ptx::wgmma_s8_s8_registers(to, taps, right, adds);
        },
        false);
#pragma unroll
    for (int i = 0; i < 32; ++i) sum[i] = sum[i] * 256 + plane.start[0];
    begin_products(sum);
    add_products(
        sum, first, 0,
        [](auto& to, const uint4& taps, MatrixDescriptor right, bool adds) {
          ptx::wgmma_s8_u8_registers(to, taps, right, adds);
        },
        true);
    const int at = left + 16 * (lane & 3), there = plane.row_bytes - at;
    y += 16 * warp + (lane >> 2);
#pragma unroll
    for (int h = 0; h < 2; ++h)
      if (y + 8 * h < plane.height && there > 0) store_row(sum, h, at, there, y + 8 * h);
  }

 private:
  /// Adds the products with the V of slots from `slot` on, behind a fence, and waits for the sums.
  template <class Multiply>
  __device__ __forceinline__ void add_products(int (&sum)[32], int slot, int offset, const Multiply& multiply,
                                               bool adds) const {
    constexpr int each = Shape::products_of_slot;
#pragma unroll
    for (int s = 0; s < shape.slots_of_step(); ++s) {
      const MatrixDescriptor right = describe_matrix(layout.slot(slot) + offset, 1024, 128);
#pragma unroll
      for (int i = 0; i < each; ++i)
        if (s * each + i < units) multiply(sum, column[s * each + i], moved(right, i * 2048), adds || s + i > 0);
      slot = slot + 1 == L::slots ? 0 : slot + 1;
    }
    ptx::wgmma_commit();
    end_products(sum);
  }
  /// Byte b of a lane's 16 of row h: its place in the sums.
  static __device__ constexpr int place(int b, int h) {
    return 4 * (b / 2) + 2 * h + b % 2;
  }
  __device__ __forceinline__ void store_row(const int (&sum)[32], int h, int at, int there, int y) const {
    std::uint32_t in[4] = {}, code[4];
    const bool reads = args.centre != 0;
    if (reads) {
      const std::uint8_t* from = plane.in + y * plane.in_stride + at;
      if (plane.wide && there >= 16) {
        const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
        in[0] = v.x, in[1] = v.y, in[2] = v.z, in[3] = v.w;
      } else {
#pragma unroll
        for (int b = 0; b < 16; ++b)
          if (b < there) in[b / 4] |= std::uint32_t{__ldg(from + b)} << b % 4 * 8;
      }
    }
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      float v[4];
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        const int of = sum[place(4 * w + b, h)];
        const float sample = __uint_as_float(__byte_perm(in[w], 0x4B000000, 0x7440 | b)) - 8388608.f;
        v[b] = value_of(of, sample, reads);
      }
      code[w] = pack_bytes(v[0], v[1], v[2], v[3]);
    }
    std::uint8_t* const to = plane.out + y * plane.out_stride + at;
    if (plane.wide && there >= 16) {
      *reinterpret_cast<uint4*>(to) = {code[0], code[1], code[2], code[3]};
    } else {
#pragma unroll
      for (int b = 0; b < 16; ++b)
        if (b < there) to[b] = static_cast<std::uint8_t>(code[b / 4] >> b % 4 * 8);
    }
  }
  __device__ __forceinline__ float value_of(int sum, float sample, bool reads) const {
    if (args.whole != 0) return __fmaf_rn(__int_as_float(sum), args.gain, -args.whole);
    float value = __int2float_rn(sum);
    if (reads) value = fmaf(args.centre, sample, value);
    if (args.divisor != 0) return remainder_value(value, args.gain, plane.level[0], args.divisor);
    return __fmaf_rn(value, args.gain, __fmul_rn(value, args.gain_low));
  }
};

/// A warpgroup that makes samples, maker `number` of a block.
template <class L>
__device__ __forceinline__ void make_strip(const L& layout, const Args& args, const Plane& plane, int left, int top,
                                           int steps, int number) {
  constexpr int delay = L::shape.slots_of_step() - 1;
  const Maker<L> maker(layout, args, plane);
  Ring<L::stages> stage(number);
  Ring<L::slots> slot(number);
  if (args.centre != 0 || plane.passthrough) pdl_wait();
#pragma unroll 1
  for (int step = number; step < steps; step += makers) {
    ptx::wait_for_phase(layout.full(stage.at), stage.parity);
    maker.filter_rows(stage.at, slot.at);
    if (step >= delay) {
      // V of the steps before, of other makers; one that waited for its own earlier step saw those before.
#pragma unroll
      for (int back = 0; back < makers; ++back) {
        const int at = slot.at - back;
        if (step >= back)
          ptx::wait_for_phase(layout.made(at < 0 ? at + L::slots : at), at < 0 ? slot.parity ^ 1 : slot.parity);
      }
      maker.filter_columns(slot.at, left, top + (step - delay) * step_rows);
    }
    stage.advance(makers);
    slot.advance(makers);
  }
}

/// A block's strip, where nothing of it is filtered.
__device__ __forceinline__ void copy_strip(const Plane& plane, int left, int top, int rows) {
  const int bytes = min(step_rows * plane.components, plane.row_bytes - left * plane.components);
  pdl_wait();
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * 16; i += blockDim.x) {
    const int y = top + i / 16, first = i % 16 * 16, end = min(first + 16, bytes);
    if (y >= plane.height) break;
    const std::ptrdiff_t at = left * plane.components;
    for (int b = first; b < end; ++b)
      plane.out[y * plane.out_stride + at + b] = __ldg(plane.in + y * plane.in_stride + at + b);
  }
}

template <int units>
__device__ __forceinline__ void filter_strip(const Args& args, const Plane& plane, std::uint8_t* memory) {
  using L = Layout<units>;
  const L layout{ptx::address_in_shared(memory)};
  const int block = blockIdx.x - plane.first_block, row = block / plane.strips_x;
  const int left = (block - row * plane.strips_x) * 64, top = row * plane.steps * step_rows;
  if (plane.passthrough == ~0u) return copy_strip(plane, left, top, plane.steps * step_rows);
  const int outputs = min(plane.steps, (plane.height - top + step_rows - 1) / step_rows);
  const int steps = outputs + L::shape.slots_of_step() - 1;
  if (threadIdx.x == 0) layout.init();
  __syncthreads();
  const int group = __shfl_sync(~0u, threadIdx.x >> 7, 0);
  if (group == makers) {
    ptx::give_registers<loader_registers>();
    load_strip(layout, args, plane, left, top, steps);
  } else {
    ptx::take_registers<maker_registers>();
    make_strip(layout, args, plane, left, top, steps, group);
  }
}

#endif

template <int units>
__global__ void __launch_bounds__(128 * (makers + 1), 1) group_kernel(const __grid_constant__ Args args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) std::uint8_t memory[];
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  const Plane& plane = args.plane[p];
  filter_strip<units>(args, plane, memory);
#endif
}

}  // namespace convolve::cuda::large_groups
