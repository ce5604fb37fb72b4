// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cpu/algorithms.hpp"
#include "cpu/integer_taps.hpp"
#include "cpu/real.hpp"
#include "cpu/simd.hpp"
#include "cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/matrix.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/division-inl.hpp"
#include "cpu/tiles.hpp"

#ifndef CONVOLVE_MATRIX_CPP_ONCE
#define CONVOLVE_MATRIX_CPP_ONCE
namespace convolve::cpu::matrix {

// A block is Rows x 256 samples. Tile A takes 16 strips, 16 samples apart, of 64 bytes each; tile B holds taps as a
// band of a 64 x 16 matrix; their product adds to 16 outputs of each strip. Where a filter row spans at most 32 bytes a
// strip, the 64 bytes are 32 of one ring row and 32 of the next, side by side in a ring of paired rows, so that one
// product does two filter rows. Otherwise they are of one ring row, and a filter row that spans more is cut into
// chunks. Real taps are sums of 256 * high + low digits, with a tile of sums for each digit.
constexpr int samples = 256, tile_bytes = 1024, slice = 64;

struct Packed {
  int chunks = 1;
  std::int8_t* bands = nullptr;  // [band][chunks][digits][16][64], on 64 bytes: half the speed otherwise
  std::vector<std::int8_t> memory;
  std::vector<std::int32_t> start;  // of the sums, a pattern: takes the zero levels off
  bool near = false;                // no code value, before it is clamped, is beyond 32 bits
};

struct Functions {
  decltype(RowPass::run) pair = nullptr;
  decltype(Kernel::run) (*filter)(bool paired, int digits) = nullptr;
};
constexpr int exact_rows = 4, real_rows = 2;

}  // namespace convolve::cpu::matrix
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace {

using matrix::Packed, matrix::samples, matrix::slice, matrix::tile_bytes;

// Lays a row out for paired rows: 32 bytes from every 16th sample, 64 bytes apart.
void Pair(const RowPass&, const void* line, void* elements, int n) {
  const auto* from = static_cast<const char*>(line);
  auto* to = static_cast<char*>(elements);
  for (int x = 0; x < (n + samples - 1) / samples * samples; x += 16, from += 16, to += 64)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

// 64 code values from their sums; `phase`: the first one's component.
template <int Digits, bool Near>
HWY_INLINE Vector<std::uint8_t> QuantizeSlice(const Quantization& q, const Packed& k, const std::int32_t* sums,
                                              int phase) {
  const Tag<std::int32_t> d;
  Vector<std::int32_t> value[4];
  CONVOLVE_UNROLL
  for (int b = 0; b < 4; ++b) {
    auto sum = hn::Load(d, sums + 16 * b);
    if (Digits == 2) sum = hn::Add(hn::ShiftLeft<8>(sum), hn::Load(d, sums + samples + 16 * b));
    sum = hn::Add(sum, hn::LoadU(d, k.start.data() + phase + 16 * b));
    value[b] =
        CodeValues<Near>(q, sum, q.offset.get<float>() + phase + 16 * b, q.offset.get<double>() + phase + 16 * b);
  }
  return hn::Min(PackInOrder(value), hn::Set(Tag<std::uint8_t>(), static_cast<std::uint8_t>(q.max)));
}

// The sums of one block on their way to samples, a slice of 64 at a time: between the tile products of the next block,
// so that both kinds of instruction are at work at once.
template <int Rows, int Digits>
struct Finishing {
  static constexpr int slices = Rows * samples / slice;
  const Kernel& kernel;
  const Packed& packed;
  const Block& block;
  const std::int32_t* sums = nullptr;
  int x = 0, done = slices;

  HWY_INLINE void Step() {
    if (done == slices) return;
    const int row = done / (samples / slice), i = done % (samples / slice) * slice, at = x + i;
    ++done;
    if (at >= block.n || !block.out[row]) return;
    const int left = block.n - at;
    const __mmask64 wanted = left >= slice ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    const int phase = kernel.components == 1 ? 0 : at % kernel.components;
    const std::int32_t* from = sums + row * Digits * samples + i;
    const auto bytes = packed.near ? QuantizeSlice<Digits, true>(kernel.quantization, packed, from, phase)
                                   : QuantizeSlice<Digits, false>(kernel.quantization, packed, from, phase);
    _mm512_mask_storeu_epi8(static_cast<std::uint8_t*>(block.out[row]) + at, wanted, bytes.raw);
  }
};

template <int Digits, int Row>
HWY_INLINE void AddToRow(const std::int8_t* band) {
  tile_load<7>(band, 64);
  tile_dot<Row * Digits, 6, 7>();
  if constexpr (Digits == 2) {
    tile_load<7>(band + tile_bytes, 64);
    tile_dot<Row * Digits + 1, 6, 7>();
  }
}

// Ring row r, and r + 1 if Paired, takes part in output row Row with the band of filter row r - Row (and the next).
template <bool Paired, int Rows, int Digits, int... Row>
HWY_INLINE void SumBlock(std::integer_sequence<int, Row...>, const Kernel& kernel, const Packed& k, const Block& block,
                         int x, std::int32_t* sums, Finishing<Rows, Digits>& finish) {
  constexpr int step = Paired ? 2 : 1, lowest = Paired ? -1 : 0;
  const int height = kernel.height, bands = height - lowest;
  const int chunks = Paired ? 1 : k.chunks;
  const int loads = kernel.depth * ((height + Rows - 1 + step - 1) / step) * chunks;
  const int finish_steps = (Finishing<Rows, Digits>::slices + loads - 1) / loads;
  (tile_zero<Row * Digits>(), ...);
  if constexpr (Digits == 2) (tile_zero<Row * Digits + 1>(), ...);
  for (int t = 0; t < kernel.depth; ++t)
    for (int r = 0; r < height + Rows - 1; r += step)
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const auto* ring = static_cast<const std::uint8_t*>(block.rows[t * block.frame_rows + r]);
        if constexpr (Paired)
          tile_load<6>(ring + 4 * x, 64);
        else
          tile_load<6>(ring + x + 64 * chunk, 16);
        const auto band = [&](int row) {
          return k.bands +
                 static_cast<std::ptrdiff_t>((t * bands + r - row - lowest) * chunks + chunk) * Digits * tile_bytes;
        };
        ((r - Row >= lowest && r - Row < height ? AddToRow<Digits, Row>(band(Row)) : void()), ...);
        for (int i = 0; i < finish_steps; ++i) finish.Step();
      }
  (tile_store<Row * Digits>(sums + Row * Digits * samples, 64), ...);
  if constexpr (Digits == 2) (tile_store<Row * Digits + 1>(sums + (Row * Digits + 1) * samples, 64), ...);
}

template <bool Paired, int Rows, int Digits>
void FilterTiles(const Kernel& kernel, const Block& block) {
  const Packed& k = *static_cast<const Packed*>(kernel.packed.get());
  auto* sums = static_cast<std::int32_t*>(block.scratch);
  Finishing<Rows, Digits> finish{kernel, k, block};
  tile_configure();
  for (int x = 0, half = 0; x < block.n; x += samples, half ^= 1) {
    block.ahead.fetch(x, samples);
    std::int32_t* const to = sums + half * Rows * Digits * samples;
    SumBlock<Paired, Rows, Digits>(std::make_integer_sequence<int, Rows>(), kernel, k, block, x, to, finish);
    finish.sums = to;
    finish.x = x;
    finish.done = 0;
  }
  while (finish.done != finish.slices) finish.Step();
  tile_release();
}

decltype(Kernel::run) FilterOf(bool paired, int digits) {
  using matrix::exact_rows, matrix::real_rows;
  if (digits == 1) return paired ? FilterTiles<true, exact_rows, 1> : FilterTiles<false, exact_rows, 1>;
  return paired ? FilterTiles<true, real_rows, 2> : FilterTiles<false, real_rows, 2>;
}

}  // namespace

