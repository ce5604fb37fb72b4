// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether a number is an integer: what most proofs of exactness begin with.
#pragma once

#include <cmath>

namespace convolve {

inline bool is_whole(double value) {
  return value == std::floor(value);
}

}  // namespace convolve
