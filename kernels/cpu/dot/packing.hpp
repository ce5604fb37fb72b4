// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Blocks of 32-bit sums, and the data that plans hold for them.
//
// A block is some rows of four registers of sums. Lane 4 * l + j of register b is sample 16 * l + 4 * b + j, whatever
// the length of a register, so that packing within 128-bit parts keeps samples near their places. A window register
// holds, for each lane, the samples under the next taps; one byte shuffle within 128-bit parts makes it from as many
// bytes as a register has. The window of register b under the taps from k on lies 4 * b + k samples along the row.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/engine/engine.hpp"
#include "cpu/engine/epilogue.hpp"
#include "cpu/engine/integer_taps.hpp"

namespace convolve::cpu::dot {

constexpr int vectors = 4, max_lanes = 16, max_samples = 64;

inline int sample_of(int vector, int lane) {
  return lane / 4 * 16 + 4 * vector + lane % 4;
}

// What a block needs, for each position of its first sample within a pixel. Shorter registers have the first lanes.
struct Phase {
  alignas(64) std::int32_t start[vectors][max_lanes];  // of the sums: takes the zero levels off
  alignas(64) float offset[vectors][max_lanes];
  alignas(64) double wide_offset[vectors][max_lanes];
  alignas(64) std::uint8_t passthrough[max_samples];  // 255: samples that are copied
};

/// How a block's sums become code values, and the data for that.
struct BlockEpilogue {
  Epilogue epilogue = Epilogue::division;  ///< or saturate, or, where no code value exceeds 16 bits, biased_product
  std::vector<Phase> phases;

  /// `zero_weight` is the factor of the zero levels that the sums start from, so that they are taken off.
  /// `max_magnitude` bounds a code value before it is clamped. `q` has the gain already. The sums start from `more`
  /// beside that.
  BlockEpilogue(const Quantization& q, const ComponentGroup& group, double zero_weight, double max_magnitude,
                double more = 0);
};

/// Taps in a group: what one lane of a window is multiplied with.
constexpr int taps_in_group(bool pairs) {
  return pairs ? 2 : 4;
}

/// What a kernel is compiled for, see Dot() in dot-inl.hpp.
template <bool Vnni, bool Pairs>
struct Form {
  static constexpr bool vnni = Vnni, pairs = Pairs;
  static constexpr int taps = taps_in_group(Pairs);
};

/// The byte shuffle that makes a window register.
struct WindowOrder {
  alignas(64) std::uint8_t order[max_samples];
  WindowOrder(int components, bool pairs);
  WindowOrder(const int (&columns)[4], int first);  ///< the samples under these columns, from one at `first` on
};

/// Whether a filter with these rows of taps has to be computed in pairs.
bool needs_pairs(const IntegerTaps& taps, int width, bool vnni);

constexpr int most_groups = 5;  ///< of an arrangement

/// Column that the window of a group starts from: it reaches 12 further.
constexpr int first_column(int group) {
  return group < 2 ? 0 : 4;
}

/// Taps of 8 bits for multiply-adds, laid out so that no pair of products exceeds 16 bits: columns are paired in the
/// same way in all rows, and where there is room a column comes twice, with a part of its tap in either place.
struct Arrangement {
  int groups = 0;
  std::vector<WindowOrder> windows;  ///< of each group
  std::vector<std::int32_t> words;   ///< [row of taps][groups]
};

/// The arrangement with the fewest groups, of one component and up to 15 columns; nothing where none was found, or
/// where pairs of taps of 16 bits take fewer instructions.
std::optional<Arrangement> arrange_bytes(const std::vector<std::int32_t>& taps, int width);

/// For describe().
const char* name_of(bool vnni, bool pairs);

/// The taps of a group, for each row of `width`.
std::vector<std::int32_t> pack_words(const std::vector<std::int32_t>& taps, int width, bool pairs);

}  // namespace convolve::cpu::dot
