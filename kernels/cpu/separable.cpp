// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cpu/algorithms.hpp"
#include "cpu/dot.hpp"
#include "cpu/integer_taps.hpp"
#include "cpu/real.hpp"
#include "cpu/targets.hpp"

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

// The pass along rows in dot products of bytes; false where it cannot be.
bool make_byte_pass(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
                    const Factors& factors) {
  if (!use_vnni() || combines_frames(desc.filter)) return false;
  Arithmetic along = arithmetic;
  along.coefficients = factors.row;
  const double weight = std::accumulate(factors.column.begin(), factors.column.end(), 0.0,
                                        [](double sum, double tap) { return sum + std::abs(tap); });
  std::optional<IntegerTaps> taps = make_integer_taps(along, desc.layout, desc.border, group, 127, weight);
  if (!taps) taps = make_integer_taps(along, desc.layout, desc.border, group, 32767, weight);
  if (!taps) return false;
  engine.staging = make_copy_staging(desc, group);
  make_dot_row_pass(engine.row_pass, *taps, group);
  const auto [least, most] = std::minmax_element(taps->taps.begin(), taps->taps.end());
  const int in_group = *least < -128 || *most > 127 ? 2 : 4;
  engine.cost = 2 * ((desc.filter.width() + in_group - 1) / in_group) + desc.filter.height() + 7;
  return true;
}

}  // namespace

bool separable_serves(const PlanDesc& desc) {
  return factors_over_space(desc.filter);
}

Engine make_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  Engine engine;
  const Factors factors = factors_of(desc.filter, arithmetic);
  make_real_kernel(engine, desc, arithmetic, group, factors.column, 1, desc.filter.height(), 1);
  engine.row_pass.coefficients = factors.row;
  engine.row_pass.components = group.components;
  if (make_byte_pass(engine, desc, arithmetic, group, factors)) return engine;
  engine.cost = (combines_frames(desc.filter) ? 3.0 * desc.filter.depth() : 0) + 1.5 * desc.filter.width() +
                desc.filter.height() + 9;
  make_real_staging(engine, desc, arithmetic, group);
  engine.row_pass.line_element_size = engine.element_size;
  engine.row_pass.run = row_functions().pass[arithmetic.accumulator == Accumulator::double_];
  return engine;
}

}  // namespace convolve::cpu
