// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What `auto` takes on a GPU: the first row that matches the case and whose algorithm serves it.
//
// A table is data: tests/bench/choose.py writes it from a run of tests/bench on a GPU of the capability that it names,
// and its tests hold the table against the newest committed run. GPUs without a table of their own use that of the
// nearest capability; the text that a plan is described by says so, and which row chose. To have another GPU's own
// choices, add a table here and name it in `choice_tables`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"
#include "cuda/common/limits.hpp"
#include "cuda/common/packed_422.hpp"

namespace convolve::cuda {

/// What speed depends on.
struct Case {
  SampleType type;
  int components;  ///< of the plane that has most of them; of packed 4:2:2 the samples of a pair of pixels
  int depth;       ///< frames
  int side;        ///< the longer of the filter's height and width
  int rank;        ///< as Filter has it; 1 also of bytes under a separable filter of real taps and one at the centre
  Accumulator accumulator;
  bool one_limb;  ///< see takes_one_limb()
};

/// True of 16-bit samples under integer taps of 8 bits, whatever their sums: the tensor cores multiply each byte of a
/// sample by one limb of a tap, where real taps have two or three.
inline bool takes_one_limb(const PlanDesc& desc) {
  return desc.layout.type == SampleType::u16 && desc.filter.exact() &&
         std::ranges::all_of(desc.filter.exact()->taps, [](std::int32_t tap) { return tap >= -128 && tap <= 127; });
}

/// The rank of a filter as far as rows tell ranks apart: all above are one to them.
inline constexpr int max_told_rank = 3;
inline int rank_of(const Filter& filter) {
  if (filter.depth() > 1) return filter.rank();
  if (filter.space_factors()) return 1;
  const std::size_t terms = filter.space_terms(max_told_rank).size();
  return terms > 0 ? static_cast<int>(terms) : Filter::unknown_rank;
}

inline Case case_of(const PlanDesc& desc) {
  Case wanted{};
  wanted.type = desc.layout.type;
  for (int p = 0; p < desc.layout.planes; ++p)
    wanted.components = std::max(wanted.components, desc.layout.plane[p].components);
  if (lies_as_packed_422(desc.layout)) wanted.components = 4;
  const Filter& filter = desc.filter;
  wanted.depth = filter.depth();
  wanted.side = std::max(filter.height(), filter.width());
  wanted.rank = rank_of(filter);
  const Arithmetic arithmetic = choose_arithmetic(filter, desc.layout, has_ghost_cells(desc.border));
  wanted.accumulator = arithmetic.accumulator;
  // So many taps that factor are summed along the axes, where single precision goes farther.
  if (is_over_max_taps(filter) && filter.space_factors())
    wanted.accumulator = frame_factors_arithmetic(filter, arithmetic, desc.layout, has_ghost_cells(desc.border),
                                                  all_components(desc.layout))
                             .accumulator;
  wanted.one_limb = takes_one_limb(desc);
  // The tensor cores add such a tap at next to no cost.
  if (wanted.type == SampleType::u8 && wanted.depth == 1 && !arithmetic.exact_taps && !filter.frame_factors().empty())
    wanted.rank = std::min(wanted.rank, 1);
  return wanted;
}

constexpr unsigned bit(SampleType type) {
  return 1u << static_cast<unsigned>(type);
}
constexpr unsigned bit(Accumulator accumulator) {
  return 1u << static_cast<unsigned>(accumulator);
}

struct ChoiceRow {
  Algorithm algorithm;
  unsigned types = 7;         ///< of bit(SampleType)
  unsigned accumulators = 7;  ///< of bit(Accumulator)
  int max_rank = max_taps;
  int min_components = 1, max_components = 4;
  int min_depth = 1, max_depth = max_taps;
  int min_side = 1, max_side = max_taps;
  bool one_limb = false;      ///< where the case takes one
  bool tensor_cores = false;  ///< separable: where its kernel on the tensor cores serves the case, and no other of its
  bool stream_of_rows = false;  ///< separable: where its stream of rows over several frames does

