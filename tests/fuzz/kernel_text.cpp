// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The text form of kernels: whatever the text, the parser gives a kernel that can be, or refuses it with a message.
// LLVMFuzzerTestOneInput is libFuzzer's entry; with no libFuzzer, main() mutates good and bad texts for some seconds.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>

#include "kernel_file.hpp"
#include "random.hpp"

namespace {

std::size_t accepted = 0, refused = 0;

[[noreturn]] void fail(const std::string& text, const std::string& what) {
  std::printf("FAILED: %s\nThe text, between the lines:\n----\n%s\n----\n", what.c_str(), text.c_str());
  std::exit(1);
}

void check(const std::string& text) {
  convolve::TapArray taps;
  try {
    taps = convolve::parse_kernel_text(text, "kernel.txt");
    ++accepted;
  } catch (const std::invalid_argument& error) {
    ++refused;
    if (std::string(error.what()).rfind("kernel.txt:", 0) != 0) fail(text, error.what());
    return;
  }
  const auto axis = [](int n) { return n >= 1 && n <= convolve::max_factored_taps; };
  if (taps.depth < 1 || taps.depth > convolve::max_depth || !axis(taps.height) || !axis(taps.width))
    fail(text, "an axis out of range");
  if (taps.taps.size() != static_cast<std::size_t>(taps.depth) * taps.height * taps.width) fail(text, "ragged");
  for (const bool normalize : {false, true}) try {
      const convolve::Filter filter(taps, {.scale = normalize ? 1.0 / 3 : 1, .normalize = normalize});
      if (filter.taps().size() != taps.taps.size()) fail(text, "the filter has another size");
    } catch (const std::invalid_argument&) {
    }

  // Written out again, it is the same kernel.
  std::string again;
  for (std::size_t i = 0; i < taps.taps.size(); ++i) {
    char word[64];
    const convolve::Tap& tap = taps.taps[i];
    if (tap.denominator > 1)
      std::snprintf(word, sizeof word, "%lld/%lld", static_cast<long long>(tap.numerator),
                    static_cast<long long>(tap.denominator));
    else
      std::snprintf(word, sizeof word, "%.17g", tap.value);
    again += word;
    const bool row_ends = (i + 1) % taps.width == 0;
    again += row_ends ? "\n" : " ";
    if (row_ends && (i + 1) % (static_cast<std::size_t>(taps.width) * taps.height) == 0) again += "\n";
  }
  const convolve::TapArray same = convolve::parse_kernel_text(again, "kernel.txt");
  if (same.depth != taps.depth || same.height != taps.height || same.width != taps.width) fail(text, "another shape");
  for (std::size_t i = 0; i < taps.taps.size(); ++i)
    if (same.taps[i].value != taps.taps[i].value) fail(text, "tap " + std::to_string(i) + " differs when read again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef CONVOLVE_LIBFUZZER
int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  conformance::Random random(seed);
  const std::string starts[] = {"1 2 1\n2 4 2\n1 2 1\n",
                                "1/9, 1/9, 1/9 # thirds\n1/9 1/9 1/9\n1/9 1/9 1/9",
                                "-1\n\n# the past\n\n1\n",
                                "0.5 -.25 1e-3\n+2 3. nan\n",
                                "\xEF\xBB\xBF"
                                "1\t2\r\n3\t4\r\n\r\n5 6\r\n7 8\r\n",
                                ""};
  const std::string words[] = {"-9223372036854775808/-1",
                               "1/9223372036854775807",
                               "9223372036854775808",
                               "1/0",
                               "-0",
                               "1e308",
                               "1e-320",
                               "inf",
                               "0x10",
                               "1/16777213",
                               "16777217",
                               "1 2 3 4 5 6 7 8 9 10 11 12",
                               "\n\n",
                               "\n",
                               "#",
                               ",",
                               "/",
                               std::string(1, '\0'),
                               "3/-7",
                               "1e999",
                               "+-1",
                               "1/3/5"};
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    std::string text = random.pick(starts);
    for (int edits = random.integer(0, 6); edits > 0; --edits) {
      const std::size_t at = random.next() % (text.size() + 1);
      switch (random.integer(0, 3)) {
        case 0:
          text.insert(at, random.pick(words));
          break;
        case 1:
          text.insert(at, 1, static_cast<char>(random.integer(0, 255)));
          break;
        case 2:
          text.erase(at, static_cast<std::size_t>(random.integer(1, 4)));
          break;
        case 3:
          text.insert(at,
                      text.substr(random.next() % (text.size() + 1), static_cast<std::size_t>(random.integer(1, 12))));
          break;
      }
    }
    check(text);
  }
  std::printf("%zu texts accepted, %zu refused\n", accepted, refused);
  return accepted > 0 && refused > 0 ? 0 : 1;
}
#endif
