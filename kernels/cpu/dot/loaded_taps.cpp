// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/loaded_taps.hpp"

#include <cstddef>
#include <utility>

namespace convolve::cpu::dot {
namespace {

// Taps of 8 bits, [row][column], in the order in which the kernel takes them.
LimbTaps pack_limb(const std::vector<std::int32_t>& taps, int side) {
  const auto byte = [&](int row, int column) {
    return column < side ? static_cast<std::uint32_t>(taps[static_cast<std::size_t>(row) * side + column]) & 0xff : 0;
  };
  const bool column = side % 4 == 1;
  LimbTaps limb;
  for (int row = 0; row < side; ++row)
    for (int k = 0; k < (column ? side - 1 : side); k += 4) {
      std::uint32_t word = 0;
      for (int i = 0; i < 4; ++i) word |= byte(row, k + i) << 8 * i;
      limb.along.push_back(static_cast<std::int32_t>(word));
    }
  if (!column) return limb;
  for (int row = 0; row + 4 <= side; row += 4) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= byte(row + i, side - 1) << 8 * i;
    limb.down.push_back(static_cast<std::int32_t>(word));
  }
  for (int i = 0; i < 2; ++i) limb.last[i] = static_cast<std::int32_t>(byte(side - 1, side - 1) << 16 * i);
  return limb;
}

}  // namespace

std::vector<LimbTaps> pack_limbs(std::vector<std::int32_t> taps, int side, LoadedForm form) {
  if (form == LoadedForm::one_byte) return {pack_limb(taps, side)};
  if (form == LoadedForm::wide_centre) {
    const std::int32_t centre = std::exchange(taps[taps.size() / 2], 0);
    LimbTaps limb = pack_limb(taps, side);
    limb.centre = side / 2 % 4 < 2 ? centre & 0xffff : centre * 65536;
    return {limb};
  }
  std::vector<std::int32_t> low, high;
  for (const std::int32_t tap : taps) {
    low.push_back(static_cast<std::int8_t>(tap & 0xff));
    high.push_back((tap - low.back()) / 256);
  }
  return {pack_limb(low, side), pack_limb(high, side)};
}

}  // namespace convolve::cpu::dot
