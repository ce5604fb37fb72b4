// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of wide.cuh, for plans: which of them takes planes and chunks of 64 rows. Host code only.
#pragma once

#include <algorithm>

#include "cuda/separable/wide.cuh"
#include "cuda/separable/wide_tables.hpp"

namespace convolve::cuda::wide {

template <class S>
constexpr Strips strips_of() {
  static_assert(S::memory <= 227 << 10);
  return {S::C, S::pixels, S::piece_pixels,   S::window, S::C == 4 ? 4 : S::pixels / 4,
          S::C, S::tiles,  S::start_products, S::edges,  S::bands};
}

struct Kernel {
  void (*kernel)(Args) = nullptr;
  int chunks = 0, groups = 0, resident = 0, memory = 0;
  bool pairs = false;
  RowTaps row = RowTaps::halves;
  bool ring = false;                      ///< wide_ring.cuh
  int tile_row_bytes = 0, tile_rows = 0;  ///< of tiles, or of a ring's stages, as they are copied
  int out_rows = 0;                       ///< of tiles of samples
  Strips strips[2];                       ///< of one component, or all; of two
  int second_tile_row_bytes = 0;          ///< of planes of two components
  bool boxes() const { return row == RowTaps::ones; }
  const Strips& of(int components) const { return strips[strips[1].components == components]; }
};
/// Of boxes: wide_boxes.cu.
Kernel box_kernel_of(PlaneMix mix, int chunks);
/// Of frames whose border repeats the edge, where rows come to a ring: wide_ring.cu. Null where others are as fast.
Kernel ring_kernel_of(PlaneMix mix, int chunks, RowTaps row);

/// Deals out blocks of strips with edges: those that have tables of their own are fewer steps a block, and come behind
/// the others, where there are multiprocessors for all at once. Returns how many blocks there are.
inline std::int64_t deal_edge_strips(Args& args, int multiprocessors) {
  Plane& plane = args.plane[0];
  plane.low_strips = std::min(plane.low_strips, plane.strips);
  plane.high_strip = std::clamp(plane.high_strip, plane.low_strips, plane.strips);
  const int all = ceil_div(plane.height, step_rows), inner = plane.high_strip - plane.low_strips;
  const int bands = ceil_div(all, plane.steps), edge = plane.strips - inner;
  if (edge == 0 || inner * bands + edge * (bands + 1) > multiprocessors) return std::int64_t{plane.strips} * bands;
  args.edge_block = inner * bands, args.edge_steps = ceil_div(all, bands + 1);
  return args.edge_block + std::int64_t{edge} * ceil_div(all, args.edge_steps);
}

template <PlaneMix mix, int chunks, RowTaps row>
Kernel kernel_of() {
  if constexpr (row == RowTaps::ones && !is_faster_for_boxes(mix, chunks))
    return {};
  else {
    constexpr bool pairs = mix == PlaneMix::none;
    constexpr int first = mix == PlaneMix::one_and_two ? 1 : pairs ? 4 : max_components_of(mix);
    constexpr int second = mix == PlaneMix::one_and_two ? 2 : first;
    using First = ShapeOf<mix, chunks, first, row>;
    using Second = ShapeOf<mix, chunks, second, row>;
    return {wide_kernel<mix, chunks, row>,
            chunks,
            First::groups,
            resident_of(mix, chunks),
            std::max(First::memory, Second::memory),
            pairs,
            row,
            false,
            First::tiles ? First::tile_pitch : 0,
            16,
            First::out_bytes ? First::out_rows : 0,
            {strips_of<First>(), strips_of<Second>()},
            Second::tiles ? Second::tile_pitch : 0};
  }
}
template <PlaneMix mix, RowTaps row>
Kernel kernel_of(int chunks) {
  if (chunks == 2) return kernel_of<mix, 2, row>();
  if (chunks == 3) return kernel_of<mix, 3, row>();
  return chunks == 4 ? kernel_of<mix, 4, row>() : kernel_of<mix, 5, row>();
}
template <RowTaps row>
Kernel kernel_of(PlaneMix mix, int chunks) {
  switch (mix) {
    case PlaneMix::one:
      return kernel_of<PlaneMix::one, row>(chunks);
    case PlaneMix::one_and_two:
      return kernel_of<PlaneMix::one_and_two, row>(chunks);
    case PlaneMix::three:
      return kernel_of<PlaneMix::three, row>(chunks);
    case PlaneMix::four:
      return kernel_of<PlaneMix::four, row>(chunks);
    case PlaneMix::none:  // packed 4:2:2
      return kernel_of<PlaneMix::none, row>(chunks);
  }
  return {};
}

}  // namespace convolve::cuda::wide
