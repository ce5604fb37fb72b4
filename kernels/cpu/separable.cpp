// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <utility>

#include "cpu/algorithms.hpp"
#include "cpu/dot.hpp"
#include "cpu/fixed_separable.hpp"
#include "cpu/integer_taps.hpp"
#include "cpu/real.hpp"

namespace convolve::cpu {
namespace {

bool factors_over_space(const Filter& filter) {
  if (filter.depth() == 1) return filter.space_factors().has_value();
  return combines_frames(filter) && filter.space_filter().space_factors().has_value();
}

// The factors to sum with: integers where the arithmetic is exact.
SpaceFactors factors_of(const Filter& filter, const Arithmetic& arithmetic) {
  SpaceFactors factors = *filter.space_filter().space_factors();
  if (arithmetic.accumulator == Accumulator::exact) {
    factors.column.assign(factors.exact_column.begin(), factors.exact_column.end());
    factors.row.assign(factors.exact_row.begin(), factors.exact_row.end());
  }
  return factors;
}

std::vector<SpaceFactors> terms_of(const PlanDesc& desc, const Arithmetic& arithmetic) {
  return low_rank_terms(desc.filter, arithmetic, desc.layout, desc.border == Border::constant);
}

// In floating point; a sum of one term or of several.
Engine make_real_engine(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
                        const std::vector<SpaceFactors>& terms) {
  const bool wide = arithmetic.accumulator == Accumulator::double_;
  const int count = static_cast<int>(terms.size());
  std::vector<double> columns;
  std::vector<RowPass> passes(count);
  Engine engine;
  for (int i = 0; i < count; ++i) {
    columns.insert(columns.end(), terms[i].column.begin(), terms[i].column.end());
    passes[i].coefficients = terms[i].row;
    passes[i].components = group.components;
    passes[i].line_element_size = wide ? sizeof(double) : sizeof(float);
    passes[i].run = row_functions().pass[wide];
  }
  make_real_kernel(engine, desc, arithmetic, group, columns, count, desc.filter.height(), 1);
  make_real_staging(engine, desc, arithmetic, group);
  engine.row_pass = passes.front();
  engine.more_row_passes.assign(passes.begin() + 1, passes.end());
  engine.cost = (combines_frames(desc.filter) ? 3.0 * desc.filter.depth() : 0) +
                count * (1.5 * desc.filter.width() + desc.filter.height()) + 9;
  constexpr const char* names[2][max_terms] = {{"f32", "f32, rank 2", "f32, rank 3"},
                                               {"f64", "f64, rank 2", "f64, rank 3"}};
  engine.name = names[wide][count - 1];
  return engine;
}

}  // namespace

bool separable_serves(const PlanDesc& desc) {
  if (factors_over_space(desc.filter)) return true;
  return !terms_of(desc, choose_arithmetic(desc.filter, desc.layout, desc.border == Border::constant)).empty();
}

Engine make_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  if (!factors_over_space(desc.filter)) {
    const Arithmetic of_terms =
        low_rank_arithmetic(desc.filter, arithmetic, desc.layout, desc.border == Border::constant);
    return make_real_engine(desc, of_terms, group, terms_of(desc, of_terms));
  }
  const SpaceFactors factors = factors_of(desc.filter, arithmetic);
  Engine best = make_real_engine(desc, arithmetic, group, {factors});
  for (const auto make : {make_fixed_separable, make_dot_separable})
    if (Engine engine; make(engine, desc, arithmetic, group, factors.column, factors.row) && engine.cost < best.cost)
      best = std::move(engine);
  return best;
}

}  // namespace convolve::cpu
