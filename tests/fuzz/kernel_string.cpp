// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernels in other programs' words: whatever the string, the parser gives kernels that can be, or refuses it with a
// message that an application can show. For libFuzzer, built by coverage.sh.
#include "kernel_string/kernel_string.hpp"

#include <glib.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "convolve/bank.hpp"
#include "convolve/filter.hpp"

namespace {

[[noreturn]] void fail(const std::string& text, const std::string& what) {
  std::printf("FAILED: %s\nThe text, between the lines:\n----\n%s\n----\n", what.c_str(), text.c_str());
  std::abort();
}

void check_message(const std::string& text, const std::string& message) {
  if (message.empty()) fail(text, "an empty message");
  if (!g_utf8_validate(message.c_str(), static_cast<gssize>(message.size()), nullptr)) fail(text, "not UTF-8");
  if (message.size() > 2000) fail(text, "a message of " + std::to_string(message.size()) + " bytes");
}

void check(const std::string& text) {
  convolve::KernelString made;
  try {
    made = convolve::parse_kernel_string(text);
  } catch (const std::invalid_argument& error) {
    check_message(text, error.what());
    return;
  }
  if (made.kernels.empty()) fail(text, "no kernel");
  if (!std::isfinite(made.bias)) fail(text, "a bias that is not finite");
  for (const convolve::TapArray& taps : made.kernels) {
    if (taps.taps.size() != static_cast<std::size_t>(taps.depth) * taps.height * taps.width) fail(text, "ragged");
    for (const convolve::Tap& tap : taps.taps)
      if (!std::isfinite(tap.value)) fail(text, "a tap that is not finite");
  }
  // What cannot be a filter, for its size or its sum, is refused where it becomes one.
  try {
    if (made.combine == convolve::Combine::none && made.kernels.size() == 1)
      convolve::Filter(made.kernels.front(), made.options);
    else
      convolve::Bank(made.kernels, made.combine, made.options);
  } catch (const std::invalid_argument& error) {
    check_message(text, error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
