// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernel in single precision as its plan sees it: the arguments, and the tables of what was compiled.
//
// Its many sizes are compiled in several files, single_*.cu, side by side: together they take minutes a chip.
#pragma once

#include <array>

#include "convolve/arithmetic.hpp"
#include "convolve/border.hpp"
#include "convolve/plane.hpp"
#include "cuda/common/limits.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/tuning.hpp"

namespace convolve::cuda {

struct SinglePlane {
  int first_block, tiles_x;
  bool vectors, out_vectors;  ///< addresses and strides allow to read a span at once, and to write a group
};

/// What a component is filtered by where others are copied: a copied one by a single tap of 1, so that its samples come
/// out as they went in. Row passes know `copied`.
struct ComponentNumbers {
  float time[max_taps], column[max_taps];
  float gain, gain_low, divisor;
  bool copied;
};

struct SingleArgs {
  PlaneView in[max_taps][max_planes], out[max_planes];  ///< null data: a frame of ghost cells
  SamplePlane plane[max_planes];
  SinglePlane grid[max_planes];
  SampleNumbers numbers;
  Border border;
  int planes, frames, centre_t;
  float time[max_taps];
  float row[max_terms][max_taps], column[max_terms][max_taps];  ///< centred in, and padded to, the size class
  ComponentNumbers component[4];                                ///< of kernels that copy
};
static_assert(sizeof(SingleArgs) <= 4096);

/// Rows of a tile.
constexpr int single_rows(int terms) {
  return SingleTile::warps * SingleTile::made(terms);
}
/// What a kernel is compiled for: one frame, several, or whichever its plan has.
enum class SingleFrames : std::uint8_t { one, several, any };
struct SingleKernel {
  void (*run)(SingleArgs) = nullptr;      ///< of one frame. Null: this size is not compiled.
  void (*combine)(SingleArgs) = nullptr;  ///< of several
  int shared = 0;                         ///< bytes of shared memory that either asks for
};
/// The kernels of one sample type and mix of planes, in the order of single_sizes.
using SingleKernels = std::array<SingleKernel, single_sizes.size()>;

/// The tables, by sample type and what the planes hold.
extern const SingleKernels single_u8_one, single_u8_one_and_two, single_u8_four, single_u8_three;
extern const SingleKernels single_u16_one, single_u16_one_and_two, single_u16_four;
/// Tables of rank 1 for samples that are read as subnormal floats, where folded_planes() has their levels.
extern const SingleKernels single_subnormal_one, single_subnormal_one_and_two, single_subnormal_four;
/// Tables of rank 1 for planes of which some components are copied and samples have all their 16 bits.
extern const SingleKernels single_u16_four_copying, single_subnormal_four_copying;
extern const SingleKernels single_f32_one;

}  // namespace convolve::cuda
