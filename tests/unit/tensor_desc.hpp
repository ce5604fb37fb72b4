// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plan description that the tests of taps for separable's tensor kernels go by.
#pragma once

#include <utility>

#include "convolve/plan.hpp"

namespace convolve {

/// A filter over one plane of 8x8 bytes, all of one component.
inline PlanDesc desc_of(Filter filter, Component component = {}) {
  PlanDesc desc;
  desc.layout.bits = 8;
  desc.layout.planes = desc.layout.plane[0].components = 1;
  component.width = component.height = 8;
  desc.layout.plane[0].component[0] = component;
  desc.filter = std::move(filter);
  return desc;
}

}  // namespace convolve
