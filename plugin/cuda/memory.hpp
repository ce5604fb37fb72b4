// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The FrameMemory of a build with CUDA: a GPU's memory, with the CUDA backend. Owned and used as frame_memory.hpp says.
#pragma once

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>

#include <memory>

#include "../frame_memory.hpp"

namespace convolve {

/// The memory of the GPU of `context`, to which it keeps a reference. Frames in CUDA memory of that context are
/// filtered where they lie; those in system memory are copied there and back. Throws std::runtime_error where the
/// backend cannot run, with why not.
std::unique_ptr<FrameMemory> make_cuda_memory(GstCudaContext* context);

}  // namespace convolve
