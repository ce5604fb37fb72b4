// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The sizes of filters that the CUDA kernels are compiled for. The backend refuses larger ones.
#pragma once

namespace convolve::cuda {

inline constexpr int max_taps = 15;  ///< on each axis, frames included

}  // namespace convolve::cuda
