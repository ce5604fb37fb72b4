// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a file single_*.cu makes its tables of kernels: one for each size.
#pragma once

#include <type_traits>
#include <utility>

#include "cuda/separable/single.cuh"

namespace convolve::cuda {

/// Subnormal samples are of rank 1. Bytes are the tensor cores' as a rule: of several terms there is but the largest,
/// for taps that `matrix` does not hold, except where there are three components.
template <class Sample, PlaneMix mix, SingleSize size>
constexpr SingleKernel single_kernel_of() {
  if constexpr ((sizeof(Sample) == 1 && mix != PlaneMix::three && size.terms > 1 && size.width < max_taps) ||
                (is_subnormal<Sample> && size.terms > 1)) {
    return {};
  } else {
    constexpr int shared = 4 * single_shared<Sample, max_components_of(mix), size.width>(size.terms);
    const auto kernel = []<SingleFrames frames>(std::integral_constant<SingleFrames, frames>) {
      return single_kernel<Sample, mix, size.width, size.terms, frames>;
    };
    if constexpr (size.terms == 1) {
      return {kernel(std::integral_constant<SingleFrames, SingleFrames::one>{}),
              kernel(std::integral_constant<SingleFrames, SingleFrames::several>{}), shared};
    } else {  // several frames of a higher rank are rare
      const auto any = kernel(std::integral_constant<SingleFrames, SingleFrames::any>{});
      return {any, any, shared};
    }
  }
}
template <class Sample, PlaneMix mix, std::size_t... n>
constexpr SingleKernels single_kernels_of(std::index_sequence<n...>) {
  return {single_kernel_of<Sample, mix, single_sizes[n]>()...};
}
template <class Sample, PlaneMix mix>
constexpr SingleKernels single_kernels =
    single_kernels_of<Sample, mix>(std::make_index_sequence<single_sizes.size()>{});

/// The kernels of four components that copy some: of rank 1 alone.
template <class Sample, SingleSize size>
constexpr SingleKernel copying_kernel_of() {
  if constexpr (size.terms == 1)
    return {single_copying_kernel<Sample, size.width, SingleFrames::one>,
            single_copying_kernel<Sample, size.width, SingleFrames::several>,
            4 * single_shared<Sample, 4, size.width>(1)};
  else
    return {};
}
template <class Sample, std::size_t... n>
constexpr SingleKernels copying_kernels_of(std::index_sequence<n...>) {
  return {copying_kernel_of<Sample, single_sizes[n]>()...};
}

}  // namespace convolve::cuda
