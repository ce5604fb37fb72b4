// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From the run-time sample type and accumulator of a case to the types that kernels are compiled for.
#pragma once

#include <cstdint>

#include "convolve/arithmetic.hpp"
#include "convolve/plane.hpp"

namespace convolve::cuda {

/// Calls make.template operator()<Sample, Sum>(). f32 samples are summed in single precision.
template <class Make>
auto with_types(SampleType type, Accumulator accumulator, Make&& make) {
  const bool wide = accumulator == Accumulator::double_;
  switch (type) {
    case SampleType::u8:
      return wide ? make.template operator()<std::uint8_t, double>() : make.template operator()<std::uint8_t, float>();
    case SampleType::u16:
      return wide ? make.template operator()<std::uint16_t, double>()
                  : make.template operator()<std::uint16_t, float>();
    case SampleType::f32:
      break;
  }
  return make.template operator()<float, float>();
}

}  // namespace convolve::cuda
