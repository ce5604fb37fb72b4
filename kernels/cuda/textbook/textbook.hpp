// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels that a textbook begins with, kept to be read and to be measured against: each does one thing more than
// the one before it.
#pragma once

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

extern const Entry basic;
extern const Entry constant;
extern const Entry tiled;
extern const Entry cached_halo_seed;

}  // namespace convolve::cuda
