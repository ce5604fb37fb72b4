// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frame layouts that the cases run over. A new one is a row of the table in layouts.cpp.
#pragma once

#include <span>

#include "convolve/plane.hpp"

namespace conformance {

struct LayoutRow {
  const char* name;
  convolve::SampleType type;
  int bits, shift;
  /// Planes, a blank between them; a letter a component: Y luma of limited range, G grey, red, green or blue, C chroma,
  /// A alpha; small letters are copied. "/xy" divides a plane's size. YUYV and UYVY are 4:2:2 packed.
  const char* planes;
};

std::span<const LayoutRow> layouts();

/// What the levels of a layout come from, as fractions of each component's range.
struct LevelChoice {
  double border_value, bias;
};

convolve::FrameLayout make_layout(const LayoutRow& row, int width, int height, const LevelChoice& levels);

}  // namespace conformance
