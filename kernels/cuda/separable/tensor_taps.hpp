// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What separable's tensor kernel (tensor.cuh) computes with: which numbers a filter's taps become, the banded matrices
// as lanes hold them, and what turns sums into samples. Host code only, but for the names that the kernel shares.
#pragma once

#include <cstdint>
#include <vector>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"
#include "cuda/common/epilogue.hpp"

namespace convolve::cuda::tensor {

/// A window reaches over 8 rows and pixels, and whole blocks, on either side of the outputs; filters over 7.
constexpr int radius = 8, max_radius = 7;

/// Whether the sums are of half precision; those of the kernel's other epilogues are of 8-bit integers.
constexpr bool in_halves(Epilogue epilogue) {
  return epilogue == Epilogue::saturate || epilogue == Epilogue::centre_tap || epilogue == Epilogue::scaled;
}

/// The column pass makes V = sum(column * in) + start of bytes, the row pass H = sum(row * V) + from.
struct TensorTaps {
  Epilogue epilogue;
  std::vector<double> column, row;  ///< as the matrices hold them
  double start;                     ///< what V starts at
  double gain = 1, offset = 0, rounding_bias = 0, centre = 0;
  double from[max_planes][4]{};  ///< what H starts at
  float level[max_planes][4]{};  ///< of Epilogue::biased: the quantizer's offset and rounding bias
};

/// The taps that the kernel computes with, for column times row and, of real taps, `centre` more at the centre; false
/// where the result could be off by a code value, and where sizes or numbers do not fit.
bool make_tensor_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const SpaceFactors& factors, double centre,
                      TensorTaps& taps);

/// Taps in half precision of filters that factor over time as well: V is the sum of the frames' column passes.
struct FrameTaps {
  TensorTaps taps;                   ///< `column`: of all frames, [frame][row]
  double unit;                       ///< what V's start is a multiple of; 0: any half will do
  double row_sum;                    ///< what H grows by with V's start
  std::vector<double> start, ghost;  ///< by frame: what V is to start at for it, what its ghosts of level 1 add to H

  /// What V starts at, and H of component c of plane p, whose ghost cells have that level. `missing`: the frames of
  /// ghost cells, a bit each.
  double start_of(unsigned missing) const;
  double from_of(int p, int c, double level, unsigned missing) const;
};
/// As make_tensor_taps(), of a filter of any depth, tap(t, y, x) = time[t] * column[y] * row[x].
bool make_frame_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const std::vector<double>& time,
                     const SpaceFactors& space, FrameTaps& taps);

/// Adds the sparse matrix of a column, in halves, as 32 lanes hold it, four words each.
void add_half_columns(const std::vector<double>& column, int centre, std::vector<std::uint32_t>& words);
/// Adds a word a lane: which columns that matrix holds.
void add_chosen_columns(std::vector<std::uint32_t>& words);
/// Adds the matrices of a row, as the left ones, for outputs that reach `margin` blocks of 16 bytes on either side: of
/// 16 bytes, by each of the blocks around them; or `apart`, of the even ones of 32 bytes by each pair of blocks, and
/// then of the odd ones. step: bytes from a sample to the next one of its component, of even and of odd bytes.
void add_half_rows(const std::vector<double>& row, int centre, int margin, bool apart, const int (&step)[2],
                   std::vector<std::uint32_t>& words);

/// What the kernel's Products takes of plane p, in words: the fragments of the column matrix and of the two row
/// matrices, 32 lanes of four words each; of halves, the words that say which columns the sparse matrix holds, and of
/// three components those of the row's; then what V and H start at.
std::vector<std::uint32_t> make_fragments(const Filter& filter, const TensorTaps& taps, int p, int components);

/// True for packed 4:2:2 of an even width, which is whole pairs.
bool is_even_packed_422(const FrameLayout& layout);
/// Which component byte b of a pair of such pixels is of.
int component_at(const PlaneLayout& plane, int b);

/// Where PackedProducts finds what packed 4:2:2 has beyond four components, in uint4: three times the row's two
/// matrices, then the selectors.
struct PackedFragments {
  static constexpr int luma = 112, selectors = luma + 6 * 32;
};
/// Makes the fragments of packed 4:2:2. As components the words count luma, chroma, luma, chroma, whatever the order of
/// a pair's bytes; the row's matrices are the chroma's. Behind them are those of the luma: by inputs of the same place
/// in their pair as the output's, by those that lie right of these in theirs, and by those that lie left.
std::vector<std::uint32_t> make_packed_fragments(const Filter& filter, const TensorTaps& taps,
                                                 const PlaneLayout& plane);

}  // namespace convolve::cuda::tensor
