// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel_string/kernel_string.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "kernel_string/grammars.hpp"
#include "text/printable.hpp"

namespace convolve {
namespace kernel_string {
namespace {

template <class Number>
bool read(std::string_view word, Number& value) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return !word.empty() && error == std::errc() && end == word.data() + word.size();
}

}  // namespace

void fail(const std::string& what) {
  throw std::invalid_argument(what);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown = "\"";
  shown += printable(text.substr(0, most));
  shown += text.size() > most ? "...\"" : "\"";
  return shown;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

Tap parse_number(std::string_view word, const std::string& what) {
  word = trim(word);
  if (std::int64_t integer = 0; read(word, integer)) return Tap::integer(integer);
  double real = 0;
  if (!read(word, real) || !std::isfinite(real)) fail(what + " is " + quoted(word) + "; it is a finite number");
  return Tap::real(real);
}

Tap parse_fraction(std::string_view word, const std::string& what) {
  const std::size_t stroke = word.find('/');
  if (stroke == std::string_view::npos) return parse_number(word, what);
  std::int64_t numerator = 0, denominator = 0;
  if (!read(trim(word.substr(0, stroke)), numerator) || !read(trim(word.substr(stroke + 1)), denominator) ||
      denominator == 0)
    fail(what + " is " + quoted(word) + "; it is a number, or a fraction of whole numbers such as 1/9");
  return Tap::fraction(numerator, denominator);
}

int parse_int(std::string_view word, int low, int high, const std::string& what) {
  int value = 0;
  if (!read(trim(word), value) || value < low || value > high)
    fail(what + " is " + quoted(trim(word)) + "; it is a whole number from " + std::to_string(low) + " to " +
         std::to_string(high));
  return value;
}

int odd_square_side(std::size_t taps) {
  for (int side = 1; side <= max_dense_taps; side += 2)
    if (static_cast<std::size_t>(side) * side == taps) return side;
  return 0;
}

void multiply(TapArray& kernel, const Tap& factor) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // products of two stay within 64 bits
  const auto small = [](const Tap& t) {
    return t.denominator != 0 && std::abs(t.value) < static_cast<double>(most) && t.numerator < most &&
           t.numerator > -most && t.denominator < most;
  };
  for (Tap& tap : kernel.taps)
    tap = small(tap) && small(factor)
              ? Tap::fraction(tap.numerator * factor.numerator, tap.denominator * factor.denominator)
              : Tap::real(tap.value * factor.value);
}

TapArray with_centre(const TapArray& kernel, int y, int x) {
  const auto axis = [](int taps, int centre) {
    const int before = std::max(0, taps - 2 * centre - 1);
    return std::pair{before, std::max(taps, 2 * centre) + before};  // zeros before, taps in all
  };
  const auto [top, height] = axis(kernel.height, y);
  const auto [left, width] = axis(kernel.width, x);
  TapArray array{1, height, width, {}};
  array.taps.assign(static_cast<std::size_t>(height) * width, Tap::integer(0));
  for (int i = 0; i < kernel.height; ++i)
    for (int j = 0; j < kernel.width; ++j)
      array.taps[static_cast<std::size_t>(top + i) * width + left + j] =
          kernel.taps[static_cast<std::size_t>(i) * kernel.width + j];
  return array;
}

}  // namespace kernel_string

namespace {

struct Grammar {
  std::string_view name;  ///< what its strings start with
  KernelString (*parse)(std::string_view rest);
};
constexpr std::array grammars{
    Grammar{"ffmpeg:", kernel_string::parse_ffmpeg},
    Grammar{"im:", [](std::string_view rest) { return kernel_string::parse_imagemagick(rest, true); }},
    Grammar{"imc:", [](std::string_view rest) { return kernel_string::parse_imagemagick(rest, false); }},
    Grammar{"vs:", kernel_string::parse_vapoursynth},
    Grammar{"svg:", kernel_string::parse_svg},
};

/// Null where the text starts with none.
const Grammar* grammar_of(std::string_view text) {
  const auto* found =
      std::find_if(grammars.begin(), grammars.end(), [&](const Grammar& g) { return text.starts_with(g.name); });
  return found == grammars.end() ? nullptr : found;
}

/// "a:, b: or c:", of all grammars.
std::string names_of_grammars() {
  std::string names;
  for (const Grammar& grammar : grammars) {
    if (!names.empty()) names += &grammar == &grammars.back() ? " or " : ", ";
    names += grammar.name;
  }
  return names;
}

constexpr std::size_t max_text = 1 << 20;

}  // namespace

std::optional<std::string> kernel_string_in_file(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string kept;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    if (!kernel_string::trim(line).starts_with('#')) kept += line;
    text.remove_prefix(line.size());
  }
  if (!grammar_of(kernel_string::trim(kept))) return std::nullopt;
  return kept;
}

KernelString parse_kernel_string(std::string_view text) {
  using namespace kernel_string;
  if (text.size() > max_text) fail("the kernel string is longer than 1 MiB, so no kernel");
  text = trim(text);
  const Grammar* const grammar = grammar_of(text);
  if (!grammar) fail(quoted(text) + " starts with no grammar; a kernel string starts with " + names_of_grammars());
  try {
    return grammar->parse(trim(text.substr(grammar->name.size())));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(grammar->name) + " " + error.what());
  }
}

}  // namespace convolve
