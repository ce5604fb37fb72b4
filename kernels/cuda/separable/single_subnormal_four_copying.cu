// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernels in single precision for 16-bit samples that are read as subnormal floats, four components of
// which some are copied.
#include "cuda/separable/single_table.cuh"

namespace convolve::cuda {

const SingleKernels single_subnormal_four_copying =
    copying_kernels_of<SubnormalWord>(std::make_index_sequence<single_sizes.size()>{});

}  // namespace convolve::cuda
