// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// AreaMerger: makes rectangles that overlap into rectangles that do not, in time that grows with their number and with
// the size of the frame, never with the square of either.
//
// The frame is cut into tiles. Each tile keeps the bounds of what the rectangles cover in it. Neighbouring tiles of a
// row with something in them are one run, and a run that has the same columns of tiles as one in the row above
// lengthens that. What comes out are the bounds of those runs: a rectangle that stands alone comes out as it is.
//
//      . a a b .      tiles with something in them, and the rectangles made of them:
//      . a a b .      one of three columns and two rows, and one of two columns and one row
//      c c . . .
#pragma once

#include <span>
#include <vector>

#include "convolve/plane.hpp"

namespace convolve {

class AreaMerger {
 public:
  static constexpr int tile = 32;  ///< pixels
  static constexpr int step = 4;   ///< results are made of whole blocks of so many pixels, but for the frame's end

  /// What covers `areas`, as far as they lie on a frame of that size, without overlap. Valid until the next call.
  /// Allocates where the frame or their number is larger than ever before.
  std::span<const PixelRect> merge(std::span<const PixelRect> areas, int width, int height);

 private:
  struct Run {
    int first, last;    ///< tiles
    std::size_t index;  ///< its rectangle
  };
  void mark(const PixelRect& area, int columns);

  std::vector<PixelRect> tiles_;
  std::vector<Run> above_, row_;
  std::vector<PixelRect> merged_;
};

}  // namespace convolve
