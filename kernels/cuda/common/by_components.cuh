// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From the number of a plane's components to code that is compiled for it, in kernels that are compiled for a mix.
#pragma once

#include <type_traits>

#include "cuda/common/sample_plane.hpp"

namespace convolve::cuda {

/// Calls what(std::integral_constant of the number) for a plane of so many components, in a frame of that mix.
template <PlaneMix mix, class What>
__device__ __forceinline__ void by_components(int components, const What& what) {
  if (mix == PlaneMix::one_and_two && components == 1)
    what(std::integral_constant<int, 1>{});
  else
    what(std::integral_constant<int, max_components_of(mix)>{});
}

}  // namespace convolve::cuda
