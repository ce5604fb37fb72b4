// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "large.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "random.hpp"

namespace conformance {
namespace {

constexpr int patch = 24;

constexpr std::array<LargeRow, 7> rows{{
    // The last rows lie past 2^31 bytes.
    {{"argb64", convolve::SampleType::u16, 16, 0, "GGGG"}, 16384, 16384, 512, 5},
    {{"gray8", convolve::SampleType::u8, 8, 0, "G"}, 8192, 6000, 0, 15},
    {{"rgbx", convolve::SampleType::u8, 8, 0, "GGGa"}, 5000, 4000, 32, 15},
    {{"uv", convolve::SampleType::u8, 8, 0, "GG"}, 8000, 4004, 0, 11},
    {{"gray8", convolve::SampleType::u8, 8, 0, "G"}, 8192, 6000, 0, 31},
    {{"rgbx", convolve::SampleType::u8, 8, 0, "GGGa"}, 5000, 4000, 32, 31},
    {{"uv", convolve::SampleType::u8, 8, 0, "GG"}, 8000, 4004, 0, 23},
}};

}  // namespace

std::span<const LargeRow> large_frames() {
  return rows;
}

LargeTrial::LargeTrial(const LargeRow& row) : row_(row) {
  desc_.layout = make_layout(row.layout, row.width, row.height, {0, 0});
  components_ = desc_.layout.plane[0].components;
  sample_bytes_ = row.layout.bits > 8 ? 2 : 1;
  stride_ = std::ptrdiff_t{row.width} * components_ * sample_bytes_ + row.padding;
  input_.resize(static_cast<std::size_t>(stride_) * row.height);
  const int count = row.side * row.side;
  kernel_.height = kernel_.width = row.side;
  kernel_.centre_y = kernel_.centre_x = row.side / 2;
  kernel_.divisor = count;
  convolve::TapArray taps{1, row.side, row.side, {}};
  for (int i = 0; i < count; ++i) {
    kernel_.integers.push_back(i % 4 - (i == 7 ? 12 : 0));
    taps.taps.push_back(convolve::Tap::fraction(kernel_.integers.back(), count));
  }
  desc_.filter = convolve::Filter(taps);
  Random random(1);
  for (std::size_t i = 0; i + 8 <= input_.size(); i += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(input_.data() + i, &word, sizeof word);
  }
}

std::string LargeTrial::name() const {
  const std::string side = std::to_string(row_.side);
  return std::string(row_.layout.name) + " " + std::to_string(row_.width) + "x" + std::to_string(row_.height) + ", " +
         side + "x" + side + " integers, replicate";
}

double LargeTrial::load(const std::vector<std::byte>& bytes, int x, int y, int component) const {
  const std::byte* at = bytes.data() + y * stride_ + (std::ptrdiff_t{x} * components_ + component) * sample_bytes_;
  if (sample_bytes_ == 1) return static_cast<double>(*at);
  std::uint16_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
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
  from.plane[0] = {in.data(), stride_};
  to.plane[0] = {out.data(), stride_};
  const convolve::Window window{1, {&from}};
  if (const char* error = plan->enqueue(window, to, memory.stream(0))) return error;
  if (std::string fault = memory.synchronize(); !fault.empty()) return fault;
  memory.download(found, out.data());

  const int last_x = row_.width - patch, last_y = row_.height - patch;
  std::string wrong;
  for (const int y : {0, 1000, row_.height / 2 - 8, last_y - 1000, last_y - 100, last_y})
    for (const int x : {0, 1900, row_.width / 2 - 8, last_x - 1000, last_x})
      if (wrong.empty()) wrong = compare(found, x, y);
  return wrong;
} catch (const std::exception& error) {
  return error.what();
}

// A patch at (x0, y0), from the oracle's answer for a somewhat larger one: its edges count where they are the frame's.
std::string LargeTrial::compare(const std::vector<std::byte>& found, int x0, int y0) const {
  const int reach = row_.side / 2, left = std::max(x0 - reach, 0), top = std::max(y0 - reach, 0);
  const int right = std::min(x0 + patch + reach, row_.width), bottom = std::min(y0 + patch + reach, row_.height);
  for (int c = 0; c < components_; ++c) {
    const bool filtered = desc_.layout.plane[0].component[c].filtered;
    oracle::Plane plane{right - left, bottom - top, {}};
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) plane.samples.push_back(load(input_, x, y, c));
    const oracle::Levels levels{row_.layout.bits, 0, 0, 0};
    const oracle::Plane expected =
        filtered ? oracle::filter(kernel_, {&plane}, oracle::Edge::replicate, levels) : plane;
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
