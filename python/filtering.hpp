// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What both memories share: options of a call turned into a plan's description, and frames run through a plan.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <string>

#include "convolve/backend.hpp"

namespace videoconvolve_python {

/// Frames of one array: where the first sample lies, and how far apart all others are.
struct Frames {
  std::byte* data = nullptr;
  /// Bytes from one frame, row, column and component to the next. Either components are interleaved (a column is all of
  /// them), or each is a plane of its own, whose columns are contiguous.
  std::array<std::ptrdiff_t, 4> stride{};
};

/// What the arrays of one call have in common.
struct Shape {
  convolve::SampleType type = convolve::SampleType::u8;
  int count = 0, height = 0, width = 0, components = 0;
  bool planar = false;  ///< each component is a plane of its own
};

/// The filter and its options, as the Python functions pass them on.
struct Options {
  nanobind::list taps;
  int depth, height, width;
  std::string operation;
  double scale;
  bool normalize;
  double bias;
  std::string border;
  double border_value;
  int bits;
  std::string algorithm;
};

/// Throws std::invalid_argument or convolve::PlanError: the message names the option, its value and what is allowed.
convolve::PlanDesc describe(const Shape& shape, const Options& options);

/// Runs every frame through a plan of this description, in order, on `stream`. Null, or what failed. Needs no lock of
/// the interpreter.
const char* run(convolve::Plan& plan, const convolve::PlanDesc& desc, const Shape& shape, const Frames& in,
                const Frames& out, void* stream);

/// Adds the functions for arrays in CUDA memory to the module; without the CUDA backend, says so in `have_cuda` alone.
void add_cuda(nanobind::module_& module);

}  // namespace videoconvolve_python
