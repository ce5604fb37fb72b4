// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernel for 16-bit samples and 16 to 31 taps an axis, as its plan sees it: that in single precision
// (single.hpp) with a taller tile, since more taps reach more rows beyond it.
#pragma once

#include <array>
#include <memory>

#include "convolve/arithmetic.hpp"
#include "cuda/common/entry.hpp"
#include "cuda/separable/single.hpp"

namespace convolve::cuda {

struct WideTile {
  static constexpr int max_taps = 31;
  static constexpr int made = 16, rows = SingleTile::warps * made;  ///< rows that a warp makes, and a block
  static constexpr int blocks = 2;                                  ///< to be resident on a multiprocessor
};

struct WideArgs {
  SingleArgs single;                                          ///< but for the taps
  float row[WideTile::max_taps], column[WideTile::max_taps];  ///< centred in, and padded to, the size class
};
static_assert(sizeof(WideArgs) <= 4096);

struct WideKernel {
  int width;  ///< filters up to this wide and high; smaller ones are padded with zero taps
  void (*run)(WideArgs);
  int shared;  ///< bytes of shared memory
};
/// The kernels, the smallest first, for planes of one component, or of one and two.
extern const std::array<WideKernel, 2> wide_words_one, wide_words_one_and_two;

/// One frame of 16-bit samples in planes of one component, or of one and two, of rank 1; null where that does not serve
/// the case.
std::unique_ptr<Plan> make_separable_wide_words(const Device& device, const PlanDesc& desc,
                                                const Arithmetic& arithmetic);

}  // namespace convolve::cuda
