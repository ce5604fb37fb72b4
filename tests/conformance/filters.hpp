// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Random filters of every kind that an algorithm may treat apart, each written twice: for the library and for the
// oracle. A new kind is a row of the table in filters.cpp.
#pragma once

#include <span>
#include <string>

#include "convolve/filter.hpp"
#include "oracle.hpp"
#include "random.hpp"

namespace conformance {

struct Shape {
  int depth, height, width;
};

struct Taps {
  std::vector<double> real;            ///< where `integers` is empty
  std::vector<std::int64_t> integers;  ///< over `divisor`
  std::int64_t divisor = 1;
};

struct KindRow {
  const char* name;
  Taps (*make)(const Shape& shape, Random& random);
  bool factors = false;  ///< each frame is a column times a row, alone or plus a centre tap, at any size
};

std::span<const KindRow> kinds();

/// One filter, as the library takes it and as the oracle does.
struct FilterPair {
  convolve::Filter filter;
  oracle::Kernel kernel;
  std::string text;  ///< shape, kind and the way the taps were written
};

/// The same taps may be written as fractions, or as integers with `normalize` or `scale`;
/// flipped, with `convolve`; and in time, reversed or with the newest frame as the centre. Which of these is drawn too.
FilterPair make_filter(const KindRow& kind, const Shape& shape, Random& random);

}  // namespace conformance
