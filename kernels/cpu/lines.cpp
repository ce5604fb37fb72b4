// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/lines.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace convolve::cpu {
namespace {

template <std::size_t Size>
void move(unsigned char* to, std::size_t to_step, const unsigned char* from, std::size_t from_step, int n) {
  for (int i = 0; i < n; ++i) std::memcpy(to + i * to_step * Size, from + i * from_step * Size, Size);
}

void move(void* to, int to_step, const void* from, int from_step, int n, int size) {
  auto* t = static_cast<unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  if (size == 1)
    move<1>(t, to_step, f, from_step, n);
  else if (size == 2)
    move<2>(t, to_step, f, from_step, n);
  else
    move<4>(t, to_step, f, from_step, n);
}

}  // namespace

void gather(void* to, const void* from, int n, int stride, int size) {
  move(to, 1, from, stride, n, size);
}

void scatter(void* to, const void* from, int n, int stride, int size) {
  move(to, stride, from, 1, n, size);
}

void copy_samples(void* to, const void* from, int n, int stride, int size) {
  move(to, stride, from, stride, n, size);
}

}  // namespace convolve::cpu
