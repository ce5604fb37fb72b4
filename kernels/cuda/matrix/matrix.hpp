// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algorithm `matrix`: banded matrix products on the tensor cores.
#pragma once

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

extern const Entry matrix;

}  // namespace convolve::cuda
