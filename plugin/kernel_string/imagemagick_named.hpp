// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the makers of ImageMagick's named kernels share: a name with its arguments, and squares of taps.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "kernel_string/imagemagick.hpp"

namespace convolve::kernel_string {

struct Request {
  std::string_view name;  ///< as it is written
  std::array<std::optional<double>, 4> values;

  double value(int i, double otherwise = 0) const { return values[i].value_or(otherwise); }
};

/// All zeros, about the middle tap; of an even number the first of the two.
PlacedKernel centred(int width, int height);

/// Sets every tap to value(x, y), counted from the origin.
template <class Value>
PlacedKernel square(int radius, Value value) {
  PlacedKernel kernel = centred(2 * radius + 1, 2 * radius + 1);
  std::size_t i = 0;
  for (int y = -radius; y <= radius; ++y)
    for (int x = -radius; x <= radius; ++x) kernel.taps.taps[i++] = value(x, y);
  return kernel;
}

/// The argument as a whole number of samples, from `low` on; `otherwise` where it is absent or less. Throws
/// std::invalid_argument.
int radius_of(const Request& request, int i, int low, int otherwise);

std::vector<PlacedKernel> make_square(const Request& request);
std::vector<PlacedKernel> make_diamond(const Request& request);
std::vector<PlacedKernel> make_octagon(const Request& request);
std::vector<PlacedKernel> make_plus(const Request& request);
std::vector<PlacedKernel> make_cross(const Request& request);
std::vector<PlacedKernel> make_disk(const Request& request);
std::vector<PlacedKernel> make_ring(const Request& request);
std::vector<PlacedKernel> make_peaks(const Request& request);
std::vector<PlacedKernel> make_rectangle(const Request& request);

}  // namespace convolve::kernel_string
