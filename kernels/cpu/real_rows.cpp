// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/real.hpp"
#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/real_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/samples-inl.hpp"

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
  const char* rows[max_taps];
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
  alignas(64) Sample rest[max_taps][N] = {};
  for (int t = 0; t < frames; ++t)
    if (rows[t]) {
      std::memcpy(rest[t], rows[t] + i * sizeof(Sample), (n - i) * sizeof(Sample));
      rows[t] = reinterpret_cast<const char*>(rest[t]);
    }
  hn::StoreU(LoadFrames<T, Sample>(s, rows, 0, zero + phase, ghost + phase), d, out + i);
}

template <class T>
void Pass(const RowPass& pass, const void* line, void* elements, int n) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  const T* in = static_cast<const T*>(line);
  T* out = static_cast<T*>(elements);
  const int taps = static_cast<int>(pass.coefficients.size());
  for (int x = 0; x < n; x += 4 * N, in += 4 * N, out += 4 * N) {
    Vector<T> sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (int k = 0; k < taps; ++k) {
      const auto c = hn::Set(d, static_cast<T>(pass.coefficients[k]));
      CONVOLVE_UNROLL
      for (int v = 0; v < 4; ++v) sum[v] = hn::MulAdd(hn::LoadU(d, in + k * pass.components + v * N), c, sum[v]);
    }
    CONVOLVE_UNROLL
    for (int v = 0; v < 4; ++v) hn::StoreU(sum[v], d, out + v * N);
  }
}

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

RowFunctions Rows() {
  return {{{Stage<float, std::uint8_t>, Stage<double, std::uint8_t>},
           {Stage<float, std::uint16_t>, Stage<double, std::uint16_t>},
           {Stage<float, float>, nullptr}},
          {Copy<std::uint8_t>, Copy<std::uint16_t>, nullptr},
          {Pass<float>, Pass<double>}};
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Rows);

RowFunctions row_functions() {
  return HWY_DYNAMIC_DISPATCH(Rows)();
}

Staging make_copy_staging(const PlanDesc& desc, const Group& group) {
  Staging staging;
  staging.components = group.components;
  std::vector<double> ghost;
  for (int c = 0; c < group.components; ++c)
    ghost.push_back(std::ldexp(std::clamp(group.component[c]->ghost, 0.0, static_cast<double>(desc.layout.max_value())),
                               desc.layout.shift));
  staging.ghost = Pattern(ghost);
  staging.run = row_functions().copy[static_cast<int>(desc.layout.type)];
  return staging;
}

void make_real_staging(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  engine.staging = make_staging(desc.layout, group);
  engine.staging.run =
      row_functions().stage[static_cast<int>(desc.layout.type)][arithmetic.accumulator == Accumulator::double_];
  engine.staging.weights = frame_weights(desc.filter, arithmetic);
}

bool combines_frames(const Filter& filter) {
  return filter.depth() > 1 && !filter.time_factor().empty();
}

std::vector<double> frame_weights(const Filter& filter, const Arithmetic& arithmetic) {
  if (!combines_frames(filter)) return {};
  if (arithmetic.accumulator != Accumulator::exact) return filter.time_factor();
  return {filter.exact_time_factor().begin(), filter.exact_time_factor().end()};
}

}  // namespace convolve::cpu
#endif
