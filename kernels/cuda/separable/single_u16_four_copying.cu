// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernels in single precision for 16-bit samples, four components of which some are copied.
#include "cuda/separable/single_table.cuh"

namespace convolve::cuda {

const SingleKernels single_u16_four_copying =
    copying_kernels_of<std::uint16_t>(std::make_index_sequence<single_sizes.size()>{});

}  // namespace convolve::cuda
