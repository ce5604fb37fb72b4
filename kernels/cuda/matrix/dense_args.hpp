// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the plans of `matrix` with dense products of bytes have in common: of planes one by one (dense.cu) and of packed
// 4:2:2 (packed_422.cu). Host code only.
#pragma once

#include <memory>
#include <vector>

#include "convolve/filter.hpp"
#include "cuda/common/entry.hpp"
#include "cuda/matrix/dense.cuh"
#include "cuda/matrix/taps.hpp"

namespace convolve::cuda {

/// True where each frame of the filter has no more taps than the dense kernels are compiled for.
bool fits_dense(const Filter& filter);
/// The rows above or below the centre that a dense kernel has; the least that there are kernels for is one.
int dense_radius(const Filter& filter);

/// Sets what arguments of any kernel of `matrix` for bytes have of a filter and its taps.
template <class Args>
void set_filter(Args& args, const PlanDesc& desc, const MatrixTaps& taps) {
  args.taps_x = desc.filter.width();
  args.taps_y = desc.filter.height();
  args.centre_x = desc.filter.centre_x();
  args.centre_y = desc.filter.centre_y();
  args.gain = taps.gain;
  args.gain_low = taps.gain_low;
  args.epilogue = taps.epilogue;
  args.border = desc.border;
}
/// Sets all of `args` that the filter and its taps decide, but for what lies in device memory.
void set_dense_filter(MatrixArgs& args, const PlanDesc& desc, const MatrixTaps& taps);
/// The levels of each of args.planes planes, which are set by then.
std::vector<MatrixLevels> dense_levels(const MatrixTaps& taps, const MatrixArgs& args);

/// The plan of the kernels of dense.cu (dense_plan.cpp), for a filter over one frame that fits_dense().
std::unique_ptr<Plan> make_matrix_dense(const Device& device, const PlanDesc& desc, const MatrixTaps& taps);

}  // namespace convolve::cuda
