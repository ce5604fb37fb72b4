// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algorithm `separable`: a column pass and a row pass, both on chip.
#pragma once

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

extern const Entry separable;

}  // namespace convolve::cuda
