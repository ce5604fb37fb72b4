// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Streams of rows of pixels of four 16-bit components, all filtered or all but one, as their plans see them: the
// arguments, and the grid. What is done with a row is the kernel's own (register/four_stream.cu,
// separable/four_stream.cu).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/entry.hpp"
#include "cuda/common/limits.hpp"
#include "cuda/common/sample_plane.hpp"

namespace convolve::cuda {

/// Warps of a block, each on its own.
inline constexpr int four_stream_warps = 4, four_stream_threads = 32 * four_stream_warps;
/// The widest filter whose taps are passed each by itself: FourStreamArgs::taps has room for these.
inline constexpr int four_stream_width = 7;

/// Added and taken away, it rounds to integers.
inline constexpr float four_stream_whole = 0x1.8p23f;

/// Kernels know a pixel's components in an order of their own: those that are filtered, then the one that is copied,
/// where there is one. These byte-permute selectors make the two words of that order of the two that are stored, and
/// those that are stored of the two.
struct FourOrder {
  std::uint32_t front = 0x3210, back = 0x7654, stored_front = 0x3210, stored_back = 0x7654;
};

struct FourStreamArgs {
  PlaneView in[max_taps], out;  ///< null data: a frame of ghost cells
  EdgeAxis columns, lines;
  int strips, warps;  ///< warps go along the strips, then down to the next range of rows
  int rows;           ///< that a warp makes
  int frames, centre_t;
  FourOrder order;
  std::uint32_t mask;       ///< of two samples: the bits that hold their values. Of no use where all are filtered
  float zero[4], ghost[4];  ///< as samples; ghost: less zero. Where all are filtered, zero is 0
  /// The quantizer's offset with its rounding bias; less four_stream_whole where two products divide.
  float offset[4];
  SampleNumbers numbers;
  float gain, gain_low;  ///< of `numbers`, times 2^49, and what it lacks; gain_low is 0 but where two products divide
  float time[max_taps];
  float taps[four_stream_width * four_stream_width];  ///< [row][column] of a square; of factors: row, then column
};
static_assert(sizeof(FourStreamArgs) <= 4096);

struct FourStreamKernel {
  int width;  ///< columns and rows of taps
  void (*run)(FourStreamArgs);
  int shared;    ///< bytes that a block needs
  int strip;     ///< pixels of a warp's
  int resident;  ///< blocks that a multiprocessor is to hold
};
/// The kernel of so many filtered components and filters up to `width` taps wide and high; null where there is none.
using FindFourStream = const FourStreamKernel* (*)(int filtered, int width);
const FourStreamKernel* find_register_four(int filtered, int width);          ///< one frame, all taps
const FourStreamKernel* find_separable_four(int filtered, int width);         ///< one frame, factors
const FourStreamKernel* find_separable_four_frames(int filtered, int width);  ///< several frames, factors

/// A plan's stream of rows, where it has one.
class FourStream {
 public:
  FourStreamArgs args{};  ///< time and taps are the plan's to fill in

  /// Lays out the grid for filters of up to `width` columns and rows. False where no kernel serves the case.
  bool lay_out(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, int width,
               FindFourStream find);
  /// A tap that samples, which are subnormal floats, are first multiplied by: one over time or, of one frame, one of
  /// all or of the row's. What makes samples of the sums carries the second_factor.
  float first_tap(double tap) const { return static_cast<float>(tap * first_factor(args.numbers.shift)); }
  int width() const { return kernel_->width; }  ///< what taps are to be padded to
  bool is_laid_out() const { return kernel_ != nullptr; }
  /// Launches, unless addresses or strides are in the way: false.
  bool enqueue(const Window& window, const Image& out, cudaStream_t stream) noexcept;

 private:
  const FourStreamKernel* kernel_ = nullptr;
  int capability_ = 0, blocks_ = 0, shared_ = 0;
};

}  // namespace convolve::cuda