  constexpr bool matches(const Case& c) const {
    return (types & bit(c.type)) && (accumulators & bit(c.accumulator)) && c.rank <= max_rank &&
           c.components >= min_components && c.components <= max_components && c.depth >= min_depth &&
           c.depth <= max_depth && c.side >= min_side && c.side <= max_side && (c.one_limb || !one_limb);
  }
  constexpr bool asks_for_a_kernel() const { return tensor_cores || stream_of_rows; }
};

inline constexpr std::array choices{
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u8),
              .max_components = 1,
              .max_depth = 1,
              .max_side = 4},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u8),
              .accumulators = bit(Accumulator::exact),
              .max_components = 1,
              .max_depth = 1,
              .max_side = 8},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u8),
              .accumulators = bit(Accumulator::exact),
              .max_components = 3,
              .max_depth = 1,
              .max_side = 6},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u8),
              .max_rank = 1,
              .max_components = 2,
              .max_depth = 1},
    ChoiceRow{.algorithm = Algorithm::matrix, .types = bit(SampleType::u8), .max_components = 2, .max_depth = 1},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u8),
              .max_components = 3,
              .max_depth = 1,
              .max_side = 4},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u8),
              .max_rank = 1,
              .max_components = 3,
              .max_depth = 1,
              .tensor_cores = true},
    ChoiceRow{.algorithm = Algorithm::matrix, .types = bit(SampleType::u8), .max_components = 3, .max_depth = 1},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u8),
              .accumulators = bit(Accumulator::exact),
              .max_depth = 1,
              .max_side = 6},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u8),
              .accumulators = bit(Accumulator::single),
              .max_rank = 1,
              .max_depth = 1,
              .min_side = 6,
              .tensor_cores = true},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u8),
              .accumulators = bit(Accumulator::exact),
              .max_rank = 1,
              .max_depth = 1,
              .min_side = 8,
              .tensor_cores = true},
    ChoiceRow{.algorithm = Algorithm::separable, .types = bit(SampleType::u8), .max_rank = 1, .max_depth = 1},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u8),
              .accumulators = bit(Accumulator::single),
              .max_rank = 1,
              .min_depth = 2,
              .stream_of_rows = true},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u8),
              .accumulators = bit(Accumulator::single),
              .max_rank = 1,
              .min_components = 2,
              .min_depth = 2,
              .min_side = 6,
              .tensor_cores = true},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u8),
              .accumulators = bit(Accumulator::single),
              .max_rank = 1,
              .min_components = 3,
              .max_components = 3,
              .min_depth = 2,
              .min_side = 3,
              .tensor_cores = true},
    ChoiceRow{.algorithm = Algorithm::matrix, .types = bit(SampleType::u8), .max_components = 2},
    ChoiceRow{.algorithm = Algorithm::matrix, .types = bit(SampleType::u8)},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u16),
              .accumulators = bit(Accumulator::exact) | bit(Accumulator::single),
              .max_rank = 1,
              .min_components = 4,
              .max_side = 7},
    ChoiceRow{.algorithm = Algorithm::matrix, .types = bit(SampleType::u16), .min_depth = 2, .max_side = 2},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u16),
              .accumulators = bit(Accumulator::exact),
              .min_depth = 2,
              .max_side = 4},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u16),
              .max_rank = 1,
              .max_components = 1,
              .min_depth = 2},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u16),
              .max_components = 2,
              .min_depth = 2,
              .min_side = 3,
              .max_side = 4},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u8) | bit(SampleType::u16),
              .max_rank = 1,
              .min_depth = 2},
    ChoiceRow{.algorithm = Algorithm::separable, .max_rank = 1, .min_depth = 2, .min_side = 3},
    ChoiceRow{.algorithm = Algorithm::matrix, .types = bit(SampleType::u16), .min_depth = 2},
    ChoiceRow{.algorithm = Algorithm::register_, .min_depth = 2},
    ChoiceRow{.algorithm = Algorithm::separable, .min_depth = 2},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u16),
              .max_components = 1,
              .max_depth = 1,
              .min_side = 9,
              .one_limb = true},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u16),
              .max_components = 2,
              .max_depth = 1,
              .min_side = 9,
              .max_side = 10,
              .one_limb = true},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u16),
              .max_components = 2,
              .max_depth = 1,
              .min_side = 12,
              .one_limb = true},
    ChoiceRow{
        .algorithm = Algorithm::separable, .types = bit(SampleType::u16), .max_rank = 1, .max_depth = 1, .min_side = 5},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u16),
              .max_components = 2,
              .max_depth = 1,
              .min_side = 5,
              .one_limb = true},
    ChoiceRow{
        .algorithm = Algorithm::matrix, .types = bit(SampleType::u16), .max_depth = 1, .min_side = 7, .one_limb = true},
    ChoiceRow{.algorithm = Algorithm::register_,
              .types = bit(SampleType::u16),
              .max_components = 1,
              .max_depth = 1,
              .max_side = 6},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u16),
              .max_components = 2,
              .max_depth = 1,
              .min_side = 5},
    ChoiceRow{.algorithm = Algorithm::register_,
              .types = bit(SampleType::u16),
              .min_components = 4,
              .max_depth = 1,
              .max_side = 7},
    ChoiceRow{
        .algorithm = Algorithm::separable, .types = bit(SampleType::u16), .max_rank = 2, .max_depth = 1, .min_side = 7},
    ChoiceRow{.algorithm = Algorithm::matrix, .types = bit(SampleType::u16), .max_depth = 1, .min_side = 9},
    ChoiceRow{.algorithm = Algorithm::separable, .types = bit(SampleType::u16), .max_depth = 1, .min_side = 7},
    ChoiceRow{.algorithm = Algorithm::separable, .max_rank = 1, .max_depth = 1, .min_side = 7},
    ChoiceRow{.algorithm = Algorithm::separable, .max_depth = 1, .min_side = 9},
    ChoiceRow{.algorithm = Algorithm::register_, .max_depth = 1, .max_side = 8},
    ChoiceRow{.algorithm = Algorithm::cached_halo, .max_components = 2, .max_depth = 1},
    ChoiceRow{.algorithm = Algorithm::register_, .max_depth = 1},
    ChoiceRow{.algorithm = Algorithm::constant, .max_depth = 1, .max_side = 4},
    ChoiceRow{.algorithm = Algorithm::cached_halo, .max_depth = 1},
    ChoiceRow{.algorithm = Algorithm::tiled, .max_components = 1},
    ChoiceRow{.algorithm = Algorithm::cached_halo, .max_components = 2},
    ChoiceRow{.algorithm = Algorithm::cached_halo, .min_side = 7},
    ChoiceRow{.algorithm = Algorithm::constant},
    ChoiceRow{.algorithm = Algorithm::separable},
    ChoiceRow{.algorithm = Algorithm::register_},
    ChoiceRow{.algorithm = Algorithm::cached_halo},
    ChoiceRow{.algorithm = Algorithm::tiled},
    ChoiceRow{.algorithm = Algorithm::basic},
    ChoiceRow{.algorithm = Algorithm::cached_halo_seed},
    // Large filters have these rows alone, kept by hand. Rows 59 to 61 are measured at 17x17, 23x23 and 31x31.
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u8),
              .max_rank = 1,
              .max_depth = 1,
              .min_side = 16,
              .max_side = 255,
              .tensor_cores = true},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u8),
              .accumulators = bit(Accumulator::exact),
              .max_depth = 1,
              .min_side = 16,
              .max_side = 31},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u16),
              .accumulators = bit(Accumulator::exact) | bit(Accumulator::single),
              .max_rank = 1,
              .max_components = 1,
              .max_depth = 1,
              .min_side = 16,
              .max_side = 31},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u16),
              .max_components = 2,
              .max_depth = 1,
              .min_side = 28,
              .max_side = 31,
              .one_limb = true},
    ChoiceRow{.algorithm = Algorithm::separable,
              .types = bit(SampleType::u16),
              .accumulators = bit(Accumulator::exact) | bit(Accumulator::single),
              .max_rank = 1,
              .max_components = 2,
              .max_depth = 1,
              .min_side = 16,
              .max_side = 31},
    ChoiceRow{.algorithm = Algorithm::matrix,
              .types = bit(SampleType::u16),
              .max_components = 2,
              .max_depth = 1,
              .min_side = 16,
              .max_side = 31},
    ChoiceRow{.algorithm = Algorithm::separable, .min_side = 16, .max_side = 255},
    ChoiceRow{
        .algorithm = Algorithm::matrix, .types = bit(SampleType::u8), .max_depth = 1, .min_side = 16, .max_side = 31},
    ChoiceRow{.algorithm = Algorithm::register_, .min_side = 16, .max_side = 31},
    ChoiceRow{.algorithm = Algorithm::tiled, .min_side = 16, .max_side = 31},
    ChoiceRow{.algorithm = Algorithm::basic, .min_side = 16, .max_side = 31},
};

