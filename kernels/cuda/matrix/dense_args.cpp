// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/matrix/dense_args.hpp"

#include <algorithm>

#include "cuda/matrix/dense_tuning.hpp"

namespace convolve::cuda {

bool fits_dense(const Filter& filter) {
  return filter.reach_y() <= dense_radius_max && filter.reach_x() <= dense_margin;
}

int dense_radius(const Filter& filter) {
  return std::max(1, filter.reach_y());
}

void set_dense_filter(MatrixArgs& args, const PlanDesc& desc, const MatrixTaps& taps) {
  set_filter(args, desc, taps);
  args.gain_high = 256 * taps.gain;
}

std::vector<MatrixLevels> dense_levels(const MatrixTaps& taps, const MatrixArgs& args) {
  std::vector<MatrixLevels> all(args.planes);
  const bool real = taps.epilogue == Epilogue::separate_limbs, reading = taps.epilogue == Epilogue::magic_number;
  for (unsigned p = 0; p < args.planes; ++p) {
    MatrixLevels& levels = all[p];
    const unsigned ghost = args.plane[p].ghost;
    levels.ghosts = {ghost, ghost, ghost, ghost};
    for (int c = 0; c < max_components; ++c) {
      const int start = real ? taps.real_start : taps.start[p][c];
      levels.start[c] = {start, start, start, start};
      levels.base[c] = reading ? -0x1p23f * taps.gain : taps.base[p][c];
      levels.level[c] = taps.level[p][c];
      levels.sum_start[c] = taps.start[p][c] - (reading ? float_bits : 0);
    }
  }
  return all;
}

bool serves_planes(const PlanDesc& desc, std::string& why) {
  const FrameLayout& layout = desc.layout;
  const int components = max_components_of(layout);
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneLayout& plane = layout.plane[p];
    if (!plane.uniform() || (components > 2 && plane.components != components)) {
      why = "unevenly interleaved planes, or planes of three or four components beside others";
      return false;
    }
  }
  const bool whole_ghosts = all_filtered(layout, [&](const Component& component, int, int) {
    const double ghost = component.ghost;
    return ghost == static_cast<int>(ghost) && ghost >= 0 && ghost <= layout.max_value();
  });
  if (!has_ghost_cells(desc.border) || whole_ghosts) return true;
  why = "a border value that is no whole code value";
  return false;
}

void set_plane(MatrixPlane& plane, const PlaneLayout& layout, Border border) {
  plane.width = layout.component[0].width;
  plane.height = layout.component[0].height;
  plane.across = edge_axis(border, plane.width);
  plane.down = edge_axis(border, plane.height);
  plane.components = static_cast<std::uint8_t>(layout.components);
  const PlaneMasks masks = plane_masks(layout);
  plane.ghost = masks.ghost;
  plane.passthrough = masks.passthrough;
  plane.passthrough_components = masks.passthrough_components;
}

unsigned set_dense_tiles(MatrixPlane& plane, int rows, bool aligned) noexcept {
  // A width that is no multiple of four leaves out the columns whose inputs reach a side.
  const int odd = plane.width & 3;
  plane.left = odd ? dense_margin : 0;
  plane.right = odd ? plane.width - dense_margin - odd : plane.width;
  if (aligned && plane.right - plane.left >= matrix_tile_width && plane.height >= rows) {
    plane.tiles_x = static_cast<unsigned>((plane.right - 1) / matrix_tile_width + 1);
    plane.tiles = plane.tiles_x * static_cast<unsigned>((plane.height - 1) / rows + 1);
    plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.tiles_x - 1) / plane.tiles_x);
  } else {
    plane.left = plane.right = 0;
    plane.tiles = 0;
  }
  const std::int64_t columns = plane.left + plane.width - plane.right;
  plane.edge_blocks =
      static_cast<unsigned>((columns * plane.height * plane.components + 32 * dense_warps - 1) / (32 * dense_warps));
  return plane.edge_blocks + (plane.tiles + dense_warps - 1) / dense_warps;
}

}  // namespace convolve::cuda
