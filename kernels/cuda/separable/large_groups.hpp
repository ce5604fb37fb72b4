// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for large filters of bytes with exact taps by warpgroups: what the kernel is given, and its numbers. See
// large_groups.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "convolve/plane.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/sample_plane.hpp"

namespace convolve::cuda::large_groups {

constexpr int step_rows = 64;  ///< rows of a step, and pixels of a strip
constexpr int makers = 3;      ///< warpgroups that make samples
/// Registers a thread, by setmaxnreg: the loading warpgroup gives up what the makers take.
constexpr int loader_registers = 32, maker_registers = 160;

/// A kernel: of filters that take in up to `units` times 32 pixels, or rows, for 64 outputs.
struct Shape {
  int units;

  constexpr int window() const { return 32 * units; }                ///< pixels of a row that a strip reads
  constexpr int piece_bytes() const { return 16 * step_rows + 16; }  ///< of 16 pixels of a step's rows
  constexpr int stage_bytes() const { return 2 * units * piece_bytes(); }
  static constexpr int limb_bytes = step_rows * 64, slot_bytes = 2 * limb_bytes;  ///< of V, of a step
  static constexpr int products_of_slot = step_rows / 32;                         ///< a limb
  /// Steps whose V an output step takes in, and those that are held beside them while others go on.
  constexpr int slots_of_step() const { return (units + 1) / 2; }
  constexpr int slots() const { return slots_of_step() + 2 * makers - 1; }
  constexpr int memory(int stages) const { return barrier_bytes + slots() * slot_bytes + stages * stage_bytes(); }
  /// Steps whose input is held: as many as there is room for, so that most are under way.
  constexpr int stages() const {
    int most = max_stages;
    while (most > 1 && memory(most) > most_memory) --most;
    return most;
  }
  constexpr int memory() const { return memory(stages()); }
  static constexpr int max_stages = 8;
  static constexpr int barrier_bytes = 1024, most_memory = 227 << 10;
};

struct Plane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  int width, height, row_bytes, components;
  int first_block, strips_x, steps;  ///< steps: of outputs of a block
  std::uint32_t passthrough, ghost;  ///< words, as in large::Plane
  EdgeAxis columns, rows;
  bool wide;  ///< addresses and strides are multiples of 16; and rows where their other side stands beside them
  float level[4];
  std::int32_t start[4];
};

struct Args {
  Plane plane[max_planes];
  const uint4 *row_taps, *column_taps;
  int planes;
  int before_x, centre_y, reach_x;  ///< pixels that a strip's window begins before it; the taps' reach
  bool repeats;                     ///< rows beside the frame are its first, or last, one
  bool passes_round;                ///< columns beside the frame are those of its other side
  std::int32_t row_start;           ///< what V starts at
  float gain, gain_low, divisor, centre, whole;
};

}  // namespace convolve::cuda::large_groups
