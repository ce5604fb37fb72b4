// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The data of both passes of dot/separable.cpp, and how a filter becomes that.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cpu/dot/packing.hpp"

namespace convolve::cpu::dot {

// Ring rows are sums along the row in 16 bits, as packing leaves a block of them: registers 0 and 1 together, then 2
// and 3. Interleaved with the row below they are pairs for the taps down the column, in the order of sums again.
struct PackedRows {
  WindowOrder window;
  std::vector<std::array<std::array<std::int32_t, max_lanes>, vectors>> start;  // of the sums, by position in a pixel
  int shift;                                                                    // right, of the sums
  std::vector<std::int32_t> words;
};

// A centre tap takes the input under the outputs of two rows as pairs of words, in the order of ring rows: samples as
// they are, or (finely) 256 times what they are above 128, so that a tap has 8 bits more.
//
//     bytes of two rows, of 128 bits each   x0 x1 x2 ...    y0 y1 y2 ...
//     finely, less 128                      x0 - 128 ...
//     shuffled to words, twice              x0 x1 .. x7     y0 y1 .. y7      (then 8 to 15)
//     interleaved                           x0 y0  x1 y1  x2 y2  x3 y3       times (tap, 0) to the upper row,
//                                                                            times (0, tap) to the lower one
struct PackedCentre {
  std::int32_t tap = 0;
  std::uint8_t flip = 0;  // what bytes are combined with by exclusive or: 128 takes 128 off
  alignas(16) std::uint8_t order[2][16];

  explicit PackedCentre(bool fine) : flip(fine ? 128 : 0) {
    for (int i = 0; i < 32; ++i) order[i / 16][i % 16] = static_cast<std::uint8_t>(i % 2 == fine ? i / 2 : 128);
  }
};

struct PackedColumns {
  BlockEpilogue epilogue;
  std::vector<std::int32_t> words;  // [pair of ring rows][output rows it is in]
  PackedCentre centre;
};

/// The most taps of an axis.
inline constexpr int max_pass_taps = 31;

/// Units of a fine centre tap, see PackedCentre.
constexpr double fine = 256;

/// Both passes in integers. Sums along the row are moved down by `shift` bits into 16: 1 of a ring row is `unit`. The
/// taps down the column are the filter's times `scale`.
struct QuantizedPasses {
  IntegerTaps along;
  int shift = 0;
  double unit = 1, scale = 1;
  std::vector<std::int32_t> down{};
  bool less_128 = false;    ///< sums along the row are of samples less 128, in place of less their zero level
  std::int32_t centre = 0;  ///< in units of unit / scale, of real taps in 256 of them
};

/// Rounds the taps of both passes, and a centre tap beside them; nothing where exact sums do not fit, or where real
/// taps could be off by too much.
std::optional<QuantizedPasses> quantize_passes(const PlanDesc& desc, const Arithmetic& arithmetic,
                                               const ComponentGroup& group, const std::vector<double>& column,
                                               const std::vector<double>& row, double centre);

std::shared_ptr<PackedRows> pack_rows(const QuantizedPasses& passes, const ComponentGroup& group, int width,
                                      bool pairs);

/// The taps down the column, by pairs of ring rows: [pair][output rows it is in].
std::vector<std::int32_t> pack_column(const std::vector<std::int32_t>& down, int rows);

}  // namespace convolve::cpu::dot
