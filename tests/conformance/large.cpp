// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "large.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "random.hpp"

namespace conformance {
namespace {

using convolve::SampleType;

constexpr int patch = 24;

constexpr std::array full_rank{
    // The last rows lie past 2^31 bytes.
    LargeRow{{"argb64", SampleType::u16, 16, 0, "GGGG"}, 16384, 16384, 512, 5},
    LargeRow{{"gray8", SampleType::u8, 8, 0, "G"}, 8192, 6000, 0, 15},
    LargeRow{{"rgbx", SampleType::u8, 8, 0, "GGGa"}, 5000, 4000, 32, 15},
    LargeRow{{"uv", SampleType::u8, 8, 0, "GG"}, 8000, 4004, 0, 11},
    LargeRow{{"gray8", SampleType::u8, 8, 0, "G"}, 8192, 6000, 0, 31},
    LargeRow{{"rgbx", SampleType::u8, 8, 0, "GGGa"}, 5000, 4000, 32, 31},
    LargeRow{{"uv", SampleType::u8, 8, 0, "GG"}, 8000, 4004, 0, 23},
};

constexpr std::array factored_layouts{
    LayoutRow{"gray8", SampleType::u8, 8, 0, "G"},
    LayoutRow{"rgb8", SampleType::u8, 8, 0, "GGG"},
    LayoutRow{"yuy2", SampleType::u8, 8, 0, "YUYV"},
};
struct Frame {
  int width, height;
  bool aligned;  ///< rows begin at multiples of 16 bytes
};
constexpr std::array factored_frames{Frame{3840, 2160, true}, Frame{1366, 768, true}, Frame{1366, 768, false}};
struct FactoredFilter {
  int side;
  LargeTaps taps;
};
constexpr std::array factored_filters{
    FactoredFilter{31, LargeTaps::integer}, FactoredFilter{31, LargeTaps::real},  FactoredFilter{63, LargeTaps::real},
    FactoredFilter{63, LargeTaps::box},     FactoredFilter{255, LargeTaps::real}, FactoredFilter{255, LargeTaps::box},
};

const char* text_of(LargeTaps taps) {
  constexpr std::array names{"integers", "integers that factor", "real taps that factor", "box"};
  return names[static_cast<std::size_t>(taps)];
}

// One axis. Whole numbers are small, so that bytes hold them and 16 bits what bytes times them sum up to; real ones
// sum up to 1.
std::vector<double> axis_of(LargeTaps taps, int side, int turn) {
  std::vector<double> axis;
  for (int i = 0; i < side; ++i) {
    const double from_middle = i - side / 2 + turn;
    if (taps == LargeTaps::real)
      axis.push_back(std::exp(-8 * from_middle * from_middle / (side * side)));
    else
      axis.push_back(taps == LargeTaps::box ? 1 : (5 * i + turn) % 3);
  }
  if (taps == LargeTaps::real) {
    const double sum = std::accumulate(axis.begin(), axis.end(), 0.);
    for (double& tap : axis) tap /= sum;
  }
  return axis;
}

}  // namespace

std::vector<LargeRow> large_frames() {
  std::vector<LargeRow> rows(full_rank.begin(), full_rank.end());
  for (const LayoutRow& layout : factored_layouts)
    for (const FactoredFilter& filter : factored_filters)
      for (const Frame& frame : factored_frames) {
        const int row = frame.width * make_layout(layout, 2, 2, {0, 0}).plane[0].component[0].step;
        rows.push_back(
            {layout, frame.width, frame.height, frame.aligned ? 15 - (row - 1) % 16 : 0, filter.side, filter.taps});
      }
  return rows;
}

std::string name_of(const LargeRow& row) {
  const std::string side = std::to_string(row.side);
  return std::string(row.layout.name) + " " + std::to_string(row.width) + "x" + std::to_string(row.height) +
         (row.padding > 0 ? " and " + std::to_string(row.padding) + " bytes a row" : "") + ", " + side + "x" + side +
         " " + text_of(row.taps) + ", replicate";
}

LargeTrial::LargeTrial(const LargeRow& row) : of_(row) {
  desc_.layout = make_layout(row.layout, row.width, row.height, {0, 0});
  sample_bytes_ = row.layout.bits > 8 ? 2 : 1;
  stride_ =
      static_cast<std::ptrdiff_t>(row.width) * desc_.layout.plane[0].component[0].step * sample_bytes_ + row.padding;
  input_.resize(static_cast<std::size_t>(stride_) * row.height);
  row.taps == LargeTaps::full_rank ? make_full_rank() : make_factored();
  Random random(1);
  for (std::size_t i = 0; i + 8 <= input_.size(); i += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(input_.data() + i, &word, sizeof word);
  }
}

void LargeTrial::make_full_rank() {
  const int side = of_.side, count = side * side;
  kernel_.height = kernel_.width = side;
  kernel_.centre_y = kernel_.centre_x = side / 2;
  kernel_.divisor = count;
  convolve::TapArray taps{1, side, side, {}};
  for (int i = 0; i < count; ++i) {
    kernel_.integers.push_back(i % 4 - (i == 7 ? 12 : 0));
    taps.taps.push_back(convolve::Tap::fraction(kernel_.integers.back(), count));
  }
  desc_.filter = convolve::Filter(taps);
}

void LargeTrial::make_factored() {
  column_ = axis_of(of_.taps, of_.side, 0);
  row_ = axis_of(of_.taps, of_.side, 1);
  if (of_.taps != LargeTaps::real)
    divisor_ = std::llround(std::accumulate(column_.begin(), column_.end(), 0.) *
                            std::accumulate(row_.begin(), row_.end(), 0.));
  convolve::TapArray taps{1, of_.side, of_.side, {}};
  for (const double c : column_)
    for (const double r : row_)
      taps.taps.push_back(divisor_ ? convolve::Tap::fraction(std::llround(c * r), divisor_)
                                   : convolve::Tap::real(c * r));
  desc_.filter = convolve::Filter(taps);
}

double LargeTrial::load(const std::vector<std::byte>& bytes, int x, int y, int component) const {
  const convolve::Component& of = desc_.layout.plane[0].component[component];
  const std::byte* at = bytes.data() + y * stride_ + (std::ptrdiff_t{x} * of.step + of.offset) * sample_bytes_;
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

  return of_.taps == LargeTaps::full_rank ? check(found) : check_factored(found);
} catch (const std::exception& error) {
  return error.what();
}

namespace {

std::string difference(int component, int x, int y, double want, double got) {
  char text[160];
  std::snprintf(text, sizeof text, "component %d at x=%d y=%d: expected %g, found %g", component, x, y, want, got);
  return text;
}

}  // namespace

std::string LargeTrial::check(const std::vector<std::byte>& found) const {
  const int last_x = of_.width - patch, last_y = of_.height - patch;
  std::string wrong;
  for (const int y : {0, 1000, of_.height / 2 - 8, last_y - 1000, last_y - 100, last_y})
    for (const int x : {0, 1900, of_.width / 2 - 8, last_x - 1000, last_x})
      if (wrong.empty()) wrong = compare(found, x, y);
  return wrong;
}

// Ten rows and columns of patches, the last of them at the frame's edges.
std::string LargeTrial::check_factored(const std::vector<std::byte>& found) const {
  std::string wrong;
  for (int c = 0; c < desc_.layout.plane[0].components; ++c) {
    const convolve::Component& of = desc_.layout.plane[0].component[c];
    for (int i = 0; i < 100 && wrong.empty(); ++i)
      wrong = compare_factored(found, (of.width - patch) * (i % 10) / 9, (of.height - patch) * (i / 10) / 9, c);
  }
  return wrong;
}

// A patch at (x0, y0), from the oracle's answer for a somewhat larger one: its edges count where they are the frame's.
std::string LargeTrial::compare(const std::vector<std::byte>& found, int x0, int y0) const {
  const int reach = of_.side / 2, left = std::max(x0 - reach, 0), top = std::max(y0 - reach, 0);
  const int right = std::min(x0 + patch + reach, of_.width), bottom = std::min(y0 + patch + reach, of_.height);
  for (int c = 0; c < desc_.layout.plane[0].components; ++c) {
    const bool filtered = desc_.layout.plane[0].component[c].filtered;
    oracle::Plane plane{right - left, bottom - top, {}};
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) plane.samples.push_back(load(input_, x, y, c));
    const oracle::Levels levels{of_.layout.bits, 0, 0, 0};
    const oracle::Plane expected =
        filtered ? oracle::filter(kernel_, {&plane}, oracle::Edge::replicate, levels) : plane;
    for (int y = y0; y < y0 + patch; ++y)
      for (int x = x0; x < x0 + patch; ++x) {
        const double want = expected.samples[(y - top) * plane.width + (x - left)], got = load(found, x, y, c);
        if (want != got) return difference(c, x, y, want, got);
      }
  }
  return {};
}

