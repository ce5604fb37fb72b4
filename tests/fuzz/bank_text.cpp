// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The text of a bank or of a kernel, as a launch line writes it: GStreamer makes an array of it, and the readers of
// arrays give kernels that can be, or refuse it with a message that an application can show. For libFuzzer, built by
// coverage.sh.
#include <gst/gst.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "convolve/bank.hpp"
#include "convolve/filter.hpp"
#include "kernel_value.hpp"

namespace {

[[noreturn]] void fail(const std::string& text, const std::string& what) {
  std::printf("FAILED: %s\nThe text, between the lines:\n----\n%s\n----\n", what.c_str(), text.c_str());
  std::abort();
}

void check_taps(const std::string& text, const convolve::TapArray& taps) {
  if (taps.taps.size() != static_cast<std::size_t>(taps.depth) * taps.height * taps.width) fail(text, "ragged");
  for (const convolve::Tap& tap : taps.taps)
    if (!std::isfinite(tap.value)) fail(text, "a tap that is not finite");
}

// Runs `read`; what it throws has to be a refusal with a message.
template <class Read>
void check(const std::string& text, Read read) {
  try {
    read();
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    if (message.empty()) fail(text, "an empty message");
    if (message.size() > 2000) fail(text, "a message of " + std::to_string(message.size()) + " bytes");
  }
}

void check_array(const std::string& text, const GValue* array) {
  bool is_read = false;
  check(text, [&] {
    const std::vector<convolve::TapArray> kernels = convolve::parse_bank_value(array);
    is_read = true;
    for (const convolve::TapArray& taps : kernels) check_taps(text, taps);
    for (const convolve::CombineRow& row : convolve::combinations)
      check(text, [&] { convolve::Bank(kernels, row.value, {}); });
  });
  check(text, [&] {
    const convolve::TapArray taps = convolve::parse_kernel_value(array);
    is_read = true;
    check_taps(text, taps);
    convolve::Filter(taps, {});
  });
  // A property that is set to what it is changes nothing. What is refused may hold NaN, which is not equal to itself.
  if (is_read && !(convolve::ArrayValue(array) == convolve::ArrayValue(array)))
    fail(text, "the array is not equal to itself");
}

}  // namespace

// GStreamer's reader of arrays leaks what it does not read to its end.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool initialized = gst_init_check(nullptr, nullptr, nullptr);
  const std::string text(reinterpret_cast<const char*>(data), size);
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  if (initialized && gst_value_deserialize(&array, text.c_str()) && gst_value_array_get_size(&array) > 0)
    check_array(text, &array);
  g_value_unset(&array);
  return 0;
}
