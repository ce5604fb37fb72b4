// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tables that name the values of an enum: the element's GEnums, the documentation and the tests iterate them.
#pragma once

namespace convolve {

template <class Enum>
struct EnumRow {
  Enum value;
  const char* nick;         ///< as users write it
  const char* description;  ///< a line of gst-inspect-1.0
};

}  // namespace convolve
