// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// VapourSynth's std.Convolution: matrix=[1,2,1,2,4,2,1,2,1] divisor= bias= saturate= mode=s. On integer formats, which
// are all that there are here, taps are whole numbers: others are rounded, halves away from zero.
#include <cmath>

#include "kernel_string/grammars.hpp"

namespace convolve::kernel_string {
namespace {

struct Arguments {
  std::string_view matrix, divisor, bias, saturate, mode;
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
  if (key == "planes") fail("planes cannot be honoured; choose with the property components");
  for (const auto& [name, slot] : {std::pair{"matrix", &arguments.matrix}, std::pair{"divisor", &arguments.divisor},
                                   std::pair{"bias", &arguments.bias}, std::pair{"saturate", &arguments.saturate},
                                   std::pair{"mode", &arguments.mode}})
    if (key == name) {
      if (value.empty()) fail(std::string(name) + " is empty");
      *slot = value;
      return;
    }
  fail(quoted(key) + " is no argument; there are matrix, divisor, bias, saturate and mode");
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
  } else if (mode == "h" || mode == "v") {
    if (count % 2 == 0 || count < 3 || count > 25)
      fail("matrix has " + std::to_string(count) + " numbers; with mode=h or v it has an odd number from 3 to 25");
    (mode == "h" ? kernel.width : kernel.height) = static_cast<int>(count);
  } else {
    fail("mode is " + quoted(mode) + "; s, h and v can be honoured, and hv as two elements, one of h and one of v");
  }
  for (const std::string_view number : numbers) {
    const double tap = std::round(parse_number(number, "a number of matrix").value);
    if (std::abs(tap) > 1023) fail("matrix has the number " + quoted(number) + "; VapourSynth takes -1023 to 1023");
    kernel.taps.push_back(Tap::integer(static_cast<std::int64_t>(tap)));
  }
  return kernel;
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
  if (divisor.value == 0)
    result.options.normalize = true;
  else if (divisor.denominator != 0 && std::abs(divisor.numerator) < (1 << 24))
    multiply(result.kernels.front(), Tap::fraction(divisor.denominator, divisor.numerator));
  else
    multiply(result.kernels.front(), Tap::real(1 / divisor.value));
  const std::string_view saturate = arguments.saturate.empty() ? "1" : arguments.saturate;
  if (saturate == "0" || saturate == "False") {
    if (result.bias_codes != 0)
      fail("saturate=" + std::string(saturate) + " beside a bias of " + std::string(arguments.bias) +
           " cannot be honoured: the bias is added to the magnitude here, not to the sum; leave one of them out");
    result.combine = Combine::magnitude;
  } else if (saturate != "1" && saturate != "True") {
    fail("saturate is " + quoted(saturate) + "; it is 1, True, 0 or False");
  }
  return result;
}

}  // namespace convolve::kernel_string
