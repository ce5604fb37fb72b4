// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/plan.hpp"

#include <cmath>

#include "convolve/border.hpp"

namespace convolve {
namespace {

// What border.hpp says of each mode is what its border_index() does.
constexpr bool borders_agree() {
  constexpr int n = 9, middle = n / 2;
  for (const BorderRow& row : borders) {
    const int before = border_index(row.value, -1, n), after = border_index(row.value, n, n);
    if ((before < 0 || after < 0) != has_ghost_cells(row.value)) return false;
    if ((before > middle || (after >= 0 && after < middle)) != is_periodic(row.value)) return false;
  }
  return true;
}
static_assert(borders_agree(), "has_ghost_cells() or is_periodic() says of a mode what border_index() does not do");

[[noreturn]] void refuse(const std::string& what) {
  throw PlanError("frame layout: " + what);
}

}  // namespace

void validate(const PlanDesc& desc) {
  if (!desc.bank.empty() && !(desc.filter == desc.bank.kernels().front()))
    throw PlanError("a plan of a bank has its first kernel as the filter");
  const FrameLayout& layout = desc.layout;
  if (layout.planes < 1 || layout.planes > max_planes)
    refuse(std::to_string(layout.planes) + " planes; 1 to " + std::to_string(max_planes) + " are allowed");
  const int low = layout.type == SampleType::u16 ? 9 : 1, high = layout.type == SampleType::u16 ? 16 : 8;
  if (layout.type != SampleType::f32 && (layout.bits < low || layout.bits > high))
    refuse(std::to_string(layout.bits) + " bits a sample; " + std::to_string(low) + " to " + std::to_string(high) +
           " are allowed for this sample type");
  if (layout.type != SampleType::f32 &&
      (layout.shift < 0 || layout.bits + layout.shift > 8 * bytes_per_sample(layout.type)))
    refuse("a shift of " + std::to_string(layout.shift) + " does not fit the sample type");
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneLayout& plane = layout.plane[p];
    if (plane.components < 1 || plane.components > max_components)
      refuse(std::to_string(plane.components) + " components in a plane; 1 to 4 are allowed");
    for (int c = 0; c < plane.components; ++c) {
      const Component& component = plane.component[c];
      if (component.width < 1 || component.height < 1)
        refuse("a component of " + std::to_string(component.width) + "x" + std::to_string(component.height) +
               " samples; both are at least 1");
      if (component.step < 1 || component.step > 4 || component.offset < 0 || component.offset > 3)
        refuse("component offsets are 0 to 3 and steps 1 to 4");
      if (!std::isfinite(component.zero) || !std::isfinite(component.bias) || !std::isfinite(component.ghost))
        refuse("zero, bias and ghost levels are finite");
    }
  }
}

}  // namespace convolve
