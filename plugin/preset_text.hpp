// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The element's GstPreset, which gives strings back as they were saved. GStreamer's own, as of 1.22,
//  - loads a string with the backslashes and octal digits that gst_value_serialize() wrote before and for all but
//    letters, digits and a few marks,
//  - does not load one with a quotation mark in it,
//  - does not save an absent one, so that a set of values of the same name keeps the one that it had.
#pragma once

#include <string>

namespace convolve {

/// The interface_init of G_IMPLEMENT_INTERFACE(GST_TYPE_PRESET, ...).
void init_preset_interface(void* interface, void*);

/// What a property becomes that is set to this string (null: absent), be it by GstPreset or by anybody.
std::string text_that_is_set(const char* given);

/// What is given to who reads a property: as it is, or null where it is empty; to GstPreset, which saves it, in a form
/// that it does not lose.
class TextToGet {
 public:
  explicit TextToGet(const std::string& text);
  const char* get() const { return is_null_ ? nullptr : text_.c_str(); }

 private:
  std::string text_;
  bool is_null_;
};

}  // namespace convolve
