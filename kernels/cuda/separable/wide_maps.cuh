// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What tensor copies of wide_tiles.cuh and wide_ring.cuh are told of a frame's planes. Included by wide.cu alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cuda/common/hopper/tensor/map.hpp"
#include "cuda/separable/wide_kernels.cuh"

namespace convolve::cuda::wide {

/// The first row of a plane in memory, which of a frame bottom-up is its last one.
inline const std::uint8_t* first_in_memory(const std::uint8_t* first_row, std::ptrdiff_t stride, int height) {
  return stride < 0 ? first_row + (height - 1) * stride : first_row;
}

/// Describes plane p as it is in memory, but for a ring where that is bottom-up, or where the driver cannot.
inline void describe_rows(Args& args, const Kernel& kernel, int p) noexcept {
  Plane& plane = args.plane[p];
  const int tile_row = plane.components == 2 ? kernel.second_tile_row_bytes : kernel.tile_row_bytes;
  plane.described =
      !(kernel.ring && plane.in_stride < 0) &&
      describe_tensor(args.rows[p], TensorUnit::word, first_in_memory(plane.in, plane.in_stride, plane.height),
                      plane.row_bytes, plane.height, std::abs(plane.in_stride), tile_row, kernel.tile_rows,
                      tile_row == swizzled_row);
}

/// Describes what is made of the plane, but for a last vector that is not whole; false where the driver cannot.
inline bool describe_samples(Args& args, const Kernel& kernel) noexcept {
  Plane& plane = args.plane[0];
  plane.bottom_up = plane.out_stride < 0;
  return describe_tensor(args.samples, TensorUnit::byte, first_in_memory(plane.out, plane.out_stride, plane.height),
                         plane.row_bytes / 16 * 16, plane.height, std::abs(plane.out_stride),
                         plane.components * kernel.of(plane.components).pixels, kernel.out_rows);
}

}  // namespace convolve::cuda::wide
