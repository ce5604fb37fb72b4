// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/sample_plane.hpp"

#include <algorithm>
#include <optional>

#include "cuda/common/fused_product.hpp"

namespace convolve::cuda {
namespace {

/// How sums become samples, the same for all components of a frame.
struct FrameDivision {
  Division division = Division::product;
  std::optional<float> bias;  ///< of a product, in the place of Quantizer::rounding_bias
};
FrameDivision division_of(const FrameLayout& layout, const Arithmetic& arithmetic) {
  FrameDivision how;
  bool fused = layout.type == SampleType::u16;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c) {
      const Component& component = layout.plane[p].component[c];
      if (!component.filtered) continue;
      how.division = std::max(how.division, make_quantizer(arithmetic, layout, component).division);
      how.bias = fused_product_bias(arithmetic, layout, component);
      fused &= how.bias.has_value();
    }
  if (how.division == Division::product || !fused) return {how.division, {}};
  return {Division::product, how.bias};
}

}  // namespace

Arithmetic floats_arithmetic(const PlanDesc& desc, const Arithmetic& arithmetic) {
  Arithmetic floats = arithmetic;
  if (desc.layout.type != SampleType::u16 || !arithmetic.exact_taps) return floats;
  const double input = largest_input(desc.layout, has_ghost_cells(desc.border), all_components(desc.layout));
  constexpr double most = 0.95;  // keeps a sample within one code value of the right one
  if (roundings(desc.filter) * input * 0x1p-24 < most) floats.accumulator = Accumulator::exact;
  return floats;
}

PlaneMix plane_mix(const FrameLayout& layout) {
  unsigned counts = 0;
  for (int p = 0; p < layout.planes; ++p) {
    if (!layout.plane[p].uniform()) return PlaneMix::none;
    counts |= 1u << layout.plane[p].components;
  }
  switch (counts) {
    case 1 << 1:
      return PlaneMix::one;
    case 1 << 2:
    case 1 << 1 | 1 << 2:
      return PlaneMix::one_and_two;
    case 1 << 3:
      return PlaneMix::three;
    case 1 << 4:
      return PlaneMix::four;
    default:
      return PlaneMix::none;
  }
}

bool is_filtered_alike(const PlaneLayout& plane) {
  const auto begin = plane.component.begin();
  return std::all_of(begin, begin + plane.components, [&](const Component& k) {
    return k.filtered && k.zero == begin->zero && k.bias == begin->bias && k.ghost == begin->ghost;
  });
}

bool has_sample_planes(const FrameLayout& layout, const Arithmetic& arithmetic, std::string& why) {
  if (layout.type == SampleType::u8 && (layout.bits != 8 || layout.shift != 0))
    why = "bytes of fewer than 8 bits";
  else if (plane_mix(layout) == PlaneMix::none)
    why = "a layout with components at uneven steps";
  else if (division_of(layout, arithmetic).division >
           (layout.type == SampleType::u16 ? Division::remainder : Division::product))
    why = "a filter whose sums need double precision";
  else
    return true;
  return false;
}

SamplePlane make_sample_plane(const FrameLayout& layout, const PlaneLayout& from, const Arithmetic& arithmetic) {
  const FrameDivision how = division_of(layout, arithmetic);
  SamplePlane plane{};
  plane.components = from.components;
  plane.width = from.component[0].width;
  plane.height = from.component[0].height;
  for (int c = 0; c < from.components; ++c) {
    const Component& component = from.component[c];
    const Quantizer q = make_quantizer(arithmetic, layout, component);
    plane.zero[c] = static_cast<float>(component.zero);
    plane.ghost[c] = static_cast<float>(component.ghost - component.zero);
    plane.offset[c] = how.division == Division::product ? q.offset + how.bias.value_or(q.rounding_bias) : q.offset;
  }
  for (int i = 0; i < (from.components == 3 ? 12 : 8); ++i) {
    const int bytes = bytes_per_sample(layout.type);
    if (from.component[i / bytes % from.components].filtered) continue;
    plane.has_passthrough = true;
    plane.passthrough[i / 4] |= 255u << (8 * (i % 4));
  }
  return plane;
}

SampleNumbers make_sample_numbers(const FrameLayout& layout, const Arithmetic& arithmetic) {
  const FrameDivision how = division_of(layout, arithmetic);
  SampleNumbers numbers{};
  numbers.shift = layout.type == SampleType::f32 ? 0 : layout.shift;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c) {
      const Component& component = layout.plane[p].component[c];
      if (!component.filtered) continue;
      const Quantizer q = make_quantizer(arithmetic, layout, component);
      numbers.gain = q.gain;
      numbers.rounding_bias = how.bias.value_or(q.rounding_bias);
      numbers.max = q.max;
    }
  if (how.division != Division::product) numbers.divisor = static_cast<float>(arithmetic.divisor);
  return numbers;
}

}  // namespace convolve::cuda
