// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The link between host and device: what bounds frames that come from and go to system memory.
#pragma once

#include <cstddef>

namespace convolve::bench {

/// Medians, of page-locked copies of `bytes`.
struct LinkTimes {
  double to_device_us, from_device_us;
  double both_us;  ///< one each way at once, on two streams, until both are done
};

/// True where this build and this machine have CUDA.
bool have_link();
LinkTimes measure_link(std::size_t bytes, int runs);

}  // namespace convolve::bench
