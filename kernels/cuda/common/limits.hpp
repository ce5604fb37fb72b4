// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The sizes of filters that most CUDA kernels are compiled for. An algorithm that serves larger ones says so in its
// Entry.
#pragma once

namespace convolve::cuda {

inline constexpr int max_taps = 15;  ///< on each axis, frames included

}  // namespace convolve::cuda
