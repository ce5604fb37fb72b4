// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tiles: the AMX instructions that matrix.cpp uses, behind small named functions; and the same in plain C++, for builds
// with CONVOLVE_EMULATE, which test everything but the instructions on machines that lack them.
//
// Eight tiles of 16 rows x 64 bytes belong to the thread from tile_configure() to tile_release(). They are
// instructions as text: the intrinsics take the number of a tile so, and no target of Highway's has them.
#pragma once

#include <hwy/base.h>

#include <cstdint>

namespace convolve::cpu {
namespace {

struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

#ifdef CONVOLVE_EMULATE

inline thread_local std::uint8_t emulated_tile[8][16][64];

inline void tile_configure() {}
inline void tile_release() {}
template <int T>
void tile_zero() {
  std::memset(emulated_tile[T], 0, sizeof emulated_tile[T]);
}
template <int T>
void tile_load(const void* from, std::ptrdiff_t stride) {
  for (int i = 0; i < 16; ++i) std::memcpy(emulated_tile[T][i], static_cast<const char*>(from) + i * stride, 64);
}
template <int T>
void tile_store(void* to, std::ptrdiff_t stride) {
  for (int i = 0; i < 16; ++i) std::memcpy(static_cast<char*>(to) + i * stride, emulated_tile[T][i], 64);
}
// Sum[m][n] += A[m][4 * k + i] * B[k][4 * n + i], A unsigned and B signed bytes.
template <int Sum, int A, int B>
void tile_dot() {
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      std::int32_t sum;
      std::memcpy(&sum, &emulated_tile[Sum][m][4 * n], 4);
      for (int k = 0; k < 16; ++k)
        for (int i = 0; i < 4; ++i)
          sum += emulated_tile[A][m][4 * k + i] * static_cast<std::int8_t>(emulated_tile[B][k][4 * n + i]);
      std::memcpy(&emulated_tile[Sum][m][4 * n], &sum, 4);
    }
}

#else

inline void tile_configure() {
  static constexpr TileConfiguration configuration;
  asm volatile("ldtilecfg %0" : : "m"(configuration));
}
inline void tile_release() {
  asm volatile("tilerelease");
}
template <int T>
HWY_INLINE void tile_zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(T));
}
template <int T>
HWY_INLINE void tile_load(const void* from, std::ptrdiff_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(T) : "memory");
}
template <int T>
HWY_INLINE void tile_store(void* to, std::ptrdiff_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(T) : "memory");
}
// Sum[m][n] += A[m][4 * k + i] * B[k][4 * n + i], A unsigned and B signed bytes.
template <int Sum, int A, int B>
HWY_INLINE void tile_dot() {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(Sum), "i"(A), "i"(B));
}

#endif

}  // namespace
}  // namespace convolve::cpu
