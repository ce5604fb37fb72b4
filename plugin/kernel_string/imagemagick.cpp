// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A kernel of ImageMagick: "3x3: 0,-1,0 -1,5,-1 0,-1,0" (WxH+X+Y puts the origin on tap X, Y), numbers alone for an odd
// square, or a name such as Sobel:45. In front of it convolve:scale=V; multiplies: with a ! the kernel is first divided
// by its sum (by its positive part where that is 0), with a ^ its positive and negative taps each by theirs. A list,
// with ; between kernels, gives the largest result, as ImageMagick does with morphology:compose=Lighten.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernel_string/grammars.hpp"

namespace convolve::kernel_string {
namespace {

struct Kernel {
  TapArray taps;
  int x = 0, y = 0;  ///< origin
};

struct Named {
  std::string_view name;
  std::array<int, 9> taps;
};
constexpr Named named[] = {{"Sobel", {1, 0, -1, 2, 0, -2, 1, 0, -1}},    {"Prewitt", {1, 0, -1, 1, 0, -1, 1, 0, -1}},
                           {"Roberts", {0, 0, 0, 1, -1, 0, 0, 0, 0}},    {"Compass", {1, 1, -1, 1, -2, -1, 1, 1, -1}},
                           {"Kirsch", {5, -3, -3, 5, 0, -3, 5, -3, -3}}, {"Unity", {0, 0, 0, 0, 1, 0, 0, 0, 0}}};

// Eighths of a turn, clockwise: the outer taps move on by one each.
void rotate(std::array<int, 9>& taps, int eighths) {
  constexpr int ring[] = {0, 1, 2, 5, 8, 7, 6, 3};
  const std::array<int, 9> before = taps;
  for (int i = 0; i < 8; ++i) taps[ring[(i + eighths) % 8]] = before[ring[i]];
}

// With @ in place of an angle, the kernel in each of its directions.
std::vector<Kernel> named_kernels(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = trim(text.substr(0, colon));
  const std::string_view argument = trim(text.substr(std::min(colon + 1, text.size())));
  const auto* row = std::find_if(std::begin(named), std::end(named), [&](const Named& n) { return n.name == name; });
  if (row == std::end(named))
    fail("the kernel " + quoted(name) +
         " is not known by name; there are Sobel, Prewitt, Roberts, Compass, Kirsch and Unity: give others as numbers, "
         "as -define morphology:showKernel=1 prints them");
  std::array<int, 9> taps = row->taps;
  int directions = 1;
  if (argument == "@") {
    directions = 8;
  } else if (!argument.empty()) {
    const int angle = parse_int(argument, -360, 360, "the angle of " + std::string(name));
    if (angle % 45 != 0)
      fail("the angle " + quoted(argument) + " of " + std::string(name) + " is no multiple of 45 degrees");
    rotate(taps, (angle / 45 + 8) % 8);
  }
  std::vector<Kernel> kernels;
  const std::array<int, 9> first = taps;
  do {
    kernels.push_back({{1, 3, 3, {}}, 1, 1});
    for (const int tap : taps) kernels.back().taps.taps.push_back(Tap::integer(tap));
    rotate(taps, 1);
  } while (--directions > 0 && taps != first);
  return kernels;
}

// "WxH+X+Y", or "W".
void read_geometry(Kernel& kernel, std::string_view geometry) {
  if (geometry.find_first_of("@<>") != std::string_view::npos)
    fail("@, > and < of " + quoted(geometry) +
         " cannot be honoured; write the turned kernels out, with ; between them");
  const std::size_t plus = std::min(geometry.find('+'), geometry.size());
  const auto sizes = words(geometry.substr(0, plus), "x"), origin = words(geometry.substr(plus), "+");
  if (sizes.empty() || sizes.size() > 2 || (!origin.empty() && origin.size() != 2))
    fail(quoted(geometry) + " is no size; write WxH or WxH+X+Y");
  kernel.taps.width = parse_int(sizes.front(), 1, max_factored_taps, "the width of " + quoted(geometry));
  kernel.taps.height = parse_int(sizes.back(), 1, max_factored_taps, "the height of " + quoted(geometry));
  kernel.x = (kernel.taps.width - 1) / 2;
  kernel.y = (kernel.taps.height - 1) / 2;
  if (origin.empty()) return;
  kernel.x = parse_int(origin[0], 0, kernel.taps.width - 1, "the origin's x in " + quoted(geometry));
  kernel.y = parse_int(origin[1], 0, kernel.taps.height - 1, "the origin's y in " + quoted(geometry));
}

Kernel listed_kernel(std::string_view text) {
  Kernel kernel{{1, 0, 0, {}}};
  const std::size_t colon = text.find(':');
  const auto numbers = words(text.substr(colon == std::string_view::npos ? 0 : colon + 1), " ,\t\r\n");
  if (colon != std::string_view::npos) {
    read_geometry(kernel, trim(text.substr(0, colon)));
  } else {
    kernel.taps.width = kernel.taps.height = odd_square_side(numbers.size());
    if (kernel.taps.width == 0)
      fail("the kernel has " + std::to_string(numbers.size()) +
           " numbers, no odd square; write its size before them, as in 3x1:");
    kernel.x = kernel.y = kernel.taps.width / 2;
  }
  const int count = kernel.taps.width * kernel.taps.height;
  if (static_cast<int>(numbers.size()) != count)
    fail("the kernel has " + std::to_string(numbers.size()) + " numbers where its size asks for " +
         std::to_string(count));
  for (const std::string_view number : numbers)
    kernel.taps.taps.push_back(number == "nan" || number == "-" ? Tap::integer(0)
                                                                : parse_number(number, "a number of the kernel"));
  return kernel;
}

void apply_scale(TapArray& kernel, std::string_view text) {
  bool normalize = false, correlate = false;
  while (text.ends_with('!') || text.ends_with('^')) {
    (text.ends_with('!') ? normalize : correlate) = true;
    text = trim(text.substr(0, text.size() - 1));
  }
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const Tap scale = text.empty() ? Tap::integer(1) : parse_number(text, "convolve:scale");
  double positive = 0, negative = 0;
  for (const Tap& tap : kernel.taps) (tap.value > 0 ? positive : negative) += tap.value;
  const auto divide = [&](double divisor, bool of_positive, bool of_negative) {
    for (Tap& tap : kernel.taps)
      if (divisor != 0 && ((tap.value > 0 && of_positive) || (tap.value < 0 && of_negative))) {
        TapArray one{1, 1, 1, {tap}};
        multiply(one, std::abs(divisor) < (1 << 24) && divisor == std::floor(divisor)
                          ? Tap::fraction(1, static_cast<std::int64_t>(divisor))
                          : Tap::real(1 / divisor));
        tap = one.taps.front();
      }
  };
  if (correlate) {
    divide(positive, true, false);
    divide(-negative, false, true);
  } else if (normalize) {
    const double sum = std::abs(positive + negative) < 1e-12 ? positive : positive + negative;
    divide(sum, true, true);
  }
  multiply(kernel, scale);
  if (percent) multiply(kernel, Tap::fraction(1, 100));
}

}  // namespace

KernelString parse_imagemagick(std::string_view text, bool convolve) {
  std::string_view scale;
  bool scaled = false;
  constexpr std::string_view define = "convolve:scale=";
  if (text.starts_with(define)) {
    const std::size_t end = text.find(';');
    if (end == std::string_view::npos) fail("convolve:scale has no kernel behind it; write convolve:scale=V;KERNEL");
    scale = trim(text.substr(define.size(), end - define.size()));
    scaled = true;
    text = trim(text.substr(end + 1));
  } else if (text.starts_with("convolve:") || text.starts_with("morphology:")) {
    fail(quoted(text.substr(0, text.find('='))) + " cannot be honoured; of the definitions convolve:scale can");
  }
  KernelString result;
  result.kernels.clear();
  for (std::string_view part : words(text, ";")) {
    part = trim(part);
    if (part.empty()) continue;
    const bool has_name =
        (part[0] >= 'A' && part[0] <= 'Z') || (part[0] >= 'a' && part[0] <= 'z' && !part.starts_with("nan"));
    for (Kernel& kernel : has_name ? named_kernels(part) : std::vector{listed_kernel(part)}) {
      if (scaled) apply_scale(kernel.taps, scale);
      if (convolve) {
        std::reverse(kernel.taps.taps.begin(), kernel.taps.taps.end());
        kernel.x = kernel.taps.width - 1 - kernel.x;
        kernel.y = kernel.taps.height - 1 - kernel.y;
      }
      result.kernels.push_back(with_centre(kernel.taps, kernel.y, kernel.x));
    }
  }
  if (result.kernels.empty()) fail("there is no kernel; write one such as 3x3: 0,-1,0 -1,5,-1 0,-1,0");
  if (result.kernels.size() > max_bank)
    fail("the list has " + std::to_string(result.kernels.size()) + " kernels; it has at most " +
         std::to_string(max_bank));
  if (result.kernels.size() > 1) result.combine = Combine::max;
  return result;
}

}  // namespace convolve::kernel_string
