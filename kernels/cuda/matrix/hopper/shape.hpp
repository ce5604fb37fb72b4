// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The shapes of filters that wgmma.cu and wgmma_long.cu are compiled for, what their tiles take, and how a filter's
// taps lie in shared memory. Host mathematics: unit-tested without a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "convolve/filter.hpp"

namespace convolve::cuda::wgmma {

inline constexpr int makers = 2;        ///< warpgroups of a block that make tiles
inline constexpr int tile_width = 128;  ///< pixels
inline constexpr int group_rows = 4;    ///< of a warpgroup's 8 groups of strips: their sums are registers
inline constexpr int warpgroup_rows = 8 * group_rows, tile_rows = makers * warpgroup_rows;

/// The filters that a kernel is compiled for. Lengths in shared memory are in bytes.
struct WgmmaShape {
  int height;  ///< rows of the filter, its centre in the middle; odd
  int margin;  ///< pixels that a window reaches on either side of its strip of 16: 8, or 16 of long windows

  constexpr bool has_long_windows() const { return margin == 16; }
  constexpr int pitch() const { return tile_width + 2 * margin; }  ///< of a component's input rows
  constexpr int input_rows() const { return tile_rows + height - 1; }
  constexpr int input_bytes() const { return input_rows() * pitch(); }  ///< of a tile's input rows of a component
  /// Rows of taps: group_rows - 1 empty ones are below the filter's, of long windows above them.
  constexpr int tap_rows() const { return height + group_rows - 1; }
  /// Where the taps of the last 16 pixels of long windows begin, which have one more row.
  constexpr int ends_at() const { return tap_rows() * 512; }
  constexpr int taps_bytes() const {  ///< of a limb's right matrix
    return ends_at() + (has_long_windows() ? (tap_rows() + 1) * 256 : 0);
  }
  constexpr bool operator==(const WgmmaShape&) const = default;
};

/// What a block takes, by the most components of a plane.
struct WgmmaTuning {
  int blocks_resident;                    ///< that a multiprocessor holds
  int loaders;                            ///< warpgroups of a block that load input
  int loader_registers, maker_registers;  ///< of a thread; together what an even share would be
  int stages;                             ///< tiles whose input is held
};
constexpr int max_stages = 4;
constexpr WgmmaTuning tuning(WgmmaShape shape, int components) {
  if (shape.has_long_windows())
    return components >= 3 ? WgmmaTuning{1, 2, 96, 160, 2} : WgmmaTuning{2, 1, 48, 96, components == 1 ? 3 : 2};
  return components == 8   ? WgmmaTuning{1, 2, 88, 168, 2}
         : components >= 3 ? WgmmaTuning{2, 2, 48, 80, 2}
         : components == 2 ? WgmmaTuning{2, 1, 48, 96, 3}
                           : WgmmaTuning{2, 1, 48, 96, max_stages};
}

constexpr int block_threads(WgmmaShape shape, int components) {
  return 128 * (makers + tuning(shape, components).loaders);
}

inline constexpr WgmmaShape short_windows[] = {{5, 8}, {7, 8}, {9, 8}, {11, 8}, {15, 8}};
inline constexpr WgmmaShape long_windows[] = {{7, 16}, {15, 16}, {19, 16}, {23, 16}, {27, 16}, {31, 16}};

/// The smallest shape that holds the filter; of height 0: there is none.
WgmmaShape shape_for(const Filter& filter);

/// Shared memory of a kernel, for so many limbs. Long windows have some to spare: the halves of what their ends are
/// multiplied by overlap, but compute-sanitizer takes an operand for as many bytes in a row as it has in all.
int memory_of(WgmmaShape shape, int components, int limbs);
/// Blocks of so much shared memory that a multiprocessor holds beside each other.
int blocks_by_memory(int bytes);
/// The most limbs that a kernel has room for: beside the blocks that are to be resident, or, where a filter may need
/// three, beside fewer.
int max_limbs(WgmmaShape shape, int components);

/// The limbs' right matrices, that of the highest first, as the kernel reads them. limb(d, tap): d = 0: the highest.
std::vector<std::uint8_t> right_matrices(const Filter& filter, int limbs, WgmmaShape shape,
                                         const std::function<std::int32_t(int, std::size_t)>& limb);

}  // namespace convolve::cuda::wgmma
