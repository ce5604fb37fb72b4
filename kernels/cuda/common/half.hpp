// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Half precision on the host: conversion, how far it rounds, and how far results may be off. Needs no CUDA.
#pragma once

#include <cstdint>

namespace convolve::cuda {

/// In code values: a result that is off by less than this rounds to within one code value of the right one.
inline constexpr double max_sample_error = 0.95;

inline constexpr double largest_half = 65504;

std::uint16_t half_bits(double value);  ///< the nearest half, ties to even; infinity beyond the largest
double half_value(std::uint16_t bits);
double nearest_half(double value);       ///< the value of those bits
std::uint32_t half_twice(double value);  ///< those bits in either half of a word
double half_rounding(double magnitude);  ///< how far rounding to a half can move values of up to this magnitude

}  // namespace convolve::cuda
