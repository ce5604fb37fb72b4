// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Border modes: what stands in for the ghost cells outside an axis, in x, y and time alike.
// A new mode is one row of `borders`, one case of `border_index` and what the two questions above it say of it;
// plan.cpp does not compile where they disagree. CUDA has the modes a second time, in cuda/common/border_map.cuh.
// CONTRIBUTING.md names all the places.
#pragma once

#include <array>
#include <cstdint>

#include "convolve/enum_row.hpp"
#include "convolve/host_device.hpp"

namespace convolve {

enum class Border : std::uint8_t { constant, replicate, reflect, reflect_101, wrap };

using BorderRow = EnumRow<Border>;

inline constexpr auto borders = std::to_array<BorderRow>({
    {Border::constant, "constant", "Ghost cells hold border-value (v v | a b c d | v v)"},
    {Border::replicate, "replicate", "The edge sample repeats (a a | a b c d | d d)"},
    {Border::reflect, "reflect", "Mirrored, edge sample included (b a | a b c d | d c)"},
    {Border::reflect_101, "reflect-101", "Mirrored about the edge sample (c b | a b c d | c b)"},
    {Border::wrap, "wrap", "The axis is periodic (c d | a b c d | a b)"},
});

/// Whether positions outside of an axis are ghost cells, whose level is a number of its own.
constexpr bool has_ghost_cells(Border mode) {
  return mode == Border::constant;
}

/// Whether the position just outside of one end of an axis is a sample near its other end: one that a part of the
/// frame, or the frames of a window, may not hold. Kernels compare with Border::wrap themselves.
constexpr bool is_periodic(Border mode) {
  return mode == Border::wrap;
}

/// The index in [0, n) of the sample that stands at position `i` of an axis of `n` >= 1 samples, or -1
/// where that is the constant ghost cell. Any `i` will do: reflections and wraps fold as often as needed.
CONVOLVE_HD constexpr int border_index(Border mode, int i, int n) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case Border::constant:
      break;
    case Border::replicate:
      return i < 0 ? 0 : n - 1;
    case Border::reflect: {
      const int period = 2 * n;
      const int m = (i % period + period) % period;
      return m < n ? m : period - 1 - m;
    }
    case Border::reflect_101: {
      if (n == 1) return 0;
      const int period = 2 * n - 2;
      const int m = (i % period + period) % period;
      return m < n ? m : period - m;
    }
    case Border::wrap:
      return (i % n + n) % n;
  }
  return -1;
}

}  // namespace convolve
