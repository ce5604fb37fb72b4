// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of wide_ring.cuh, compute capability 9.0.
#include "cuda/separable/wide_kernels.cuh"
#include "cuda/separable/wide_ring.cuh"

namespace convolve::cuda::wide {
namespace {

template <PlaneMix mix>
Kernel kernel_by_ring() {
  constexpr int chunks = 5;
  using S = RingShape<mix, chunks>;
  return {wide_ring_kernel<mix, chunks>,
          chunks,
          S::groups,
          1,
          S::memory,
          false,
          false,
          true,
          S::stage_row,
          step_rows,
          S::out_bytes ? S::out_rows : 0,
          {strips_of<S>(), strips_of<S>()}};
}

}  // namespace

Kernel ring_kernel_of(PlaneMix mix, int chunks) {
  if (chunks != 5) return {};
  if (mix == PlaneMix::four) return kernel_by_ring<PlaneMix::four>();
  return mix == PlaneMix::three ? kernel_by_ring<PlaneMix::three>() : Kernel{};
}

}  // namespace convolve::cuda::wide
