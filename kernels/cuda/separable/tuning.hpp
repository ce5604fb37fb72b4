// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers that the kernels of `separable` were tuned with: their tiles, and how many blocks are to be resident.
#pragma once

#include <array>
#include <cstddef>

namespace convolve::cuda {

/// The kernel through shared memory: outputs of a block, in samples of one component.
struct SharedTile {
  static constexpr int width = 64, height = 16, threads = 256;
};

/// The kernel on the tensor cores: a block makes a tile of so many bytes of bands of 16 rows.
struct TensorTile {
  static constexpr int bands = 4, rows = 16 * bands, bytes = 256;
  /// Bytes of a tile's row: of three components a number that has whole pixels and whole cache lines.
  static constexpr int bytes_of(int components) { return components == 3 ? 384 : bytes; }
  /// Two warps share a band of planes of one component, for a frame of them is less than one wave of blocks.
  static constexpr int warps(int components) { return components == 1 ? 2 * bands : bands; }
  static constexpr int threads(int components) { return 32 * warps(components); }
  /// Blocks to be resident on a multiprocessor: bounds the registers.
  static constexpr int blocks(int components) { return components == 3 ? 6 : 4; }
};

/// The tile of planes of three components.
struct TripleTile {
  static constexpr int bytes = TensorTile::bytes_of(3), warps = TensorTile::bands, threads = 32 * warps;
  /// Blocks to be resident on a multiprocessor: bounds the registers.
  static constexpr int blocks = 4;
};

/// The kernel in single precision: samples of a row and rows of a tile.
struct SingleTile {
  static constexpr int width = 128, warps = 8, threads = 32 * warps;
  /// Rows that a warp makes.
  static constexpr int made(int terms) { return terms < 3 ? 8 : 4; }
  /// Blocks to be resident on a multiprocessor: bounds the registers.
  static constexpr int blocks(int bytes, int terms) { return terms > 1 ? 2 : bytes == 4 ? 3 : 4; }
  /// Resident blocks of kernels for four components of 16 bits over several frames.
  static constexpr int blocks_of_frames(int taps) { return taps >= 7 ? 3 : 4; }
};
/// Filters up to this wide and high have a kernel of their own, by rank; smaller ones are padded with zero taps.
struct SingleSize {
  int width, terms;
};
inline constexpr std::array single_sizes{SingleSize{5, 1}, SingleSize{7, 1},  SingleSize{11, 1}, SingleSize{15, 1},
                                         SingleSize{7, 2}, SingleSize{11, 2}, SingleSize{15, 2}, SingleSize{15, 3}};

}  // namespace convolve::cuda
