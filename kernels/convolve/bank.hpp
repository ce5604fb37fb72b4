// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bank: several spatial filters over one input, and how their results become one output:
//
//   r_i = sum(tap_i * (in - z)),  out = clamp(round(C(r_1 .. r_n) + z + bias * F))
//
// C is one of the combinations below. Gradient operators are banks of two with the magnitude, compass operators banks
// of eight with the maximum.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "convolve/arithmetic.hpp"
#include "convolve/enum_row.hpp"
#include "convolve/filter.hpp"

namespace convolve {

inline constexpr int max_bank = 16;       ///< kernels
inline constexpr int max_bank_taps = 15;  ///< of each axis of each of them

enum class Combine : std::uint8_t { none, magnitude, sum_abs, max_abs, max };

using CombineRow = EnumRow<Combine>;

inline constexpr auto combinations = std::to_array<CombineRow>({
    {Combine::none, "none", "One kernel's result as it is; a preset that is a bank combines in its own way"},
    {Combine::magnitude, "magnitude", "Square root of the sum of squares"},
    {Combine::sum_abs, "sum-abs", "Sum of absolute values"},
    {Combine::max_abs, "max-abs", "Largest absolute value"},
    {Combine::max, "max", "Largest value"},
});

constexpr const char* nick(Combine combine) {
  return combinations[static_cast<std::size_t>(combine)].nick;
}

/// Immutable. The kernels are padded with zeros to one size, so that their centres coincide: a kernel of n taps lies
/// about its tap n/2.
class Bank {
 public:
  /// No bank: a plan sums its one filter.
  Bank() = default;
  /// Throws std::invalid_argument with a message fit for the user: no kernel or more than max_bank, one of several
  /// frames or of more than max_bank_taps on an axis, no way to combine them, and whatever Filter refuses. `options`
  /// hold for each kernel by itself: `normalize` divides each by its own sum.
  Bank(std::span<const TapArray> kernels, Combine combine, const FilterOptions& options = {});

  bool empty() const { return kernels_.empty(); }
  /// All of one shape, with one centre.
  const std::vector<Filter>& kernels() const { return kernels_; }
  Combine combine() const { return combine_; }
  /// "bank of 2 (3x3), magnitude", for messages and logs.
  std::string describe() const;

  bool operator==(const Bank&) const = default;

 private:
  std::vector<Filter> kernels_;
  Combine combine_ = Combine::none;
};

/// Chooses what a bank is summed in, for those of these components of `layout` that are filtered. The coefficients are
/// those of the kernels, [kernel][row][column]: integers over the bank's common divisor where all kernels have exact
/// taps. Sums in single precision are exact where the accumulator is, and so is what combines them; a magnitude is then
/// the right one of the two neighbouring code values too.
Arithmetic choose_arithmetic(const Bank& bank, const FrameLayout& layout, bool constant_border,
                             std::span<const Component* const> components);

}  // namespace convolve
