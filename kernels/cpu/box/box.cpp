// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/box/box.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "convolve/is_whole.hpp"
#include "cpu/rows/copy_staging.hpp"
#include "cpu/rows/float_staging.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/box/box.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/box/running_sum-inl.hpp"
#include "cpu/simd/quantize-inl.hpp"
#include "cpu/simd/samples-inl.hpp"

#ifndef CONVOLVE_BOX_CPP_ONCE
#define CONVOLVE_BOX_CPP_ONCE
namespace convolve::cpu::box {

struct PackedRow {
  int taps, shift;  ///< shift: of samples to the right
};

struct PackedColumn {
  float tap;                         ///< multiplies the box's sum
  std::vector<std::uint32_t> start;  ///< of the sums, modulo 2^32: less the levels of all their samples; a pattern
};

/// What the row pass reads, and what it makes.
enum class Line : std::uint8_t { u8_to_u16, u16_to_u16, u16_to_u32, f32_to_u32 };

struct Functions {
  int lanes;  ///< of 16 bits
  decltype(RowPass::run) (*along)(Line line, int components);
  decltype(Kernel::run) (*down)(Line line, SampleType type);
};

}  // namespace convolve::cpu::box
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

using box::Line, box::PackedColumn, box::PackedRow;

// A vector of unsigned integers: of samples, or of whole numbers in single precision of either sign.
template <class T, class Source>
HWY_INLINE Vector<T> LoadLine(const Source* p, int shift) {
  const Tag<T> d;
  if constexpr (std::is_same_v<Source, float>) {
    return hn::BitCast(d, hn::ConvertTo(Tag<std::int32_t>(), hn::LoadU(Tag<float>(), p)));
  } else {
    Vector<T> v;
    if constexpr (std::is_same_v<Source, T>)
      v = hn::LoadU(d, p);
    else
      v = hn::PromoteTo(d, hn::LoadU(hn::Rebind<Source, Tag<T>>(), p));
    return shift ? hn::ShiftRightSame(v, shift) : v;
  }
}

#if HWY_TARGET == HWY_SCALAR
template <class T, class Source, int Components>
void AlongRow(const RowPass& pass, const void* line, void* elements, int n) {
  const auto& packed = *static_cast<const PackedRow*>(pass.packed.get());
  const Source* in = static_cast<const Source*>(line);
  T* out = static_cast<T*>(elements);
  const auto at = [&](int x) { return hn::GetLane(LoadLine<T>(in + x, packed.shift)); };
  const int reach = (packed.taps - 1) * Components;
  for (int x = 0; x < std::min(n, Components); ++x) {
    out[x] = 0;
    for (int k = 0; k <= reach; k += Components) out[x] = static_cast<T>(out[x] + at(x + k));
  }
  for (int x = Components; x < n; ++x)
    out[x] = static_cast<T>(out[x - Components] + at(x + reach) - at(x - Components));
}
#else
template <class T, class Source, int Components>
void AlongRow(const RowPass& pass, const void* line, void* elements, int n) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  const auto [taps, shift] = *static_cast<const PackedRow*>(pass.packed.get());
  const Source* in = static_cast<const Source*>(line);
  T* out = static_cast<T*>(elements);
  RunningSum<T, Components> sums;
  // All that the first box has but for its last sample.
  const int reach = (taps - 1) * Components;
  int vectors = 0;
  for (int x = 0; x < reach; x += N, ++vectors) {
    const Vector<T> v = LoadLine<T>(in + x, shift);
    sums.Add(x + N <= reach ? v : hn::IfThenElseZero(hn::FirstN(d, reach - x), v));
  }
  sums.Rewind(vectors);
  for (int x = 0; x < n; x += N) {
    const Vector<T> leaves = LoadLine<T>(in + x, shift), enters = LoadLine<T>(in + x + reach, shift);
    // The sample that leaves does so after this sum.
    hn::StoreU(hn::Add(sums.Add(hn::Sub(enters, leaves)), leaves), d, out + x);
  }
}
#endif

template <class T>
HWY_INLINE Vector<std::uint32_t> RowSums(const void* row, int x) {
  const Tag<std::uint32_t> d;
  const T* p = static_cast<const T*>(row) + x;
  if constexpr (sizeof(T) == 4)
    return hn::LoadU(d, p);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, Tag<std::uint32_t>>(), p));
}

// The sums of the first block of a column, but for its last row.
template <class T>
void StartColumns(const Kernel& k, const Block& b) {
  const Tag<std::uint32_t> d;
  const auto& packed = *static_cast<const PackedColumn*>(k.packed.get());
  auto* state = static_cast<std::uint32_t*>(b.state);
  for (int x = 0; x < b.n; x += lanes<std::uint32_t>) {
    auto run = hn::LoadU(d, packed.start.data() + x % k.components);
    for (int r = 0; r < k.height - 1; ++r) run = hn::Add(run, RowSums<T>(b.rows[r], x));
    hn::StoreU(run, d, state + x);
  }
}

