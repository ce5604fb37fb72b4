// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes of 16-bit samples by running sums: what the two kernels are given, and their numbers. See box.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "convolve/border.hpp"
#include "convolve/plane.hpp"

namespace convolve::cuda::box {

using Sample = std::uint16_t;

constexpr int warps = 8, threads = 32 * warps;
constexpr int resident = 2;       ///< blocks of a multiprocessor: bounds the registers
constexpr int vector_bytes = 16;  ///< of a row: a thread's own
constexpr int count = vector_bytes / static_cast<int>(sizeof(Sample));
constexpr int batch = 4;   ///< rows between two barriers
constexpr int group = 16;  ///< rows whose sums the first kernel makes

struct Plane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  std::uint32_t* sums;  ///< of groups of rows: `pitch` a group
  int components, pixels;
  int samples, height;  ///< of a row; rows
  int pitch;
  int first_sums, sums_x;   ///< blocks of the first kernel
  int first_tile, tiles_x;  ///< blocks of the second
  int margin, outputs;      ///< samples of a tile: before its first output, and outputs
  int begin, end;           ///< from the tile's first sample on: where the window of its first output begins and ends
  bool wide, out_wide;      ///< addresses and strides allow 16 bytes
  bool passes_some, passes_all;  ///< components that are not filtered
  std::uint32_t passthrough[2];  ///< their bits in the words of a row
  std::uint32_t ghost[4];        ///< by sample: ghost cells
  std::uint32_t start[4];        ///< what is taken from sums
  float level[4];
};

struct Args {
  Plane plane[max_planes];
  int planes;
  Border border;
  int height, centre_y;  ///< of the filter
  int rows;              ///< of a tile, whole groups
  int groups;            ///< that the window of a tile's first row holds whole, less its last row
  int shift;
  float factor, gain, rounding_bias, divisor, max;
};

}  // namespace convolve::cuda::box