// The same of taps that factor, by rows and then by columns, in double precision, which holds all sums of whole
// numbers. As taps sum up to 1, levels play no part.
std::string LargeTrial::compare_factored(const std::vector<std::byte>& found, int x0, int y0, int component) const {
  const convolve::Component& of = desc_.layout.plane[0].component[component];
  const int side = of_.side, reach = side / 2;
  std::vector<double> line(patch + side - 1), sums;
  for (int y = y0 - reach; y < y0 + patch + reach; ++y) {
    for (int i = 0; i < patch + side - 1; ++i)
      line[i] = load(input_, std::clamp(x0 - reach + i, 0, of.width - 1), std::clamp(y, 0, of.height - 1), component);
    for (int x = 0; x < patch; ++x) sums.push_back(std::inner_product(row_.begin(), row_.end(), line.begin() + x, 0.));
  }
  for (int y = 0; y < patch; ++y)
    for (int x = 0; x < patch; ++x) {
      double sum = 0;
      for (int i = 0; i < side; ++i) sum += column_[i] * sums[(y + i) * patch + x];
      const double got = load(found, x0 + x, y0 + y, component);
      const double want =
          divisor_ ? static_cast<double>(oracle::rounded_quotient(std::llround(sum), divisor_, 0)) : sum;
      if (std::abs(got - want) > (divisor_ ? 0 : 1)) return difference(component, x0 + x, y0 + y, want, got);
    }
  return {};
}

}  // namespace conformance
