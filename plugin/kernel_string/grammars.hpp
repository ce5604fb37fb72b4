// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The grammars of kernel strings, and what they share: words, numbers, and kernels about another centre.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel_string/kernel_string.hpp"

namespace convolve::kernel_string {

/// Each reads what stands behind the grammar's name. Throws std::invalid_argument.
KernelString parse_ffmpeg(std::string_view text);
KernelString parse_imagemagick(std::string_view text, bool convolve);
KernelString parse_vapoursynth(std::string_view text);
KernelString parse_svg(std::string_view text);

/// Throws std::invalid_argument.
[[noreturn]] void fail(const std::string& what);
/// The text between quotes, cut short, fit for a message.
std::string quoted(std::string_view text);

std::string_view trim(std::string_view text);
/// The parts between any of these characters; empty ones are left out.
std::vector<std::string_view> words(std::string_view text, std::string_view separators);

/// A finite number, an integer exact. `what` names it in the message.
Tap parse_number(std::string_view word, const std::string& what);
/// A finite number, or two integers with a stroke between them. `what` names it in the message.
Tap parse_fraction(std::string_view word, const std::string& what);
/// A whole number from `low` to `high`.
int parse_int(std::string_view word, int low, int high, const std::string& what);

/// The odd side of a square of so many taps; 0 where there is none.
int odd_square_side(std::size_t taps);

/// Every tap times a factor, exact where both are.
void multiply(TapArray& kernel, const Tap& factor);

/// The kernel of one frame with zeros around it, so that tap (y, x) comes to be tap n/2 of each axis.
TapArray with_centre(const TapArray& kernel, int y, int x);

}  // namespace convolve::kernel_string
