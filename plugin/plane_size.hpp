// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rows: how many a plane has, and the bytes of each, padding at its end left out.
#pragma once

#include <algorithm>

#include "convolve/plane.hpp"

namespace convolve {

inline int row_bytes(const FrameLayout& layout, int plane) {
  int samples = 0;
  for (int c = 0; c < layout.plane[plane].components; ++c) {
    const Component& k = layout.plane[plane].component[c];
    samples = std::max(samples, k.offset + (k.width - 1) * k.step + 1);
  }
  return samples * bytes_per_sample(layout.type);
}

inline int rows(const FrameLayout& layout, int plane) {
  int most = 0;
  for (int c = 0; c < layout.plane[plane].components; ++c)
    most = std::max(most, layout.plane[plane].component[c].height);
  return most;
}

}  // namespace convolve
