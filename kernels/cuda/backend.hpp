// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The table of CUDA algorithms: what each one is called, which cases it serves, and how its plans are made.
//
// One file an algorithm defines one `Entry`; a new one is declared below and named in the table of backend.cpp.
// Host code only. Everything here runs with the context current that its kernels will run in, and never calls
// cudaSetDevice, which would displace a context that the caller pushed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "convolve/plan.hpp"

namespace convolve::cuda {

/// The GPU of the current context, as found by the trial launch.
struct Device {
  int capability = 0;  ///< 10 * major + minor of the compute capability: 75, 90, 120
  int multiprocessors = 0;
  std::size_t parameter_bytes = 4096;  ///< the most that a kernel's parameters may hold
  int shared_bytes = 48 << 10;         ///< the most shared memory that a block may ask for
};

struct Entry {
  Algorithm algorithm;
  /// True where the algorithm runs this (validated) case right; else `why` says what it does not serve.
  bool (*serves)(const Device& device, const PlanDesc& desc, std::string& why);
  /// Called only where it serves. May allocate; throws PlanError.
  std::unique_ptr<Plan> (*make)(const Device& device, const PlanDesc& desc);
};

extern const Entry basic;
extern const Entry constant;
extern const Entry tiled;
extern const Entry cached_halo_seed;
extern const Entry cached_halo;
extern const Entry register_;
extern const Entry separable;
extern const Entry matrix;

/// Launches an empty kernel in the current context and waits for it; throws PlanError with the reason where that
/// fails.
Device probe_device();

}  // namespace convolve::cuda
