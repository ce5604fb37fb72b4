// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "preset_text.hpp"

#include <gst/gst.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace convolve {
namespace {

enum class Use : unsigned char { usual, load, save };
// GstPreset sets and reads properties one by one, on the thread that calls it.
thread_local Use use = Use::usual;

class UseFor {
 public:
  explicit UseFor(Use now) : before_(std::exchange(use, now)) {}
  ~UseFor() { use = before_; }
  UseFor(const UseFor&) = delete;
  UseFor& operator=(const UseFor&) = delete;

 private:
  Use before_;
};

decltype(GstPresetInterface::load_preset) base_load = nullptr;
decltype(GstPresetInterface::save_preset) base_save = nullptr;

gboolean load(GstPreset* preset, const gchar* name) {
  const UseFor loading(Use::load);
  return base_load(preset, name);
}

gboolean save(GstPreset* preset, const gchar* name) {
  const UseFor saving(Use::save);
  return base_save(preset, name);
}

// Stands for a quotation mark in what is saved; no text has this control character.
constexpr char quotation_mark = '\x01';

// What gst_value_serialize() made into `text`, less the quotation marks around it.
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  while (!text.empty()) {
    const std::string_view code = text.substr(1, 3);
    if (text[0] != '\\' || code.empty()) {
      plain += text[0];
      text.remove_prefix(1);
    } else if (code.size() == 3 && code[0] <= '3' && std::all_of(code.begin(), code.end(), is_octal)) {
      plain += static_cast<char>((code[0] - '0') * 64 + (code[1] - '0') * 8 + (code[2] - '0'));
      text.remove_prefix(4);
    } else {
      plain += code[0];
      text.remove_prefix(2);
    }
  }
  return plain;
}

}  // namespace

void init_preset_interface(void* interface, void*) {
  auto* preset = static_cast<GstPresetInterface*>(interface);
  base_load = std::exchange(preset->load_preset, load);
  base_save = std::exchange(preset->save_preset, save);
}

std::string text_that_is_set(const char* given) {
  if (!given) return {};
  if (use != Use::load) return given;
  std::string text = unescaped(given);
  std::replace(text.begin(), text.end(), quotation_mark, '"');
  return text;
}

TextToGet::TextToGet(const std::string& text) : text_(text), is_null_(text.empty() && use != Use::save) {
  if (use == Use::save) std::replace(text_.begin(), text_.end(), '"', quotation_mark);
}

}  // namespace convolve