template <class T, class Sample>
void DownColumns(const Kernel& k, const Block& b) {
  const Tag<std::uint32_t> d;
  constexpr int R = block_rows, B = block<float>, N = lanes<float>;
  const int height = k.height, turn = B % k.components;
  const auto tap = hn::Set(Tag<float>(), static_cast<const PackedColumn*>(k.packed.get())->tap);
  auto* state = static_cast<std::uint32_t*>(b.state);
  if (b.state_is_new) StartColumns<T>(k, b);
  int phase = 0;
  for (int x = 0; x < b.n; x += B) {
    b.ahead.fetch(x, B);
    Vector<std::uint32_t> run[block_vectors];
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) run[v] = hn::LoadU(d, state + x + v * N);
    CONVOLVE_UNROLL
    for (int i = 0; i < R; ++i) {
      Vector<float> sum[block_vectors];
      CONVOLVE_UNROLL
      for (int v = 0; v < block_vectors; ++v) {
        const auto whole = hn::Add(run[v], RowSums<T>(b.rows[height - 1 + i], x + v * N));
        sum[v] = hn::Mul(hn::ConvertTo(Tag<float>(), hn::BitCast(Tag<std::int32_t>(), whole)), tap);
        run[v] = hn::Sub(whole, RowSums<T>(b.rows[i], x + v * N));
      }
      if (!b.out[i]) continue;
      // Not StoreUpTo(), with which this loop takes 5 % longer.
      Sample* out = static_cast<Sample*>(b.out[i]) + x;
      if (x + B <= b.n) {
        Store<float, Sample>(k.quantization, sum, phase, out);
      } else {
        alignas(64) Sample rest[B];
        Store<float, Sample>(k.quantization, sum, phase, rest);
        std::memcpy(static_cast<void*>(out), rest, (b.n - x) * sizeof(Sample));
      }
    }
    CONVOLVE_UNROLL
    for (int v = 0; v < block_vectors; ++v) hn::StoreU(run[v], d, state + x + v * N);
    phase += turn;
    if (phase >= k.components) phase -= k.components;
  }
}

template <class T, class Source>
decltype(RowPass::run) AlongOf(int components) {
  constexpr decltype(RowPass::run) functions[]{AlongRow<T, Source, 1>, AlongRow<T, Source, 2>, AlongRow<T, Source, 3>,
                                               AlongRow<T, Source, 4>};
  return functions[components - 1];
}

decltype(RowPass::run) Along(Line line, int components) {
  switch (line) {
    case Line::u8_to_u16:
      return AlongOf<std::uint16_t, std::uint8_t>(components);
    case Line::u16_to_u16:
      return AlongOf<std::uint16_t, std::uint16_t>(components);
    case Line::u16_to_u32:
      return AlongOf<std::uint32_t, std::uint16_t>(components);
    case Line::f32_to_u32:
      return AlongOf<std::uint32_t, float>(components);
  }
  return nullptr;
}

template <class Sample>
decltype(Kernel::run) DownOf(Line line) {
  return line == Line::u8_to_u16 || line == Line::u16_to_u16 ? DownColumns<std::uint16_t, Sample>
                                                             : DownColumns<std::uint32_t, Sample>;
}

decltype(Kernel::run) Down(Line line, SampleType type) {
  return type == SampleType::u8 ? DownOf<std::uint8_t>(line) : DownOf<std::uint16_t>(line);
}

}  // namespace

box::Functions Box() {
  return {lanes<std::uint16_t>, Along, Down};
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Box);

