// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/algorithms.hpp"
#include "cpu/dot.hpp"
#include "cpu/integer_taps.hpp"
#include "cpu/real.hpp"
#include "cpu/targets.hpp"

namespace convolve::cpu {
namespace {

// Frames are combined while they are staged where the filter factors into time x space.
bool combines_frames(const Filter& filter) {
  return filter.depth() > 1 && !filter.time_factor().empty();
}

// The dot products of one sample against the multiply-adds of the floating-point kernel, in instructions.
bool dot_is_cheaper(const Filter& filter, bool pairs) {
  const int taps = filter.height() * filter.width();
  const int in_group = pairs ? 2 : 4;
  const int dot = filter.depth() * filter.height() * ((filter.width() + in_group - 1) / in_group);
  return dot < (combines_frames(filter) ? 3 * filter.depth() + taps : filter.depth() * taps) + 4;
}

bool make_dot_engine(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  if (!use_vnni()) return false;
  std::optional<IntegerTaps> taps = make_integer_taps(arithmetic, desc.layout, desc.border, group, 127);
  const bool pairs = !taps;
  if (pairs) taps = make_integer_taps(arithmetic, desc.layout, desc.border, group, 32767);
  if (!taps || !dot_is_cheaper(desc.filter, pairs)) return false;
  engine.element_size = 1;
  engine.block_rows = dot_block_rows;
  engine.staging = make_byte_staging(group);
  Kernel& kernel = engine.kernel;
  kernel.depth = desc.filter.depth();
  kernel.height = desc.filter.height();
  kernel.width = desc.filter.width();
  kernel.components = group.components;
  kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  make_dot_kernel(kernel, *taps, group);
  return true;
}

Engine make_engine(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  Engine engine;
  if (make_dot_engine(engine, desc, arithmetic, group)) return engine;
  const Filter& filter = desc.filter;
  const bool wide = arithmetic.accumulator == Accumulator::double_;
  const auto type = static_cast<std::size_t>(desc.layout.type);
  const RealFunctions functions = real_functions();
  engine.element_size = wide ? sizeof(double) : sizeof(float);
  engine.block_rows = 4;
  engine.staging = make_staging(desc.layout, group);
  engine.staging.run = functions.stage[type][wide];

  Kernel& kernel = engine.kernel;
  kernel.depth = filter.depth();
  kernel.height = filter.height();
  kernel.width = filter.width();
  kernel.components = group.components;
  kernel.coefficients = arithmetic.coefficients;
  if (combines_frames(filter)) {
    const bool exact = arithmetic.accumulator == Accumulator::exact;
    const Filter space = filter.space_filter();
    kernel.depth = 1;
    if (exact) {
      engine.staging.weights.assign(filter.exact_time_factor().begin(), filter.exact_time_factor().end());
      kernel.coefficients.assign(space.exact()->taps.begin(), space.exact()->taps.end());
    } else {
      engine.staging.weights = filter.time_factor();
      kernel.coefficients = space.taps();
    }
  }
  kernel.coefficients_f.assign(kernel.coefficients.begin(), kernel.coefficients.end());
  kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  kernel.run = functions.kernel[type][wide];
  return engine;
}

}  // namespace

bool direct_serves(const PlanDesc&) {
  return true;
}

std::unique_ptr<Plan> make_direct(const PlanDesc& desc, const Threads& threads) {
  std::string description = "direct " + desc.filter.shape() + ", " + simd_target();
  if (combines_frames(desc.filter)) description += ", frames combined first";
  return std::make_unique<RowPlan>(desc, Algorithm::direct, description, make_engine, threads);
}

}  // namespace convolve::cpu
