// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "convolve/is_whole.hpp"
#include "cuda/common/folded_planes.hpp"
#include "cuda/common/fused_product.hpp"

namespace convolve::cuda {
namespace {

/// How sums become samples, the same for all components of a frame.
struct FrameDivision {
  Division division = Division::product;
  std::optional<float> bias;  ///< of a product, in the place of Quantizer::rounding_bias
};
/// `folded`: sums have offsets in them.
FrameDivision division_of(const FrameLayout& layout, const Arithmetic& arithmetic, bool folded = false) {
  FrameDivision how;
  bool fused = layout.type == SampleType::u16, two = fused;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c) {
      Component component = layout.plane[p].component[c];
      if (!component.filtered) continue;
      if (folded) component.zero = component.bias = 0;
      how.division = std::max(how.division, make_quantizer(arithmetic, layout, component).division);
      how.bias = fused_product_bias(arithmetic, layout, component);
      fused &= how.bias.has_value();
      two &= two_products_divide(arithmetic, layout, component);
    }
  if (how.division == Division::product) return {Division::product, {}};
  if (fused) return {Division::product, how.bias};
  return {two ? Division::two_products : std::max(how.division, Division::remainder), {}};
}

SampleNumbers numbers_of(const FrameLayout& layout, const Arithmetic& arithmetic, const FrameDivision& how) {
  SampleNumbers numbers{};
  numbers.shift = layout.type == SampleType::f32 ? 0 : layout.shift;
  const std::vector<const Component*> all = all_components(layout);
  const bool copies_all = std::ranges::none_of(all, [](const Component* k) { return k->filtered; });
  for (const Component* component : all) {
    // Kernels that pass copied samples through their sums need the numbers also where nothing is filtered.
    if (!component->filtered && !copies_all) continue;
    const Quantizer q = make_quantizer(arithmetic, layout, *component);
    numbers.gain = q.gain;
    numbers.rounding_bias = how.division == Division::two_products ? 0 : how.bias.value_or(q.rounding_bias);
    numbers.max = q.max;
    if (how.division == Division::two_products) numbers.gain_low = q.gain_low;
  }
  const auto divisor = static_cast<float>(arithmetic.divisor);
  if (how.division != Division::product) numbers.divisor = how.division == Division::two_products ? -divisor : divisor;
  return numbers;
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
  return numbers_of(layout, arithmetic, division_of(layout, arithmetic));
}

SampleNumbers by_remainder(SampleNumbers numbers) {
  numbers.divisor = std::abs(numbers.divisor);
  numbers.gain_low = 0;
  return numbers;
}

std::optional<FoldedPlanes> folded_planes(const PlanDesc& desc, const Arithmetic& arithmetic, int start_roundings) {
  return folded_planes(desc, arithmetic, roundings(desc.filter), start_roundings);
}

std::optional<FoldedPlanes> folded_planes(const PlanDesc& desc, const Arithmetic& arithmetic, double all_roundings,
                                          int start_roundings) {
  const FrameLayout& layout = desc.layout;
  if (layout.type != SampleType::u16 || arithmetic.accumulator == Accumulator::double_) return {};
  const FrameDivision how = division_of(layout, arithmetic, true);
  if (how.division > Division::two_products) return {};
  FoldedPlanes folded{};
  folded.numbers = numbers_of(layout, arithmetic, how);
  const bool exact = arithmetic.exact_taps, ghosts = has_ghost_cells(desc.border);
  const double sum = std::accumulate(arithmetic.coefficients.begin(), arithmetic.coefficients.end(), 0.0);
  const double magnitude = magnitude_of(arithmetic.coefficients);
  for (int p = 0; p < layout.planes; ++p) {
    SamplePlane& plane = folded.plane[p] = make_sample_plane(layout, layout.plane[p], arithmetic);
    for (int c = 0; c < plane.components; ++c) {
      const Component& component = layout.plane[p].component[c];
      const double start = (component.zero + component.bias) * arithmetic.divisor - component.zero * sum;
      const double input = std::max(1.0 * layout.max_value(), ghosts ? std::abs(component.ghost) : 0.0);
      const double rounded = all_roundings * input + start_roundings * std::abs(start) / arithmetic.divisor;
      // A component whose sums do not fit 24 bits beside one whose do: as floats_arithmetic() has it.
      const bool fits = exact && is_whole(start) && magnitude * input + std::abs(start) < 0x1p24;
      const double ghost = std::ldexp(component.ghost, layout.shift);
      if (component.filtered && ((exact && !fits) || (!exact && rounded * 0x1p-24 >= 0.95))) return {};
      if (ghosts && (!is_whole(ghost) || std::abs(ghost) >= 0x1p23)) return {};
      plane.zero[c] = 0;
      plane.ghost[c] = static_cast<float>(std::ldexp(ghost, -subnormal_exponent));
      plane.offset[c] = folded.numbers.rounding_bias;
      plane.start[c] = component.filtered ? static_cast<float>(start) : 0;
    }
  }
  return folded;
}

}  // namespace convolve::cuda
