// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A kernel of ImageMagick: "3x3: 0,-1,0 -1,5,-1 0,-1,0" (WxH+X+Y puts the origin on tap X, Y), numbers alone for an odd
// square, or a name such as Sobel:45 or Gaussian:0x2; @, > and < after the size or the arguments make a list. In front
// of it convolve:scale=V; multiplies: with a ! the kernel is first divided by its sum (by its positive part where that
// is 0), with a ^ its positive and negative taps each by theirs. A list, with ; between kernels, gives the largest
// result, as ImageMagick does with morphology:compose=Lighten.
#include "kernel_string/imagemagick.hpp"

#include <algorithm>

namespace convolve::kernel_string {
namespace {

// "WxH+X+Y", or "W".
void read_geometry(PlacedKernel& kernel, std::string_view geometry) {
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

std::vector<PlacedKernel> listed_kernels(std::string_view text) {
  PlacedKernel kernel{{1, 0, 0, {}}};
  const std::size_t colon = text.find(':');
  const auto numbers = words(text.substr(colon == std::string_view::npos ? 0 : colon + 1), " ,\t\r\n");
  char turns = '\0';
  if (colon != std::string_view::npos) {
    std::string_view geometry = trim(text.substr(0, colon));
    turns = take_turns(geometry);
    read_geometry(kernel, geometry);
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
  return in_directions(kernel, turns, text);
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
  if (correlate)
    divide_each_sign(kernel);
  else if (normalize)
    divide_by_sum(kernel);
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
    for (PlacedKernel& kernel : has_name ? named_kernels(part) : listed_kernels(part)) {
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
