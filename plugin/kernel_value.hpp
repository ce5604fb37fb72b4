// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernel values: taps as a GstValueArray of rows, or of frames of rows, oldest frame first.
#pragma once

#include <glib-object.h>

#include <memory>
#include <vector>

#include "convolve/filter.hpp"

namespace convolve {

/// Throws std::invalid_argument that names the place and the value at fault, and what is allowed. `value` holds a
/// non-empty GST_TYPE_ARRAY.
TapArray parse_kernel_value(const GValue* value);

/// The kernels of a bank, each an array of rows. Throws likewise; says nothing of their number or size.
std::vector<TapArray> parse_bank_value(const GValue* value);

/// A copy of an array that a property was set to; null where it is empty. Copies of one array share it.
class ArrayValue {
 public:
  ArrayValue() = default;
  explicit ArrayValue(const GValue* value);

  explicit operator bool() const { return value_ != nullptr; }
  const GValue* get() const { return value_.get(); }
  /// True where both hold the same numbers, in arrays of the same shape and types.
  bool operator==(const ArrayValue& other) const;

 private:
  std::shared_ptr<const GValue> value_;
};

}  // namespace convolve
