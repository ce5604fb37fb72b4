// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Parts of frames by the kernels of whole frames. A part is taken for a frame of its own, a view into the frame that it
// lies in, and is filtered by a plan of its size:
//
//      frame    +------------------------------+
//               |      v----------------+      |     v: the view, which is as much larger than what is asked for
//               |      |   +---------+  |      |     as the filter reaches. At its ends it is taken to have borders,
//               |      |   |  asked  |  |      |     so that what comes out there is of no use; nobody asked for it.
//               |      |   +---------+  |      |
//               |      +----------------+      |     Where a view ends at the frame's end, its border is the frame's.
//               +------------------------------+
//
// Regions move, and change their sizes a little, from frame to frame. Views come in few sizes and begin at whole
// vectors of memory, so that a plan that was made once serves for most that follows.
#pragma once

#include <functional>
#include <memory>

#include "convolve/plan.hpp"

namespace convolve::cuda {

/// Makes a plan of the same case but for the frame's size. Throws as Backend::make_plan() does.
using PlanMaker = std::function<std::unique_ptr<Plan>(const PlanDesc&)>;

/// `whole`, the plan of `desc`, with an enqueue_areas() that filters a few views where that is less work than the whole
/// frame. All calls are on one stream; a plan of `make` may go while its work is queued there.
std::unique_ptr<Plan> make_area_plan(std::unique_ptr<Plan> whole, const PlanDesc& desc, PlanMaker make);

}  // namespace convolve::cuda
