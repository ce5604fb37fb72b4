// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tiles: the AMX instructions that matrix.cpp uses, behind small named functions; and the same in plain C++, for builds
// with CONVOLVE_EMULATE_AMX, which test everything but the instructions on machines that lack them.
//
// Eight tiles of 16 rows x 64 bytes belong to the thread from tile_configure() to tile_release(). Include it inside the
// region whose functions may use AMX.
#pragma once

namespace convolve::cpu {
namespace {

struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

#ifdef CONVOLVE_EMULATE_AMX

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
  _tile_loadconfig(&configuration);
}
inline void tile_release() {
  _tile_release();
}

// The instructions take the number of a tile as text.
#define CONVOLVE_EACH_SUM(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define CONVOLVE_EACH_TILE(X) CONVOLVE_EACH_SUM(X) X(6) X(7)
template <int T>
HWY_INLINE void tile_zero() {
#define CONVOLVE_TILE(N) \
  if constexpr (T == N) _tile_zero(N);
  CONVOLVE_EACH_TILE(CONVOLVE_TILE)
#undef CONVOLVE_TILE
}
template <int T>
HWY_INLINE void tile_load(const void* from, std::ptrdiff_t stride) {
#define CONVOLVE_TILE(N) \
  if constexpr (T == N) _tile_loadd(N, from, stride);
  CONVOLVE_EACH_TILE(CONVOLVE_TILE)
#undef CONVOLVE_TILE
}
template <int T>
HWY_INLINE void tile_store(void* to, std::ptrdiff_t stride) {
#define CONVOLVE_TILE(N) \
  if constexpr (T == N) _tile_stored(N, to, stride);
  CONVOLVE_EACH_TILE(CONVOLVE_TILE)
#undef CONVOLVE_TILE
}
// Sum[m][n] += A[m][4 * k + i] * B[k][4 * n + i], A unsigned and B signed bytes.
template <int Sum, int A, int B>
HWY_INLINE void tile_dot() {
  static_assert(Sum < 6 && A == 6 && B == 7);
#define CONVOLVE_TILE(N) \
  if constexpr (Sum == N) _tile_dpbusd(N, 6, 7);
  CONVOLVE_EACH_SUM(CONVOLVE_TILE)
#undef CONVOLVE_TILE
}
#undef CONVOLVE_EACH_TILE
#undef CONVOLVE_EACH_SUM

#endif

}  // namespace
}  // namespace convolve::cpu
