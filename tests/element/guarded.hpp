// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Memory beside a page that nobody may touch: an access past its end, or before its start, is a SIGSEGV at once.
#pragma once

#include "harness.hpp"

namespace element_test {

enum class Guard { after, before };

/// Memory of `size` bytes, zeroed, the last of which lies before such a page, or the first behind one. The other end is
/// that of a page's, so that only one side is exact.
GstMemory* guarded_memory(gsize size, Guard guard);

/// The same buffer, flags and metas included, with each of its memories in such memory.
Owned<GstBuffer> guarded(GstBuffer* buffer, Guard guard);

/// An allocator of such memory, for downstream to propose. Transfer full.
GstAllocator* guarded_allocator(Guard guard);

}  // namespace element_test
