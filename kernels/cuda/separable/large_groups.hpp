// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for large filters of bytes by warpgroups: what the kernel is given, and its numbers. See large_groups.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "convolve/plane.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/large_taps.hpp"

namespace convolve::cuda::large_groups {

constexpr int step_rows = 64;     ///< rows of a step, and pixels of a strip
constexpr int chunk_rows = 16;    ///< rows of several components that are taken apart at a time
constexpr int max_sum_slots = 9;  ///< room for barriers

/// A kernel: of filters that take in up to `units` times 32 pixels, or rows, for 64 outputs.
struct Shape {
  LargeNumbers numbers;
  int units;
  int components;  ///< of a plane
  int makers;      ///< warpgroups that make samples

  constexpr bool halves() const { return numbers == LargeNumbers::halves; }
  constexpr int column_products() const { return halves() ? 2 * units : units; }  ///< of V, a limb
  constexpr int products_of_slot() const { return halves() ? 4 : 2; }
  constexpr int window() const { return 32 * units; }                ///< pixels of a row that a strip reads
  constexpr int piece_bytes() const { return 16 * step_rows + 16; }  ///< of 16 pixels of a step's rows
  constexpr int plane_bytes() const { return 2 * units * piece_bytes(); }
  constexpr int stage_bytes() const { return components * plane_bytes(); }
  constexpr int raw_pitch() const { return window() * components + 16; }
  constexpr int slot_bytes() const { return components * step_rows * 64 * 2; }  ///< of V
  /// Steps whose V an output step takes in, and those that are held beside them while others go on.
  constexpr int slots_of_step() const { return (units + 1) / 2; }
  constexpr int slots() const { return slots_of_step() + (components == 1 ? 2 * makers - 1 : 1); }
  constexpr int chunk_bytes() const { return chunk_rows * raw_pitch(); }
  constexpr int memory(int stages, int chunks) const {
    return barrier_bytes + slots() * slot_bytes() + stages * stage_bytes() + chunks * chunk_bytes();
  }
  /// Steps whose input is held: of one component as many as there is room for, so that most are under way; of several
  /// two, and chunks are under way.
  constexpr int stages() const {
    int most = components == 1 ? max_stages : 2;
    while (most > 1 && memory(most, components == 1 ? 0 : 3) > most_memory) --most;
    return most;
  }
  constexpr int chunks() const {
    int most = components == 1 ? 0 : max_stages;
    while (most > 3 && memory(stages(), most) > most_memory) --most;
    return most;
  }
  constexpr int memory() const { return memory(stages(), chunks()); }
  static constexpr int max_stages = 8;
  static constexpr int barrier_bytes = 1024, most_memory = 227 << 10;
};

constexpr int makers_of(LargeNumbers numbers, int units, int most_components) {
  return most_components == 1 && (numbers == LargeNumbers::limbs || units <= 6) ? 3 : 2;
}
/// Of a thread of the loading warpgroup and of a maker; together what an even share would be. `most`: components.
constexpr int loader_registers(int units, int makers, int most) {
  return makers == 3 ? (units <= 4 ? 56 : 32) : units == 10 && most == 1 ? 40 : 72;
}
constexpr int maker_registers(int units, int makers, int most) {
  return makers == 3 ? (units <= 4 ? 152 : 160) : units == 10 && most == 1 ? 232 : 216;
}

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
  const uint4 *row_taps[2], *column_taps;  ///< the row pass' of one component, and of more
  int planes;
  int before_x, centre_y, reach_x;  ///< pixels that a strip's window begins before it; the taps' reach
  bool repeats;                     ///< rows beside the frame are its first, or last, one
  bool passes_round;                ///< columns beside the frame are those of its other side
  std::int32_t row_start;           ///< of V in limbs; of halves the bits that V's integer starts with
  float v_gain, v_level;            ///< of halves
  float gain, gain_low, divisor, centre, whole;
};

}  // namespace convolve::cuda::large_groups
