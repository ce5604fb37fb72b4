// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The taps of dot/loaded_windows.cpp, in the order in which its kernels take them.
#pragma once

#include <cstdint>
#include <vector>

namespace convolve::cpu {

/// The largest tap of 16 bits that is two taps of 8 bits, with signs: 256 * high + low.
inline constexpr int max_two_byte_tap = 127 * 256 + 127;

namespace dot {

/// What taps the kernels are for: of 8 bits; of 8 bits but for a centre tap of 16 bits; or all of 16 bits.
enum class LoadedForm : std::uint8_t { one_byte, wide_centre, two_bytes };

/// Taps of 8 bits, in the numbers of one limb.
struct LimbTaps {
  std::vector<std::int32_t> along;  // [row][group of four columns]
  std::vector<std::int32_t> down;   // of a last column that has no group along the row: groups of four rows
  std::int32_t last[2] = {};        // its last tap, at each of a lane's bytes that it is multiplied with
  std::int32_t centre = 0;          // a tap of 16 bits, at the word of a lane that it is multiplied with
};

/// The limbs of `side` rows of as many taps, [row][column]; of two, low bytes first.
std::vector<LimbTaps> pack_limbs(std::vector<std::int32_t> taps, int side, LoadedForm form);

}  // namespace dot
}  // namespace convolve::cpu
