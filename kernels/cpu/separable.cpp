// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <utility>

#include "cpu/algorithms.hpp"
#include "cpu/dot.hpp"
#include "cpu/fixed_separable.hpp"
#include "cpu/real.hpp"

namespace convolve::cpu {
namespace {

// The factors to sum with: integers where the arithmetic is exact.
struct Factors {
  std::vector<double> column, row;
};

bool factors_over_space(const Filter& filter) {
  if (filter.depth() == 1) return filter.space_factors().has_value();
  return combines_frames(filter) && filter.space_filter().space_factors().has_value();
}

Factors factors_of(const Filter& filter, const Arithmetic& arithmetic) {
  const Filter plane = filter.space_filter();
  const SpaceFactors& space = *plane.space_factors();
  if (arithmetic.accumulator != Accumulator::exact) return {space.column, space.row};
  return {{space.exact_column.begin(), space.exact_column.end()}, {space.exact_row.begin(), space.exact_row.end()}};
}

Engine make_real_engine(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
                        const Factors& factors) {
  Engine engine;
  make_real_kernel(engine, desc, arithmetic, group, factors.column, 1, desc.filter.height(), 1);
  engine.row_pass.coefficients = factors.row;
  engine.row_pass.components = group.components;
  engine.cost = (combines_frames(desc.filter) ? 3.0 * desc.filter.depth() : 0) + 1.5 * desc.filter.width() +
                desc.filter.height() + 9;
  make_real_staging(engine, desc, arithmetic, group);
  engine.row_pass.line_element_size = engine.element_size;
  engine.row_pass.run = row_functions().pass[arithmetic.accumulator == Accumulator::double_];
  return engine;
}

}  // namespace

bool separable_serves(const PlanDesc& desc) {
  return factors_over_space(desc.filter);
}

Engine make_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  const Factors factors = factors_of(desc.filter, arithmetic);
  Engine best = make_real_engine(desc, arithmetic, group, factors);
  for (const auto make : {make_fixed_separable, make_dot_separable})
    if (Engine engine; make(engine, desc, arithmetic, group, factors.column, factors.row) && engine.cost < best.cost)
      best = std::move(engine);
  return best;
}

}  // namespace convolve::cpu
