// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algorithm `cached-halo`: a tile and its halo in shared memory.
#pragma once

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

extern const Entry cached_halo;

}  // namespace convolve::cuda
