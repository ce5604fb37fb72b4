// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

#include "cpu/simd.hpp"

#if HWY_ARCH_X86_64

#include "cpu/dot-inl.hpp"

namespace convolve::cpu::dot {
namespace {

struct Packed {
  Window window;
  Sums sums;
  int groups;  // of taps in a filter row
  // As the kernel takes them: [depth][ring row][groups][output rows it is in], the taps of a group.
  std::vector<std::int32_t> words;
};

// What a kernel is compiled for. Ring row r has tap row r - i in output row i; with any height, taps of 0 fill up.
constexpr int any_height = 0, at_least_4 = 4;

}  // namespace
}  // namespace convolve::cpu::dot

#ifdef __clang__
#pragma clang attribute push(                                                                            \
    __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,prfchw"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,prfchw")
#endif

namespace convolve::cpu::dot {
namespace {

// So many neighbouring windows of one component come from one load. Measured: each takes a register.
template <bool Pairs, int Groups>
constexpr int shared_windows() {
  if (Pairs) return Groups < 3 ? 1 : Groups <= 4 ? 3 : 2;
  return Groups == 0 ? 1 : Groups == 1 ? 2 : 3;
}

// Adds `Groups` groups of taps of one ring row of one component into output rows First..Last.
template <bool Pairs, int Groups, int First, int Last, int Shared>
HWY_INLINE void AddGroups(__m512i (&sum)[rows][vectors], const std::uint8_t* q, const std::int32_t*& words,
                          const __m512i (&orders)[Shared]) {
  constexpr int apart = Pairs ? 2 : 4, registers = 4 / apart, count = registers * (vectors - 1) + Groups;
  __m512i window[count];
  CONVOLVE_UNROLL
  for (int w = 0; w < count; ++w) window[w] = WindowAt<Pairs>(orders[w % Shared], q + w / Shared * Shared * apart);
  CONVOLVE_UNROLL
  for (int g = 0; g < Groups; ++g) {
    CONVOLVE_UNROLL
    for (int i = First; i <= Last; ++i) {
      const __m512i taps = _mm512_set1_epi32(*words++);
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) sum[i][b] = Dot<Pairs>(sum[i][b], window[registers * b + g], taps);
    }
  }
}

// Adds one ring row. Groups: of one component, known to the compiler; or 0.
template <bool Pairs, int Groups, int First, int Last, int Shared>
HWY_INLINE void AddRow(__m512i (&sum)[rows][vectors], const std::uint8_t* q, const std::int32_t*& words, int groups,
                       int step, const __m512i (&orders)[Shared]) {
  if constexpr (Groups > 0) {
    // Windows of four groups at a time: more would not stay in registers.
    constexpr int once = Groups > 4 ? 4 : Groups;
    AddGroups<Pairs, once, First, Last>(sum, q, words, orders);
    if constexpr (Groups > once)
      AddGroups<Pairs, Groups - once, First, Last>(sum, q + once * (Pairs ? 2 : 4), words, orders);
  } else {
    for (int g = 0; g < groups; ++g, q += step) {
      __m512i window[vectors];
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) window[b] = WindowAt<Pairs>(orders[0], q + 4 * b);
      CONVOLVE_UNROLL
      for (int i = First; i <= Last; ++i) {
        const __m512i taps = _mm512_set1_epi32(*words++);
        CONVOLVE_UNROLL
        for (int b = 0; b < vectors; ++b) sum[i][b] = Dot<Pairs>(sum[i][b], window[b], taps);
      }
    }
  }
}

