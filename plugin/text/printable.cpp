// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/printable.hpp"

#include <glib.h>

namespace convolve {

std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  while (!text.empty()) {
    const char c = text.front();
    const gunichar character = g_utf8_get_char_validated(text.data(), static_cast<gssize>(text.size()));
    const bool valid = character < 0x110000;  // else (gunichar)-1 or -2
    if (valid && !g_unichar_iscntrl(character)) {
      const auto bytes = static_cast<std::size_t>(g_unichar_to_utf8(character, nullptr));
      shown.append(text.substr(0, bytes));
      text.remove_prefix(bytes);
      continue;
    }
    shown += {'\\', 'x', digits[static_cast<unsigned char>(c) / 16], digits[static_cast<unsigned char>(c) % 16]};
    text.remove_prefix(1);
  }
  return shown;
}

}  // namespace convolve
