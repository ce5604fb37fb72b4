// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/separable.hpp"

#include <algorithm>
#include <utility>

#include "cpu/algorithms.hpp"
#include "cpu/fixed16/separable.hpp"
#include "cpu/float/separable.hpp"

namespace convolve::cpu {
namespace {

bool factors_over_space(const Filter& filter) {
  if (filter.depth() == 1) return filter.space_factors().has_value();
  return combines_frames(filter) && filter.space_filter().space_factors().has_value();
}

// The factors to sum with: integers where the arithmetic is exact.
SpaceFactors factors_of(const Filter& filter, const Arithmetic& arithmetic) {
  SpaceFactors factors = *filter.space_filter().space_factors();
  if (arithmetic.exact_taps) {
    factors.column.assign(factors.exact_column.begin(), factors.exact_column.end());
    factors.row.assign(factors.exact_row.begin(), factors.exact_row.end());
  }
  return factors;
}

std::vector<SpaceFactors> terms_of(const PlanDesc& desc, const Arithmetic& arithmetic) {
  return low_rank_terms(desc.filter, arithmetic, desc.layout, desc.border == Border::constant);
}

}  // namespace

bool separable_serves(const PlanDesc& desc) {
  if (factors_over_space(desc.filter)) return true;
  const std::vector<ComponentGroup> groups = make_component_groups(desc.layout);
  return std::all_of(groups.begin(), groups.end(), [&](const ComponentGroup& group) {
    return !group.any_filtered() || !terms_of(desc, choose_arithmetic(desc, group)).empty();
  });
}

Engine make_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  if (!factors_over_space(desc.filter)) {
    const Arithmetic of_terms =
        low_rank_arithmetic(desc.filter, arithmetic, desc.layout, desc.border == Border::constant);
    return make_float_separable(desc, of_terms, group, terms_of(desc, of_terms));
  }
  const SpaceFactors factors = factors_of(desc.filter, arithmetic);
  Engine best = make_float_separable(desc, arithmetic, group, {factors});
  for (const auto make : {make_fixed16_separable, make_dot_separable})
    if (Engine engine; make(engine, desc, arithmetic, group, factors.column, factors.row) && engine.cost < best.cost)
      best = std::move(engine);
  return best;
}

}  // namespace convolve::cpu