// All ring rows of one frame; see Packed::words.
template <bool Pairs, int Height, int Groups, int Shared>
HWY_INLINE void AddRows(int height, __m512i (&sum)[rows][vectors], const void* const* ring, int x,
                        const std::int32_t*& words, int groups, int step, const __m512i (&orders)[Shared]) {
  const auto add = [&]<int First, int Last>(int r) {
    const auto* q = static_cast<const std::uint8_t*>(ring[r]) + x;
    asm("" : "+r"(q));  // or GCC keeps x + 2, x + 4, ... in registers
    AddRow<Pairs, Groups, First, Last>(sum, q, words, groups, step, orders);
  };
  static_assert(rows == 4);
  if constexpr (Height == any_height) {
    for (int r = 0; r < height + rows - 1; ++r) add.template operator()<0, 3>(r);
  } else {
    add.template operator()<0, 0>(0);
    add.template operator()<0, 1>(1);
    add.template operator()<0, 2>(2);
    if constexpr (Height == 3) {
      add.template operator()<1, 3>(3);
    } else {
      for (int r = 3; r < height; ++r) add.template operator()<0, 3>(r);
      add.template operator()<1, 3>(height);
    }
    add.template operator()<2, 3>(height + 1);
    add.template operator()<3, 3>(height + 2);
  }
}

template <bool Pairs, int Height, int Groups>
void Filter(const Kernel& kernel, const Block& block) {
  constexpr bool uniform = Groups > 0;
  const Packed& k = *static_cast<const Packed*>(kernel.packed.get());
  constexpr int shared = shared_windows<Pairs, Groups>();
  __m512i orders[shared];
  for (int i = 0; i < shared; ++i)
    orders[i] =
        _mm512_add_epi8(_mm512_load_si512(k.window.order), _mm512_set1_epi8(static_cast<char>(i * (Pairs ? 2 : 4))));
  const Rounding rounding(kernel.quantization);
  const Finish finish = k.sums.finish;
  const Target to(block);
  const int height = Height == 3 ? 3 : kernel.height;
  const int step = (Pairs ? 2 : 4) * kernel.components, turn = samples % kernel.components;
  int position = 0;
  for (int x = 0; x < to.n; x += samples) {
    block.ahead.fetch(x, samples);
    const Phase& phase = k.sums.phases[position];
    position += turn;
    if (position >= kernel.components) position -= kernel.components;
    __m512i sum[rows][vectors];
    CONVOLVE_UNROLL
    for (int i = 0; i < rows; ++i) {
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) sum[i][b] = _mm512_load_si512(phase.start[uniform ? 0 : b]);
    }
    const std::int32_t* words = k.words.data();
    for (int t = 0; t < kernel.depth; ++t)
      AddRows<Pairs, Height, Groups>(height, sum, block.rows + t * block.frame_rows, x, words, k.groups, step, orders);
    FinishBlock<uniform>(kernel.quantization, rounding, finish, phase, sum, to, x);
  }
}

