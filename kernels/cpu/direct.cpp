// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/algorithms.hpp"
#include "cpu/dot.hpp"
#include "cpu/integer_taps.hpp"
#include "cpu/real.hpp"
#include "cpu/targets.hpp"

namespace convolve::cpu {
namespace {

bool make_dot_engine(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  if (!use_vnni()) return false;
  std::optional<IntegerTaps> taps = make_integer_taps(arithmetic, desc.layout, desc.border, group, 127);
  const bool pairs = !taps;
  if (pairs) taps = make_integer_taps(arithmetic, desc.layout, desc.border, group, 32767);
  if (!taps) return false;
  const int groups = pairs ? (desc.filter.width() + 1) / 2 : (desc.filter.width() + 3) / 4;
  engine.name = pairs ? "16-bit dot products" : "8-bit dot products";
  engine.cost = desc.filter.depth() * desc.filter.height() * groups + 3;
  engine.element_size = 1;
  engine.block_rows = dot_block_rows;
  engine.keeps = true;
  engine.reads_past = dot_reads_past(groups, pairs, group);
  engine.staging = make_copy_staging(desc, group);
  Kernel& kernel = engine.kernel;
  kernel.depth = desc.filter.depth();
  kernel.height = desc.filter.height();
  kernel.width = desc.filter.width();
  kernel.components = group.components;
  kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  make_dot_kernel(kernel, *taps, group);
  return true;
}

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
  return make_dot_engine(dot, desc, arithmetic, group) && dot.cost < real.cost ? dot : real;
}

}  // namespace convolve::cpu
