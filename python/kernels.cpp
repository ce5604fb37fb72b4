// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The binding: one function that filters an array of frames by the CPU backend. Arrays come in the one form that
// videoconvolve/arrays.py brings all others to: [frame][row][column][component], columns and components contiguous.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "convolve/backend.hpp"
#include "convolve/border.hpp"

namespace nb = nanobind;

namespace {

using namespace convolve;

using ReadFrames = nb::ndarray<nb::ro, nb::device::cpu>;
using WriteFrames = nb::ndarray<nb::device::cpu>;

// A backend owns the threads of its plans, so that one is kept for each number of threads. The interpreter's lock
// guards the map.
Backend& backend_with(unsigned threads) {
  static auto* backends = new std::map<unsigned, std::unique_ptr<Backend>>;
  auto& backend = (*backends)[threads];
  if (!backend) backend = make_cpu_backend(threads);
  return *backend;
}

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

FrameLayout layout_of(const ReadFrames& frames, int bits, double bias, double border_value) {
  FrameLayout layout;
  layout.type = frames.itemsize() == 1 ? SampleType::u8 : frames.itemsize() == 2 ? SampleType::u16 : SampleType::f32;
  layout.bits = layout.type == SampleType::f32 ? 8 : bits;
  layout.planes = 1;
  const double range = layout.type == SampleType::f32 ? 1 : layout.max_value();
  PlaneLayout& plane = layout.plane[0];
  plane.components = static_cast<int>(frames.shape(3));
  for (int c = 0; c < plane.components; ++c)
    plane.component[c] = {.offset = c,
                          .step = plane.components,
                          .width = static_cast<int>(frames.shape(2)),
                          .height = static_cast<int>(frames.shape(1)),
                          .bias = bias * range,
                          .ghost = border_value * range};
  return layout;
}

template <class Frames>
Image frame_of(const Frames& frames, int index) {
  const auto bytes = static_cast<std::ptrdiff_t>(frames.itemsize());
  Image image;
  image.plane[0].data = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(frames.data()))) +
                        index * frames.stride(0) * bytes;
  image.plane[0].stride = frames.stride(1) * bytes;
  return image;
}

void filter_frames(const ReadFrames& in, const WriteFrames& out, nb::list taps, int depth, int height, int width,
                   const std::string& operation, double scale, bool normalize, double bias, const std::string& border,
                   double border_value, int bits, const std::string& algorithm, unsigned threads) {
  TapArray array{depth, height, width, {}};
  for (const nb::handle tap : taps) array.taps.push_back(tap_of(tap));
  if (operation != "correlate" && operation != "convolve")
    throw std::invalid_argument("operation is \"" + operation + "\"; it is one of correlate, convolve");
  PlanDesc desc;
  desc.filter = Filter(array, {.scale = scale, .normalize = normalize, .convolve = operation == "convolve"});
  desc.layout = layout_of(in, bits, bias, border_value);
  desc.border = row_of(borders, border, "border_mode");
  desc.algorithm = row_of(algorithms, algorithm, "algorithm");
  Backend& backend = backend_with(threads);
  const std::unique_ptr<Plan> plan = backend.make_plan(desc);

  const int count = static_cast<int>(in.shape(0));
  std::vector<Image> frames;
  for (int t = 0; t < count; ++t) frames.push_back(frame_of(in, t));
  const char* fault = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    for (int t = 0; t < count && !fault; ++t) {
      Window window;
      window.depth = depth;
      for (int i = 0; i < depth; ++i) {
        const int position = border_index(desc.border, t - desc.filter.centre_t() + i, count);
        window.image[i] = position < 0 ? nullptr : &frames[position];
      }
      fault = plan->enqueue(window, frame_of(out, t), nullptr);
    }
  }
  if (fault) throw std::runtime_error(fault);
}

}  // namespace

NB_MODULE(_kernels, m) {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const PlanError& plan_error) {
      PyErr_SetString(PyExc_ValueError, plan_error.what());
    }
  });
  m.def("filter_frames", &filter_frames);
}
