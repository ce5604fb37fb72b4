// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ImageMagick's kernels about an origin: those that have a name, and the lists of turned ones.
#pragma once

#include <string_view>
#include <vector>

#include "kernel_string/grammars.hpp"

namespace convolve::kernel_string {

struct PlacedKernel {
  TapArray taps;
  int x = 0, y = 0;  ///< the tap that lies on the sample
};

/// "Name", "Name:arguments" or "Name arguments", without regard to case. Several where the name stands for a list.
/// Throws std::invalid_argument.
std::vector<PlacedKernel> named_kernels(std::string_view text);

/// Takes the characters that ask for a list of turned kernels away from the end of `arguments`, and gives the one that
/// counts: '@' by 45 degrees, '>' by 90, '<' mirrored; 0 for none.
char take_turns(std::string_view& arguments);

/// The kernel in each of those directions, each once. `text` names it in the message of std::invalid_argument.
std::vector<PlacedKernel> in_directions(const PlacedKernel& kernel, char turns, std::string_view text);

/// By eighths of a turn, clockwise. Throws as in_directions().
void turn(PlacedKernel& kernel, int eighths, std::string_view text);

/// Divides by the sum, or by that of the positive taps where it is 0.
void divide_by_sum(TapArray& kernel);
/// Divides the positive and the negative taps each by the magnitude of their own sum.
void divide_each_sign(TapArray& kernel);

}  // namespace convolve::kernel_string