namespace {

using box::Line;

// A row is read when it enters the box and when it leaves it, and not between: rings need not stay in the cache, and
// wide strips stage less beside them.
constexpr int ring_bytes = 4 << 20;
constexpr double exact_in_single = 1 << 24, largest_sum = std::numeric_limits<std::int32_t>::max();
// Code values that single precision may round by, as in convolve/arithmetic.cpp; a sum is rounded as a float, as are
// the tap, their product, the offset and the result.
constexpr double largest_rounding = 0.95;
constexpr int roundings = 5;

bool all_equal(const std::vector<double>& taps) {
  return std::all_of(taps.begin(), taps.end(), [&](double tap) { return tap == taps.front(); });
}

// Of one frame, samples are summed as they are, and a level is taken off each: the zero level, or where sums then do
// not fit 32 bits, one in the middle of the samples' range.
double level_of(const FrameLayout& layout, const Component& component, double samples) {
  const double max = layout.max_value(), furthest = std::max(component.zero, max - component.zero);
  return furthest * samples <= largest_sum ? component.zero : (max + 1) / 2;
}

// Whether ghost cells are samples that staging can lay among the others.
bool ghosts_are_samples(const PlanDesc& desc, const ComponentGroup& group) {
  return std::all_of(group.component, group.component + group.components, [&](const Component* component) {
    return !component->filtered || (component->ghost >= 0 && component->ghost <= desc.layout.max_value());
  });
}

// The largest magnitude of an element, zero level off, or nothing where elements are no whole numbers.
std::optional<double> largest_element(const PlanDesc& desc, const ComponentGroup& group,
                                      const std::vector<double>& weights) {
  double largest = 0;
  for (int c = 0; c < group.components; ++c) {
    const Component& k = *group.component[c];
    if (!k.filtered) continue;
    const double ghost = has_ghost_cells(desc.border) ? k.ghost - k.zero : 0;
    for (const double level : {desc.layout.max_value() - k.zero, k.zero, ghost}) {
      if (!is_whole(level)) return std::nullopt;
      largest = std::max(largest, std::abs(level));
    }
  }
  return weights.empty() ? largest : largest * magnitude_of(weights);
}

// Takes a level off each sample of a box, and makes the offset that of zero levels again.
std::vector<std::uint32_t> start_of_sums(Quantization& quantization, const FrameLayout& layout,
                                         const ComponentGroup& group, double samples, double gain) {
  std::vector<std::uint32_t> start;
  for (int i = 0; i < pattern_length; ++i) {
    const Component& component = *group.component[i % group.components];
    const double level = level_of(layout, component, samples);
    start.push_back(static_cast<std::uint32_t>(-static_cast<std::int64_t>(samples * level)));
    if (level == component.zero) continue;
    const double more = samples * gain * (level - component.zero);
    quantization.offset.wide[i] += more;
    quantization.offset.single[i] = static_cast<float>(quantization.offset.wide[i]);
  }
  return start;
}

// Measured, against the other engines of the same target.
double cost_of(Line line, int components, std::size_t frames, int lanes) {
  if (line != Line::u8_to_u16) return 20 + 3.0 * static_cast<double>(frames);
  if (use_vnni()) return 12 - 0.83 * (components - 1);
  return lanes >= 32 ? 4.4 : 7.2;
}

}  // namespace

bool make_box(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
              const std::vector<double>& column, const std::vector<double>& row) {
  const FrameLayout& layout = desc.layout;
  const std::vector<double> weights = frame_weights(desc.filter, arithmetic);
  const bool combined = !weights.empty();
  if (layout.type == SampleType::f32 || !all_equal(column) || !all_equal(row) || column[0] * row[0] == 0 ||
      (combined && !arithmetic.exact_taps))
    return false;
  const double samples = static_cast<double>(column.size() * row.size()), tap = column[0] * row[0];
  const std::optional<double> element = largest_element(desc, group, weights);
  if (!element || (combined && (*element >= exact_in_single || *element * samples > largest_sum)) ||
      (!combined && has_ghost_cells(desc.border) && !ghosts_are_samples(desc, group)))
    return false;
  Arithmetic sums = arithmetic;
  if (arithmetic.accumulator != Accumulator::exact) {
    if (*element * samples * std::abs(tap) / arithmetic.divisor * roundings * 0x1p-24 >= largest_rounding) return false;
    if (!arithmetic.exact_taps) sums.accumulator = Accumulator::single;
  }

  Line line = Line::u16_to_u32;
  if (combined)
    line = Line::f32_to_u32;
  else if (layout.type == SampleType::u8)
    line = Line::u8_to_u16;
  else if (static_cast<double>(row.size()) * layout.max_value() <= std::numeric_limits<std::uint16_t>::max())
    line = Line::u16_to_u16;
  const auto functions = HWY_DYNAMIC_DISPATCH(Box)();
  if (combined) {
    // Whole numbers that single precision holds, and what the row pass reads, however the sums are divided.
    Arithmetic elements = sums;
    elements.accumulator = Accumulator::exact;
    make_float_staging(engine, desc, elements, group);
  } else {
    engine.staging = make_copy_staging(desc, group);
  }
  engine.element_size = line == Line::u8_to_u16 || line == Line::u16_to_u16 ? 2 : 4;
  RowPass& pass = engine.row_passes.emplace_back();
  pass.components = group.components;
  pass.packed =
      std::make_shared<box::PackedRow>(box::PackedRow{static_cast<int>(row.size()), combined ? 0 : layout.shift});
  pass.line_element_size = combined ? 4 : bytes_per_sample(layout.type);
  pass.run = functions.along(line, group.components);
  Kernel& kernel = engine.kernel;
  kernel.height = desc.filter.height();
  kernel.components = group.components;
  kernel.quantization = make_quantization(sums, layout, group);
  box::PackedColumn packed{static_cast<float>(tap), std::vector<std::uint32_t>(pattern_length)};
  if (!combined) packed.start = start_of_sums(kernel.quantization, layout, group, samples, tap / sums.divisor);
  kernel.packed = std::make_shared<box::PackedColumn>(std::move(packed));
  kernel.run = functions.down(line, layout.type);
  engine.block_rows = 4;
  engine.state_element_size = sizeof(std::uint32_t);
  engine.ring_bytes = ring_bytes;
  engine.name = "running sums";
  engine.cost = cost_of(line, group.components, weights.size(), functions.lanes);
  return true;
}

}  // namespace convolve::cpu
#endif
