// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of wide_ring.cuh, compute capability 9.0.
#include "cuda/separable/wide_kernels.cuh"
#include "cuda/separable/wide_ring.cuh"

namespace convolve::cuda::wide {
namespace {

template <PlaneMix mix, bool boxes = false>
Kernel kernel_by_ring() {
  constexpr int chunks = 5;
  using S = RingShape<mix, chunks, boxes>;
  return {wide_ring_kernel<mix, chunks, boxes>,
          chunks,
          S::groups,
          1,
          S::memory,
          S::pairs,
          boxes,
          true,
          S::stage_row,
          step_rows,
          S::out_bytes ? S::out_rows : 0,
          {strips_of<S>(), strips_of<S>()}};
}

}  // namespace

Kernel ring_kernel_of(PlaneMix mix, int chunks, bool boxes) {
  if (chunks != 5) return {};
  if (mix == PlaneMix::four) return boxes ? kernel_by_ring<PlaneMix::four, true>() : kernel_by_ring<PlaneMix::four>();
  if (mix == PlaneMix::three)
    return boxes ? kernel_by_ring<PlaneMix::three, true>() : kernel_by_ring<PlaneMix::three>();
  if (mix == PlaneMix::none) return boxes ? kernel_by_ring<PlaneMix::none, true>() : kernel_by_ring<PlaneMix::none>();
  return {};
}

}  // namespace convolve::cuda::wide