// By the groups of taps, 0 where there are several components; for heights of any, 3 and more.
template <bool Pairs, int... Groups>
constexpr auto table_of(std::integer_sequence<int, Groups...>) {
  return std::array<std::array<decltype(Kernel::run), 3>, sizeof...(Groups)>{
      {{Filter<Pairs, any_height, 0>, Filter<Pairs, 3, Groups>, Filter<Pairs, at_least_4, Groups>}...}};
}
constexpr auto byte_filters = table_of<false>(std::make_integer_sequence<int, (max_taps + 3) / 4 + 1>());
constexpr auto pair_filters = table_of<true>(std::make_integer_sequence<int, (max_taps + 1) / 2 + 1>());

}  // namespace
}  // namespace convolve::cpu::dot

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace convolve::cpu::dot {

bool needs_pairs(const IntegerTaps& taps) {
  return std::any_of(taps.taps.begin(), taps.taps.end(), [](int t) { return t < -128 || t > 127; });
}

std::vector<std::int32_t> pack_words(const std::vector<std::int32_t>& taps, int width, bool pairs) {
  const int in_group = pairs ? 2 : 4, bits = pairs ? 16 : 8;
  const std::uint32_t mask = (std::uint64_t{1} << bits) - 1;
  std::vector<std::int32_t> words;
  for (std::size_t row = 0; row < taps.size(); row += width)
    for (int k = 0; k < width; k += in_group) {
      std::uint32_t word = 0;
      for (int i = 0; i < in_group && k + i < width; ++i)
        word |= (static_cast<std::uint32_t>(taps[row + k + i]) & mask) << (bits * i);
      words.push_back(static_cast<std::int32_t>(word));
    }
  return words;
}

Window::Window(int components, bool pairs) {
  for (int lane = 0; lane < 16; ++lane)
    for (int byte = 0; byte < 4; ++byte)
      order[4 * lane + byte] = static_cast<std::uint8_t>(sample_of(0, lane) + components * (pairs ? byte / 2 : byte));
}

Sums::Sums(const Quantization& q, const Group& group, double zero_weight, double reach) : phases(group.components) {
  const auto all_offsets = [&](auto test) { return std::all_of(q.offset.wide.begin(), q.offset.wide.end(), test); };
  const bool product = q.division == Division::product;
  const bool plain = product && q.gain == 1 && q.snap == 0 && all_offsets([](double v) { return v == std::floor(v); });
  const bool narrow = all_offsets([&](double v) { return reach + std::abs(v) < 32767; });
  finish = plain ? Finish::plain : product && narrow ? Finish::single : Finish::apart;
  for (int p = 0; p < group.components; ++p)
    for (int b = 0; b < vectors; ++b)
      for (int lane = 0; lane < 16; ++lane) {
        const int c = (p + sample_of(b, lane)) % group.components;
        phases[p].offset[b][lane] = q.offset.single[c];
        phases[p].wide_offset[b][lane] = q.offset.wide[c];
        if (!group.component[c]->filtered) phases[p].keep |= std::uint64_t{1} << sample_of(b, lane);
        const double start = -group.component[c]->zero * zero_weight;
        phases[p].start[b][lane] = static_cast<std::int32_t>(plain ? start + q.offset.wide[c] : start);
      }
}

}  // namespace convolve::cpu::dot

namespace convolve::cpu {

int dot_reads_past(int groups, bool pairs, const Group& group) {
  return 4 * (dot::vectors - 1) + (groups - 1) * (pairs ? 2 : 4) * group.components;
}

void make_dot_kernel(Kernel& kernel, const IntegerTaps& taps, const Group& group) {
  using namespace dot;
  const bool pairs = needs_pairs(taps);
  Quantization& q = kernel.quantization;
  q.gain = static_cast<float>(q.gain * taps.gain);
  q.divisor /= taps.gain;
  double reach = 0;
  for (const int tap : taps.taps) reach += std::abs(tap) * 255.0 / q.divisor;
  const int groups = (kernel.width + (pairs ? 1 : 3)) / (pairs ? 2 : 4);
  auto packed = std::make_shared<Packed>(
      Packed{Window(kernel.components, pairs), Sums(q, group, static_cast<double>(taps.sum), reach), groups, {}});
  const int height = kernel.height, variant = height < 3 ? 0 : height == 3 ? 1 : 2;
  const std::vector<std::int32_t> words = pack_words(taps.taps, kernel.width, pairs);
  for (int t = 0; t < kernel.depth; ++t)
    for (int r = 0; r < height + rows - 1; ++r)
      for (int g = 0; g < groups; ++g)
        for (int i = 0; i < rows; ++i)
          if (r - i >= 0 && r - i < height)
            packed->words.push_back(words[(t * height + r - i) * groups + g]);
          else if (variant == 0)
            packed->words.push_back(0);
  kernel.packed = packed;
  const int known = kernel.components == 1 ? groups : 0;
  kernel.run = pairs ? pair_filters[known][variant] : byte_filters[known][variant];
}

}  // namespace convolve::cpu

#else

namespace convolve::cpu {

void make_dot_kernel(Kernel&, const IntegerTaps&, const Group&) {
  assert(false);
}
int dot_reads_past(int, bool, const Group&) {
  return -1;
}

}  // namespace convolve::cpu

#endif
