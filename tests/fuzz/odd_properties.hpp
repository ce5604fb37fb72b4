// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Values for any property that may change while the element plays, drawn by what GObject says of its type.
#pragma once

#include <gst/gst.h>

#include "bytes.hpp"

namespace fuzz {

/// Sets one property to a value that its type can hold; good, bad or out of range.
void set_odd_property(Bytes& bytes, GstElement* element);

/// Every such property becomes what it is by default.
void set_default_properties(GstElement* element);

}  // namespace fuzz
