// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/separable.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cpu/algorithms.hpp"
#include "cpu/box/box.hpp"
#include "cpu/fixed16/separable.hpp"
#include "cpu/float/separable.hpp"

namespace convolve::cpu {
namespace {

bool factors_over_space(const Filter& filter) {
  if (filter.depth() == 1) return filter.space_factors().has_value();
  return combines_frames(filter) && filter.space_filter().space_factors().has_value();
}

// The centre tap as a column times a row.
SpaceFactors centre_term(const Filter& filter, double centre) {
  SpaceFactors term;
  term.column.assign(filter.height(), 0);
  term.row.assign(filter.width(), 0);
  if (centre != 0) {
    term.column[filter.centre_y()] = centre;
    term.row[filter.centre_x()] = 1;
  }
  return term;
}

// The terms of each frame that the ring holds, of filters over several frames: one where no frame has a centre tap of
// its own, else two.
std::vector<std::vector<SpaceFactors>> frame_terms(const Filter& filter, const Arithmetic& arithmetic) {
  const std::vector<FrameFactors> frames =
      combines_frames(filter) ? filter.space_filter().frame_factors() : filter.frame_factors();
  const bool centred = std::any_of(frames.begin(), frames.end(), [](const FrameFactors& f) { return f.centre != 0; });
  std::vector<std::vector<SpaceFactors>> terms;
  for (const FrameFactors& frame : frames) {
    terms.push_back({in_numbers_of(arithmetic, frame.factors)});
    if (centred) terms.back().push_back(centre_term(filter, arithmetic.exact_taps ? frame.exact_centre : frame.centre));
  }
  return terms;
}

std::vector<SpaceFactors> low_rank_terms(const PlanDesc& desc, const Arithmetic& arithmetic) {
  return convolve::low_rank_terms(desc.filter, arithmetic, desc.layout, has_ghost_cells(desc.border));
}

// Filters of rank 1, in space or in time and space, may be had from every engine: the cheapest one is taken.
Engine make_rank_one(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  const SpaceFactors factors = in_numbers_of(arithmetic, *desc.filter.space_filter().space_factors());
  Engine best = make_float_separable(desc, arithmetic, group, {{factors}});
  const auto take = [&](bool served, Engine& engine) {
    if (served && engine.cost < best.cost) best = std::move(engine);
  };
  Engine fixed16, dot, box;
  take(make_fixed16_separable(fixed16, desc, arithmetic, group, factors.column, factors.row), fixed16);
  take(make_dot_separable(dot, desc, arithmetic, group, factors.column, factors.row), dot);
  take(make_box(box, desc, arithmetic, group, factors.column, factors.row), box);
  return best;
}

// Whether the centre tap takes away most of what the factors have there. Floats, of which no code value says how much
// may round, are then nearer the right ones as a sum of two products.
bool cancels_in_floats(const PlanDesc& desc) {
  if (desc.layout.type != SampleType::f32 || desc.filter.depth() > 1 || !is_dense(desc.filter)) return false;
  const FrameFactors& frame = desc.filter.frame_factors().front();
  const double product = magnitude_of(frame.factors.column) * magnitude_of(frame.factors.row);
  return !desc.filter.exact() && product + std::abs(frame.centre) > 2 * desc.filter.sum_abs();
}

// One frame that is of rank 1 but for its centre tap, which every engine takes with the column.
Engine make_centred(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  const FrameFactors& frame = desc.filter.frame_factors().front();
  const SpaceFactors factors = in_numbers_of(arithmetic, frame.factors);
  const double centre = arithmetic.exact_taps ? frame.exact_centre : frame.centre;
  Engine best = make_float_separable(desc, arithmetic, group, {{factors}}, FloatSum::with_centre, centre);
  for (const auto make : {make_fixed16_separable, make_dot_separable})
    if (Engine engine;
        make(engine, desc, arithmetic, group, factors.column, factors.row, centre) && engine.cost < best.cost)
      best = std::move(engine);
  return best;
}

}  // namespace

bool separable_serves(const PlanDesc& desc) {
  if (factors_over_space(desc.filter) || !desc.filter.frame_factors().empty()) return true;
  const std::vector<ComponentGroup> groups = make_component_groups(desc.layout);
  return std::all_of(groups.begin(), groups.end(), [&](const ComponentGroup& group) {
    return !group.any_filtered() || !low_rank_terms(desc, choose_arithmetic(desc, group)).empty();
  });
}

Engine make_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  const bool constant = has_ghost_cells(desc.border);
  const std::span<const Component* const> components{group.component, static_cast<std::size_t>(group.components)};
  const bool has_factors = !desc.filter.frame_factors().empty();
  const Arithmetic of_factors =
      has_factors ? frame_factors_arithmetic(desc.filter, arithmetic, desc.layout, constant, components) : arithmetic;
  if (factors_over_space(desc.filter)) {
    // What all taps at once need doubles for may round within bounds as two passes, which make fewer sums.
    const bool narrow = is_dense(desc.filter) && arithmetic.accumulator != Accumulator::double_;
    return make_rank_one(desc, narrow ? arithmetic : of_factors, group);
  }
  if (has_factors && !cancels_in_floats(desc)) {
    if (desc.filter.depth() == 1) return make_centred(desc, of_factors, group);
    const bool apart = desc.filter.depth() > 1 && !combines_frames(desc.filter);
    return make_float_separable(desc, of_factors, group, frame_terms(desc.filter, of_factors),
                                apart ? FloatSum::each_frame : FloatSum::with_centre);
  }
  const Arithmetic of_terms = low_rank_arithmetic(desc.filter, arithmetic, desc.layout, constant);
  return make_float_separable(desc, of_terms, group, {low_rank_terms(desc, of_terms)}, FloatSum::low_rank);
}

}  // namespace convolve::cpu
