// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cpu/simd.hpp"

#if HWY_ARCH_X86_64

// GCC 12 takes the undefined operands inside its own intrinsics for uninitialised variables.
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

namespace convolve::cpu {
namespace {

// A block is `rows` x 64 samples. Its sums lie in `vectors` registers a row: lane 4 * l + j of register b is sample
// 16 * l + 4 * b + j, so that packing within 128-bit parts keeps samples near their places. A window register holds,
// for each lane, the samples under the next taps; one byte permutation makes it from 64 bytes of the ring. The window
// of register b under the taps from k on lies 4 * b + k samples along the row, so with one component most serve several
// groups of taps.
constexpr int rows = dot_block_rows, vectors = 4, samples = 64;

int sample_of(int vector, int lane) {
  return lane / 4 * 16 + 4 * vector + lane % 4;
}

// What a block needs, for each position of its first sample within a pixel.
struct Phase {
  alignas(64) std::int32_t start[vectors][16];  // of the sums: takes the zero levels off
  alignas(64) float offset[vectors][16];
  alignas(64) double wide_offset[vectors][16];
};

// For the pass along rows, lane l of register b is sample 16 * b + l.
struct PackedPass {
  alignas(64) std::uint8_t window[64];
  alignas(64) std::int32_t start[pattern_length];
  int groups = 0;
  float gain = 1;
  std::vector<std::int32_t> words;
};

// How sums become code values: they are (but for saturation); in f32, where none is beyond 16 bits; in doubles.
enum class Finish : std::uint8_t { plain, single, wide };

struct Packed {
  alignas(64) std::uint8_t window[64];
  int groups = 0;  // of taps in a filter row
  Finish finish = Finish::wide;
  // As the kernel takes them: [depth][ring row][groups][output rows it is in], the taps of a group.
  std::vector<std::int32_t> words;
  std::vector<Phase> phases;
};

// What a kernel is compiled for. Ring row r has tap row r - i in output row i; with any height, taps of 0 fill up.
constexpr int any_height = 0, at_least_4 = 4;

}  // namespace
}  // namespace convolve::cpu

#ifdef __clang__
#pragma clang attribute push(                                                                            \
    __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,prfchw"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,prfchw")
#endif

