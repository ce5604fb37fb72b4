// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/rows/float_staging.hpp"

#include <cstring>

#include "cpu/simd/highway.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/rows/float_staging.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

// The sum of a vector's worth of samples over the frames, from sample `i` on, with zero taken off.
template <class T, class Sample>
HWY_INLINE Vector<T> LoadFrames(const Staging& s, const char* const* rows, std::size_t i, const T* zero,
                                const T* ghost) {
  const Tag<T> d;
  const auto z = hn::LoadU(d, zero);
  if (s.weights.empty()) return hn::Sub(Load<T, Sample>(rows[0] + i * sizeof(Sample), s.shift), z);
  auto sum = hn::Zero(d);
  for (std::size_t t = 0; t < s.weights.size(); ++t) {
    const auto v = rows[t] ? hn::Sub(Load<T, Sample>(rows[t] + i * sizeof(Sample), s.shift), z) : hn::LoadU(d, ghost);
    sum = hn::MulAdd(v, hn::Set(d, static_cast<T>(s.weights[t])), sum);
  }
  return sum;
}

template <class T, class Sample>
void Stage(const Staging& s, const void* const* frame_rows, void* elements, int n) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  T* out = static_cast<T*>(elements);
  const char* rows[max_depth];
  const int frames = s.weights.empty() ? 1 : static_cast<int>(s.weights.size());
  for (int t = 0; t < frames; ++t) rows[t] = static_cast<const char*>(frame_rows[t]);
  const T *zero = s.zero.get<T>(), *ghost = s.ghost.get<T>();
  const int turn = N % s.components;
  int phase = 0, i = 0;
  if (s.weights.empty() && !rows[0]) {
    for (; i < n; i += N, phase = (phase + turn) % s.components) hn::StoreU(hn::LoadU(d, ghost + phase), d, out + i);
    return;
  }
  for (; i + N <= n; i += N) {
    hn::StoreU(LoadFrames<T, Sample>(s, rows, i, zero + phase, ghost + phase), d, out + i);
    phase += turn;
    if (phase >= s.components) phase -= s.components;
  }
  if (i >= n) return;
  alignas(64) Sample rest[max_depth][N] = {};
  for (int t = 0; t < frames; ++t)
    if (rows[t]) {
      std::memcpy(rest[t], rows[t] + i * sizeof(Sample), (n - i) * sizeof(Sample));
      rows[t] = reinterpret_cast<const char*>(rest[t]);
    }
  hn::StoreU(LoadFrames<T, Sample>(s, rows, 0, zero + phase, ghost + phase), d, out + i);
}

}  // namespace

decltype(Staging::run) StageOf(SampleType type, bool wide) {
  constexpr decltype(Staging::run) functions[][2]{{Stage<float, std::uint8_t>, Stage<double, std::uint8_t>},
                                                  {Stage<float, std::uint16_t>, Stage<double, std::uint16_t>},
                                                  {Stage<float, float>, nullptr}};
  return functions[static_cast<int>(type)][wide];
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(StageOf);

void make_float_staging(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                        const ComponentGroup& group) {
  engine.staging = make_staging(desc.layout, group);
  engine.staging.run = HWY_DYNAMIC_DISPATCH(StageOf)(desc.layout.type, arithmetic.accumulator == Accumulator::double_);
  engine.staging.weights = frame_weights(desc.filter, arithmetic);
}

}  // namespace convolve::cpu
#endif
