// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FFmpeg's filter convolution: options apart by colons, 0m='0 -1 0 -1 5 -1 0 -1 0':0rdiv=1/9:0bias=0:0mode=square, the
// digit being the plane; or values alone, the four matrices first.
#include <algorithm>

#include "kernel_string/grammars.hpp"

namespace convolve::kernel_string {
namespace {

enum class Mode { square, row, column };

struct PlaneOptions {
  std::string matrix;  ///< empty: as absent
  Tap rdiv = Tap::integer(0);
  double bias = 0;
  Mode mode = Mode::square;
};

// Between quotes a colon is no separator; the quotes go.
std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> options(1);
  bool within = false;
  for (const char c : text) {
    if (c == '\'')
      within = !within;
    else if (c == ':' && !within)
      options.emplace_back();
    else
      options.back() += c;
  }
  if (within) fail("a quote (') is not closed");
  return options;
}

void set_option(PlaneOptions& plane, std::string_view key, const std::string& name, std::string_view value) {
  if (key == "m") {
    plane.matrix = value;
  } else if (key == "rdiv") {
    plane.rdiv = parse_fraction(value, name);
    if (plane.rdiv.value < 0) fail(name + " is " + quoted(value) + "; FFmpeg takes 0 (1 / sum of the matrix) or more");
  } else if (key == "bias") {
    plane.bias = parse_number(value, name).value;
    if (plane.bias < 0 || plane.bias > 65535) fail(name + " is " + quoted(value) + "; it is 0 to 65535 code values");
  } else if (value == "square" || value == "0") {
    plane.mode = Mode::square;
  } else if (value == "row" || value == "1") {
    plane.mode = Mode::row;
  } else if (value == "column" || value == "2") {
    plane.mode = Mode::column;
  } else {
    fail(name + " is " + quoted(value) + "; it is square, row or column");
  }
}

std::array<PlaneOptions, 4> read_options(std::string_view text) {
  static constexpr std::string_view keys[] = {"m", "rdiv", "bias", "mode"};
  std::array<PlaneOptions, 4> planes;
  std::size_t place = 0;
  for (const std::string& option : split_options(text)) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos) {
      if (place >= 16)
        fail(quoted(option) + " is one value too many; there are 16: m, rdiv, bias and mode of 4 planes");
      std::string name(1, static_cast<char>('0' + place % 4));
      name += keys[place / 4];
      if (trim(option).empty()) fail(name + " is empty");
      set_option(planes[place % 4], keys[place / 4], name, trim(option));
      ++place;
      continue;
    }
    const std::string name(trim(std::string_view(option).substr(0, equals)));
    const std::string_view key = std::string_view(name).substr(std::min<std::size_t>(1, name.size()));
    if (name.empty() || name[0] < '0' || name[0] > '3' ||
        std::find(std::begin(keys), std::end(keys), key) == std::end(keys))
      fail(quoted(name) + " is no option; there are m, rdiv, bias and mode, after a plane from 0 to 3, as in 0rdiv");
    const std::string_view value = trim(std::string_view(option).substr(equals + 1));
    if (value.empty()) fail(name + " is empty");
    set_option(planes[name[0] - '0'], key, name, value);
  }
  return planes;
}

TapArray read_matrix(const PlaneOptions& plane, const std::string& name) {
  const auto numbers = words(plane.matrix, " |\t\r\n");
  TapArray kernel{1, 1, 1, {}};
  const std::size_t count = numbers.size();
  if (plane.mode == Mode::square) {
    if (count != 9 && count != 25 && count != 49)
      fail(name + " has " + std::to_string(count) + " numbers; a square has 9, 25 or 49");
    kernel.height = kernel.width = odd_square_side(count);
  } else {
    if (count % 2 == 0 || count > 49)
      fail(name + " has " + std::to_string(count) + " numbers; a row or a column has an odd number of them, up to 49");
    (plane.mode == Mode::row ? kernel.width : kernel.height) = static_cast<int>(count);
  }
  for (const std::string_view number : numbers)
    kernel.taps.push_back(Tap::integer(parse_int(number, -(1 << 24), 1 << 24, "a number of " + name)));
  return kernel;
}

bool same_taps(const TapArray& a, const TapArray& b) {
  return a.height == b.height && a.width == b.width &&
         std::equal(a.taps.begin(), a.taps.end(), b.taps.begin(), b.taps.end(),
                    [](const Tap& p, const Tap& q) { return p.value == q.value; });
}

}  // namespace

KernelString parse_ffmpeg(std::string_view text) {
  if (text.starts_with("convolution=")) text.remove_prefix(12);
  if (text.empty()) fail("there is no matrix; write one such as 0m='0 -1 0 -1 5 -1 0 -1 0'");
  std::array<PlaneOptions, 4> planes = read_options(text);
  KernelString result;
  result.border = Border::reflect_101;
  result.planes.emplace();
  const PlaneOptions* first = nullptr;
  char first_name = '0';
  for (int p = 0; p < 4; ++p) {
    const char digit = static_cast<char>('0' + p);
    PlaneOptions& plane = planes[p];
    if (plane.matrix.empty()) {
      if (plane.rdiv.value == 0 && plane.bias == 0) continue;
      plane.matrix = "0 0 0 0 1 0 0 0 0";  // FFmpeg's default; rdiv and bias hold for it
    }
    const TapArray kernel = read_matrix(plane, std::string{digit, 'm'});
    (*result.planes)[p] = true;
    if (!first) {
      first = &plane;
      first_name = digit;
      result.kernels = {kernel};
    } else if (!same_taps(kernel, result.kernels.front()) || plane.rdiv.value != first->rdiv.value ||
               plane.bias != first->bias) {
      fail(std::string("planes ") + first_name + " and " + digit +
           " differ in matrix, rdiv or bias; one element has one filter: chain two, each with the planes of one");
    }
  }
  if (!first) fail("there is no matrix; write one such as 0m='0 -1 0 -1 5 -1 0 -1 0'");
  if ((*result.planes)[1] != (*result.planes)[2])
    fail("only one of the planes 1 and 2 has a matrix; both colour differences are filtered, or none");
  if (first->rdiv.value == 0)
    result.options.normalize = true;
  else
    multiply(result.kernels.front(), first->rdiv);
  result.bias_codes = first->bias;
  return result;
}

}  // namespace convolve::kernel_string
