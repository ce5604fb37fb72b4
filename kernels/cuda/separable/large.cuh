// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for bytes and more taps an axis than tensor.cuh has: a row pass and a column pass, each a banded matrix
// product, with the row pass' sums in device memory between them, where the second level cache holds them.
//
//   in ──row_kernel──> V: 16 bits a sample ──column_kernel──> out
//   in ──strip_kernel──> out                                             up to 65 taps an axis, V in registers
//
// Units are 16 pixels or rows (of halves; 32 of limbs). A filter of up to 255 taps is a matrix of up to 17 units by
// one, and so is what a unit of outputs takes in. A warp goes along its input unit by unit; each unit meets all outputs
// of the warp, with the last few units of the matrix, which it keeps in registers:
//
//   input unit j       x(j)                     outputs o = 0, 1, 2, 3 of a warp
//   matrix unit        T(j)    T(j-1)  T(j-2)  T(j-3)        sum(o) += x(j) T(j - o)
//
// so that a step of 16 products loads one unit of the matrix and two operands of the input. The row pass has pixels as
// its left operand and the matrix as its right; a lane ends with sums whose order in V is its own (large_byte_of()).
// The column pass has the matrix to the left and V, transposed by ldmatrix, to the right. Strips have the matrix to the
// left in both passes: large_strips.cuh.
//
// Real taps are halves, the largest in [2^14, 2^15); bytes ride as subnormal halves, V less its middle level as a half.
// make_large_taps() proves the error. Integer taps of 8 bits are limbs: V is 16 bits, of which the column pass
// multiplies both bytes.
#pragma once

#include "cuda/separable/large_columns.cuh"
#include "cuda/separable/large_rows.cuh"
#include "cuda/separable/large_strips.cuh"
