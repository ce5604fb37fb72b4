// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A writer of frames that is late: its kernel lets the next launch of the stream begin at once (programmatic dependent
// launch, CUDA C++ Programming Guide), and writes some 50 us later. What reads a frame before it has waited for the
// launch before sees what was there.
#pragma once

#include <cstddef>
#include <span>

namespace conformance {

struct LateCopy {
  void* to;
  const void* from;
  std::size_t size;
};
/// At most so many at once.
constexpr std::size_t most_late_copies = 60;

/// Queues copies of device memory on a CUstream.
void copy_late(std::span<const LateCopy> copies, void* stream);

}  // namespace conformance
