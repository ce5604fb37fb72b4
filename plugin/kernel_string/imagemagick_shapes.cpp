// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ImageMagick's shapes by name: taps of one value, the second argument, and zeros around them.
#include <algorithm>
#include <cmath>

#include "kernel_string/imagemagick_named.hpp"

namespace convolve::kernel_string {
namespace {

template <class Inside>
std::vector<PlacedKernel> shape(const Request& request, int otherwise, Inside inside) {
  const int radius = radius_of(request, 0, 1, otherwise);
  const Tap value = Tap::real(request.value(1, 1));
  return {square(radius, [&](int x, int y) { return inside(x, y, radius) ? value : Tap::integer(0); })};
}

}  // namespace

PlacedKernel centred(int width, int height) {
  PlacedKernel kernel{{1, height, width, {}}, (width - 1) / 2, (height - 1) / 2};
  kernel.taps.taps.assign(static_cast<std::size_t>(width) * height, Tap::integer(0));
  return kernel;
}

int radius_of(const Request& request, int i, int low, int otherwise) {
  constexpr int most = max_factored_taps / 2;
  const double radius = request.value(i);
  if (radius < low) return otherwise;
  if (radius != std::floor(radius) || radius > most)
    fail("the radius of " + std::string(request.name) + " is no whole number up to " + std::to_string(most) +
         "; write one such as " + std::string(request.name) + ":2");
  return static_cast<int>(radius);
}

std::vector<PlacedKernel> make_square(const Request& request) {
  return shape(request, 1, [](int, int, int) { return true; });
}
std::vector<PlacedKernel> make_diamond(const Request& request) {
  return shape(request, 1, [](int x, int y, int r) { return std::abs(x) + std::abs(y) <= r; });
}
std::vector<PlacedKernel> make_octagon(const Request& request) {
  return shape(request, 2, [](int x, int y, int r) { return std::abs(x) + std::abs(y) <= r + r / 2; });
}
std::vector<PlacedKernel> make_plus(const Request& request) {
  return shape(request, 2, [](int x, int y, int) { return x == 0 || y == 0; });
}
std::vector<PlacedKernel> make_cross(const Request& request) {
  return shape(request, 2, [](int x, int y, int) { return std::abs(x) == std::abs(y); });
}

// Without a radius, or with one below 0.4, of radius 4.3.
std::vector<PlacedKernel> make_disk(const Request& request) {
  const bool by_default = request.value(0) < 0.4;
  Request whole = request;
  if (by_default) whole.values[0] = 4;
  if (!by_default && request.value(0) < 1)
    fail("the radius of Disk is below 1; write Disk:1 or more, in whole samples, or Unity");
  return shape(whole, 4, [&](int x, int y, int r) { return x * x + y * y <= (by_default ? 18 : r * r); });
}

// Between two radii, the outer one included, of a whole value; of Peaks a single tap at the centre.
std::vector<PlacedKernel> make_ring(const Request& request) {
  const int a = radius_of(request, 0, 1, 0), b = radius_of(request, 1, 1, 0);
  const bool by_default = a == 0 && b == 0;
  const int inner = by_default ? 7 : std::min(a, b) * std::min(a, b);
  const int outer = by_default ? 11 : std::max(a, b) * std::max(a, b);
  const Tap value = Tap::real(std::trunc(request.value(2, 1)));
  return {square(by_default ? 3 : std::max(a, b), [&](int x, int y) {
    const int distance = x * x + y * y;
    return distance > inner && distance <= outer ? value : Tap::integer(0);
  })};
}

std::vector<PlacedKernel> make_peaks(const Request& request) {
  Request ring = request;
  ring.values[2] = 0;
  std::vector<PlacedKernel> kernels = make_ring(ring);
  kernels.front().taps.at(0, kernels.front().y, kernels.front().x) = Tap::integer(1);
  return kernels;
}

std::vector<PlacedKernel> make_rectangle(const Request& request) {
  Request sizes = request;
  if (!sizes.values[0]) sizes.values[0] = sizes.values[1];
  const int width = radius_of(sizes, 0, 1, 3), height = radius_of(sizes, 1, 1, width);
  PlacedKernel kernel = centred(width, height);
  kernel.taps.taps.assign(kernel.taps.taps.size(), Tap::integer(1));
  const double x = request.value(2, kernel.x), y = request.value(3, kernel.y);
  if (!(x >= 0 && x < width && y >= 0 && y < height))
    fail("the origin of Rectangle lies outside of it; it has " + std::to_string(width) + "x" + std::to_string(height) +
         " taps, counted from 0");
  kernel.x = static_cast<int>(x);
  kernel.y = static_cast<int>(y);
  return {kernel};
}

}  // namespace convolve::kernel_string
