// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/direct.hpp"

#include "cpu/algorithms.hpp"
#include "cpu/bank/bank.hpp"
#include "cpu/float/direct.hpp"

namespace convolve::cpu {

bool direct_serves(const PlanDesc& desc) {
  return is_dense(desc.filter);
}

Engine make_direct(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  if (!desc.bank.empty()) return make_bank(desc, arithmetic, group);
  Engine real = make_float_direct(desc, arithmetic, group), dot;
  return make_dot_direct(dot, desc, arithmetic, group) && dot.cost < real.cost ? dot : real;
}

}  // namespace convolve::cpu
