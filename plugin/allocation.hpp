// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Allocation: whose memory frames live in. Streaming thread only.
#pragma once

#include <gst/base/gstbasetransform.h>

#include "gpu.hpp"
#include "process.hpp"

namespace convolve {

/// Answers upstream's ALLOCATION query: video meta, and buffers enough for the window; page-locked where a GPU will
/// fetch them, or its own memory.
bool propose_allocation(const Process& process, GstQuery* query);

/// Puts into downstream's answer the pool of our outputs, ahead of the base class's own decisions: theirs where it
/// serves, else one of page-locked or CUDA memory.
/// `cuda_device_id` as the property: of the GPU that the CPU backend's frames in CUDA memory lie on.
bool decide_allocation(const Process& process, Gpu& gpu, int cuda_device_id, GstElement* element, GstQuery* query);

}  // namespace convolve
