// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The cases of conformance_regions: regions, and what is done to them, over a layout. The same seed gives the same case
// everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convolve/region.hpp"
#include "layouts.hpp"
#include "oracle_regions.hpp"

namespace conformance {

struct RegionCase {
  std::string name;
  const LayoutRow* row = nullptr;
  int width = 0, height = 0;
  convolve::FrameLayout layout;
  std::vector<oracle::Box> boxes;
  oracle::Treatment treatment;
  convolve::RegionTreatment asked;
};

/// A small frame, and anything that may come of regions in it.
RegionCase random_region_case(std::uint64_t seed);
/// Large enough for several workers and many blocks: many regions, which overlap.
RegionCase large_region_case(std::uint64_t seed);
/// A small frame, and many regions on top of each other, so that a map of owners is made of them.
RegionCase crowded_region_case(std::uint64_t seed);
/// Rectangles, each in a part of the frame of its own. They may touch each other, and the frame's ends.
RegionCase apart_region_case(std::uint64_t seed);

}  // namespace conformance
