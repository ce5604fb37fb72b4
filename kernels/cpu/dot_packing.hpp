// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// dot_packing: blocks of 32-bit sums, and what plans hold for them.
//
// A block is some rows of four registers of sums. Lane 4 * l + j of register b is sample 16 * l + 4 * b + j, whatever
// the length of a register, so that packing within 128-bit parts keeps samples near their places. A window register
// holds, for each lane, the samples under the next taps; one byte shuffle within 128-bit parts makes it from as many
// bytes as a register has. The window of register b under the taps from k on lies 4 * b + k samples along the row.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/engine.hpp"
#include "cpu/integer_taps.hpp"

namespace convolve::cpu::dot {

constexpr int vectors = 4, most_lanes = 16, most_samples = 64;

inline int sample_of(int vector, int lane) {
  return lane / 4 * 16 + 4 * vector + lane % 4;
}

// What a block needs, for each position of its first sample within a pixel. Shorter registers have the first lanes.
struct Phase {
  alignas(64) std::int32_t start[vectors][most_lanes];  // of the sums: takes the zero levels off
  alignas(64) float offset[vectors][most_lanes];
  alignas(64) double wide_offset[vectors][most_lanes];
  alignas(64) std::uint8_t keep[most_samples];  // 255: samples that are copied
};

// How sums become code values: they are (but for saturation); by one product, where none is beyond 16 bits; by what
// takes longer, as Division has it.
enum class Finish : std::uint8_t { plain, single, apart };

struct Sums {
  Finish finish = Finish::apart;
  std::vector<Phase> phases;

  /// `zero_weight`: what the zero levels are to be taken off the sums with; `reach`: of a code value, before it is
  /// clamped. The gain is in `q` already.
  Sums(const Quantization& q, const Group& group, double zero_weight, double reach);
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

/// Of a window register.
struct Window {
  alignas(64) std::uint8_t order[most_samples];
  Window(int components, bool pairs);
};

/// Whether a filter with these rows of taps has to be computed in pairs.
bool needs_pairs(const IntegerTaps& taps, int width, bool vnni);

/// For describe().
const char* name_of(bool vnni, bool pairs);

/// The taps of a group, for each row of `width`.
std::vector<std::int32_t> pack_words(const std::vector<std::int32_t>& taps, int width, bool pairs);

}  // namespace convolve::cpu::dot
