// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The output that the design asks for, from the oracle: kernels as the element and the oracle write them, the table of
// levels, and comparisons that name the first wrong sample.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "frames.hpp"

namespace element_test {

// --- Filters ---------------------------------------------------------------------------------------------------

/// Taps at the design's centre n/2. `values` are integers over `divisor`, or real numbers where that is 0.
oracle::Kernel make_kernel(int depth, int height, int width, const std::vector<double>& values,
                           std::int64_t divisor = 1);
oracle::Kernel random_kernel(std::mt19937& random, int depth, int height, int width, int largest,
                             std::int64_t divisor = 1);
/// Real taps whose magnitudes sum to about 2.
oracle::Kernel random_real_kernel(std::mt19937& random, int depth, int height, int width);
/// As the element's `kernel` property is written: "<<1,2>,<3,4>>", fractions where there is a divisor.
std::string text_of(const oracle::Kernel& kernel);
/// What operation=convolve makes of it: every axis flipped, the centre with it.
oracle::Kernel flipped(oracle::Kernel kernel);
/// The centre on the newest frame, for window=causal.
oracle::Kernel causal(oracle::Kernel kernel);

/// What the element was told beside its kernel, at the design's defaults.
struct Filtering {
  oracle::Kernel kernel;
  oracle::Edge edge = oracle::Edge::replicate;
  double border_value = 0, bias = 0;
  bool code_levels = false;  ///< levels=code: bias counts in code values
  bool luma = true, chroma = true, red = true, green = true, blue = true, alpha = false;
};

// --- Expectation -----------------------------------------------------------------------------------------------

/// The whole stream's output, frames in order of arrival. The border mode stands in for frames before the first and
/// after the last; those that have not come when an output is due are none that it could know.
std::vector<Frame> expected(const Filtering& filtering, const std::vector<Frame>& frames, const GstVideoInfo& info);
Frame expected(const Filtering& filtering, const Frame& frame, const GstVideoInfo& info);

/// 0 where the contract promises the correctly rounded value, else 1.
int tolerance(const Filtering& filtering, const GstVideoInfo& info);

/// Empty where `found` keeps to `wanted` within `tolerance`, else the first wrong sample, in words.
std::string first_difference(const Frame& wanted, const Frame& found, const GstVideoInfo& info, int tolerance);
/// Fails the test with that text and `label`.
void check_equal(const Frame& wanted, const Frame& found, const GstVideoInfo& info, int tolerance,
                 const std::string& label);
void check_buffer(const Frame& wanted, GstBuffer* found, const GstVideoInfo& info, int tolerance,
                  const std::string& label);

/// Pushes the buffers (and EOS where asked), takes one output for each, and compares all with the oracle; also checks
/// that each output carries its own input's pts, duration and offset.
void check_stream(const std::string& properties, const Filtering& filtering, const GstVideoInfo& info,
                  const std::vector<Owned<GstBuffer>>& input, const std::string& label);

const char* name_of(oracle::Edge edge);  ///< the border-mode's nick
inline constexpr oracle::Edge edges[] = {oracle::Edge::constant, oracle::Edge::replicate, oracle::Edge::reflect,
                                         oracle::Edge::reflect_101, oracle::Edge::wrap};

}  // namespace element_test
