// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/direct.hpp"

#include <utility>

#include "cpu/algorithms.hpp"
#include "cpu/bank/bank.hpp"
#include "cpu/fixed16/direct.hpp"
#include "cpu/float/direct.hpp"

namespace convolve::cpu {

bool direct_serves(const PlanDesc& desc) {
  return is_dense(desc.filter);
}

Engine make_direct(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  if (!desc.bank.empty()) return make_bank(desc, arithmetic, group);
  Engine best = make_float_direct(desc, arithmetic, group);
  for (const auto make : {make_dot_direct, make_fixed16_direct})
    if (Engine engine; make(engine, desc, arithmetic, group) && engine.cost < best.cost) best = std::move(engine);
  return best;
}

}  // namespace convolve::cpu
