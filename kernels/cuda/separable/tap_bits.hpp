// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Taps as they stand in the words of tensor.cu's fragments, converted once. Host code only.
#pragma once

#include <cuda_fp16.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace convolve::cuda {

inline std::uint32_t half_bits(double v) {
  return __half_as_ushort(__float2half_rn(static_cast<float>(v)));
}

/// The taps of one axis, as bytes or as halves, with zeros around them.
class TapBits {
 public:
  TapBits(const std::vector<double>& taps, bool bytes) {
    for (std::size_t i = 0; i < taps.size(); ++i)
      bits_[around + i] = bytes ? static_cast<std::uint32_t>(static_cast<int>(taps[i])) & 255 : half_bits(taps[i]);
  }
  /// Tap `i`; -32 to 63, of which those that are no taps are 0.
  std::uint32_t operator[](int i) const { return bits_[static_cast<std::size_t>(around + i)]; }

 private:
  static constexpr int around = 32;
  std::array<std::uint32_t, 3 * around> bits_{};
};

/// Half precision takes rows from and from + 16 as one, and row `to` only one of them: 1 for the farther.
inline int farther(int from, int to) {
  return from < to ? 1 : 0;
}

/// Which two of four columns: of either row of a lane 16 bits, for half of the matrix.
inline std::array<std::uint32_t, 32> chosen_columns() {
  std::array<std::uint32_t, 32> chosen{};
  for (int lane = 0; lane < 32; ++lane)
    for (int bit = 0; bit < 32; bit += 2) {
      const int to = (lane >> 2) + 8 * (bit >> 4), from = 8 * (lane & 1) + (bit >> 1 & 7);
      chosen[static_cast<std::size_t>(lane)] |= static_cast<std::uint32_t>((bit & 2) | farther(from, to)) << bit;
    }
  return chosen;
}

}  // namespace convolve::cuda
