// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A GstAllocator of pinned, that is page-locked, system memory, which a GPU reads and writes while the CPU goes on.
#pragma once

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>

namespace convolve {

/// Pins memory for all contexts from within `context`, and keeps a reference to it. Where the system
/// has no more memory to pin, hands out pageable memory. Any thread. Transfer full.
GstAllocator* make_pinned_allocator(GstCudaContext* context);

/// Whether such an allocator made this memory, and pinned it.
bool is_page_locked(GstMemory* memory);

}  // namespace convolve
