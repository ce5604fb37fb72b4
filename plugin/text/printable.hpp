// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Text for messages, from bytes of files, paths and properties that may be anything.
#pragma once

#include <string>
#include <string_view>

namespace convolve {

/// The text as UTF-8 that a terminal shows as it is: control characters, and bytes that are no UTF-8, become \xNN.
std::string printable(std::string_view text);

}  // namespace convolve
