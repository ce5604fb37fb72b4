// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A fuzzer's bytes as choices, read from the front. Once they are used up every choice is 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  bool empty() const { return left_ == 0; }
  unsigned byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  /// One of 0..count-1, count <= 256.
  unsigned below(std::size_t count) { return byte() % static_cast<unsigned>(count); }
  /// True once in `n` bytes, and not for 0.
  bool one_in(unsigned n) { return byte() % n == n - 1; }
  /// Little-endian, of `count` bytes.
  std::uint64_t number(int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  /// Small numbers, numbers of any width, and the ends of the usual types.
  std::uint64_t odd_number() {
    constexpr std::uint64_t ends[] = {0,          1,           0x7fffffff,         0x80000000,
                                      0xffffffff, 0x100000000, 0x7fffffffffffffff, 0xffffffffffffffff};
    const unsigned kind = byte();
    if (kind < 192) return kind % 64;
    if (kind < 224) return ends[kind % 8];
    return number(kind < 240 ? 2 : 8);
  }
  template <class T, std::size_t n>
  const T& pick(const T (&list)[n]) {
    return list[below(n)];
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace fuzz
