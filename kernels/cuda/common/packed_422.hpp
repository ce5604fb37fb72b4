// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How packed 4:2:2 lies in memory: luma in every second sample of a row, two components of chroma in every fourth.
#pragma once

#include "convolve/plane.hpp"

namespace convolve::cuda {

/// The index of the component in every second sample; -1 where the plane has none.
inline int luma_index(const PlaneLayout& plane) {
  for (int c = 0; c < plane.components; ++c)
    if (plane.component[c].step == 2) return c;
  return -1;
}

/// True for one plane in which luma and chroma lie as packed 4:2:2 has them, of samples of any type. The last pair of
/// an odd row need not be whole in memory.
inline bool lies_as_packed_422(const FrameLayout& layout) {
  const PlaneLayout& plane = layout.plane[0];
  if (layout.planes != 1 || plane.components != 3) return false;
  const int luma = luma_index(plane);
  if (luma < 0 || plane.component[luma].offset > 1) return false;
  const Component& y = plane.component[luma];
  for (int c = 0; c < 3; ++c) {
    const Component& k = plane.component[c];
    if (c == luma) continue;
    if (k.step != 4 || k.offset > 3 || k.offset % 2 == y.offset || k.height != y.height || k.width != (y.width + 1) / 2)
      return false;
  }
  return true;
}

}  // namespace convolve::cuda