matrix::Functions Tiles() {
  return {Pair, FilterOf};
}
#else
matrix::Functions Tiles() {
  return {};
}
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Tiles);

namespace {

// Beyond the first level cache: a strip's ends cost more than its rows from the second.
constexpr int ring_bytes = 160 << 10;
// Of a tile product, and of finishing the sums of a tile, as many more. On a Xeon with AMX dot products are faster up
// to 7x7, by a quarter to a half there, and slower from 9x9 on.
constexpr double matrix_cost = 3.2;
constexpr double products_to_finish = 3.6;

// Tap = 256 * high + low, both signed bytes.
std::int8_t digit(std::int32_t tap, int digits, int which) {
  const std::int32_t low = static_cast<std::int8_t>(tap & 255);
  if (digits == 1 || which == 1) return static_cast<std::int8_t>(low);
  return static_cast<std::int8_t>((tap - low) / 256);
}

std::optional<IntegerTaps> taps_of(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group,
                                   int& digits) {
  digits = 1;
  if (arithmetic.accumulator == Accumulator::exact)
    if (auto taps = make_integer_taps(arithmetic, desc.layout, desc.border, group, 127)) return taps;
  digits = 2;
  return make_integer_taps(arithmetic, desc.layout, desc.border, group, 127 * 256);
}

}  // namespace

