// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/rows/copy_staging.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/simd/highway.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/rows/copy_staging.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

// Samples as they are. The C library's own copy may choose string instructions, which took twice as long for rows.
template <class Sample>
void Copy(const Staging& s, const void* const* rows, void* elements, int n) {
  const hn::ScalableTag<Sample> d;
  constexpr int N = HWY_LANES(Sample);
  const auto* in = static_cast<const Sample*>(rows[0]);
  auto* out = static_cast<Sample*>(elements);
  int i = 0;
  if (!in)
    for (; i < n; ++i) out[i] = static_cast<Sample>(s.ghost.wide[i % s.components]);
  for (; i + N <= n; i += N) {
    const auto v = hn::LoadU(d, in + i);
    asm volatile("");  // or the compiler makes the loop a call of the copy again
    hn::StoreU(v, d, out + i);
  }
  if (i < n) std::memcpy(out + i, in + i, (n - i) * sizeof(Sample));
}

}  // namespace

decltype(Staging::run) CopyOf(SampleType type) {
  constexpr decltype(Staging::run) functions[]{Copy<std::uint8_t>, Copy<std::uint16_t>, nullptr};
  return functions[static_cast<int>(type)];
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(CopyOf);

Staging make_copy_staging(const PlanDesc& desc, const ComponentGroup& group) {
  Staging staging;
  staging.components = group.components;
  std::vector<double> ghost;
  for (int c = 0; c < group.components; ++c)
    ghost.push_back(std::ldexp(std::clamp(group.component[c]->ghost, 0.0, static_cast<double>(desc.layout.max_value())),
                               desc.layout.shift));
  staging.ghost = Pattern(ghost);
  staging.run = HWY_DYNAMIC_DISPATCH(CopyOf)(desc.layout.type);
  return staging;
}

}  // namespace convolve::cpu
#endif
