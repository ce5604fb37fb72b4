// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SVG's feConvolveMatrix: order="3" kernelMatrix="0 -1 0 -1 5 -1 0 -1 0" divisor bias targetX targetY edgeMode, with
// or without <feConvolveMatrix ... /> around them. The matrix is turned by 180 degrees, then lies with its tap
// (targetX, targetY) on the sample.
#include <algorithm>
#include <map>

#include "kernel_string/grammars.hpp"

namespace convolve::kernel_string {
namespace {

using Attributes = std::map<std::string_view, std::string_view>;

Attributes read_attributes(std::string_view text) {
  constexpr std::string_view tag = "<feConvolveMatrix";
  if (text.starts_with(tag)) {
    text.remove_prefix(tag.size());
    // The element may be closed by itself, or by a tag of its own.
    if (const std::size_t closing = text.rfind("</feConvolveMatrix"); closing != std::string_view::npos)
      text = text.substr(0, closing);
    const std::size_t end = text.rfind('>');
    if (end == std::string_view::npos) fail("<feConvolveMatrix is not closed");
    text = trim(text.substr(0, end));
    if (text.ends_with('/')) text.remove_suffix(1);
  }
  Attributes found;
  while (!(text = trim(text)).empty()) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) fail(quoted(text) + " is no attribute; write name=\"value\"");
    const std::string_view name = trim(text.substr(0, equals));
    text = trim(text.substr(equals + 1));
    if (!text.starts_with('"') && !text.starts_with('\'')) fail(quoted(name) + " needs its value between quotes");
    const std::size_t end = text.find(text[0], 1);
    if (end == std::string_view::npos) fail("the value of " + quoted(name) + " has a quote that is not closed");
    if (!found.emplace(name, trim(text.substr(1, end - 1))).second) fail(quoted(name) + " stands there twice");
    text.remove_prefix(end + 1);
  }
  return found;
}

void check(const Attributes& attributes) {
  static constexpr std::string_view known[] = {"order",   "kernelMatrix", "divisor",  "bias",
                                               "targetX", "targetY",      "edgeMode", "preserveAlpha",
                                               "in",      "result",       "id",       "color-interpolation-filters"};
  for (const auto& [name, value] : attributes) {
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      fail(quoted(name) + " cannot be honoured: the matrix is in samples and covers the frame; leave it out");
    if (name == "preserveAlpha" && value != "true")
      fail("preserveAlpha=" + quoted(value) + " cannot be honoured: colours are not multiplied with alpha; write true");
    if (name == "color-interpolation-filters" && value != "sRGB")
      fail("color-interpolation-filters=" + quoted(value) +
           " cannot be honoured: samples are filtered as they are; write sRGB");
  }
}

}  // namespace

KernelString parse_svg(std::string_view text) {
  const Attributes attributes = read_attributes(text);
  check(attributes);
  const auto value = [&](std::string_view name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? std::string_view() : found->second;
  };
  TapArray kernel{1, 3, 3, {}};
  if (const auto order = words(value("order"), " ,\t\r\n"); !order.empty()) {
    if (order.size() > 2) fail("order has " + std::to_string(order.size()) + " numbers; it has 1 or 2");
    kernel.width = parse_int(order.front(), 1, max_factored_taps, "order");
    kernel.height = parse_int(order.back(), 1, max_factored_taps, "order");
  }
  const auto numbers = words(value("kernelMatrix"), " ,\t\r\n");
  if (static_cast<int>(numbers.size()) != kernel.height * kernel.width)
    fail("kernelMatrix has " + std::to_string(numbers.size()) + " numbers where order asks for " +
         std::to_string(kernel.height * kernel.width));
  for (const std::string_view number : numbers) kernel.taps.push_back(parse_number(number, "a number of kernelMatrix"));
  std::reverse(kernel.taps.begin(), kernel.taps.end());
  const auto target = [&](const char* name, int order) {
    return value(name).empty() ? order / 2 : parse_int(value(name), 0, order - 1, name);
  };
  KernelString result;
  result.kernels.front() = with_centre(kernel, target("targetY", kernel.height), target("targetX", kernel.width));
  if (value("divisor").empty()) {
    result.options.normalize = true;
  } else {
    const Tap divisor = parse_number(value("divisor"), "divisor");
    if (divisor.value == 0) fail("divisor is 0; leave it out for the sum of the matrix");
    if (divisor.denominator != 0)
      multiply(result.kernels.front(), Tap::fraction(divisor.denominator, divisor.numerator));
    else
      multiply(result.kernels.front(), Tap::real(1 / divisor.value));
  }
  if (!value("bias").empty()) result.bias = parse_number(value("bias"), "bias").value;
  if (result.bias < -4 || result.bias > 4) fail("bias is " + quoted(value("bias")) + "; it is -4 to 4");
  const std::string_view edge = value("edgeMode");
  if (edge == "wrap")
    result.border = Border::wrap;
  else if (edge == "none")
    result.border = Border::constant;
  else if (!edge.empty() && edge != "duplicate")
    fail("edgeMode is " + quoted(edge) + "; it is duplicate, wrap or none");
  return result;
}

}  // namespace convolve::kernel_string
