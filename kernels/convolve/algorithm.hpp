// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The names of the algorithms, of both backends. The element's enum, its documentation and the tests iterate this
// table; which of them a backend has, and which cases they serve, is in that backend's own table.
#pragma once

#include <array>
#include <cstdint>

#include "convolve/enum_row.hpp"

namespace convolve {

enum class Algorithm : std::uint8_t {
  automatic,
  direct,
  basic,
  constant,
  tiled,
  cached_halo_seed,
  cached_halo,
  register_,
  separable,
  matrix,
  fastest,
};

/// Whether the backend may choose: no algorithm is forced.
constexpr bool is_free_choice(Algorithm algorithm) {
  return algorithm == Algorithm::automatic || algorithm == Algorithm::fastest;
}

using AlgorithmRow = EnumRow<Algorithm>;

inline constexpr auto algorithms = std::to_array<AlgorithmRow>({
    {Algorithm::automatic, "auto", "The fastest measured for the case"},
    {Algorithm::direct, "direct", "CPU: sums of products, vectorised over rows"},
    {Algorithm::basic, "basic", "CUDA: filter and frame in global memory"},
    {Algorithm::constant, "constant", "CUDA: filter in constant memory"},
    {Algorithm::tiled, "tiled", "CUDA: input tile with its halo in shared memory"},
    {Algorithm::cached_halo_seed, "cached-halo-seed",
     "CUDA: tile in shared memory, halo through the cache, one output a thread"},
    {Algorithm::cached_halo, "cached-halo", "CUDA: tile in shared memory, halo through the cache, rebuilt for video"},
    {Algorithm::register_, "register", "CUDA: accumulators in registers, rows streamed"},
    {Algorithm::separable, "separable", "Filters of rank 1, of real taps also 2 and 3: both passes on chip"},
    {Algorithm::matrix, "matrix", "Banded matrix products on tensor cores (CUDA) or tiles (CPU)"},
    {Algorithm::fastest, "fastest", "Times those that serve a case, once a process, some milliseconds each"},
});

constexpr const char* nick(Algorithm algorithm) {
  for (const AlgorithmRow& row : algorithms)
    if (row.value == algorithm) return row.nick;
  return "?";
}

}  // namespace convolve
