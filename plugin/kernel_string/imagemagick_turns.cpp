// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Turned kernels. ImageMagick turns by multiples of 90 degrees what is a square or a line, and 3x3 by 45 too: the outer
// taps move on by one each.
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernel_string/imagemagick.hpp"

namespace convolve::kernel_string {
namespace {

void turn_eighth(PlacedKernel& kernel) {
  constexpr std::pair<int, int> ring[] = {{0, 0}, {0, 1}, {0, 2}, {1, 2}, {2, 2}, {2, 1}, {2, 0}, {1, 0}};  // y, x
  const PlacedKernel before = kernel;
  for (int i = 0; i < 8; ++i) {
    const auto [y, x] = ring[i];
    const auto [to_y, to_x] = ring[(i + 1) % 8];
    kernel.taps.taps[to_y * 3 + to_x] = before.taps.taps[y * 3 + x];
    if (before.y == y && before.x == x) {
      kernel.y = to_y;
      kernel.x = to_x;
    }
  }
}

void turn_quarter(PlacedKernel& kernel) {
  const PlacedKernel before = kernel;
  const int height = before.taps.height, width = before.taps.width;
  kernel.taps.height = width;
  kernel.taps.width = height;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      kernel.taps.taps[static_cast<std::size_t>(x) * height + (height - 1 - y)] =
          before.taps.taps[static_cast<std::size_t>(y) * width + x];
  kernel.x = height - 1 - before.y;
  kernel.y = before.x;
}

bool same(const PlacedKernel& a, const PlacedKernel& b) {
  return a.x == b.x && a.y == b.y && a.taps.width == b.taps.width && a.taps.height == b.taps.height &&
         std::equal(a.taps.taps.begin(), a.taps.taps.end(), b.taps.taps.begin(),
                    [](const Tap& p, const Tap& q) { return std::abs(p.value - q.value) < 1e-12; });
}

void divide(TapArray& kernel, double divisor, bool positive, bool negative) {
  if (divisor == 0) return;
  const bool whole = std::abs(divisor) < (1 << 24) && divisor == std::floor(divisor);
  const Tap factor = whole ? Tap::fraction(1, static_cast<std::int64_t>(divisor)) : Tap::real(1 / divisor);
  for (Tap& tap : kernel.taps) {
    if (!(tap.value > 0 ? positive : negative)) continue;
    TapArray one{1, 1, 1, {tap}};
    multiply(one, factor);
    tap = one.taps.front();
  }
}

// The sums of the positive and of the negative taps.
std::pair<double, double> sums(const TapArray& kernel) {
  double positive = 0, negative = 0;
  for (const Tap& tap : kernel.taps) (tap.value > 0 ? positive : negative) += tap.value;
  return {positive, negative};
}

}  // namespace

void turn(PlacedKernel& kernel, int eighths, std::string_view text) {
  eighths = (eighths % 8 + 8) % 8;
  const int width = kernel.taps.width, height = kernel.taps.height;
  if (eighths % 2 != 0 && (width != 3 || height != 3))
    fail(quoted(text) + " is " + std::to_string(width) + "x" + std::to_string(height) +
         " and would be turned by 45 degrees; only 3x3 can: turn by 90 (> for all of them), or write the kernels out");
  if (eighths % 4 != 0 && width != height && width != 1 && height != 1)
    fail(quoted(text) + " is " + std::to_string(width) + "x" + std::to_string(height) +
         " and would be turned by 90 degrees; only a square or a line can: write the kernels out, with ; between them");
  if (eighths % 2 != 0) turn_eighth(kernel);
  for (int quarter = 0; quarter < eighths / 2; ++quarter) turn_quarter(kernel);
}

char take_turns(std::string_view& arguments) {
  bool by_45 = false, by_90 = false, mirrored = false;
  while (!arguments.empty()) {
    const char last = arguments.back();
    if (last == '@')
      by_45 = true;
    else if (last == '>')
      by_90 = true;
    else if (last == '<')
      mirrored = true;
    else if (last != ' ')
      break;
    arguments.remove_suffix(1);
  }
  if (by_45) return '@';
  if (by_90) return '>';
  return mirrored ? '<' : '\0';
}

std::vector<PlacedKernel> in_directions(const PlacedKernel& kernel, char turns, std::string_view text) {
  if (turns == '\0') return {kernel};
  std::vector<PlacedKernel> kernels;
  for (int eighths = 0; eighths < 8; eighths += turns == '@' ? 1 : 2) {
    PlacedKernel turned = kernel;
    turn(turned, eighths, text);
    if (std::none_of(kernels.begin(), kernels.end(), [&](const PlacedKernel& k) { return same(k, turned); }))
      kernels.push_back(turned);
  }
  return kernels;
}

void divide_by_sum(TapArray& kernel) {
  const auto [positive, negative] = sums(kernel);
  divide(kernel, std::abs(positive + negative) < 1e-12 ? positive : positive + negative, true, true);
}

void divide_each_sign(TapArray& kernel) {
  const auto [positive, negative] = sums(kernel);
  divide(kernel, positive, true, false);
  divide(kernel, -negative, false, true);
}

}  // namespace convolve::kernel_string
