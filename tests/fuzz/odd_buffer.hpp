// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Buffers as no sane element makes them, and whether the element has to take them nonetheless.
#pragma once

#include <gst/video/video.h>

#include "bytes.hpp"

namespace fuzz {

struct OddBuffer {
  GstBuffer* buffer = nullptr;  ///< owned by whom it is given to
  bool is_good = true;          ///< it holds all that its caps, and its metas, say: no error is allowed
};

/// A buffer for `info`, not empty, in memory that ends where its last byte does, so that AddressSanitizer sees what is
/// read beyond it.
OddBuffer make_odd_buffer(Bytes& bytes, const GstVideoInfo& info);

/// One of `pool`, as it comes, but for times and flags; null where the pool has none.
GstBuffer* odd_buffer_of_pool(Bytes& bytes, GstBufferPool* pool);

/// Memory of `size` bytes with nothing behind it, each byte `value`.
GstMemory* exact_memory(gsize size, guint8 value);

}  // namespace fuzz
