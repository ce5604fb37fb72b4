// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/direct.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "cpu/dot/loaded_windows.hpp"
#include "cpu/dot/packing.hpp"
#include "cpu/dot/word_loops.hpp"
#include "cpu/dot/word_sums.hpp"
#include "cpu/rows/copy_staging.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dot/direct.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/dot/dot-inl.hpp"

#ifndef CONVOLVE_DOT_CPP_ONCE
#define CONVOLVE_DOT_CPP_ONCE
namespace convolve::cpu::dot {

struct Packed {
  std::vector<WindowOrder> window;  // one for all groups, or one for each
  BlockEpilogue epilogue;
  int groups;  // of taps in a filter row
  // The taps of a group, in the order in which the kernel takes them: [depth][ring row][groups][output rows it is in].
  std::vector<std::int32_t> words;
};

// What a kernel is compiled for: rows of taps, or more than that. Ring row r has tap row r - i in output row i.
enum class Height : std::uint8_t { more, one, two, three };

// The functions of a SIMD target; rows is 0 where it has none.
struct Functions {
  int rows = 0, samples = 0;
  // By the groups of taps in a filter row of one component; 0: of several components.
  decltype(Kernel::run) (*filter)(bool pairs, int groups, Height height) = nullptr;
};

}  // namespace convolve::cpu::dot
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if CONVOLVE_DOT
namespace {

using dot::Height, dot::Packed;

constexpr int rows = 4;  // of a block
// A block's registers of a row are summed up all at a time where there are 32 registers, else in halves.
constexpr int at_once = HWY_TARGET == HWY_AVX3 ? vectors : vectors / 2;
using Sums = Ints[rows][at_once];

// Bytes in an order of their own for each group: see arrange_bytes().
template <class Form>
constexpr bool arranged = !Form::vnni && !Form::pairs;

// So many neighbouring windows of one component come from one load. Measured: each takes a register.
template <class Form, int Groups>
constexpr int shared_windows() {
  if (arranged<Form> && Groups > 0) return Groups;
  if (Form::pairs) return Groups == 0 ? 1 : Groups < 3 ? 4 : Groups < 5 ? 3 : 2;
  return Groups == 0 ? 1 : Groups == 1 ? 2 : 3;
}

// One group of taps of a ring row, into output rows First..Last.
template <class Form, int First, int Last>
HWY_INLINE void AddGroup(Sums& sum, const Ints* window, int apart, const std::int32_t*& words) {
  CONVOLVE_UNROLL
  for (int i = First; i <= Last; ++i) {
    const auto taps = hn::Set(Tag<std::int32_t>(), *words++);
    CONVOLVE_UNROLL
    for (int b = 0; b < at_once; ++b) sum[i][b] = Dot<Form>(sum[i][b], window[apart * b], taps);
  }
}

// Adds `Groups` groups of taps of one ring row of one component into output rows First..Last.
template <class Form, int Groups, int First, int Last, int Shared>
HWY_INLINE void AddGroups(Sums& sum, const std::uint8_t* q, const std::int32_t*& words, const Bytes (&orders)[Shared]) {
  constexpr int apart = Form::taps, registers = 4 / apart, count = registers * (at_once - 1) + Groups;
  Ints window[count];
  CONVOLVE_UNROLL
  for (int w = 0; w < count; ++w) window[w] = WindowAt(orders[w % Shared], q + w / Shared * Shared * apart);
  CONVOLVE_UNROLL
  for (int g = 0; g < Groups; ++g) AddGroup<Form, First, Last>(sum, window + g, registers, words);
}

// Adds the products of groups that have an order of bytes each.
template <class Form, int Groups, int First, int Last>
HWY_INLINE void AddArranged(Sums& sum, const std::uint8_t* q, const std::int32_t*& words,
                            const Bytes (&orders)[Groups]) {
  CONVOLVE_UNROLL
  for (int g = 0; g < Groups; ++g) {
    Ints window[at_once];
    CONVOLVE_UNROLL
    for (int b = 0; b < at_once; ++b) window[b] = WindowAt(orders[g], q + 4 * b + dot::first_column(g));
    AddGroup<Form, First, Last>(sum, window, 1, words);
  }
}

// Adds one ring row. Groups: of one component, known to the compiler; or 0.
template <class Form, int Groups, int First, int Last, int Shared>
HWY_INLINE void AddRow(Sums& sum, const std::uint8_t* q, const std::int32_t*& words, int groups, int step,
                       const Bytes (&orders)[Shared]) {
  if constexpr (arranged<Form> && Groups > 0) {
    AddArranged<Form, Groups, First, Last>(sum, q, words, orders);
  } else if constexpr (Groups > 0) {
    // Windows of four groups at a time: more would not stay in registers.
    constexpr int once = Groups > 4 ? 4 : Groups;
    AddGroups<Form, once, First, Last>(sum, q, words, orders);
    if constexpr (Groups > once)
      AddRow<Form, Groups - once, First, Last>(sum, q + once * Form::taps, words, groups, step, orders);
  } else {
    for (int g = 0; g < groups; ++g, q += step) {
      Ints window[at_once];
      CONVOLVE_UNROLL
      for (int b = 0; b < at_once; ++b) window[b] = WindowAt(orders[0], q + 4 * b);
      AddGroup<Form, First, Last>(sum, window, 1, words);
    }
  }
}

// The taps of a block: where the next ones are, and how they are walked.
template <int Shared>
struct Walk {
  const void* const* ring;
  const std::int32_t*& words;
  int x, groups, step;
  const Bytes (&orders)[Shared];
};

template <class Form, int Groups, int First, int Last, int Shared>
HWY_INLINE void AddRingRow(const Walk<Shared>& w, int r, Sums& sum) {
  const auto* q = static_cast<const std::uint8_t*>(w.ring[r]) + w.x;
  asm("" : "+r"(q));  // or GCC keeps x + 2, x + 4, ... in registers
  AddRow<Form, Groups, First, Last>(sum, q, w.words, w.groups, w.step, w.orders);
}

// Ring rows R of a filter of a known height.
template <class Form, int Groups, int Height, int... R, int Shared>
HWY_INLINE void AddRingRows(std::integer_sequence<int, R...>, const Walk<Shared>& w, Sums& sum) {
  (AddRingRow<Form, Groups, (R < Height ? 0 : R - Height + 1), (R < rows ? R : rows - 1)>(w, R, sum), ...);
}
// Those below the filter's last row in the first output row.
template <class Form, int Groups, int... R, int Shared>
HWY_INLINE void AddLastRows(std::integer_sequence<int, R...>, const Walk<Shared>& w, int height, Sums& sum) {
  (AddRingRow<Form, Groups, R + 1, rows - 1>(w, height + R, sum), ...);
}

// All ring rows of one frame; see Packed::words.
template <class Form, Height H, int Groups, int Shared>
HWY_INLINE void AddRows(const Walk<Shared>& w, int height, Sums& sum) {
  constexpr int last = rows - 1;
  if constexpr (H != Height::more) {
    constexpr int known = static_cast<int>(H);
    AddRingRows<Form, Groups, known>(std::make_integer_sequence<int, known + last>(), w, sum);
  } else {
    constexpr std::make_integer_sequence<int, last> ends;
    AddRingRows<Form, Groups, rows>(ends, w, sum);
    for (int r = last; r < height; ++r) AddRingRow<Form, Groups, 0, last>(w, r, sum);
    AddLastRows<Form, Groups>(ends, w, height, sum);
  }
}

// The sums of a block, or of a part of it that starts at x, from register `first` on.
template <class Form, Height H, int Groups, int Shared>
HWY_INLINE void SumUp(const Kernel& kernel, const Block& block, const Packed& k, const Phase& phase,
                      const Bytes (&orders)[Shared], int x, int first, Sums& sum) {
  const int height = H == Height::more ? kernel.height : static_cast<int>(H);
  StartBlock<(Groups > 0)>(phase, sum, first);
  const std::int32_t* words = k.words.data();
  for (int t = 0; t < kernel.depth; ++t)
    AddRows<Form, H, Groups>(
        Walk<Shared>{block.rows + t * block.frame_rows, words, x, k.groups, Form::taps * kernel.components, orders},
        height, sum);
}

template <class Form, Height H, int Groups>
void FilterDot(const Kernel& kernel, const Block& block) {
  constexpr bool uniform = Groups > 0;
  const Packed& k = *static_cast<const Packed*>(kernel.packed.get());
  constexpr int shared = shared_windows<Form, Groups>();
  const Tag<std::uint8_t> db;
  Bytes orders[shared];
  for (int i = 0; i < shared; ++i)
    orders[i] = arranged<Form> && uniform
                    ? hn::Load(db, k.window[i].order)
                    : hn::Add(hn::Load(db, k.window[0].order), hn::Set(db, static_cast<std::uint8_t>(i * Form::taps)));
  const EpilogueConstants constants(kernel.quantization);
  const Epilogue epilogue = k.epilogue.epilogue;
  const Target to(block);
  const int turn = samples % kernel.components;
  int position = 0;
  for (int x = 0; x < to.n; x += samples) {
    block.ahead.fetch<true>(x, samples);
    const Phase& phase = k.epilogue.phases[position];
    position += turn;
    if (position >= kernel.components) position -= kernel.components;
    Sums sum;
    if constexpr (at_once == vectors) {
      SumUp<Form, H, Groups>(kernel, block, k, phase, orders, x, 0, sum);
      FinishBlock<uniform>(kernel.quantization, constants, epilogue, phase, sum, to, x);
    } else {
      Ints kept[rows][vectors];
      for (int half = 0; half < 2; ++half) {
        SumUp<Form, H, Groups>(kernel, block, k, phase, orders, x + 4 * at_once * half, at_once * half, sum);
        KeepHalf<uniform>(constants, epilogue, phase, sum, half, kept);
      }
      FinishHalves<uniform>(kernel.quantization, constants, epilogue, phase, kept, to, x);
    }
  }
}

// [groups][height], 0 groups where there are several components. Of one or two rows no window is used again.
template <class Form, int... Groups>
constexpr auto table_of(std::integer_sequence<int, Groups...>) {
  return std::array<std::array<decltype(Kernel::run), 4>, sizeof...(Groups)>{
      {{FilterDot<Form, Height::more, Groups>, FilterDot<Form, Height::one, 0>, FilterDot<Form, Height::two, 0>,
        FilterDot<Form, Height::three, Groups>}...}};
}

template <bool Vnni>
decltype(Kernel::run) FilterOf(bool pairs, int groups, Height height) {
  static constexpr auto of_bytes = table_of<dot::Form<Vnni, false>>(
      std::make_integer_sequence<int, (Vnni ? (max_compiled_taps + 3) / 4 : dot::most_groups) + 1>());
  static constexpr auto of_pairs =
      table_of<dot::Form<Vnni, true>>(std::make_integer_sequence<int, (max_compiled_taps + 1) / 2 + 1>());
  const auto h = static_cast<std::size_t>(height);
  return pairs ? of_pairs[groups][h] : of_bytes[groups][h];
}

}  // namespace

