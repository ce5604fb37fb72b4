// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The data that the functions of fixed16/separable.cpp work with, and how a filter becomes that.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/engine/engine.hpp"
#include "cpu/engine/epilogue.hpp"

namespace convolve::cpu::fixed16 {

/// Patterns repeat every `components` samples, as in Pattern. Without signs where integers are packed.
using Words = std::vector<std::int16_t>;

/// Elements are samples as they are (integers), or (sample - zero) * scale (fractions); of several frames, their
/// weighted sum.
struct PackedStaging {
  int scale = 1;
  Words zero, ghost;  ///< patterns, scaled
  Words weights;
};

/// The taps of one axis; mirrored ones up to the centre alone.
struct PackedTaps {
  Words taps;
};

struct PackedColumn {
  Words taps;
  Words start;  ///< a pattern; where integers divide by another number than a power of 2, with half of it
  Epilogue epilogue = Epilogue::fraction;  ///< or, of integers, by `divisor`: power_of_2, odd or even
  std::int16_t multiplier = 0;
  std::int16_t second = 0;  ///< multiplies what the first has left; 0: nothing
  std::int16_t divisor = 0;
  std::int16_t half = 0;  ///< of a power of 2, less 1
  /// Fractions with a centre tap, else 0: the tap, its sign turned, that samples times 2^7 are multiplied with.
  std::int16_t less_centre = 0;
};

/// What the taps of an axis are compiled for.
struct Axis {
  int taps;
  bool mirrored;  ///< the same from both ends; of an odd number
};

/// The most taps of an axis that kernels are compiled for: of fractions that mirror each other more, as blurs have
/// them.
constexpr int max_taps(bool exact, bool mirrored) {
  return mirrored && !exact ? 31 : max_compiled_taps;
}

/// The most that rounding of taps and products may move a result of fractions by, in code values.
inline constexpr double max_fraction_error = 0.45;

struct Packed {
  std::shared_ptr<PackedStaging> staging = std::make_shared<PackedStaging>();
  std::shared_ptr<PackedTaps> row = std::make_shared<PackedTaps>();
  std::shared_ptr<PackedColumn> column = std::make_shared<PackedColumn>();
  Axis along{}, down{};
};

/// Factors over time (empty: of one frame), column and row.
struct Factors {
  const std::vector<double>&weights, &column, &row;
};

/// Real taps as fractions. `offset`: of the quantizer, a pattern. `centre`: one more tap, beside the product of column
/// and row. False: not within max_fraction_error.
bool pack_fractions(Packed& packed, const ComponentGroup& group, const std::vector<double>& offset,
                    const Factors& factors, double centre);

/// Integer taps over a divisor. False: they have signs, or do not fit 16 bits.
bool pack_integers(Packed& packed, const ComponentGroup& group, const std::vector<double>& offset, double divisor,
                   const Factors& factors);

}  // namespace convolve::cpu::fixed16
