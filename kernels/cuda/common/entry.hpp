// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What every algorithm gives to the backend: which cases it serves, and how its plans are made.
//
// Each algorithm's folder defines one `Entry`, declared in the header of the folder's name; the backend lists them.
// Host code only. Everything here runs with the context current that its kernels will run in, and never calls
// cudaSetDevice, which would displace a context that the caller pushed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "convolve/plan.hpp"
#include "cuda/common/limits.hpp"

namespace convolve::cuda {

class TablePool;

/// The GPU of the current context, as probe_device() finds it, and what its plans share.
struct Device {
  int capability = 0;  ///< 10 * major + minor of the compute capability: 75, 90, 120
  int multiprocessors = 0;
  std::size_t parameter_bytes = 4096;  ///< the most that a kernel's parameters may hold
  int shared_bytes = 48 << 10;         ///< the most shared memory that a block may ask for
  std::shared_ptr<TablePool> tables;   ///< the backend's
};

struct Entry {
  Algorithm algorithm;
  /// True where the algorithm runs this (validated) case right, whose filter is no larger than `max_side`; else `why`
  /// says what it does not serve.
  bool (*serves)(const Device& device, const PlanDesc& desc, std::string& why);
  /// Called only where it serves. May allocate; throws PlanError.
  std::unique_ptr<Plan> (*make)(const Device& device, const PlanDesc& desc);
  int max_side = max_taps;  ///< taps of the longer spatial axis
};

}  // namespace convolve::cuda
