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

// What a filter of rank 2 or 3 is the sum of; empty where there is no such sum, sums are to be exact, or terms that
// cancel would round too much (as in choose_arithmetic).
std::vector<Factors> terms_of(const PlanDesc& desc, const Arithmetic& arithmetic) {
  const Filter& filter = desc.filter;
  if (arithmetic.accumulator == Accumulator::exact || (filter.depth() > 1 && !combines_frames(filter))) return {};
  std::vector<Factors> terms;
  double all = 0;
  for (const SpaceFactors& term : filter.space_filter().space_terms(max_terms)) {
    all += magnitude_of(term.column) * magnitude_of(term.row);
    terms.push_back({term.column, term.row});
  }
  if (filter.depth() > 1) all *= magnitude_of(filter.time_factor());
  const double roundings = all * (filter.depth() + filter.height() * terms.size() + filter.width() + 2);
  if (arithmetic.accumulator == Accumulator::single &&
      rounding_error(roundings, desc.layout, desc.border == Border::constant) >= largest_rounding)
    return {};
  return terms;
}

// In floating point; a sum of one term or of several.
Engine make_real_engine(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
                        const std::vector<Factors>& terms) {
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
  if (!factors_over_space(desc.filter)) return make_real_engine(desc, arithmetic, group, terms_of(desc, arithmetic));
  const Factors factors = factors_of(desc.filter, arithmetic);
  Engine best = make_real_engine(desc, arithmetic, group, {factors});
  for (const auto make : {make_fixed_separable, make_dot_separable})
    if (Engine engine; make(engine, desc, arithmetic, group, factors.column, factors.row) && engine.cost < best.cost)
      best = std::move(engine);
  return best;
}

}  // namespace convolve::cpu
