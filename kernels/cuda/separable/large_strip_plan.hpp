// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Strips (large_strips.cuh) as LargePlan launches them: which kernel takes a filter in, and how rows are dealt out.
#pragma once

#include "convolve/filter.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/large.hpp"

namespace convolve::cuda::large {

/// A kernel for strips: of filters of up to so many units of so many pixels or rows.
struct StripKernel {
  int unit, units;
  void (*kernel)(Args);
  void (*plain)(Args);  ///< for what is_plain()
  int taps_bytes, stages;
  bool goes_on, skewed;
};
/// The smallest that takes the filter in; none: no kernel. PlaneMix::none is packed 4:2:2.
StripKernel strip_kernel_of(LargeNumbers numbers, const Filter& filter, PlaneMix mix);

int strip_width(int components);

/// Shared memory of a block of them, of a plane of so many components; of packed 4:2:2 four.
int strip_memory(const StripKernel& strip, int centre_x, int components);

/// Deals the strips of all planes out to at most as many blocks as are resident at once, if it can; how many blocks
/// there are. By strip, the planes whose shares are the largest get a block more a strip as long as there are enough.
/// Otherwise all strips of a plane are one sequence, with a gap before each, and shares differ by one unit at most.
unsigned deal_strips(Args& args, const StripKernel& strip, int resident);

/// Whether strips need none of what a filter does at times: a tap at the centre, components that are copied beside
/// others, quotients that find_whole() does not serve, lanes that store a part of what they make. If addresses allow
/// it, that is.
bool is_plain(const Args& args, LargeNumbers numbers);

}  // namespace convolve::cuda::large
