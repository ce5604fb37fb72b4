// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernel values: taps as a GstValueArray of rows, or of frames of rows, oldest frame first.
#pragma once

#include <glib-object.h>

#include <memory>

#include "convolve/filter.hpp"

namespace convolve {

/// Throws std::invalid_argument that names the place and the value at fault, and what is allowed. `value` holds a
/// non-empty GST_TYPE_ARRAY.
TapArray parse_kernel_value(const GValue* value);

std::shared_ptr<const GValue> copy_value(const GValue* value);

}  // namespace convolve
