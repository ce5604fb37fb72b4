// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The oracle of regions: what a frame is after an effect was confined to regions of it, by the definition alone.
//
// Like the oracle of filters it shares no code with kernels/. It visits every pixel for every sample, so frames are
// to be small. One component at a time, as a dense array of values.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle.hpp"

namespace oracle {

/// A region as the user gives it: a box in pixels, of any size and anywhere, NaN included.
struct Box {
  double x = 0, y = 0, w = 0, h = 0;
  bool ellipse = false;
  int mask_width = 0, mask_height = 0;  ///< 0: no mask
  std::vector<std::uint8_t> mask;       ///< not 0 where the region is; stretched over the box
};

enum class Effect { filter, blur, pixelate, fill };

struct Treatment {
  Effect effect = Effect::pixelate;
  bool outside = false;
  double grow = 0;
  int feather = 0;
  int cells = 6;
};

/// One component of a frame. A sample (x, y) covers the pixels from (x * step_x, y * step_y) on, step_x by step_y of
/// them, as far as the frame goes.
struct Sampling {
  int frame_width = 0, frame_height = 0;
  int step_x = 1, step_y = 1;
};

/// A box with its growth, in whole pixels: left <= x < right. Empty where it holds none.
struct WholeBox {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;
  bool empty() const { return left >= right || top >= bottom; }
};
WholeBox whole(const Box& box, double grow);

/// The weights, 0 to 256, of all samples of a component, and the region that each belongs to.
struct Weights {
  std::vector<int> weight, region;
};
Weights weights(const std::vector<Box>& boxes, const Treatment& treatment, const Sampling& sampling);

/// The component after the treatment. `filtered` is the whole component filtered, for Effect::filter; `fill` the code
/// value of Effect::fill.
Plane treat(const std::vector<Box>& boxes, const Treatment& treatment, const Sampling& sampling, const Plane& in,
            const Plane* filtered, int fill);

}  // namespace oracle
