// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Random: the same numbers from the same seed on every machine and with every library.
#pragma once

#include <cstdint>
#include <iterator>

namespace conformance {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// splitmix64
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [low, high].
  int integer(int low, int high) {
    return low + static_cast<int>(next() % static_cast<std::uint64_t>(std::int64_t{high} - low + 1));
  }
  /// In [low, high).
  double real(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double p) { return real(0, 1) < p; }
  template <class Container>
  const auto& pick(const Container& values) {
    return std::data(values)[next() % std::size(values)];
  }

 private:
  std::uint64_t state_;
};

}  // namespace conformance
