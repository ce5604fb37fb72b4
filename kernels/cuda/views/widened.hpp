// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames whose rows are no whole vectors by the kernels of frames whose rows are, where those are so much faster that
// copies of the frames cost less than the rest.
//
//   row of the frame     p0 p1 p2 ... pn |
//   row of its copy      p0 p1 p2 ... pn | pn pn pn ...     what the border has beside the frame, as far as the filter
//                                                           reaches, to a whole number of vectors
//   row that is made     q0 q1 q2 ... qn | .  .  .  ...     of which the frame's part is copied to where it belongs
//
// Above, below and in time the border is the kernel's own.
#pragma once

#include <memory>
#include <optional>

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// The case of such copies: the same but for the width. Null where all widths are multiples of 16 pixels, which suit
/// all kernels, of frames of less than 64 pixels a row, where a plane's width is no half or quarter of the frame's, and
/// where what is beside the frame is no sample (ghost cells between two code values).
std::optional<PlanDesc> as_widened(const PlanDesc& desc);

/// Whether the copies cost less than what they save: `plan` is that of `desc`, `widened` that of as_widened(desc),
/// which is_worth_widening() was asked for before it was made. Measured on one H100, 2026-11-26.
bool is_worth_widening(const PlanDesc& desc, const Plan& plan);
bool is_faster_widened(const PlanDesc& desc, const Plan& plan, const Plan& widened);

/// The plan of the frame, from that of its copy. Throws std::bad_alloc, PlanError.
std::unique_ptr<Plan> make_widened(const Device& device, const PlanDesc& desc, const PlanDesc& wide,
                                   std::unique_ptr<Plan> widened);

}  // namespace convolve::cuda
