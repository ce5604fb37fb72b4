// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The arguments and the numbers of separable's stream of rows over several frames, frame_rows.cuh, and which kernel
// takes which case.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "convolve/border.hpp"
#include "convolve/plane.hpp"
#include "cuda/common/border_map.cuh"

namespace convolve::cuda::frame_rows {

inline constexpr int max_frames = 5;  ///< in a window
inline constexpr int max_radius = 3;  ///< rows and samples that outputs reach on either side
inline constexpr int warps = 4;       ///< of a block, each on its own

struct RowsPlane {
  const std::uint8_t* in[max_frames];  ///< those beyond the window's depth repeat one, under a tap of 0
  const std::uint8_t* centre;          ///< of the frame that components are copied from
  std::uint8_t* out;
  std::ptrdiff_t out_stride;
  int stride;  ///< of all frames
  int row_bytes, height, components;
  int first_block, strips, ranges;  ///< warps go along the strips, then down to the next range of rows
  EdgeAxis rows;
  std::uint32_t passthrough;                  ///< of four bytes
  std::uint32_t combined_ghost[2], ghost[2];  ///< of even bytes and of odd ones: frames combined, and columns as well
  float from[4];                              ///< what the row's sums start at, by byte
};

struct RowsArgs {
  RowsPlane plane[max_planes];
  int planes;
  int rows;  ///< that a warp makes
  Border border;
  std::uint32_t time[max_frames], start, column[2 * max_radius + 1];  ///< each a half twice
  float row[2 * max_radius + 1];
};
static_assert(sizeof(RowsArgs) <= 4096);

/// The planes that kernels are compiled for; of packed 4:2:2 by whether the luma is in the even bytes.
enum class RowsPlanes : std::uint8_t { one, one_and_two, three, four, luma_first, chroma_first };

/// Bytes of a row that a lane makes. What outputs reach beside it is to lie in the next lane, and what stands for cells
/// beside the frame in the lane at its side.
constexpr int lane_bytes(RowsPlanes planes, int radius) {
  return radius == 1 || planes <= RowsPlanes::one_and_two ? 8 : 16;
}
/// Rows of all frames that are under way while one is combined. What a lane has of them are registers, of which small
/// filters leave more blocks to a multiprocessor, and large ones need as many anyway.
constexpr int rows_ahead(int bytes, int radius, int frames) {
  const int words = radius == 1 ? 24 : bytes == 8 ? 30 : 40;
  return std::min(words / (bytes * frames / 4), 4);
}
/// Bytes of a row that a warp makes: the lanes at its ends make columns for their neighbours alone.
constexpr int strip_bytes(int lane_bytes) {
  return 30 * lane_bytes;
}

struct RowsKernel {
  int radius, frames;  ///< that taps are padded to
  int bytes;           ///< of a lane
  void (*launch)(int capability, const RowsArgs& args, int blocks, cudaStream_t stream);
  int (*resident)();  ///< blocks on a multiprocessor, in the current context
};
/// The kernel for taps that reach so far, over so many frames; null where there is none.
const RowsKernel* find_frame_rows(RowsPlanes planes, int radius, int frames);

}  // namespace convolve::cuda::frame_rows
