// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row stream of `register` as its plan sees it: rows stream through a thread's sums. It serves 2D filters of up to
// 7x7 taps on planes whose rows are whole vectors; the register tile (tile.cuh) serves other planes, and is slower.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cuda/common/row_stream.hpp"
#include "cuda/register/tuning.hpp"

namespace convolve::cuda {

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
/// Finds the kernel for 16-bit samples that are read as subnormal floats, with planes that folded_planes() makes.
const RowStreamKernel* find_subnormal_row_stream(PlaneMix mix, std::size_t width_class);

}  // namespace convolve::cuda
