// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/amx/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cpu/engine/epilogue.hpp"
#include "cpu/engine/integer_taps.hpp"
#include "cpu/rows/copy_staging.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/amx/matrix.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "cpu/simd/amx_tiles.hpp"
#include "cpu/simd/division-inl.hpp"

#ifndef CONVOLVE_AMX_MATRIX_CPP_ONCE
#define CONVOLVE_AMX_MATRIX_CPP_ONCE
namespace convolve::cpu::amx {

// A block is Rows x 256 samples. Tile A takes 16 strips, 16 samples apart, of 64 bytes each; tile B holds taps as a
// band of a 64 x 16 matrix; their product adds to 16 outputs of each strip. Where a filter row spans at most 32 bytes a
// strip, the 64 bytes are 32 of one ring row and 32 of the next, 16 of each in turns in a ring of paired rows, so that
// one product does two filter rows. Otherwise they are of one ring row, and a filter row that spans more is cut into
// chunks. Real taps are sums of 256 * high + low limbs, with a tile of sums for each limb.
constexpr int samples = 256, tile_bytes = 1024, slice = 64;

struct Packed {
  int chunks = 1;
  std::int8_t* bands = nullptr;  // [band][chunks][limbs][16][64], on 64 bytes: half the speed otherwise
  std::vector<std::int8_t> memory;
  bool starts = false;                                       // not at 0
  alignas(64) std::int32_t start[samples + max_components];  // of the sums, a pattern: takes the zero levels off
};

struct Functions {
  decltype(RowPass::run) pair = nullptr;
  decltype(Kernel::run) (*filter)(bool paired, int limbs, Epilogue epilogue) = nullptr;
};
// Output rows of a block, of exact and of real taps, and of a kernel call, whose blocks share what they read.
constexpr int exact_rows = 4, real_rows = 2, rows_at_once = 8;

}  // namespace convolve::cpu::amx
#endif

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace {

using amx::Packed, amx::samples, amx::slice, amx::tile_bytes;

// Lays a row out for paired rows: 16 bytes of it, and room for 16 of the other.
void Pair(const RowPass&, const void* line, void* elements, int n) {
  constexpr int bytes = paired_bytes;
  const auto* from = static_cast<const char*>(line);
  auto* to = static_cast<char*>(elements);
  const int end = (n + samples - 1) / samples * samples + bytes;
  for (int x = 0; x < end; x += bytes, from += bytes, to += 2 * bytes) std::memcpy(to, from, bytes);
}

// What the products of a block go by, and how many slices of the block before are finished at a time.
struct Shape {
  int depth, height, chunks, frame_rows, slices;
  const std::int8_t* bands;
};

// The sums of one block on their way to samples, a slice of 64 at a time: between the tile products of the next block,
// so that both kinds of instruction are at work at once. Constants stay in registers, which tiles leave alone.
template <int Rows, int Limbs, Epilogue E>
class PendingEpilogue {
 public:
  static constexpr unsigned slices = Rows * samples / slice;

  HWY_INLINE explicit PendingEpilogue(const Kernel& kernel) : kernel_(kernel) {
    const Tag<float> d;
    const Quantization& q = kernel.quantization;
    gain_ = hn::Set(d, q.gain);
    gain_low_ = hn::Set(d, q.gain_low);
    offset_ = hn::LoadU(d, q.offset.get<float>());
    round_ = hn::Set(d, whole - q.rounding_bias);
    rounded_order_ = hn::LoadDup128(Tag<std::uint8_t>(), rounded_order);
    most_ = hn::Set(Tag<std::uint8_t>(), static_cast<std::uint8_t>(q.max));
  }

  HWY_INLINE void Begin(const std::int32_t* sums, void* const* out, int x, int n) {
    sums_ = sums;
    out_ = out;
    x_ = x;
    n_ = n;
    done_ = 0;
  }

  HWY_INLINE void Step() {
    if (done_ == slices) return;
    constexpr unsigned in_row = samples / slice;
    const int row = done_ / in_row, i = done_ % in_row * slice, at = x_ + i;
    ++done_;
    if (at >= n_ || !out_[row]) return;
    const int left = n_ - at;
    const __mmask64 wanted = left >= slice ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    const auto bytes = CodeValuesOf(sums_ + row * Limbs * samples + i, at);
    _mm512_mask_storeu_epi8(static_cast<std::uint8_t*>(out_[row]) + at, wanted, bytes.raw);
  }

  HWY_INLINE void Finish() {
    while (done_ != slices) Step();
  }

 private:
  // The code values of 64 sums, the first of them that of sample `at`.
  HWY_INLINE Vector<std::uint8_t> CodeValuesOf(const std::int32_t* sums, int at) const {
    const Tag<std::int32_t> d;
    Vector<std::int32_t> value[4];
    CONVOLVE_UNROLL
    for (int b = 0; b < 4; ++b) {
      auto sum = hn::Load(d, sums + 16 * b);
      if (Limbs == 2) sum = hn::Add(hn::ShiftLeft<8>(sum), hn::Load(d, sums + samples + 16 * b));
      value[b] = CodeValue(sum, at % kernel_.components + 16 * b);
    }
    return hn::Min(E == Epilogue::biased_product ? InOrder(PackRounded(value, rounded_order_).raw) : PackInOrder(value),
                   most_);
  }

  HWY_INLINE Vector<std::int32_t> CodeValue(Vector<std::int32_t> sum, int phase) const {
    const Quantization& q = kernel_.quantization;
    if constexpr (E == Epilogue::division)
      return CodeValues(q, sum, q.offset.get<float>() + phase, q.offset.get<double>() + phase);
    const auto s = hn::ConvertTo(Tag<float>(), sum);
    if constexpr (E == Epilogue::two_products)
      return RoundToInt(hn::Add(hn::MulAdd(s, gain_, hn::Mul(s, gain_low_)), offset_));
    const auto value = hn::MulAdd(s, gain_, offset_);
    return E == Epilogue::biased_product ? hn::BitCast(Tag<std::int32_t>(), hn::Add(value, round_)) : RoundToInt(value);
  }

  const Kernel& kernel_;
  Vector<float> gain_, gain_low_, offset_, round_;
  Vector<std::uint8_t> rounded_order_, most_;
  const std::int32_t* sums_ = nullptr;
  void* const* out_ = nullptr;
  int x_ = 0, n_ = 0;
  unsigned done_ = slices;
};

template <int Limbs, int Row>
HWY_INLINE void StartRow(const std::int32_t* start) {
  if (start)
    tile_load<(Row + 1) * Limbs - 1>(start, 64);
  else
    tile_zero<(Row + 1) * Limbs - 1>();
  if constexpr (Limbs == 2) tile_zero<Row * Limbs>();
}

// After so many, slices of the block before are finished: neither kind of instruction then waits long for the other.
constexpr int products_at_once = 2;

template <int Row, int Rows, int Limbs, Epilogue E>
HWY_INLINE void AddToRow(bool takes_part, const std::int8_t* band, int slices,
                         PendingEpilogue<Rows, Limbs, E>& epilogue) {
  if (takes_part) {
    tile_load<7>(band, 64);
    tile_dot<Row * Limbs, 6, 7>();
    if constexpr (Limbs == 2) {
      tile_load<7>(band + tile_bytes, 64);
      tile_dot<Row * Limbs + 1, 6, 7>();
    }
  }
  if constexpr ((Row + 1) * Limbs % products_at_once == 0)
    for (int i = 0; i < slices; ++i) epilogue.Step();
}

// The sums of some output rows. Ring row r, and r + 1 if Paired, takes part in output row Row with the band of filter
// row r - Row (and the next).
template <bool Paired, int Rows, int Limbs, Epilogue E, int... Row>
HWY_INLINE void SumBlock(std::integer_sequence<int, Row...>, const Shape& shape, const std::int32_t* start,
                         const void* const* rows, int x, std::int32_t* sums,
                         PendingEpilogue<Rows, Limbs, E>& epilogue) {
  constexpr int step = Paired ? 2 : 1, lowest = Paired ? -1 : 0, band_bytes = Limbs * tile_bytes;
  const int chunks = Paired ? 1 : shape.chunks;
  const unsigned bands = shape.height - lowest;
  (StartRow<Limbs, Row>(start), ...);
  int slices = 0;  // with the first tile of samples none: the sums are still on their way to memory
  const std::int8_t* frame_bands = shape.bands - lowest * chunks * band_bytes;
  for (int t = 0; t < shape.depth; ++t, rows += shape.frame_rows, frame_bands += bands * chunks * band_bytes) {
    const std::int8_t* band = frame_bands;
    for (int r = 0; r < shape.height + Rows - 1; r += step, band += (step - 1) * chunks * band_bytes)
      for (int chunk = 0; chunk < chunks; ++chunk, band += band_bytes) {
        const auto* ring = static_cast<const std::uint8_t*>(rows[r]);
        if constexpr (Paired)
          tile_load<6>(ring + 2 * x, 2 * paired_bytes);
        else
          tile_load<6>(ring + x + 64 * chunk, 16);
        (AddToRow<Row>(static_cast<unsigned>(r - Row - lowest) < bands, band - Row * chunks * band_bytes, slices,
                       epilogue),
         ...);
        slices = shape.slices;
      }
  }
  epilogue.Finish();
  (tile_store<Row * Limbs>(sums + Row * Limbs * samples, 64), ...);
  if constexpr (Limbs == 2) (tile_store<Row * Limbs + 1>(sums + (Row * Limbs + 1) * samples, 64), ...);
}

template <bool Paired, int Limbs, Epilogue E>
void FilterTiles(const Kernel& kernel, const Block& block) {
  constexpr int rows = Limbs == 1 ? amx::exact_rows : amx::real_rows, at_once = amx::rows_at_once;
  const Packed& k = *static_cast<const Packed*>(kernel.packed.get());
  auto* sums = static_cast<std::int32_t*>(block.scratch);
  PendingEpilogue<rows, Limbs, E> epilogue(kernel);
  constexpr int step = Paired ? 2 : 1;
  const int loads = kernel.depth * ((kernel.height + rows - 1 + step - 1) / step) * k.chunks;
  const int times = std::max(1, loads - 1) * (rows * Limbs / products_at_once);
  const Shape shape{
      kernel.depth, kernel.height, k.chunks, block.frame_rows, (static_cast<int>(epilogue.slices) + times - 1) / times,
      k.bands};
  tile_configure();
  for (int x = 0, half = 0; x < block.n; x += samples) {
    const std::int32_t* const start = k.starts ? k.start + x % kernel.components : nullptr;
    for (int first = 0; first < at_once && block.out[first]; first += rows, half ^= 1) {
      block.ahead.fetch<true, at_once>(x + first * (samples / at_once), samples / at_once * rows);
      std::int32_t* const to = sums + half * rows * Limbs * samples;
      SumBlock<Paired>(std::make_integer_sequence<int, rows>(), shape, start, block.rows + first, x, to, epilogue);
      epilogue.Begin(to, block.out + first, x, block.n);
    }
  }
  epilogue.Finish();
  tile_release();
}

template <bool Paired, int Limbs>
decltype(Kernel::run) FilterOf(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::product:
      return FilterTiles<Paired, Limbs, Epilogue::product>;
    case Epilogue::biased_product:
      return FilterTiles<Paired, Limbs, Epilogue::biased_product>;
    case Epilogue::two_products:
      return FilterTiles<Paired, Limbs, Epilogue::two_products>;
    default:
      break;
  }
  return FilterTiles<Paired, Limbs, Epilogue::division>;
}

