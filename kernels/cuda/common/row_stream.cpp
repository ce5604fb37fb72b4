// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row stream's grid: how many rows a warp makes, and which planes are served at all.
#include "cuda/common/row_stream.hpp"

#include <algorithm>
#include <limits>

#include "cuda/common/launch.hpp"

namespace convolve::cuda {
namespace {

/// Warps of a multiprocessor that hide each other's latencies.
constexpr int row_stream_enough = 22;

/// Rows that a warp makes. Each takes `halo` more, so many are better than few; but a multiprocessor runs `resident`
/// blocks at a time, and takes no less time over warps too few to hide each other's latencies than over
/// `row_stream_enough`.
int choose_rows(const RowStreamFrame& args, int width, int multiprocessors, int resident) {
  constexpr int most = 32;
  const int halo = width / 2 * 2;
  const auto time_of = [](std::int64_t blocks) {
    return blocks == 0 ? 0 : std::max<std::int64_t>(blocks * row_stream_warps, row_stream_enough);
  };
  int best = 1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int rows = most - halo; rows > 0; --rows) {
    std::int64_t blocks = 0;
    for (int p = 0; p < args.planes; ++p)
      blocks += ceil_div(args.grid[p].strips * ceil_div(args.plane[p].height, rows), row_stream_warps);
    const std::int64_t each = (blocks - 1) / multiprocessors + 1;
    const std::int64_t cost = (each / resident * time_of(resident) + time_of(each % resident)) * (rows + halo);
    if (cost < least) least = cost, best = rows;
  }
  return best;
}

}  // namespace

int lay_out_row_stream(RowStreamFrame& args, Border border, SampleType type, int width,
                       int (*pixels_of)(int components, int width), int multiprocessors, int resident) {
  for (int p = 0; p < args.planes; ++p) {
    const SamplePlane& plane = args.plane[p];
    const int span = pixels_of(plane.components, width);
    if (plane.width % span != 0 || !edge_folds_once(plane.height, width / 2)) return 0;
    // The kernel takes no zero level from floats, for speed.
    if (type == SampleType::f32 && plane.zero[0] != 0) return 0;
    args.grid[p].alignment = group_alignment(span * plane.components * bytes_per_sample(type));
    args.grid[p].columns = edge_axis(border, plane.width);
    args.grid[p].rows = edge_axis(border, plane.height);
    args.grid[p].strips = ceil_div(plane.width, 32 * span);
  }
  args.rows = choose_rows(args, width, multiprocessors, resident);
  std::int64_t blocks = 0;
  for (int p = 0; p < args.planes; ++p) {
    RowStreamPlane& grid = args.grid[p];
    grid.first_block = static_cast<int>(blocks);
    const std::int64_t warps = std::int64_t{grid.strips} * ceil_div(args.plane[p].height, args.rows);
    grid.warps = static_cast<int>(warps);
    blocks += (warps - 1) / row_stream_warps + 1;
    if (blocks * row_stream_warps > std::numeric_limits<int>::max()) return 0;
  }
  return static_cast<int>(blocks);
}

}  // namespace convolve::cuda
