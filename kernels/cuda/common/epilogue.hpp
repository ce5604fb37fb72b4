// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ways in which kernels on the tensor cores make samples of sums, once for all of them. Kernels that sum in floats
// go by Division (convolve/arithmetic.hpp) instead, as epilogue.cuh has it. Host code may include this.
#pragma once

#include <cstdint>

namespace convolve::cuda {

/// How the sum of a sample's products becomes the sample. A kernel has some of these; those who make its taps choose
/// among them. `gain` and `level` are what the kernel's arguments say: the unit of the taps, and levels and bias.
enum class Epilogue : std::uint8_t {
  saturate,        ///< The sum is the sample: it is rounded to an integer, clamped and stored.
  quotient,        ///< The sum is multiplied by a reciprocal of two floats, exactly enough for ties to stay ties.
  separate_limbs,  ///< The sums of the two limbs are read as floats one by one, and added by two multiply-adds.
  scaled,          ///< The sum, of limbs joined as integers, is multiplied by the gain, and the level is added.
  /// The integer sum starts at 0x4B000000. Those bits, read as a float, are 2^23 + sum, so that one multiply-add both
  /// takes 2^23 away and multiplies by the gain. Chosen where that one rounding cannot move a sample.
  magic_number,
  /// As magic_number, and the multiply-add also adds a rounding bias of 512, which a subtraction takes away: what is
  /// left is rounded to 2^-14, so that exact ties stay ties.
  biased_magic_number,
  /// The integer sum is converted and multiplied by the gain; level and rounding bias are added, the bias taken away.
  biased,
  centre_tap,  ///< The tap at the centre times the input's sample is added to the sum, which then is the sample.
};

}  // namespace convolve::cuda
