// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/float/separable.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "cpu/float/kernels.hpp"
#include "cpu/rows/float_staging.hpp"
#include "cpu/simd/highway.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/float/separable.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

// Two chains of multiply-adds for each of the units that make them.
constexpr int pass_vectors = 8;

template <class T>
void Pass(const RowPass& pass, const void* line, void* elements, int n) {
  const Tag<T> d;
  constexpr int N = lanes<T>, V = pass_vectors;
  const T* in = static_cast<const T*>(line) + pass.first * pass.components;
  T* out = static_cast<T*>(elements);
  const int taps = static_cast<int>(pass.coefficients.size());
  for (int x = 0; x < n; x += V * N, in += V * N, out += V * N) {
    Vector<T> sum[V];
    CONVOLVE_UNROLL
    for (int v = 0; v < V; ++v) sum[v] = hn::Zero(d);
    for (int k = 0; k < taps; ++k) {
      const auto c = hn::Set(d, static_cast<T>(pass.coefficients[k]));
      CONVOLVE_UNROLL
      for (int v = 0; v < V; ++v) sum[v] = hn::MulAdd(hn::LoadU(d, in + k * pass.components + v * N), c, sum[v]);
    }
    CONVOLVE_UNROLL
    for (int v = 0; v < V; ++v) hn::StoreU(sum[v], d, out + v * N);
  }
}

}  // namespace

decltype(RowPass::run) PassOf(bool wide) {
  return wide ? Pass<double> : Pass<float>;
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(PassOf);

namespace {

constexpr int large_ring_bytes = 1 << 20;

// Without the zeros at both ends.
void set_taps(RowPass& pass, const std::vector<double>& row) {
  const auto is_tap = [](double tap) { return tap != 0; };
  const auto first = std::find_if(row.begin(), row.end(), is_tap);
  const auto last = std::find_if(row.rbegin(), std::make_reverse_iterator(first), is_tap).base();
  pass.first = first == row.end() ? 0 : static_cast<int>(first - row.begin());
  pass.coefficients.assign(first, last);
}

// The centre tap, beside a single term.
void set_centre(Engine& engine, SampleType type, bool wide, double centre) {
  Kernel& kernel = engine.kernel;
  assert(kernel.depth == 1);
  engine.reads_centre = true;
  kernel.centre = centre;
  kernel.zero = engine.staging.zero;
  const int height = kernel.tap_rows.front().count == kernel.height ? kernel.height : 0;
  kernel.run = float_kernels().centred(type, wide, height);
}

}  // namespace

Engine make_float_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                            const std::vector<std::vector<SpaceFactors>>& frames, FloatSum sum, double centre) {
  const bool wide = arithmetic.accumulator == Accumulator::double_;
  Engine engine;
  engine.terms = static_cast<int>(frames.front().size());
  std::vector<double> columns;
  for (const std::vector<SpaceFactors>& terms : frames)
    for (const SpaceFactors& term : terms) {
      columns.insert(columns.end(), term.column.begin(), term.column.end());
      RowPass& pass = engine.row_passes.emplace_back();
      set_taps(pass, term.row);
      pass.components = group.components;
      pass.line_element_size = wide ? sizeof(double) : sizeof(float);
      pass.run = HWY_DYNAMIC_DISPATCH(PassOf)(wide);
    }
  // Strips are wide beside what is staged on both sides of them, as far as the second level cache has room.
  if (!is_dense(desc.filter)) engine.ring_bytes = large_ring_bytes;
  const int count = static_cast<int>(engine.row_passes.size());
  make_float_kernel(engine, desc, arithmetic, group, columns, count, desc.filter.height(), 1);
  make_float_staging(engine, desc, arithmetic, group);
  if (centre != 0) set_centre(engine, desc.layout.type, wide, centre);
  engine.cost = (combines_frames(desc.filter) ? 3.0 * desc.filter.depth() : 0) + 9;
  for (int i = 0; i < count; ++i)
    engine.cost +=
        1.5 * static_cast<double>(engine.row_passes[i].coefficients.size()) + engine.kernel.tap_rows[i].count;
  if (engine.reads_centre) engine.cost += 1.5;
  constexpr const char* names[4][2] = {{"f32", "f64"},
                                       {"f32, a sum of separable filters", "f64, a sum of separable filters"},
                                       {"f32, with a centre tap", "f64, with a centre tap"},
                                       {"f32, each frame apart", "f64, each frame apart"}};
  engine.name = names[static_cast<int>(sum)][wide];
  return engine;
}

}  // namespace convolve::cpu
#endif
