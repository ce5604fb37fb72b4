// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The oracle: what a filter's output is, by the definition and nothing else, to hold every backend against.
//
// It shares no code with kernels/: its own structures, border code and rounding. One component at a time, as a dense
// array of values (not stored words: no shift, no stride, no interleaving). Slow, single-threaded, and without state.
#pragma once

#include <cstdint>
#include <vector>

namespace oracle {

enum class Edge { constant, replicate, reflect, reflect_101, wrap };

/// The index in [0, n) that stands at position `i` of an axis of `n` samples; -1: the constant ghost cell.
std::int64_t fold(Edge edge, std::int64_t i, std::int64_t n);

/// Taps [time][row][column], applied as a correlation: the tap at the centre meets the output's own sample.
struct Kernel {
  int depth = 1, height = 1, width = 1;
  int centre_t = 0, centre_y = 0, centre_x = 0;
  std::vector<double> taps;            ///< effective taps, scale and normalisation applied; used where divisor is 0
  std::vector<std::int64_t> integers;  ///< tap = integer / divisor, exactly
  std::int64_t divisor = 0;            ///< > 0: `integers` holds the taps
};

/// One component's range and levels, in code values.
struct Levels {
  int bits = 8;       ///< 0: real samples, neither rounded nor clamped
  double zero = 0;    ///< z
  double offset = 0;  ///< bias * F
  double ghost = 0;   ///< of Edge::constant
};

/// One component of one frame: sample (x, y) is samples[y * width + x].
struct Plane {
  int width = 0, height = 0;
  std::vector<double> samples;
};

/// Sum / divisor + offset, rounded to nearest with ties to even, in exact rational arithmetic. |sum| < 2^52,
/// 0 < divisor <= 2^24, |offset| < 2^20 and a multiple of 2^-60.
std::int64_t rounded_quotient(std::int64_t sum, std::int64_t divisor, double offset);

/// One output frame from its window of `depth` frames, oldest first; a null one is a frame of ghost cells.
/// With integer taps and a whole zero level the result is the correctly rounded exact value at every sample that sees
/// no ghost cell of a fractional level.
Plane filter(const Kernel& kernel, const std::vector<const Plane*>& window, Edge edge, const Levels& levels);

/// A whole stream: output t comes from the frames t - centre_t .. t - centre_t + depth - 1, `time_edge` standing in
/// for those before the first and after the last.
std::vector<Plane> filter_sequence(const Kernel& kernel, const std::vector<Plane>& frames, Edge edge, Edge time_edge,
                                   const Levels& levels);

}  // namespace oracle