decltype(Kernel::run) FilterOf(bool paired, int limbs, Epilogue epilogue) {
  if (limbs == 1) return paired ? FilterOf<true, 1>(epilogue) : FilterOf<false, 1>(epilogue);
  return paired ? FilterOf<true, 2>(epilogue) : FilterOf<false, 2>(epilogue);
}

}  // namespace

amx::Functions Tiles() {
  return {Pair, FilterOf};
}
#else
amx::Functions Tiles() {
  return {};
}
#endif
}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Tiles);

namespace {

// The ring is larger than the first level cache: a strip's ends cost more than its rows from the second.
constexpr int ring_bytes = 160 << 10;
// The costs of a tile product, and of making samples of a tile's sums, in products. On a Xeon with AMX dot products are
// faster at 3x3, with real taps at 5x5 too, and for filter rows that span more than 64 bytes of a strip.
constexpr double matrix_cost = 2.95;
constexpr double products_to_finish = 1.1;

// Tap = 256 * high + low, both signed bytes.
std::int8_t limb(std::int32_t tap, int limbs, int which) {
  const std::int32_t low = static_cast<std::int8_t>(tap & 255);  // NOLINT(bugprone-signed-char-misuse): keeps the sign
  if (limbs == 1 || which == 1) return static_cast<std::int8_t>(low);
  return static_cast<std::int8_t>((tap - low) / 256);
}

std::optional<IntegerTaps> taps_of(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                                   int& limbs) {
  limbs = 1;
  if (arithmetic.accumulator == Accumulator::exact)
    if (auto taps = make_integer_taps(arithmetic, desc.layout, desc.border, group, 127)) return taps;
  limbs = 2;
  return make_integer_taps(arithmetic, desc.layout, desc.border, group, 127 * 256);
}

// One of product, biased_product, two_products and division. All but the last leave clamping to the packing
// instructions, so code values have to fit 32 bits, and the pattern of offsets has to repeat with every vector.
Epilogue choose_epilogue(const Quantization& q, const IntegerTaps& taps, const ComponentGroup& group) {
  double max_magnitude = 0, offset = 0;
  for (const int tap : taps.taps) max_magnitude += std::abs(tap) * 512.0 / q.divisor;
  for (const double each : q.offset.wide) offset = std::max(offset, std::abs(each));
  max_magnitude += offset;
  if (max_magnitude >= 0x1p31 - 512 || group.components == 3) return Epilogue::division;
  switch (q.division) {
    case Division::product:
      return q.rounding_bias == 0         ? Epilogue::product
             : max_magnitude < 0x1p15 - 1 ? Epilogue::biased_product
                                          : Epilogue::division;
    case Division::two_products:
      return Epilogue::two_products;
    case Division::remainder:
    case Division::doubles:
      break;
  }
  return Epilogue::division;
}

}  // namespace

