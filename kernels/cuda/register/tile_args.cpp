// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the register tile's kernels are given: taps padded to a width class, and the grid of each plane.
#include "cuda/register/tile_args.hpp"

#include <algorithm>
#include <cstdint>

#include "cuda/common/launch.hpp"

namespace convolve::cuda {
namespace {

/// Covers the planes with tiles. Returns their number.
int lay_out_register_tile(RegisterTileArgs& args, SampleType type, int width) {
  const int bytes = bytes_per_sample(type);
  std::int64_t blocks = 0;
  for (int p = 0; p < args.planes; ++p) {
    const SamplePlane& plane = args.plane[p];
    RegisterTilePlane& grid = args.grid[p];
    const int tile_width = 32 * 4 * register_groups(bytes, plane.components);
    const int tile_height = register_warps * register_rows(bytes, plane.components, width);
    grid.first_block = static_cast<int>(blocks);
    grid.blocks_x = (plane.width - 1) / tile_width + 1;
    grid.blocks_y = (plane.height - 1) / tile_height + 1;
    blocks += std::int64_t{grid.blocks_x} * grid.blocks_y;
    checked_blocks(blocks);
  }
  return static_cast<int>(blocks);
}

}  // namespace

PaddedFilter pad_filter(const Filter& filter) {
  PaddedFilter padded{};
  while (register_classes[padded.index] < 2 * filter.reach_x() + 1) ++padded.index;
  padded.width = register_classes[padded.index];
  const bool factors = combines_frames(filter);
  padded.sums = factors ? 1 : filter.depth();
  padded.combined = factors ? filter.depth() : 1;
  padded.square = 2 * filter.reach_y() + 1 <= padded.width;
  return padded;
}

void pad_taps(const std::vector<double>& coefficients, const Filter& filter, int width, int height, int top,
              float* to) {
  const int left = width / 2 - filter.centre_x();
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    const std::size_t x = i % filter.width(), row = i / filter.width();
    const std::size_t y = row % filter.height(), frame = row / filter.height();
    to[(frame * height + y + top) * width + x + left] = static_cast<float>(coefficients[i]);
  }
}

int fill_register_tile(RegisterTileArgs& args, const PlanDesc& desc, const Arithmetic& arithmetic,
                       const PaddedFilter& padded) {
  const FrameLayout& layout = desc.layout;
  const Filter& filter = desc.filter;
  args.planes = layout.planes;
  args.centre_t = filter.centre_t();
  args.centre_y = filter.centre_y();
  args.height = filter.height();
  args.sums = padded.sums;
  args.combined = padded.combined;
  args.border = desc.border;
  args.time[0] = 1;
  const std::vector<double> weights = frame_weights(filter, arithmetic);
  std::copy(weights.begin(), weights.end(), args.time);
  pad_taps(spatial_coefficients(filter, arithmetic), filter, padded.width, filter.height(), 0, args.taps);
  for (int p = 0; p < layout.planes; ++p) args.plane[p] = make_sample_plane(layout, layout.plane[p], arithmetic);
  args.numbers = by_remainder(make_sample_numbers(layout, arithmetic));
  return lay_out_register_tile(args, layout.type, padded.width);
}

}  // namespace convolve::cuda
