// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What register's two kernels share: `march` streams rows through a thread's sums, fast, for 2D filters of up to 7x7
// on planes whose rows are whole vectors; `patch` serves all the rest.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"
#include "cuda/edge.cuh"
#include "cuda/register_tuning.hpp"

namespace convolve::cuda {

struct RegisterPlane {
  int width, height;  ///< pixels
  int components;
  bool keeps;               ///< some components are not filtered:
  std::uint32_t kept[3];    ///< their bits in a row's words, repeating after three words (of three components) or two
  float zero[4], ghost[4];  ///< ghost: less zero
  float offset[4];          ///< the quantizer's offset; where a product divides, with its snap
};

/// The sample type's numbers, and the quantizer's that all components share.
struct RegisterNumbers {
  int shift;
  float gain, snap, max;
  float divisor;  ///< by which remainder_value() divides; 0: a product does. Of 16-bit samples
};

struct MarchPlane {
  EdgeAxis columns, rows;
  int first_block, strips, bands;  ///< a warp's place: strips side by side, bands one above the other
  int alignment;                   ///< that addresses and strides need, in bytes
};

struct MarchArgs {
  PlaneView in[max_planes], out[max_planes];
  RegisterPlane plane[max_planes];
  MarchPlane grid[max_planes];
  RegisterNumbers numbers;
  int planes;
  int rows;                               ///< that a warp makes
  float taps[march_width * march_width];  ///< [row][column] of a square
};
static_assert(sizeof(MarchArgs) <= 4096);

struct MarchKernel {
  void (*launch)(int capability, const MarchArgs& args, int blocks, cudaStream_t stream);
  int (*resident)();  ///< blocks on a multiprocessor, in the current context
};
/// `components` as register's kernels count them. Null where there is none for this type or this width class.
const MarchKernel* find_march(SampleType type, int components, std::size_t width_class);

/// Grid and edges of args.plane, for `width` columns of taps. Returns the number of blocks; 0 where march does not
/// serve those planes.
int lay_out_march(MarchArgs& args, Border border, SampleType type, int width, int multiprocessors, int resident);

}  // namespace convolve::cuda
