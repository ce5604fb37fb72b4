// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of `matrix` for three interleaved 8-bit components over several frames, and the numbers of its kernel,
// triples.cuh.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda/common/entry.hpp"
#include "cuda/matrix/taps.hpp"

namespace convolve::cuda {
namespace triples {

/// A block of threads makes a tile, a warp some sets of 16 bytes by 16 rows of it.
constexpr int tile_bytes = 192, tile_rows = 64, block_bytes = 16, sets = 6, threads = 256;
constexpr int blocks_resident = 2;                      ///< on a multiprocessor: bounds the registers
constexpr int outlet_pitch = (sets + 1) * block_bytes;  ///< rows of a warp's output in different banks
constexpr int max_radius = 3, max_reach_x = 5;
/// Three blocks for each row of the filter, four to a product.
constexpr int products(int radius) {
  return (3 * (2 * radius + 1) + 3) / 4;
}
/// The size of a frame's taps, in words of four.
constexpr int taps_of(int radius, int limbs) {
  return products(radius) * limbs * 32;
}

/// Words of the left matrices as lanes hold them, by frame, product and limb; behind them, by lane, which columns the
/// products hold: three kinds, which take turns, and a word that is not used.
std::vector<std::uint32_t> left_matrices(const Filter& filter, const MatrixTaps& taps, int radius);

}  // namespace triples

/// True where the kernel serves the case, and `taps` are those that it is made with; else `why` says what is not.
bool serves_matrix_triples(const Device& device, const PlanDesc& desc, MatrixTaps& taps, std::string& why);
std::unique_ptr<Plan> make_matrix_triples(const Device& device, const PlanDesc& desc, const MatrixTaps& taps);

}  // namespace convolve::cuda
