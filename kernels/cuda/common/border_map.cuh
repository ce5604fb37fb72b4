// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The border of an axis as data, for kernels that handle edge tiles with the code of the inner ones: what lies a little
// outside an axis is the axis itself, shifted, mirrored or held, so that its index is a linear function of the position
// and an aligned group of four bytes there is one byte permute of two groups inside. No branch on the border mode, no
// fold: valid for positions less than the axis' length outside it; a plan checks that with edge_folds_once().
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "convolve/border.hpp"

namespace convolve::cuda {

/// A position i < 0 is read at low_scale * i + low_offset, and a position i >= length at high_scale * i + high_offset.
struct EdgeAxis {
  int length;
  int low_scale, low_offset, high_scale, high_offset;
  /// Byte-permute selectors that build a group of four samples outside the frame from the two groups inside that hold
  /// their sources: the group of the first sample's source, then the group of the last one's. Beside the frame's first
  /// group, the second of the two is that group itself; beside its last group, the first of the two is.
  std::uint32_t low_selector, high_selector;
  bool ghost;  ///< outside lie ghost cells (and the indices are any valid ones)
};

/// A border mode as such a map of an axis of `length` samples.
inline EdgeAxis edge_axis(Border border, int length) {
  const int n = length;
  switch (border) {
    case Border::constant:
      break;
    case Border::replicate:
      return {n, 0, 0, 0, n - 1, 0x0000, 0x7777, false};
    case Border::reflect:
      return {n, -1, -1, -1, 2 * n - 1, 0x0123, 0x4567, false};
    case Border::reflect_101:
      return {n, -1, 0, -1, 2 * n - 2, 0x5670, 0x7012, false};
    case Border::wrap:
      return {n, 1, n, 1, -n, 0x3210, 0x7654, false};
  }
  return {n, 0, 0, 0, n - 1, 0x0000, 0x7777, true};
}

/// True where no position up to `radius` outside an axis needs more than one fold.
inline bool edge_folds_once(int length, int radius) {
  return radius < length;
}

#ifdef __CUDACC__

/// The index that position i stands for.
__device__ __forceinline__ int edge_index(const EdgeAxis& axis, int i) {
  // No branch: every part of `axis` is read.
  const int scale = i < 0 ? axis.low_scale : axis.high_scale, offset = i < 0 ? axis.low_offset : axis.high_offset;
  const int outside = scale * i + offset;
  return static_cast<unsigned>(i) < static_cast<unsigned>(axis.length) ? i : outside;
}

/// The group of samples i .. i + 3 (i and the length multiples of 4): __byte_perm(the group at `first`, the group at
/// `last`, selector), where `axis.ghost` and the group lies outside: ghost cells.
struct EdgeGroup {
  int first, last;
  std::uint32_t selector;
};

__device__ __forceinline__ EdgeGroup edge_group(const EdgeAxis& axis, int i) {
  return {edge_index(axis, i) & ~3, edge_index(axis, i + 3) & ~3,
          i < 0             ? axis.low_selector
          : i < axis.length ? 0x3210u
                            : axis.high_selector};
}

#endif

}  // namespace convolve::cuda
