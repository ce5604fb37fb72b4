// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The grid of kernels that stream rows: a warp goes down a strip of a plane row by row, and makes a range of its rows.
// What a warp does with a row is the kernel's own (register/row_stream.cuh, register/frame_stream.cu, bank/stream.cuh).
#pragma once

#include "convolve/plan.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/sample_plane.hpp"

namespace convolve::cuda {

/// Warps of a block, each on its own.
inline constexpr int row_stream_warps = 4;
/// Rows that are asked for before the stream is there.
inline constexpr int row_stream_prefetch = 4;

struct RowStreamPlane {
  EdgeAxis columns, rows;
  int first_block, strips, warps;  ///< warps go along the strips, then down to the next range of rows
  int alignment;                   ///< that addresses and strides need, in bytes
};

/// What every kernel that streams rows has of a frame.
struct RowStreamFrame {
  PlaneView in[max_planes], out[max_planes];
  SamplePlane plane[max_planes];
  RowStreamPlane grid[max_planes];
  SampleNumbers numbers;
  int planes;
  int rows;  ///< that a warp makes
};

/// Grid and edges of args.plane, for `width` columns of taps and a kernel whose threads make pixels_of(components,
/// width) pixels of a row. Returns the number of blocks; 0 where such a kernel does not serve those planes.
int lay_out_row_stream(RowStreamFrame& args, Border border, SampleType type, int width,
                       int (*pixels_of)(int components, int width), int multiprocessors, int resident);

}  // namespace convolve::cuda
