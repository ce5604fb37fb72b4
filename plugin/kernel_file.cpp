// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "text/printable.hpp"

namespace convolve {
namespace {

constexpr std::size_t max_file_size = 20 << 20;  // 15 x 255 x 255 taps of 17 digits take 17 MB

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  TapArray parse() {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
      fail(1, 1, "the file is UTF-16; save it as UTF-8 or plain ASCII text");
    refuse_nul();
    bool frame_ended = false;
    while (!text_.empty()) {
      ++line_;
      const std::size_t end = text_.find('\n');
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::size_t hash = line.find('#');
      const std::string_view content = line.substr(0, hash);
      if (content.find_first_not_of(" \t,") == std::string_view::npos) {
        frame_ended |= hash == std::string_view::npos;  // a line of comment alone does not part frames
        continue;
      }
      if (frame_ended && rows_ > 0) next_frame();
      frame_ended = false;
      row(content);
    }
    if (rows_ == 0) fail(std::max(line_, 1), 1, "no taps; a kernel has 1 to 255 rows of 1 to 255 taps");
    if (array_.height == 0) array_.height = rows_;
    if (rows_ != array_.height) ragged_frame(line_);
    array_.depth = frames_;
    return std::move(array_);
  }

 private:
  [[noreturn]] void fail(int line, std::size_t column, const std::string& what) const {
    throw std::invalid_argument(path_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + what);
  }
  [[noreturn]] void ragged_frame(int line) const {
    fail(line, 1,
         "frame " + std::to_string(frames_) + " has " + std::to_string(rows_) + " rows where the first has " +
             std::to_string(array_.height) + "; all frames of a kernel have as many");
  }

  // UTF-16 without its mark has one in each ASCII character.
  void refuse_nul() const {
    const std::size_t nul = text_.find('\0');
    if (nul == std::string_view::npos) return;
    const std::string_view before = text_.substr(0, nul);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    fail(static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1, nul - line_start + 1,
         "a NUL byte, as in UTF-16; save the file as UTF-8 or plain ASCII text");
  }

  // In "0,5 0,25" the commas are decimal ones, in "1,2, 1" they are not: which it is cannot be told.
  void refuse_decimal_comma(std::string_view line) const {
    const auto first = line.find_first_not_of(" \t,"), last = line.find_last_not_of(" \t,");
    const std::string_view taps = line.substr(first, last - first + 1);
    if (taps.find_first_of(" \t") == std::string_view::npos) return;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t comma = taps.find(','); comma != std::string_view::npos; comma = taps.find(',', comma + 1)) {
      if (!is_digit(taps[comma - 1]) || !is_digit(taps[comma + 1])) continue;
      const std::size_t start = taps.find_last_of(" \t", comma) + 1;  // npos + 1 is 0
      const std::size_t end = std::min(taps.find_first_of(" \t", comma), taps.size());
      const std::string word = printable(taps.substr(start, std::min<std::size_t>(end - start, 40)));
      fail(line_, first + start + 1,
           "\"" + word +
               "\" may be a number with a decimal comma, or several taps; write numbers with a point, and either a "
               "blank after each comma or no blanks in the row");
    }
  }

  void next_frame() {
    if (array_.height == 0) array_.height = rows_;
    if (rows_ != array_.height) ragged_frame(line_ - 1);
    if (++frames_ > max_depth) fail(line_, 1, "frame 16; a kernel has at most 15 frames");
    rows_ = 0;
  }

  void row(std::string_view line) {
    if (++rows_ > max_factored_taps) fail(line_, 1, "row 256 of a frame; a kernel has at most 255 rows");
    refuse_decimal_comma(line);
    int columns = 0;
    std::size_t at = 0;
    while ((at = line.find_first_not_of(" \t,", at)) != std::string_view::npos) {
      const std::size_t end = std::min(line.find_first_of(" \t,", at), line.size());
      if (++columns > max_factored_taps) fail(line_, at + 1, "tap 256 of a row; a kernel has at most 255 taps a row");
      array_.taps.push_back(tap(line.substr(at, end - at), at + 1));
      at = end;
    }
    if (frames_ == 1 && rows_ == 1) array_.width = columns;
    if (columns != array_.width)
      fail(line_, 1,
           std::to_string(columns) + " taps where the first row has " + std::to_string(array_.width) +
               "; all rows of a kernel have as many");
  }

  Tap tap(std::string_view word, std::size_t column) const {
    const std::size_t slash = word.find('/');
    Tap tap;
    bool good = false;
    if (slash != std::string_view::npos) {
      std::int64_t numerator = 0, denominator = 0;
      good = number(word.substr(0, slash), numerator) && number(word.substr(slash + 1), denominator);
      if (good && denominator == 0) fail(line_, column, "\"" + std::string(word) + "\" divides by 0");
      if (good) tap = Tap::fraction(numerator, denominator);
    } else if (std::int64_t integer = 0; number(word, integer)) {
      good = true;
      tap = Tap::integer(integer);
    } else if (double real = 0; number(word, real)) {
      good = true;
      if (!std::isfinite(real)) fail(line_, column, "\"" + std::string(word) + "\" is not finite; taps are");
      tap = Tap::real(real);
    }
    if (!good)
      fail(line_, column,
           "\"" + printable(word.substr(0, 40)) + "\" is not a number; taps are ints, doubles or fractions like 1/9");
    return tap;
  }

  template <class Number>
  static bool number(std::string_view word, Number& value) {
    if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && !word.empty();
  }

  std::string_view text_;
  const std::string& path_;
  TapArray array_{1, 0, 0, {}};
  int line_ = 0, rows_ = 0, frames_ = 1;
};

}  // namespace

TapArray parse_kernel_text(std::string_view text, const std::string& path) {
  return Parser(text, path).parse();
}

std::string read_kernel_file(const std::string& path) {
  const auto fail = [&](const std::string& why) -> void { throw std::invalid_argument(path + ": " + why); };
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail("not a regular file");  // nothing that could block or never end
  if (status.st_size > static_cast<off_t>(max_file_size))
    fail("larger than " + std::to_string(max_file_size >> 20) + " MiB, so not a kernel");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::strerror(errno));
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) fail("could not be read");
  return text;
}

}  // namespace convolve