bool matrix_serves(const PlanDesc& desc) {
  if (!use_amx() || !is_dense(desc.filter) || !HWY_DYNAMIC_DISPATCH(Tiles)().filter) return false;
  const std::vector<ComponentGroup> groups = make_component_groups(desc.layout);
  int limbs;
  return std::all_of(groups.begin(), groups.end(), [&](const ComponentGroup& group) {
    return !group.any_filtered() || taps_of(desc, choose_arithmetic(desc, group), group, limbs);
  });
}

Engine make_matrix(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group) {
  using namespace amx;
  const Functions functions = HWY_DYNAMIC_DISPATCH(Tiles)();
  if (!functions.filter) throw PlanError("AMX tiles need a build for AVX-512, which the SIMD target in force is not");
  int limbs;
  const IntegerTaps taps = *taps_of(desc, arithmetic, group, limbs);
  Engine engine;
  Kernel& kernel = engine.kernel;
  set_shape_and_quantization(kernel, desc, arithmetic, group, taps);

  const int span = 16 + (kernel.width - 1) * group.components;
  const bool paired = span <= 32;
  auto packed = std::make_shared<Packed>();
  packed->chunks = (span + 63) / 64;
  const int lowest = paired ? -1 : 0, bands = kernel.height - lowest;
  const std::size_t tiles = static_cast<std::size_t>(kernel.depth) * bands * packed->chunks * limbs;
  packed->memory.resize(tiles * tile_bytes + 64);
  packed->bands = packed->memory.data() + (64 - reinterpret_cast<std::uintptr_t>(packed->memory.data()) % 64) % 64;
  // The taps of filter row `row` of frame t, `at` bytes into the 64 of band `band`.
  const auto fill = [&](int t, int row, int band, int at) {
    if (row < 0 || row >= kernel.height) return;
    for (int tap = 0; tap < kernel.width; ++tap)
      for (int output = 0; output < 16; ++output)
        for (int d = 0; d < limbs; ++d) {
          const int at_tap = output + tap * group.components;
          const int byte = paired ? at + at_tap / paired_bytes * 2 * paired_bytes + at_tap % paired_bytes : at_tap;
          const int in_chunk = byte % 64;
          const std::ptrdiff_t tile = ((t * bands + band) * packed->chunks + byte / 64) * limbs + d;
          packed->bands[tile * tile_bytes + in_chunk / 4 * 64 + output * 4 + in_chunk % 4] =
              limb(taps.taps[(t * kernel.height + row) * kernel.width + tap], limbs, d);
        }
  };
  for (int t = 0; t < kernel.depth; ++t)
    for (int band = 0; band < bands; ++band) {
      fill(t, band + lowest, band, 0);
      if (paired) fill(t, band + lowest + 1, band, paired_bytes);
    }
  for (int i = 0; i < std::ssize(packed->start); ++i) {
    packed->start[i] =
        static_cast<std::int32_t>(-group.component[i % group.components]->zero * static_cast<double>(taps.sum));
    packed->starts |= packed->start[i] != 0;
  }
  engine.name = limbs == 1 ? "AMX, 8-bit taps" : "AMX, 16-bit taps in two limbs";
  engine.cost = matrix_cost * (static_cast<double>(tiles) / (paired ? 2 : 1) + products_to_finish);
  engine.block_rows = engine.ahead_rows = rows_at_once;
  engine.scratch_bytes = 2 * std::max(exact_rows, 2 * real_rows) * tile_bytes;
  engine.staging = make_copy_staging(desc, group);
  engine.element_size = 1;
  if (paired) {
    engine.paired_rows = true;
    engine.row_passes.emplace_back().run = functions.pair;
    engine.row_passes.front().line_element_size = 1;
  }
  engine.ring_bytes = ring_bytes;
  engine.block_samples = samples;
  kernel.packed = packed;
  kernel.run = functions.filter(paired, limbs, choose_epilogue(kernel.quantization, taps, group));
  return engine;
}

}  // namespace convolve::cpu

#endif
