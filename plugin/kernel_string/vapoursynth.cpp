// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// VapourSynth's std.Convolution: matrix=[1,2,1,2,4,2,1,2,1] divisor= bias= saturate= mode=s. On integer formats, which
// are all that there are here, taps are whole numbers: others are rounded, halves away from zero.
#include <algorithm>
#include <cmath>

#include "kernel_string/grammars.hpp"

namespace convolve::kernel_string {
namespace {

struct Arguments {
  std::string_view matrix, divisor, bias, saturate, mode, planes;
};

// Takes "key=value" from the front of the text.
void take_argument(std::string_view& text, Arguments& arguments) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) fail(quoted(text) + " is no argument; write key=value");
  const std::string_view key = trim(text.substr(0, equals));
  text = trim(text.substr(equals + 1));
  const bool list = text.starts_with('['), string = text.starts_with('"') || text.starts_with('\'');
  std::size_t end = list     ? text.find(']')
                    : string ? text.find(text[0], 1)
                             : std::min(text.find_first_of(" \t\r\n,"), text.size());
  if (end == std::string_view::npos) fail(quoted(key) + " has a bracket or a quote that is not closed");
  const std::size_t skipped = list || string ? 1 : 0;
  const std::string_view value = text.substr(skipped, end - skipped);
  text.remove_prefix(end + skipped);
  for (const auto& [name, slot] : {std::pair{"matrix", &arguments.matrix}, std::pair{"divisor", &arguments.divisor},
                                   std::pair{"bias", &arguments.bias}, std::pair{"saturate", &arguments.saturate},
                                   std::pair{"mode", &arguments.mode}, std::pair{"planes", &arguments.planes}})
    if (key == name) {
      if (value.empty()) fail(std::string(name) + " is empty");
      *slot = value;
      return;
    }
  fail(quoted(key) + " is no argument; there are matrix, divisor, bias, saturate, mode and planes");
}

TapArray read_matrix(const Arguments& arguments) {
  const auto numbers = words(arguments.matrix, " ,\t\r\n");
  const std::size_t count = numbers.size();
  const std::string_view mode = arguments.mode.empty() ? "s" : arguments.mode;
  TapArray kernel{1, 1, 1, {}};
  if (mode == "s") {
    kernel.height = kernel.width = odd_square_side(count);
    if (kernel.width < 3 || kernel.width > 11)
      fail("matrix has " + std::to_string(count) + " numbers; with mode=s it has 9, 25, 49, 81 or 121");
  } else if (mode == "h" || mode == "v" || mode == "hv") {
    if (count % 2 == 0 || count < 3 || count > 25)
      fail("matrix has " + std::to_string(count) + " numbers; with mode=h, v or hv it has an odd number from 3 to 25");
    (mode == "v" ? kernel.height : kernel.width) = static_cast<int>(count);
  } else {
    fail("mode is " + quoted(mode) + "; it is s, h, v or hv");
  }
  for (const std::string_view number : numbers) {
    const double tap = std::round(parse_number(number, "a number of matrix").value);
    if (std::abs(tap) > 1023) fail("matrix has the number " + quoted(number) + "; VapourSynth takes -1023 to 1023");
    kernel.taps.push_back(Tap::integer(static_cast<std::int64_t>(tap)));
  }
  return kernel;
}

// VapourSynth runs mode=hv as two filters, along columns and then along rows, and rounds and clamps between them. One
// filter is within a code value of that where nothing clamps: taps that are not negative, a gain of at most 1, no bias.
void square_of_line(TapArray& kernel, double divisor, double bias) {
  double sum = 0, least = 0;
  for (const Tap& tap : kernel.taps) {
    sum += tap.value;
    least = std::min(least, tap.value);
  }
  if (least < 0 || bias != 0 || (divisor != 0 && !(sum <= divisor)))
    fail(
        "mode=hv is rounded and clamped between its two passes, which one filter is not; with negative taps, a bias or "
        "a divisor below the sum that shows: chain two elements, the first with mode=v, the second with mode=h");
  const std::vector<Tap> line = kernel.taps;
  kernel.height = kernel.width;
  kernel.taps.clear();
  for (const Tap& down : line)
    for (const Tap& along : line) kernel.taps.push_back(Tap::integer(down.numerator * along.numerator));
}

std::array<bool, 4> read_planes(std::string_view text) {
  std::array<bool, 4> planes{};
  for (const std::string_view word : words(text, " ,")) {
    bool& plane = planes[parse_int(word, 0, 2, "a plane of planes")];
    if (plane) fail("planes names " + std::string(word) + " twice");
    plane = true;
  }
  if (planes[1] != planes[2])
    fail("planes=" + quoted(text) +
         " has only one of 1 and 2; both colour differences are filtered, or none. Of RGB, leave planes out and choose "
         "with the property components");
  return planes;
}

}  // namespace

KernelString parse_vapoursynth(std::string_view text) {
  Arguments arguments;
  while (!(text = trim(text)).empty()) {
    if (text.front() == ',')
      text.remove_prefix(1);
    else
      take_argument(text, arguments);
  }
  if (arguments.matrix.empty()) fail("there is no matrix; write one such as matrix=[1,2,1,2,4,2,1,2,1]");
  KernelString result;
  result.border = Border::reflect;
  result.kernels.front() = read_matrix(arguments);
  if (!arguments.bias.empty()) result.bias_codes = parse_number(arguments.bias, "bias").value;
  if (std::abs(result.bias_codes) > 65535)
    fail("bias is " + quoted(arguments.bias) + "; it is -65535 to 65535 code values");
  const Tap divisor = arguments.divisor.empty() ? Tap::integer(0) : parse_number(arguments.divisor, "divisor");
  TapArray& kernel = result.kernels.front();
  const bool twice = arguments.mode == "hv";
  if (twice) square_of_line(kernel, divisor.value, result.bias_codes);
  if (divisor.value == 0)
    result.options.normalize = true;
  else
    for (int pass = 0; pass < (twice ? 2 : 1); ++pass)
      multiply(kernel, divisor.denominator != 0 && std::abs(divisor.numerator) < (1 << 24)
                           ? Tap::fraction(divisor.denominator, divisor.numerator)
                           : Tap::real(1 / divisor.value));
  if (!arguments.planes.empty()) {
    result.planes = read_planes(arguments.planes);
    result.planes_are_red_first = true;
  }
  const std::string_view saturate = arguments.saturate.empty() ? "1" : arguments.saturate;
  if (saturate == "0" || saturate == "False") {
    const auto taps_of = [&](bool negative) {
      return std::any_of(kernel.taps.begin(), kernel.taps.end(),
                         [&](const Tap& tap) { return negative ? tap.value < 0 : tap.value > 0; });
    };
    // There is nothing to turn if no sum can be negative.
    const bool never_negative = result.options.normalize ? !(taps_of(true) && taps_of(false)) : !taps_of(true);
    if (never_negative && result.bias_codes >= 0) return result;
    if (result.bias_codes != 0)
      fail("saturate=" + std::string(saturate) + " beside a bias of " + std::string(arguments.bias) +
           " cannot be honoured where sums may be negative: the bias is added to the magnitude here, not to the sum; "
           "leave one of them out");
    result.combine = Combine::magnitude;
  } else if (saturate != "1" && saturate != "True") {
    fail("saturate is " + quoted(saturate) + "; it is 1, True, 0 or False");
  }
  return result;
}

}  // namespace convolve::kernel_string
