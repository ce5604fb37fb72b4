// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Effects on regions of frames in device memory.
//
// The host makes the list of layers (regions/weights.hpp, as for the CPU). Effects that hide by means take two launches
// on the stream, the others one, however many regions there are:
//
//     set_regions()            apply()
//     layers, spans, maps ──>  copy of the list ──>  means: sums of cells  ──>  effect: values, weights, frame
//     in a page-locked slot    (none where it is     (blur, pixelate)           and zeroes for the next frame's sums
//                              short: parameters)
//
// Spans are what the rows of ellipses hold, maps the weights of pixels (args.hpp). Rectangles apart from each other
// have kernels of their own, one launch a frame: rectangles.hpp.
//
// Regions that are those of the frame before are neither made into layers nor sent again. Nothing waits: a list that is
// still on its way keeps its slot, and the next one takes another.
#pragma once

#include <memory>

#include "convolve/region.hpp"
#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// Throws PlanError for layouts that it does not serve. The context to run in is current, here and at each call; all
/// calls of apply() are on one stream, which is synchronised with before the plan goes.
std::unique_ptr<RegionPlan> make_cuda_region_plan(const Device& device, const RegionDesc& desc);

}  // namespace convolve::cuda
