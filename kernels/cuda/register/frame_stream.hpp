// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row stream of `register` over several frames, of single components of floats, as its plan sees it.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/limits.hpp"
#include "cuda/register/row_stream.hpp"
#include "cuda/register/tile_args.hpp"

namespace convolve::cuda {

struct FrameStreamArgs {
  PlaneView in[max_taps][max_planes], out[max_planes];  ///< a plane's strides are the same in all frames
  SamplePlane plane[max_planes];
  RowStreamPlane grid[max_planes];
  SampleNumbers numbers;
  int planes, frames, centre_t;
  int rows;                      ///< that a warp makes
  float taps[max_coefficients];  ///< [frame][row][column] of squares
};
static_assert(sizeof(FrameStreamArgs) <= 4096);

struct FrameStreamKernel {
  void (*launch)(int capability, const FrameStreamArgs& args, int blocks, cudaStream_t stream);
  int (*resident)();  ///< blocks on a multiprocessor, in the current context
};
/// Null where there is none: for other samples, or more taps than there is room for.
const FrameStreamKernel* find_frame_stream(SampleType type, const PaddedFilter& padded);

}  // namespace convolve::cuda
