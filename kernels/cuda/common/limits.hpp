// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The sizes of filters that most CUDA kernels are compiled for. An algorithm that serves larger ones says so in its
// Entry.
#pragma once

#include "convolve/filter.hpp"

namespace convolve::cuda {

inline constexpr int max_taps = 15;  ///< on each axis, frames included

inline bool is_over_max_taps(const Filter& filter) {
  return filter.height() > max_taps || filter.width() > max_taps;
}

}  // namespace convolve::cuda
