// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of wide.cuh for boxes, compute capability 9.0.
#include "cuda/separable/wide_kernels.cuh"

namespace convolve::cuda::wide {

Kernel box_kernel_of(PlaneMix mix, int chunks) {
  return kernel_of<RowTaps::ones>(mix, chunks);
}

}  // namespace convolve::cuda::wide
