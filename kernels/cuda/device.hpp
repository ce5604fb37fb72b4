// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the backend asks of the GPU when it is made.
#pragma once

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// Launches an empty kernel in the current context and waits for it; throws PlanError with the reason where that
/// fails.
Device probe_device();

}  // namespace convolve::cuda
