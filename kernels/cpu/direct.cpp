// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/algorithms.hpp"
#include "cpu/dot.hpp"
#include "cpu/real.hpp"

namespace convolve::cpu {
namespace {

Engine make_real_engine(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  Engine engine;
  const Filter& filter = desc.filter;
  const int taps = filter.height() * filter.width();
  std::vector<double> coefficients = arithmetic.coefficients;
  int depth = filter.depth();
  engine.cost = depth * taps + 6;
  if (combines_frames(filter)) {
    const Filter space = filter.space_filter();
    engine.cost = 3 * depth + taps + 6;
    depth = 1;
    if (arithmetic.accumulator == Accumulator::exact)
      coefficients.assign(space.exact()->taps.begin(), space.exact()->taps.end());
    else
      coefficients = space.taps();
  }
  if (make_sample_kernel(engine, desc, arithmetic, group)) return engine;
  make_real_staging(engine, desc, arithmetic, group);
  make_real_kernel(engine, desc, arithmetic, group, coefficients, depth, filter.height(), filter.width());
  return engine;
}

}  // namespace

bool direct_serves(const PlanDesc&) {
  return true;
}

Engine make_direct(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  Engine real = make_real_engine(desc, arithmetic, group), dot;
  return make_dot_direct(dot, desc, arithmetic, group) && dot.cost < real.cost ? dot : real;
}

}  // namespace convolve::cpu
