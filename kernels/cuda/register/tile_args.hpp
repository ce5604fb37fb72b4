// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the register tile's kernels are given, and how a plan fills it in: host code, compiled once and tested without a
// GPU.
#pragma once

#include <cstddef>
#include <vector>

#include "convolve/plan.hpp"
#include "cuda/common/limits.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/register/tuning.hpp"

namespace convolve::cuda {

inline constexpr int max_coefficients = 448;  ///< parameters stay within 4 KB

struct RegisterTilePlane {
  int first_block, blocks_x, blocks_y;
  bool vectors, out_vectors;  ///< addresses and strides allow a group of pixels at once
};

struct RegisterTileArgs {
  PlaneView in[max_taps][max_planes];
  PlaneView out[max_planes];
  SamplePlane plane[max_planes];
  RegisterTilePlane grid[max_planes];
  SampleNumbers numbers;
  int planes, centre_t, centre_y;
  int height;          ///< of the filter
  int sums, combined;  ///< frames that have coefficients of their own; frames that are added up while they are loaded
  Border border;
  float time[max_taps];          ///< weights of the combined frames
  float taps[max_coefficients];  ///< [frame][row][column], the columns padded to the class
};
static_assert(sizeof(RegisterTileArgs) <= 4096);

/// How a filter is given to register's kernels: padded to a width class.
struct PaddedFilter {
  std::size_t index;   ///< into register_classes
  int width;           ///< taps of a row
  int sums, combined;  ///< as in RegisterTileArgs
  bool square;         ///< no taller than `width`: what the row stream serves
};
PaddedFilter pad_filter(const Filter& filter);

/// Copies coefficients [frame][row][column] to `to`, whose rows have `width` taps and whose frames have `height` rows,
/// with the filter's centre in the middle column, and its first row in row `top`. The rest of `to` stays as it is.
void pad_taps(const std::vector<double>& coefficients, const Filter& filter, int width, int height, int top, float* to);

/// Everything but the planes' addresses and what they allow. Returns the number of blocks; throws PlanError where that
/// is more than a launch may have.
int fill_register_tile(RegisterTileArgs& args, const PlanDesc& desc, const Arithmetic& arithmetic,
                       const PaddedFilter& padded);

}  // namespace convolve::cuda
