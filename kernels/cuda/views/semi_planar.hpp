// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packed 4:2:2 by the kernels of planes of one and two components, for filters so large that two passes over the frame
// cost less than kernels that compute in vain what the views of packed_422.hpp pass on.
//
//   bytes of a row     Y0 U  Y1 V  Y2 U  Y3 V ...
//   luma               Y0 Y1 Y2 Y3 ...                  one launch pulls both apart into memory of the plan, the filter
//   chroma             U  V  U  V ...                   goes from there to there, and a last launch joins them
#pragma once

#include <memory>

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// True for a large filter over one frame of packed 4:2:2 that is_packed_422().
bool is_large_packed_422(const PlanDesc& desc);
/// The frame as a plane of luma and one of chroma: the same plan otherwise.
PlanDesc as_semi_planar(const PlanDesc& desc);

/// The plan of the frame, from that of its two planes. Throws std::bad_alloc, PlanError.
std::unique_ptr<Plan> make_semi_planar(const Device& device, const PlanDesc& desc, std::unique_ptr<Plan> planes);

}  // namespace convolve::cuda