dot::Functions DotFilters([[maybe_unused]] bool vnni) {
#ifndef CONVOLVE_EMULATE
  if (!vnni) return {rows, samples, FilterOf<false>};
#endif
  return {rows, samples, FilterOf<true>};
}
#else
dot::Functions DotFilters(bool) {
  return {};
}
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(DotFilters);

namespace {

bool make_loaded(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                 dot::LoadedForm form, const std::optional<IntegerTaps>& taps) {
  if (!taps || !make_dot_loaded_windows(engine, desc, arithmetic, group, *taps, form)) return false;
  engine.staging = make_copy_staging(desc, group);
  return true;
}

bool make_beside_wide_centre(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                             const ComponentGroup& group) {
  if (group.components > 1 || desc.filter.depth() > 1 || desc.filter.width() != desc.filter.height()) return false;
  const std::size_t centre = arithmetic.coefficients.size() / 2;
  return make_loaded(engine, desc, arithmetic, group, dot::LoadedForm::wide_centre,
                     make_byte_taps(arithmetic, desc.layout, desc.border, group, ByteTaps::nearest, centre));
}

}  // namespace

bool make_dot_direct(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  using namespace dot;
  const bool vnni = use_vnni();
  const Functions functions = HWY_DYNAMIC_DISPATCH(DotFilters)(vnni);
  if (functions.rows == 0) return false;
  const int width = desc.filter.width(), height = desc.filter.height();
  std::optional<IntegerTaps> taps =
      make_byte_taps(arithmetic, desc.layout, desc.border, group, vnni ? ByteTaps::nearest : ByteTaps::small);
  if (taps && (make_dot_word_sums(engine, desc, arithmetic, group, *taps) ||
               make_dot_word_loops(engine, desc, arithmetic, group, *taps))) {
    engine.staging = make_copy_staging(desc, group);
    return true;
  }
  const bool compiled = group.components == 1 && width <= max_compiled_taps && height > 2;
  const bool arranges = compiled && !vnni;
  std::optional<Arrangement> arrangement;
  if (taps && arranges) arrangement = arrange_bytes(taps->taps, width);
  const bool pairs = !taps || (arranges ? !arrangement : needs_pairs(*taps, width, vnni));
  if (pairs && vnni && make_beside_wide_centre(engine, desc, arithmetic, group)) return true;
  if (pairs) taps = make_integer_taps(arithmetic, desc.layout, desc.border, group, vnni ? max_two_byte_tap : 32767);
  if (!taps) return false;
  if (make_loaded(engine, desc, arithmetic, group, pairs ? LoadedForm::two_bytes : LoadedForm::one_byte, taps))
    return true;
  const int in_group = taps_in_group(pairs);
  const int groups = arrangement ? arrangement->groups : (width + in_group - 1) / in_group;
  engine.name = name_of(vnni, pairs);
  const double products = desc.filter.depth() * height * groups;
  engine.cost = vnni ? products + 3 : products * (pairs ? 0.95 : 2);
  engine.cost += 1.5 * (desc.filter.depth() - 1);  // each frame has windows of its own
  engine.element_size = 1;
  engine.block_rows = functions.rows;
  engine.block_samples = functions.samples;
  engine.copies_passthrough = true;
  engine.reads_past =
      4 * (vectors - 1) + (arrangement ? first_column(groups - 1) : (groups - 1) * in_group * group.components);
  engine.staging = make_copy_staging(desc, group);

  Kernel& kernel = engine.kernel;
  set_shape_and_quantization(kernel, desc, arithmetic, group, *taps);
  const Quantization& q = kernel.quantization;
  double max_magnitude = 0;
  for (const int tap : taps->taps) max_magnitude += std::abs(tap) * 255.0 / q.divisor;
  auto packed = std::make_shared<Packed>(
      Packed{arrangement ? arrangement->windows : std::vector{WindowOrder(group.components, pairs)},
             BlockEpilogue(q, group, static_cast<double>(taps->sum), max_magnitude),
             groups,
             {}});
  const Height known = height > 3 ? Height::more : static_cast<Height>(height);
  const std::vector<std::int32_t> words = arrangement ? arrangement->words : pack_words(taps->taps, width, pairs);
  for (int t = 0; t < kernel.depth; ++t)
    for (int r = 0; r < height + functions.rows - 1; ++r)
      for (int g = 0; g < groups; ++g)
        for (int i = 0; i < functions.rows; ++i)
          if (r - i >= 0 && r - i < height) packed->words.push_back(words[(t * height + r - i) * groups + g]);
  kernel.packed = packed;
  kernel.run = functions.filter(pairs, compiled ? groups : 0, known);
  return true;
}

}  // namespace convolve::cpu
#endif
