// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packed 4:2:2 (YUY2, UYVY, Y210 and their kin) by the kernels of evenly interleaved planes: what `auto` takes for
// such frames where no kernel of `matrix` or `separable` makes luma and chroma at once. This is no algorithm of its
// own, but a way to bring such frames to all of them.
//
//   bytes of a row         Y0 U  Y1 V  Y2 U  Y3 V        one view has pixels of two samples, filters the first
//   as pixels of two       Y0 .  Y1 .  Y2 .  Y3 .        and passes the second on; the other has pixels of four and
//   as pixels of four      .  U  .  V  .  U  .  V        filters two of them
//
// The chroma's view is filtered into the output, the luma's into a frame of the plan's own; a third launch puts the
// luma into the output. Every kernel that serves planes of two and of four components serves such frames so.
#pragma once

#include <memory>

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// The two views of a frame: the same plan otherwise.
struct Packed422 {
  PlanDesc luma, chroma;
};

/// True for one plane of packed 4:2:2, of an even width, with luma to be filtered and chroma too.
bool is_packed_422(const FrameLayout& layout);
/// The views of such a frame.
Packed422 split_packed_422(const PlanDesc& desc);

/// The plan of both, from those of the views. Allocates a frame in device memory; throws std::bad_alloc, PlanError.
std::unique_ptr<Plan> make_packed_422(const Device& device, const FrameLayout& layout, std::unique_ptr<Plan> luma,
                                      std::unique_ptr<Plan> chroma);

}  // namespace convolve::cuda
