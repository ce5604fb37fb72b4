// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algorithm `register`: sums stay in registers while the rows of the frame stream by.
#pragma once

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

extern const Entry register_;

}  // namespace convolve::cuda
