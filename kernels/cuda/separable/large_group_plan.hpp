// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of separable by warpgroups, which only compute capability 9.0 has: large_groups.cu. Host code only.
#pragma once

#include <memory>

#include "cuda/common/entry.hpp"
#include "cuda/separable/large_taps.hpp"

namespace convolve::cuda {

/// How sums of a box become samples: fma(sum, gain, whole), a float whose lower bits are the integer. Sums begin with
/// `start`, and their bits are floats, or else they are converted.
struct BoxQuotient {
  float gain, whole;
  std::int32_t start;
  bool read_as_floats;
};

#ifdef CONVOLVE_WARPGROUPS
/// Of exact taps: large_groups.cu. Null where it does not serve the case, which has these taps.
std::unique_ptr<Plan> make_separable_groups(const Device& device, const PlanDesc& desc, const LargeTaps& taps);
/// Of wide filters with real taps: wide.cu. Null likewise, and whether it serves the case.
bool serves_separable_wide(const Device& device, const PlanDesc& desc, const LargeTaps& taps);
std::unique_ptr<Plan> make_separable_wide(const Device& device, const PlanDesc& desc, const LargeTaps& taps);
/// Of boxes: wide.cu. `other`, a plan for frames of any alignment, where it does not serve the case.
std::unique_ptr<Plan> make_separable_wide_box(const Device& device, const PlanDesc& desc, const BoxQuotient& quotient,
                                              std::unique_ptr<Plan> other);
#else  // built without code for that chip
inline std::unique_ptr<Plan> make_separable_groups(const Device&, const PlanDesc&, const LargeTaps&) {
  return nullptr;
}
inline bool serves_separable_wide(const Device&, const PlanDesc&, const LargeTaps&) {
  return false;
}
inline std::unique_ptr<Plan> make_separable_wide(const Device&, const PlanDesc&, const LargeTaps&) {
  return nullptr;
}
inline std::unique_ptr<Plan> make_separable_wide_box(const Device&, const PlanDesc&, const BoxQuotient&,
                                                     std::unique_ptr<Plan> other) {
  return other;
}
#endif

}  // namespace convolve::cuda
