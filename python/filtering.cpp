// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "filtering.hpp"

#include <stdexcept>
#include <vector>

#include "convolve/border.hpp"

namespace nb = nanobind;

namespace videoconvolve_python {
namespace {

using namespace convolve;

// An int is an exact tap, a pair of ints a fraction, a float a real one.
Tap tap_of(nb::handle value) {
  if (nb::isinstance<nb::int_>(value)) return Tap::integer(nb::cast<std::int64_t>(value));
  if (nb::isinstance<nb::tuple>(value))
    return Tap::fraction(nb::cast<std::int64_t>(value[0]), nb::cast<std::int64_t>(value[1]));
  return Tap::real(nb::cast<double>(value));
}

template <class Table>
auto row_of(const Table& table, const std::string& nick, const char* what) {
  std::string known;
  for (const auto& row : table) {
    if (nick == row.nick) return row.value;
    known += (known.empty() ? "" : ", ") + std::string(row.nick);
  }
  throw std::invalid_argument(std::string(what) + " is \"" + nick + "\"; it is one of " + known);
}

FrameLayout layout_of(const Shape& shape, const Options& options) {
  FrameLayout layout;
  layout.type = shape.type;
  layout.bits = layout.type == SampleType::f32 ? 8 : options.bits;
  layout.planes = shape.planar ? shape.components : 1;
  const double range = layout.type == SampleType::f32 ? 1 : layout.max_value();
  const int interleaved = shape.planar ? 1 : shape.components;
  for (int p = 0; p < layout.planes; ++p) {
    layout.plane[p].components = interleaved;
    for (int c = 0; c < interleaved; ++c)
      layout.plane[p].component[c] = {.offset = c,
                                      .step = interleaved,
                                      .width = shape.width,
                                      .height = shape.height,
                                      .bias = options.bias * range,
                                      .ghost = options.border_value * range};
  }
  return layout;
}

Image frame_of(const Frames& frames, const Shape& shape, int index) {
  Image image;
  for (int p = 0; p < (shape.planar ? shape.components : 1); ++p)
    image.plane[p] = {frames.data + index * frames.stride[0] + p * frames.stride[3], frames.stride[1]};
  return image;
}

}  // namespace

PlanDesc describe(const Shape& shape, const Options& options) {
  TapArray array{options.depth, options.height, options.width, {}};
  for (const nb::handle tap : options.taps) array.taps.push_back(tap_of(tap));
  if (options.operation != "correlate" && options.operation != "convolve")
    throw std::invalid_argument("operation is \"" + options.operation + "\"; it is one of correlate, convolve");
  PlanDesc desc;
  desc.filter = Filter(
      array, {.scale = options.scale, .normalize = options.normalize, .convolve = options.operation == "convolve"});
  desc.layout = layout_of(shape, options);
  desc.border = row_of(borders, options.border, "border_mode");
  desc.algorithm = row_of(algorithms, options.algorithm, "algorithm");
  return desc;
}

const char* run(Plan& plan, const PlanDesc& desc, const Shape& shape, const Frames& in, const Frames& out,
                void* stream) {
  std::vector<Image> frames;
  for (int t = 0; t < shape.count; ++t) frames.push_back(frame_of(in, shape, t));
  const char* fault = nullptr;
  for (int t = 0; t < shape.count && !fault; ++t) {
    Window window;
    window.depth = desc.filter.depth();
    for (int i = 0; i < window.depth; ++i) {
      const int position = border_index(desc.border, t - desc.filter.centre_t() + i, shape.count);
      window.image[i] = position < 0 ? nullptr : &frames[position];
    }
    fault = plan.enqueue(window, frame_of(out, shape, t), stream);
  }
  return fault;
}

}  // namespace videoconvolve_python
