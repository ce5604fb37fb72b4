// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernel files: taps as text, one row a line, a blank line between frames (oldest first), `#` comments. Taps are
// ints, doubles or fractions such as 1/9, apart by spaces, tabs or commas. No GStreamer in here.
#pragma once

#include <string>
#include <string_view>

#include "convolve/filter.hpp"

namespace convolve {

/// Throws std::invalid_argument with "path:line:column: what is wrong, and what is allowed".
TapArray parse_kernel_text(std::string_view text, const std::string& path);

/// Reads a whole file. Throws "path: why" for one that cannot be read, or is too large for a kernel.
std::string read_kernel_file(const std::string& path);

}  // namespace convolve
