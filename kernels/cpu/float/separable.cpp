// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/float/separable.hpp"

#include "cpu/float/kernels.hpp"
#include "cpu/float/staging.hpp"
#include "cpu/simd/highway.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/float/separable.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/samples-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

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

}  // namespace

decltype(RowPass::run) PassOf(bool wide) {
  return wide ? Pass<double> : Pass<float>;
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(PassOf);

Engine make_float_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                            const std::vector<SpaceFactors>& terms) {
  const bool wide = arithmetic.accumulator == Accumulator::double_;
  const int count = static_cast<int>(terms.size());
  std::vector<double> columns;
  std::vector<RowPass> passes(count);
  Engine engine;
  for (int i = 0; i < count; ++i) {
    columns.insert(columns.end(), terms[i].column.begin(), terms[i].column.end());
    passes[i].coefficients = terms[i].row;
    passes[i].components = group.components;
    passes[i].line_element_size = wide ? sizeof(double) : sizeof(float);
    passes[i].run = HWY_DYNAMIC_DISPATCH(PassOf)(wide);
  }
  make_float_kernel(engine, desc, arithmetic, group, columns, count, desc.filter.height(), 1);
  make_float_staging(engine, desc, arithmetic, group);
  engine.row_pass = passes.front();
  engine.more_row_passes.assign(passes.begin() + 1, passes.end());
  engine.cost = (combines_frames(desc.filter) ? 3.0 * desc.filter.depth() : 0) +
                count * (1.5 * desc.filter.width() + desc.filter.height()) + 9;
  constexpr const char* names[2][max_terms] = {{"f32", "f32, rank 2", "f32, rank 3"},
                                               {"f64", "f64, rank 2", "f64, rank 3"}};
  engine.name = names[wide][count - 1];
  return engine;
}

}  // namespace convolve::cpu
#endif
