// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RGB and BGR of 8 bits by the kernels of one component, for narrow filters over several frames: what `auto` takes for
// such frames.
//
//   bytes of a row        R0 G0 B0 R1 G1 B1 R2 G2 B2
//   taps a b c            a  .  .  b  .  .  c           of R1; one byte on, of G1, and so on
//
// Seen as one component, three times as wide, the plane takes the same filter with two zeros between its columns. Only
// beside the frame's left and right edges does that not hold, since a border repeats pixels and not bytes: a second
// launch makes the columns there.
#pragma once

#include <memory>

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// True for one plane of three 8-bit components, all filtered and of the same levels, and a filter over several frames
/// that is narrow enough for the kernels that are fast on one component.
bool is_triple(const PlanDesc& desc);
/// The view of such a frame: the same plan otherwise.
PlanDesc as_one_component(const PlanDesc& desc);

/// The plan of the frame, from that of its view. Throws std::bad_alloc, PlanError.
std::unique_ptr<Plan> make_triple(const Device& device, const PlanDesc& desc, std::unique_ptr<Plan> view);

}  // namespace convolve::cuda
