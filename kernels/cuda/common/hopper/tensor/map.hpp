// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rows of bytes as tensor copies know them (copy_box(), ptx.cuh). Compute capability 9.0 on.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace convolve::cuda {

/// Describes `rows` rows of `row_bytes` bytes, `stride` bytes apart, as words of four bytes of which boxes of
/// `box_rows` rows of `box_row_bytes` bytes are copied. The address and the stride are multiples of 16, and all bytes
/// are multiples of 4. False where the driver has no such copies. CUDA Driver API, cuTensorMapEncodeTiled.
bool describe_tensor(CUtensorMap& map, const std::uint8_t* first, int row_bytes, int rows, std::ptrdiff_t stride,
                     int box_row_bytes, int box_rows) noexcept;

}  // namespace convolve::cuda
