// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/float/direct.hpp"

#include "cpu/float/kernels.hpp"
#include "cpu/rows/float_staging.hpp"

namespace convolve::cpu {

Engine make_float_direct(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  Engine engine;
  const Filter& filter = desc.filter;
  const int taps = filter.height() * filter.width();
  const std::vector<double> coefficients = spatial_coefficients(filter, arithmetic);
  int depth = filter.depth();
  engine.cost = depth * taps + 6;
  if (combines_frames(filter)) {
    engine.cost = 3 * depth + taps + 6;
    depth = 1;
  }
  if (make_sample_kernel(engine, desc, arithmetic, group)) return engine;
  make_float_staging(engine, desc, arithmetic, group);
  make_float_kernel(engine, desc, arithmetic, group, coefficients, depth, filter.height(), filter.width());
  return engine;
}

}  // namespace convolve::cpu
