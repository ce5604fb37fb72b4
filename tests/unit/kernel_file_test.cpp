// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel_file.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::string repeated(const char* text, int times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

using convolve::parse_kernel_text;
using convolve::TapArray;

std::vector<double> values(const TapArray& taps) {
  std::vector<double> v;
  for (const convolve::Tap& tap : taps.taps) v.push_back(tap.value);
  return v;
}

std::string refusal(const std::string& text) {
  try {
    parse_kernel_text(text, "k.txt");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(KernelText, RowsFramesCommentsAndSeparators) {
  const TapArray taps =
      parse_kernel_text("# a comment\n1, 2\t3 # the first row\r\n-4 .5 +6e0\n\n1/2 0 0\n7 8 9", "k.txt");
  EXPECT_EQ(taps.depth, 2);
  EXPECT_EQ(taps.height, 2);
  EXPECT_EQ(taps.width, 3);
  EXPECT_EQ(values(taps), (std::vector<double>{1, 2, 3, -4, 0.5, 6, 0.5, 0, 0, 7, 8, 9}));
  EXPECT_EQ(taps.taps[6].numerator, 1);
  EXPECT_EQ(taps.taps[6].denominator, 2);
}

TEST(KernelText, BlankLinesAtTheEndsAndCommentLinesPartNothing) {
  EXPECT_EQ(parse_kernel_text("\n\n1\n# between rows\n2\n\n\n", "k.txt").height, 2);
  EXPECT_EQ(parse_kernel_text("1\n\n\n# the next frame\n2\n", "k.txt").depth, 2);
  EXPECT_EQ(parse_kernel_text("1\n   \t\n2\n", "k.txt").depth, 2);
}

// Only a row that has both commas between digits and blanks can be misread.
TEST(KernelText, CommasThatCanBeNothingElseSeparate) {
  const std::vector<double> wanted{1, 2, 1, -1, 5, -1};
  for (const char* text : {"1,2,1\n-1,5,-1\n", " 1,2,1 \n\t-1,5,-1\t# a comment, 1,5\n", "1, 2, 1\n-1 ,5 ,-1\n",
                           "1 2 1\n-1,5,-1\n", "1,2,1,\n-1, 5,-1\n"})
    EXPECT_EQ(values(parse_kernel_text(text, "k.txt")), wanted) << text;
}

TEST(KernelText, RefusalsNameTheLineAndTheColumn) {
  const struct {
    std::string text, starts, says;
  } rows[] = {
      {"", "k.txt:1:1: ", "no taps"},
      {"# nothing\n\n", "k.txt:2:1: ", "no taps"},
      {"1 2\n3 x4\n", "k.txt:2:3: ", "\"x4\" is not a number"},
      {"1 2\n3\n", "k.txt:2:1: ", "1 taps where the first row has 2"},
      {"1\n2\n\n3\n", "k.txt:4:1: ", "frame 2 has 1 rows where the first has 2"},
      {"1\n\n2\n3\n\n4\n", "k.txt:5:1: ", "frame 2 has 2 rows where the first has 1"},
      {std::string("\xFF\xFE"
                   "1\0",
                   4),
       "k.txt:1:1: ", "UTF-16"},
      {std::string("\xFE\xFF"
                   "\0"
                   "1",
                   4),
       "k.txt:1:1: ", "UTF-16"},
      {std::string("1\0 \0"
                   "2\0",
                   6),
       "k.txt:1:2: ", "UTF-16"},
      {std::string("1\n \0", 4), "k.txt:2:2: ", "UTF-16"},
      {"1 \xC3\n", "k.txt:1:3: ", "\"\\xc3\" is not a number"},
      {"1 \xC3\xA4\n", "k.txt:1:3: ", "\"\xC3\xA4\" is not a number"},
      {"0,25 0,5 0,25\n", "k.txt:1:1: ", "decimal comma"},
      {"1 2\n  0.5 0,5\n", "k.txt:2:7: ", "\"0,5\" may be"},
      {"-0,25;\t1,5\n", "k.txt:1:1: ", "write numbers with a point"},
      {"0,5, 0,5\n", "k.txt:1:1: ", "blank after each comma"},
      {"1 nan\n", "k.txt:1:3: ", "not finite"},
      {"1 -inf\n", "k.txt:1:3: ", "not finite"},
      {"1/0\n", "k.txt:1:1: ", "divides by 0"},
      {"1e999\n", "k.txt:1:1: ", "number"},
      {"1/2/3\n", "k.txt:1:1: ", "not a number"},
      {"0x10\n", "k.txt:1:1: ", "not a number"},
      {"1 2 1\r2 4 2\r", "k.txt:1:5: ", "\"1\\x0d2\" is not a number"},
      {repeated("1 ", 256) + "\n", "k.txt:1:511: ", "at most 255 taps"},
      {repeated("1\n", 256), "k.txt:256:1: ", "at most 255 rows"},
      {"1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n",
       "k.txt:31:1: ", "at most 15 frames"},
  };
  for (const auto& row : rows) {
    const std::string message = refusal(row.text);
    EXPECT_EQ(message.rfind(row.starts, 0), 0u) << "wanted " << row.starts << ", it says: " << message;
    EXPECT_NE(message.find(row.says), std::string::npos) << "wanted " << row.says << ", it says: " << message;
  }
}

TEST(KernelFile, NamesWhatCannotBeRead) {
  EXPECT_THROW(convolve::read_kernel_file("/nonexistent/kernel.txt"), std::invalid_argument);
  try {
    convolve::read_kernel_file("/dev/null");
    ADD_FAILURE() << "read a device";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "/dev/null: not a regular file");
  }
}

}  // namespace