/// The rows that were measured on GPUs of one compute capability, 10 * major + minor.
struct ChoiceTable {
  int capability;
  std::span<const ChoiceRow> rows;
};

inline constexpr std::array choice_tables{
    ChoiceTable{90, choices},
};

static_assert(std::ranges::all_of(choices, [](const ChoiceRow& row) {
  return row.max_rank <= max_told_rank || row.max_rank == max_taps;
}));

/// The table of the nearest capability; of two that are as near, the lower.
inline const ChoiceTable& choice_table(int capability) {
  return *std::min_element(choice_tables.begin(), choice_tables.end(), [&](const ChoiceTable& a, const ChoiceTable& b) {
    return std::abs(a.capability - capability) < std::abs(b.capability - capability);
  });
}

/// A row in words: its algorithm and, where it asks for anything, what it asks for: "matrix (u8, exact, 1 frame, up to
/// 6 taps)". No two rows of a table have the same words, so that they find the row.
inline std::string describe(const ChoiceRow& row) {
  std::string conditions;
  const auto add = [&](const std::string& condition) { conditions += (conditions.empty() ? "" : ", ") + condition; };
  const auto add_names = [&](unsigned bits, std::initializer_list<const char*> names) {
    std::string chosen;
    unsigned i = 0;
    for (const char* name : names)
      if (bits >> i++ & 1) chosen += (chosen.empty() ? "" : " or ") + std::string(name);
    if (bits != (1u << names.size()) - 1) add(chosen);
  };
  const auto add_range = [&](int low, int high, int most, const std::string& unit) {
    const std::string units = unit + (high == 1 ? "" : "s");
    if (low == high)
      add(std::to_string(low) + " " + units);
    else if (low > 1)
      add(high == most ? "from " + std::to_string(low) + " " + units + " on"
                       : std::to_string(low) + " to " + std::to_string(high) + " " + units);
    else if (high != most)
      add("up to " + std::to_string(high) + " " + units);
  };
  add_names(row.types, {"u8", "u16", "f32"});
  add_names(row.accumulators, {"exact", "single", "double"});
  if (row.max_rank == 1) add("rank 1");
  if (row.max_rank > 1 && row.max_rank < max_taps) add("rank up to " + std::to_string(row.max_rank));
  if (row.one_limb) add("taps of one limb");
  if (row.tensor_cores) add("on the tensor cores");
  if (row.stream_of_rows) add("as a stream of rows");
  add_range(row.min_components, row.max_components, 4, "component");
  add_range(row.min_depth, row.max_depth, max_taps, "frame");
  add_range(row.min_side, row.max_side, max_taps, "tap");
  return std::string(nick(row.algorithm)) + (conditions.empty() ? "" : " (" + conditions + ")");
}

/// Says which row of the table chose on a GPU of this capability, and whether the table was measured on such a one.
/// Rows are numbered from 1, in their order above.
inline std::string describe_choice(const ChoiceTable& table, std::size_t row, int capability) {
  const auto version = [](int c) { return std::to_string(c / 10) + "." + std::to_string(c % 10); };
  return "auto: row " + std::to_string(row + 1) + " of choice.hpp, " + describe(table.rows[row]) +
         ", measured on compute capability " + version(table.capability) +
         (table.capability == capability ? "" : ", this is " + version(capability));
}

}  // namespace convolve::cuda
