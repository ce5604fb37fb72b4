// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The factors of a filter as separable's plans compute with them, and the plans that its files make.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "convolve/arithmetic.hpp"
#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// tap(t, y, x) = time[t] * the sum over `space` of column[y] * row[x]: one term of integers over the arithmetic's
/// divisor in the exact class, where every intermediate sum is then exact as well, else effective taps.
struct Factors {
  std::vector<double> time;
  std::vector<SpaceFactors> space;
};

/// In single precision, and of some ranks: `serves` says for which cases.
bool serves_separable_single(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                             std::size_t terms);
std::unique_ptr<Plan> make_separable_single(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const Factors& factors);

/// A filter of any size that has frame_factors(): a row pass into device memory and a column pass from there.
std::unique_ptr<Plan> make_separable_passes(const Device& device, const PlanDesc& desc);
/// Whether that is on the tensor cores, or by running sums of bytes.
bool passes_on_tensor_cores(const Device& device, const PlanDesc& desc);

/// Planes of one and two components, or of three or four alone; of three, all filtered and of the same levels. What
/// differs from component to component then goes by a sample's place in a group of four.
bool repeats_by_fours(const FrameLayout& layout);

/// Bytes, of three components where all are filtered alike, one frame, up to 255 taps an axis, alone or with one more
/// tap at the centre: the same passes on the tensor cores; null where they do not serve the case.
bool serves_separable_large(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic);
std::unique_ptr<Plan> make_separable_large(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic);

/// One frame of 16-bit samples, all taps equal, up to 255 an axis: running sums; null where they do not serve the case.
std::unique_ptr<Plan> make_separable_box(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic);

/// The same of bytes, of three components where all are filtered alike, and of packed 4:2:2 of even widths, where that
/// is faster than the tensor cores.
bool serves_separable_byte_box(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic);
std::unique_ptr<Plan> make_separable_byte_box(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic);

/// Rank 1, or that and one more real tap at the centre: whether the tensor cores serve the case.
bool serves_separable_tensor(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                             const SpaceFactors& factors, double centre);

/// Rank 1, or that and one more real tap at the centre, both passes as banded products on the tensor cores; null where
/// that does not serve the case.
std::unique_ptr<Plan> make_separable_tensor(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const SpaceFactors& factors, double centre = 0);

/// Bytes of rank 1 over two to five frames, real taps up to 7x7: a stream of rows in half precision; null where that
/// does not serve the case. The other plan runs frames whose addresses and strides do not.
bool serves_separable_frame_rows(const PlanDesc& desc, const Arithmetic& arithmetic, const Factors& factors);
std::unique_ptr<Plan> make_separable_frame_rows(const Device& device, const PlanDesc& desc,
                                                const Arithmetic& arithmetic, const Factors& factors,
                                                const std::function<std::unique_ptr<Plan>()>& make_unaligned);

/// Bytes of rank 1 over several frames, and of packed 4:2:2 over one as well: the same products, with the frames added
/// up in the column pass; null where that does not serve the case.
bool serves_separable_frames(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                             const Factors& factors);
std::unique_ptr<Plan> make_separable_frames(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const Factors& factors);

}  // namespace convolve::cuda
