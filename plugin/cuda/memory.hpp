// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>

#include <memory>

#include "../frame_memory.hpp"

namespace convolve {

/// The memory of a GPU, with the CUDA backend in `context`. Frames in CUDA memory of that context are
/// filtered where they lie; those in system memory are copied there and back. Throws std::runtime_error where the
/// backend cannot run, with why not.
std::unique_ptr<FrameMemory> make_cuda_memory(GstCudaContext* context);

}  // namespace convolve
