// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The binding of arrays in host memory: one function that filters an array of frames by the CPU backend. Arrays come in
// the one form that videoconvolve/arrays.py brings all others to: [frame][row][column][component], columns and
// components contiguous. cuda.cpp adds those in CUDA memory.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "filtering.hpp"

namespace nb = nanobind;

namespace videoconvolve_python {
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

template <class Array>
Frames frames_of(const Array& array) {
  const auto bytes = static_cast<std::ptrdiff_t>(array.itemsize());
  return {static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(array.data()))),
          {array.stride(0) * bytes, array.stride(1) * bytes, array.stride(2) * bytes, array.stride(3) * bytes}};
}

void filter_frames(const ReadFrames& in, const WriteFrames& out, nb::list taps, int depth, int height, int width,
                   const std::string& operation, double scale, bool normalize, double bias, const std::string& border,
                   double border_value, int bits, const std::string& algorithm, unsigned threads) {
  const Shape shape{
      .type = in.itemsize() == 1   ? SampleType::u8
              : in.itemsize() == 2 ? SampleType::u16
                                   : SampleType::f32,
      .count = static_cast<int>(in.shape(0)),
      .height = static_cast<int>(in.shape(1)),
      .width = static_cast<int>(in.shape(2)),
      .components = static_cast<int>(in.shape(3)),
  };
  const PlanDesc desc = describe(shape, {std::move(taps), depth, height, width, operation, scale, normalize, bias,
                                         border, border_value, bits, algorithm});
  const std::unique_ptr<Plan> plan = backend_with(threads).make_plan(desc);
  const char* fault = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    fault = run(*plan, desc, shape, frames_of(in), frames_of(out), nullptr);
  }
  if (fault) throw std::runtime_error(fault);
}

}  // namespace
}  // namespace videoconvolve_python

NB_MODULE(_kernels, m) {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const convolve::PlanError& plan_error) {
      PyErr_SetString(PyExc_ValueError, plan_error.what());
    }
  });
  m.def("filter_frames", &videoconvolve_python::filter_frames);
  videoconvolve_python::add_cuda(m);
}
