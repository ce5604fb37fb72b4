// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row stream of `register` in half precision, of RGB and BGR of 8 bits, as its plan sees it: real taps up to 3x3,
// where half precision holds the sums.
//
// Every addition rounds to a half. Samples less 128, the middle of a byte, keep partial sums small: sums below 128 are
// rounded by at most 1/32, those below 256 by at most 1/16. make_half_taps() adds up the bounds in the kernel's order.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"
#include "cuda/common/row_stream.hpp"
#include "cuda/register/tuning.hpp"

namespace convolve::cuda {

/// Filters up to this wide and high are served.
inline constexpr int half_stream_width = 3;

/// What the kernel computes with. Words hold a half twice: sample = sum(tap * (in - 128)) + begin, then + level.
struct HalfTaps {
  std::uint32_t tap[half_stream_width * half_stream_width];  ///< [row][column] of a square
  std::uint32_t begin;                                       ///< of a sum: what `level` leaves
  std::uint32_t level;  ///< whole, plus 1024: halves from there on are whole numbers
  std::uint32_t ghost;  ///< four bytes
};

/// The taps of a filter. False where the case is not that of this kernel, or a sample could be off by over a code
/// value.
bool make_half_taps(const PlanDesc& desc, const Arithmetic& arithmetic, HalfTaps& taps);

struct HalfStreamArgs : RowStreamFrame {
  HalfTaps taps;
};
static_assert(sizeof(HalfStreamArgs) <= 4096);

void launch_half_stream(int capability, const HalfStreamArgs& args, int blocks, cudaStream_t stream);
/// Blocks on a multiprocessor, in the current context.
int resident_half_streams();

}  // namespace convolve::cuda