bool matrix_serves(const PlanDesc& desc) {
  if (!use_amx()) return false;
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, desc.border == Border::constant);
  const std::vector<Group> groups = make_groups(desc.layout);
  int digits;
  return std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
    return !group.any_filtered() || taps_of(desc, arithmetic, group, digits);
  });
}

Engine make_matrix(const PlanDesc& desc, const Arithmetic& arithmetic, const Group& group) {
  using namespace matrix;
  const Functions functions = HWY_DYNAMIC_DISPATCH(Tiles)();
  int digits;
  const IntegerTaps taps = *taps_of(desc, arithmetic, group, digits);
  Engine engine;
  Kernel& kernel = engine.kernel;
  kernel.depth = desc.filter.depth();
  kernel.height = desc.filter.height();
  kernel.width = desc.filter.width();
  kernel.components = group.components;
  kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  kernel.quantization.gain = static_cast<float>(kernel.quantization.gain * taps.gain);
  kernel.quantization.divisor /= taps.gain;

  const int span = 16 + (kernel.width - 1) * group.components;
  const bool paired = span <= 32;
  auto packed = std::make_shared<Packed>();
  packed->chunks = (span + 63) / 64;
  const int lowest = paired ? -1 : 0, bands = kernel.height - lowest;
  const std::size_t tiles = static_cast<std::size_t>(kernel.depth) * bands * packed->chunks * digits;
  packed->memory.resize(tiles * tile_bytes + 64);
  packed->bands = packed->memory.data() + (64 - reinterpret_cast<std::uintptr_t>(packed->memory.data()) % 64) % 64;
  // The taps of filter row `row` of frame t, `at` bytes into the 64 of band `band`.
  const auto fill = [&](int t, int row, int band, int at) {
    if (row < 0 || row >= kernel.height) return;
    for (int tap = 0; tap < kernel.width; ++tap)
      for (int output = 0; output < 16; ++output)
        for (int d = 0; d < digits; ++d) {
          const int sample = at + output + tap * group.components, in_chunk = sample % 64;
          const std::ptrdiff_t tile = ((t * bands + band) * packed->chunks + sample / 64) * digits + d;
          packed->bands[tile * tile_bytes + in_chunk / 4 * 64 + output * 4 + in_chunk % 4] =
              digit(taps.taps[(t * kernel.height + row) * kernel.width + tap], digits, d);
        }
  };
  for (int t = 0; t < kernel.depth; ++t)
    for (int band = 0; band < bands; ++band) {
      fill(t, band + lowest, band, 0);
      if (paired) fill(t, band + lowest + 1, band, 32);
    }
  for (int i = 0; i < pattern_length; ++i)
    packed->start.push_back(
        static_cast<std::int32_t>(-group.component[i % group.components]->zero * static_cast<double>(taps.sum)));
  double reach = 0;
  for (const int tap : taps.taps) reach += std::abs(tap) * 512.0 / kernel.quantization.divisor;
  packed->near = std::ranges::all_of(kernel.quantization.offset.wide,
                                     [&](double offset) { return reach + std::abs(offset) < 0x1p31 - 512; });
  engine.name = digits == 1 ? "AMX, 8-bit taps" : "AMX, 16-bit taps in two digits";
  engine.cost = matrix_cost * (static_cast<double>(tiles) / (paired ? 2 : 1) + products_to_finish);
  engine.block_rows = digits == 1 ? exact_rows : real_rows;
  engine.scratch_bytes = 2 * engine.block_rows * digits * tile_bytes;
  engine.staging = make_copy_staging(desc, group);
  engine.element_size = 1;
  if (paired) {
    engine.paired_rows = true;
    engine.element_size = 2;
    engine.row_pass.run = functions.pair;
    engine.row_pass.line_element_size = 1;
  }
  engine.ring_bytes = ring_bytes;
  engine.block_samples = samples;
  kernel.packed = packed;
  kernel.run = functions.filter(paired, digits);
  return engine;
}

}  // namespace convolve::cpu

#endif
