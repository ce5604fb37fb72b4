// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rows of bytes as tensor copies know them (copy_box(), ptx.cuh). Compute capability 9.0 on.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace convolve::cuda {

/// What tensor copies count columns in. Rows of a box have at most 256 of them.
enum class TensorUnit { byte = 1, word = 4 };

/// Describes `rows` rows of `row_bytes` bytes, `stride` bytes apart, of which boxes of `box_rows` rows of
/// `box_row_bytes` bytes are copied, which are whole units: of a row's last unit all of it. The address and the stride
/// are multiples of 16. `swizzled`: of a box whose rows are 128 bytes, the 16 bytes i of row y lie in the place of
/// i ^ y % 8. False where the driver has no such copies. CUDA Driver API, cuTensorMapEncodeTiled.
bool describe_tensor(CUtensorMap& map, TensorUnit unit, const std::uint8_t* first, int row_bytes, int rows,
                     std::ptrdiff_t stride, int box_row_bytes, int box_rows, bool swizzled = false) noexcept;

}  // namespace convolve::cuda
