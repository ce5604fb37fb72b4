// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The fast one of register's two kernels as its plan sees it: rows stream through a thread's sums. It serves 2D filters
// of up to 7x7 taps on planes whose rows are whole vectors; the register tile (tile.cuh) serves all the rest.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "convolve/plan.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/sample_plane.hpp"
#include "cuda/register/tuning.hpp"

namespace convolve::cuda {

struct RowStreamPlane {
  EdgeAxis columns, rows;
  int first_block, strips, bands;  ///< a warp's place: strips side by side, bands one above the other
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

struct RowStreamArgs : RowStreamFrame {
  float taps[row_stream_width * row_stream_width];  ///< [row][column] of a square
};
static_assert(sizeof(RowStreamArgs) <= 4096);

struct RowStreamKernel {
  void (*launch)(int capability, const RowStreamArgs& args, int blocks, cudaStream_t stream);
  int (*resident)();  ///< blocks on a multiprocessor, in the current context
};
/// Null where there is none for this type or this width class.
const RowStreamKernel* find_row_stream(SampleType type, PlaneMix mix, std::size_t width_class);

/// Grid and edges of args.plane, for `width` columns of taps and a kernel whose threads make pixels_of(components,
/// width) pixels of a row. Returns the number of blocks; 0 where such a kernel does not serve those planes.
int lay_out_row_stream(RowStreamFrame& args, Border border, SampleType type, int width,
                       int (*pixels_of)(int components, int width), int multiprocessors, int resident);

}  // namespace convolve::cuda
