// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of wide_ring.cuh, compute capability 9.0.
#include "cuda/separable/wide_kernels.cuh"
#include "cuda/separable/wide_ring.cuh"

namespace convolve::cuda::wide {
namespace {

template <PlaneMix mix, RowTaps row>
Kernel kernel_by_ring() {
  constexpr int chunks = 5;
  using S = RingShape<mix, chunks, row>;
  return {wide_ring_kernel<mix, chunks, row>,
          chunks,
          S::groups,
          1,
          S::memory,
          S::pairs,
          row,
          true,
          S::stage_row,
          step_rows,
          S::out_bytes ? S::out_rows : 0,
          {strips_of<S>(), strips_of<S>()}};
}

template <RowTaps row>
Kernel kernel_by_ring(PlaneMix mix) {
  if (mix == PlaneMix::four) return kernel_by_ring<PlaneMix::four, row>();
  if (mix == PlaneMix::three) return kernel_by_ring<PlaneMix::three, row>();
  return mix == PlaneMix::none ? kernel_by_ring<PlaneMix::none, row>() : Kernel{};
}

}  // namespace

Kernel ring_kernel_of(PlaneMix mix, int chunks, RowTaps row) {
  if (chunks != 5) return {};
  switch (row) {
    case RowTaps::halves:
      return kernel_by_ring<RowTaps::halves>(mix);
    case RowTaps::bytes:
      return kernel_by_ring<RowTaps::bytes>(mix);
    case RowTaps::ones:
      return kernel_by_ring<RowTaps::ones>(mix);
  }
  return {};
}

}  // namespace convolve::cuda::wide
