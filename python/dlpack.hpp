// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Arrays in CUDA memory as DLPack capsules, read and made. The structures are those of DLPack's stable binary interface
// (https://dmlc.github.io/dlpack/latest/c_api.html): version 1.0, and the one without a version before it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace videoconvolve_python {

/// One array as DLPack describes it; strides count elements.
struct DlpackArray {
  std::uintptr_t data = 0;  ///< of the first element
  int device_type = 0, device = 0;
  int code = 0, bits = 0;  ///< 0 int, 1 uint, 2 float, ...
  std::vector<std::int64_t> shape, strides;
  bool readonly = false;
};

/// The array that a producer's capsule describes. The capsule stays the producer's: who keeps it keeps the memory.
/// Throws std::invalid_argument where it is none.
DlpackArray read_capsule(nanobind::handle capsule);

/// A capsule of this array; `owner` lives as long as it. Without a version a consumer cannot be told that an array
/// is only to be read.
nanobind::object make_capsule(const DlpackArray& array, nanobind::object owner, bool versioned);

}  // namespace videoconvolve_python
