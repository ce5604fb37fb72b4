// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is asked of rectangles of pixels where several of them are put together.
#pragma once

#include <algorithm>

#include "convolve/plane.hpp"

namespace convolve {

/// Whether it holds no pixel.
constexpr bool is_empty(const PixelRect& rect) {
  return rect.left >= rect.right || rect.top >= rect.bottom;
}

/// The smallest rectangle that holds the pixels of both.
constexpr PixelRect bounds_of(const PixelRect& a, const PixelRect& b) {
  if (is_empty(a)) return b;
  if (is_empty(b)) return a;
  return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right), std::max(a.bottom, b.bottom)};
}

}  // namespace convolve
