// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "large.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "layouts.hpp"
#include "random.hpp"

namespace conformance {
namespace {

constexpr int side = 16384, components = 4, patch = 24;
constexpr std::ptrdiff_t stride = std::ptrdiff_t{side} * components * 2 + 512;  // the last rows lie past 2^31 bytes

std::size_t offset(int x, int y, int component) {
  return static_cast<std::size_t>(y * stride + (std::ptrdiff_t{x} * components + component) * 2);
}

double load(const std::vector<std::byte>& bytes, int x, int y, int component) {
  std::uint16_t word;
  std::memcpy(&word, bytes.data() + offset(x, y, component), sizeof word);
  return word;
}

}  // namespace

LargeTrial::LargeTrial() : input_(static_cast<std::size_t>(stride) * side) {
  const LayoutRow row{"argb64", convolve::SampleType::u16, 16, 0, "GGGG"};
  desc_.layout = make_layout(row, side, side, {0, 0});
  kernel_.height = kernel_.width = 5;
  kernel_.centre_y = kernel_.centre_x = 2;
  kernel_.divisor = 25;
  convolve::TapArray taps{1, 5, 5, {}};
  for (int i = 0; i < 25; ++i) {
    kernel_.integers.push_back(i % 4 - (i == 7 ? 12 : 0));
    taps.taps.push_back(convolve::Tap::fraction(kernel_.integers.back(), 25));
  }
  desc_.filter = convolve::Filter(taps);
  Random random(1);
  for (std::size_t i = 0; i + 8 <= input_.size(); i += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(input_.data() + i, &word, sizeof word);
  }
}

std::string LargeTrial::name() const {
  return "16384x16384, four components of 16 bits, 5x5 integers/25, replicate";
}

std::string LargeTrial::run(convolve::Backend& backend, Memory& memory, convolve::Algorithm algorithm) const try {
  convolve::PlanDesc desc = desc_;
  desc.algorithm = algorithm;
  const std::unique_ptr<convolve::Plan> plan = backend.make_plan(desc);
  const Block in(memory, input_.size()), out(memory, input_.size());
  memory.upload(in.data(), input_);
  std::vector<std::byte> found(input_.size(), std::byte{0xcd});
  memory.upload(out.data(), found);
  convolve::Image from, to;
  from.plane[0] = {in.data(), stride};
  to.plane[0] = {out.data(), stride};
  const convolve::Window window{1, {&from}};
  if (const char* error = plan->enqueue(window, to, memory.stream(0))) return error;
  if (const std::string fault = memory.synchronize(); !fault.empty()) return fault;
  memory.download(found, out.data());

  constexpr int last = side - patch;
  std::string wrong;
  for (const int y : {0, 1000, side / 2 - 8, last - 100, last})
    for (const int x : {0, 5000, side / 2 - 8, last})
      if (wrong.empty()) wrong = compare(found, x, y);
  return wrong;
} catch (const std::exception& error) {
  return error.what();
}

// A patch at (x0, y0), from the oracle's answer for a somewhat larger one: its edges count where they are the frame's.
std::string LargeTrial::compare(const std::vector<std::byte>& found, int x0, int y0) const {
  const int left = std::max(x0 - 2, 0), top = std::max(y0 - 2, 0);
  const int right = std::min(x0 + patch + 2, side), bottom = std::min(y0 + patch + 2, side);
  for (int c = 0; c < components; ++c) {
    oracle::Plane plane{right - left, bottom - top, {}};
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) plane.samples.push_back(load(input_, x, y, c));
    const oracle::Levels levels{16, 0, 0, 0};
    const oracle::Plane expected = oracle::filter(kernel_, {&plane}, oracle::Edge::replicate, levels);
    for (int y = y0; y < y0 + patch; ++y)
      for (int x = x0; x < x0 + patch; ++x) {
        const double want = expected.samples[(y - top) * plane.width + (x - left)], got = load(found, x, y, c);
        if (want == got) continue;
        char text[160];
        std::snprintf(text, sizeof text, "component %d at x=%d y=%d: expected %g, found %g", c, x, y, want, got);
        return text;
      }
  }
  return {};
}

}  // namespace conformance