namespace convolve::cpu {
namespace {

// Pairs: windows of two samples widened to 16 bits, and taps of 16 bits; else four samples and taps of 8 bits.
template <bool Pairs>
HWY_INLINE __m512i Window(__m512i order, const std::uint8_t* p) {
  const __m512i v = _mm512_loadu_si512(p);
  return Pairs ? _mm512_maskz_permutexvar_epi8(0x5555555555555555u, order, v) : _mm512_permutexvar_epi8(order, v);
}

template <bool Pairs>
HWY_INLINE __m512i Dot(__m512i sum, __m512i window, __m512i taps) {
  return Pairs ? _mm512_dpwssd_epi32(sum, window, taps) : _mm512_dpbusd_epi32(sum, window, taps);
}

// Adds `Groups` groups of taps of one ring row of one component into output rows First..Last.
template <bool Pairs, int Groups, int First, int Last>
HWY_INLINE void AddGroups(__m512i (&sum)[rows][vectors], const std::uint8_t* q, const std::int32_t*& words,
                          __m512i order) {
  constexpr int apart = Pairs ? 2 : 4, registers = 4 / apart, count = registers * (vectors - 1) + Groups;
  __m512i window[count];
  CONVOLVE_UNROLL
  for (int w = 0; w < count; ++w) window[w] = Window<Pairs>(order, q + apart * w);
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
template <bool Pairs, int Groups, int First, int Last>
HWY_INLINE void AddRow(__m512i (&sum)[rows][vectors], const std::uint8_t* q, const std::int32_t*& words, int groups,
                       int step, __m512i order) {
  if constexpr (Groups > 0) {
    // Windows of four groups at a time: more would not stay in registers.
    constexpr int once = Groups > 4 ? 4 : Groups;
    AddGroups<Pairs, once, First, Last>(sum, q, words, order);
    if constexpr (Groups > once)
      AddGroups<Pairs, Groups - once, First, Last>(sum, q + once * (Pairs ? 2 : 4), words, order);
  } else {
    for (int g = 0; g < groups; ++g, q += step) {
      __m512i window[vectors];
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) window[b] = Window<Pairs>(order, q + 4 * b);
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
template <bool Pairs, int Height, int Groups>
HWY_INLINE void AddRows(int height, __m512i (&sum)[rows][vectors], const void* const* ring, int x,
                        const std::int32_t*& words, int groups, int step, __m512i order) {
  const auto add = [&]<int First, int Last>(int r) {
    const auto* q = static_cast<const std::uint8_t*>(ring[r]) + x;
    asm("" : "+r"(q));  // or GCC keeps x + 2, x + 4, ... in registers
    AddRow<Pairs, Groups, First, Last>(sum, q, words, groups, step, order);
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

// What Finish::single needs, apart from the offsets.
struct Rounding {
  __m512 gain, round;
  __m512i up, apart, most;
  explicit Rounding(const Quantization& q) {
    gain = _mm512_set1_ps(q.gain);
    round = _mm512_set1_ps(0x1.8p23f - q.snap);
    up = _mm512_set4_epi32(0x0d0c0d0c, 0x09080908, 0x05040504, 0x01000100);
    most = _mm512_set1_epi8(static_cast<char>(static_cast<int>(q.max)));
    apart = _mm512_set4_epi32(0x0f0d0b09, 0x0e0c0a08, 0x07050301, 0x06040200);
  }
};

// Rounded by adding what leaves no fraction; the low 16 bits are then the integer. Uniform: all registers have the
// offsets of the first.
template <bool Uniform>
HWY_INLINE __m512i RoundToBytes(const Rounding& r, const Phase& phase, __m512i (&sum)[vectors]) {
  CONVOLVE_UNROLL
  for (int b = 0; b < vectors; ++b) {
    const __m512 offset = _mm512_load_ps(phase.offset[Uniform ? 0 : b]);
    sum[b] = _mm512_castps_si512(_mm512_add_ps(_mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[b]), r.gain, offset), r.round));
  }
  const __m512i low = _mm512_mask_shuffle_epi8(sum[0], 0xCCCCCCCCCCCCCCCCu, sum[1], r.up);
  const __m512i high = _mm512_mask_shuffle_epi8(sum[2], 0xCCCCCCCCCCCCCCCCu, sum[3], r.up);
  return _mm512_min_epu8(_mm512_shuffle_epi8(_mm512_packus_epi16(low, high), r.apart), r.most);
}

HWY_INLINE __m512i SaturateToBytes(__m512i (&sum)[vectors]) {
  return _mm512_packus_epi16(_mm512_packs_epi32(sum[0], sum[1]), _mm512_packs_epi32(sum[2], sum[3]));
}

HWY_INLINE __mmask64 First(int n) {
  return n >= samples ? ~__mmask64{0} : (__mmask64{1} << n) - 1;
}

// The rows of a block in double precision. Apart from Filter, whose registers it would take.
[[gnu::noinline]] void FinishWide(const Quantization& q, const Phase& phase, const std::int32_t (*sum)[vectors][16],
                                  const Block& block, int x) {
  const __m512d divisor = _mm512_set1_pd(q.divisor), most = _mm512_set1_pd(q.max);
  for (int i = 0; i < rows; ++i) {
    if (!block.out[i]) continue;
    __m512i value[vectors];
    for (int b = 0; b < vectors; ++b) {
      const auto half = [&](int first) {
        const __m512d s = _mm512_cvtepi32_pd(_mm256_load_si256(reinterpret_cast<const __m256i*>(&sum[i][b][first])));
        const __m512d v = _mm512_add_pd(_mm512_div_pd(s, divisor), _mm512_load_pd(&phase.wide_offset[b][first]));
        return _mm512_cvtpd_epi32(_mm512_min_pd(v, most));
      };
      value[b] = _mm512_inserti64x4(_mm512_castsi256_si512(half(0)), half(8), 1);
    }
    _mm512_mask_storeu_epi8(static_cast<std::uint8_t*>(block.out[i]) + x, First(block.n - x), SaturateToBytes(value));
  }
}

template <bool Pairs, int Height, int Groups>
void Filter(const Kernel& kernel, const Block& block) {
  constexpr bool uniform = Groups > 0;
  const Packed& k = *static_cast<const Packed*>(kernel.packed.get());
  const __m512i order = _mm512_load_si512(k.window);
  const Rounding rounding(kernel.quantization);
  const Finish finish = k.finish;
  // Stores of bytes may change anything, so what is used after them is copied.
  const int n = block.n;
  std::uint8_t* out[rows];
  for (int i = 0; i < rows; ++i) out[i] = static_cast<std::uint8_t*>(block.out[i]);
  const int height = Height == 3 ? 3 : kernel.height;
  const int step = (Pairs ? 2 : 4) * kernel.components, turn = samples % kernel.components;
  int position = 0;
  for (int x = 0; x < n; x += samples) {
    block.ahead.fetch(x, samples);
    const Phase& phase = k.phases[position];
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
      AddRows<Pairs, Height, Groups>(height, sum, block.rows + t * block.frame_rows, x, words, k.groups, step, order);
    if (finish == Finish::wide) {
      alignas(64) std::int32_t sums[rows][vectors][16];
      std::memcpy(sums, sum, sizeof sums);
      FinishWide(kernel.quantization, phase, sums, block, x);
      continue;
    }
    const __mmask64 wanted = First(n - x);
    CONVOLVE_UNROLL
    for (int i = 0; i < rows; ++i)
      if (out[i])
        _mm512_mask_storeu_epi8(out[i] + x, wanted,
                                finish == Finish::plain ? _mm512_min_epu8(SaturateToBytes(sum[i]), rounding.most)
                                                        : RoundToBytes<uniform>(rounding, phase, sum[i]));
  }
}

template <bool Pairs>
void Pass(const RowPass& pass, const void* line, void* elements, int n) {
  const PackedPass& k = *static_cast<const PackedPass*>(pass.packed.get());
  const __m512i order = _mm512_load_si512(k.window);
  const __m512 gain = _mm512_set1_ps(k.gain);
  const auto* in = static_cast<const std::uint8_t*>(line);
  auto* out = static_cast<float*>(elements);
  const int step = (Pairs ? 2 : 4) * pass.components, turn = samples % pass.components;
  int position = 0;
  for (int x = 0; x < n; x += samples, in += samples, out += samples) {
    __m512i sum[vectors];
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) sum[b] = _mm512_loadu_si512(k.start + position + 16 * b);
    for (int g = 0; g < k.groups; ++g) {
      const __m512i taps = _mm512_set1_epi32(k.words[g]);
      CONVOLVE_UNROLL
      for (int b = 0; b < vectors; ++b) sum[b] = Dot<Pairs>(sum[b], Window<Pairs>(order, in + g * step + 16 * b), taps);
    }
    CONVOLVE_UNROLL
    for (int b = 0; b < vectors; ++b) _mm512_storeu_ps(out + 16 * b, _mm512_mul_ps(_mm512_cvtepi32_ps(sum[b]), gain));
    position += turn;
    if (position >= pass.components) position -= pass.components;
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
}  // namespace convolve::cpu

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace convolve::cpu {

namespace {

bool needs_pairs(const IntegerTaps& taps) {
  return std::any_of(taps.taps.begin(), taps.taps.end(), [](int t) { return t < -128 || t > 127; });
}

// The taps of a group, for each row of `width`.
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

}  // namespace

int dot_reads_past(int groups, bool pairs, const Group& group) {
  return 4 * (vectors - 1) + (groups - 1) * (pairs ? 2 : 4) * group.components;
}

void make_dot_row_pass(RowPass& pass, const IntegerTaps& taps, const Group& group) {
  const bool pairs = needs_pairs(taps);
  auto packed = std::make_shared<PackedPass>();
  packed->words = pack_words(taps.taps, static_cast<int>(taps.taps.size()), pairs);
  packed->groups = static_cast<int>(packed->words.size());
  packed->gain = static_cast<float>(taps.gain);
  for (int i = 0; i < 64; ++i)
    packed->window[i] = static_cast<std::uint8_t>(i / 4 + group.components * (pairs ? i % 4 / 2 : i % 4));
  for (int i = 0; i < pattern_length; ++i)
    packed->start[i] =
        static_cast<std::int32_t>(-group.component[i % group.components]->zero * static_cast<double>(taps.sum));
  pass.packed = packed;
  pass.line_element_size = 1;
  pass.run = pairs ? Pass<true> : Pass<false>;
}

void make_dot_kernel(Kernel& kernel, const IntegerTaps& taps, const Group& group) {
  const bool pairs = needs_pairs(taps);
  auto packed = std::make_shared<Packed>();
  packed->groups = (kernel.width + (pairs ? 1 : 3)) / (pairs ? 2 : 4);
  for (int lane = 0; lane < 16; ++lane)
    for (int byte = 0; byte < 4; ++byte)
      packed->window[4 * lane + byte] =
          static_cast<std::uint8_t>(sample_of(0, lane) + kernel.components * (pairs ? byte / 2 : byte));

  Quantization& q = kernel.quantization;
  q.gain = static_cast<float>(q.gain * taps.gain);
  q.divisor /= taps.gain;
  const auto all_offsets = [&](auto test) { return std::all_of(q.offset.wide.begin(), q.offset.wide.end(), test); };
  double reach = 0;  // of a code value, before it is clamped
  for (const int tap : taps.taps) reach += std::abs(tap) * 255.0 / q.divisor;
  const bool plain = !q.wide && q.gain == 1 && q.snap == 0 && all_offsets([](double v) { return v == std::floor(v); });
  const bool narrow = !q.wide && all_offsets([&](double v) { return reach + std::abs(v) < 32767; });
  packed->finish = plain ? Finish::plain : narrow ? Finish::single : Finish::wide;
  packed->phases.resize(kernel.components);
  for (int p = 0; p < kernel.components; ++p)
    for (int b = 0; b < vectors; ++b)
      for (int lane = 0; lane < 16; ++lane) {
        const int c = (p + sample_of(b, lane)) % kernel.components;
        Phase& phase = packed->phases[p];
        phase.offset[b][lane] = q.offset.single[c];
        phase.wide_offset[b][lane] = q.offset.wide[c];
        const double start = -group.component[c]->zero * static_cast<double>(taps.sum);
        phase.start[b][lane] = static_cast<std::int32_t>(plain ? start + q.offset.wide[c] : start);
      }
  kernel.packed = packed;
  const int height = kernel.height, variant = height < 3 ? 0 : height == 3 ? 1 : 2;
  const std::vector<std::int32_t> words = pack_words(taps.taps, kernel.width, pairs);
  for (int t = 0; t < kernel.depth; ++t)
    for (int r = 0; r < height + rows - 1; ++r)
      for (int g = 0; g < packed->groups; ++g)
        for (int i = 0; i < rows; ++i)
          if (r - i >= 0 && r - i < height)
            packed->words.push_back(words[(t * height + r - i) * packed->groups + g]);
          else if (variant == 0)
            packed->words.push_back(0);
  const int known = kernel.components == 1 ? packed->groups : 0;
  kernel.run = pairs ? pair_filters[known][variant] : byte_filters[known][variant];
}

}  // namespace convolve::cpu

#else

namespace convolve::cpu {

void make_dot_kernel(Kernel&, const IntegerTaps&, const Group&) {
  assert(false);
}
void make_dot_row_pass(RowPass&, const IntegerTaps&, const Group&) {
  assert(false);
}
int dot_reads_past(int, bool, const Group&) {
  return -1;
}

}  // namespace convolve::cpu

#endif
