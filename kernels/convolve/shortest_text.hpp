// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A number in a message.
#pragma once

#include <charconv>
#include <iterator>
#include <string>

namespace convolve {

/// The fewest digits that are read back as this number, whatever the locale.
inline std::string shortest_text(double value) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), value).ptr};
}

}  // namespace convolve
