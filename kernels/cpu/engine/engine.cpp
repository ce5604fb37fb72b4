// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/engine/engine.hpp"

#include <algorithm>

namespace convolve::cpu {

Pattern::Pattern(const std::vector<double>& values) {
  for (int i = 0; i < pattern_length; ++i) {
    wide.push_back(values[i % values.size()]);
    single.push_back(static_cast<float>(wide.back()));
  }
}

Staging make_staging(const FrameLayout& layout, const ComponentGroup& group) {
  std::vector<double> zero, ghost;
  for (int c = 0; c < group.components; ++c) {
    zero.push_back(group.component[c]->zero);
    ghost.push_back(group.component[c]->ghost - group.component[c]->zero);
  }
  Staging staging;
  staging.components = group.components;
  staging.shift = layout.shift;
  staging.zero = Pattern(zero);
  staging.ghost = Pattern(ghost);
  return staging;
}

Quantization make_quantization(const Arithmetic& arithmetic, const FrameLayout& layout, const ComponentGroup& group) {
  Quantization quantization;
  quantization.shift = layout.shift;
  std::vector<double> offset;
  for (int c = 0; c < group.components; ++c) {
    const Quantizer q = make_quantizer(arithmetic, layout, *group.component[c]);
    quantization.gain = q.gain;
    quantization.gain_low = q.gain_low;
    quantization.rounding_bias = std::max(quantization.rounding_bias, q.rounding_bias);
    quantization.max = q.max;
    quantization.divisor = q.divisor;
    quantization.division = std::max(quantization.division, q.division);
    offset.push_back(q.wide_offset);
  }
  if (quantization.division != Division::product) quantization.rounding_bias = 0;
  quantization.offset = Pattern(offset);
  for (float& value : quantization.offset.single) value += quantization.rounding_bias;
  return quantization;
}

Arithmetic choose_arithmetic(const PlanDesc& desc, const ComponentGroup& group) {
  const std::span<const Component* const> components{group.component, static_cast<std::size_t>(group.components)};
  const bool constant_border = has_ghost_cells(desc.border);
  if (!desc.bank.empty()) return convolve::choose_arithmetic(desc.bank, desc.layout, constant_border, components);
  return convolve::choose_arithmetic(desc.filter, desc.layout, constant_border, components);
}

}  // namespace convolve::cpu
