// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FoundRegion: a region as it came with a frame, before it is rounded to pixels. May be held for later frames.
#pragma once

#include <memory>

#include "convolve/region.hpp"

namespace convolve {

struct FoundRegion {
  double x = 0, y = 0, width = 0, height = 0;  ///< pixels, from the corner that its source counts from
  std::shared_ptr<const RegionMask> mask;      ///< the part of the box that it is; null: as region-shape has it
  bool grown = false;                          ///< region-grow is in the box and the mask already
};

}  // namespace convolve
