// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Backends for the conformance programs, each with the memory that its frames live in.
#pragma once

#include <memory>

#include "convolve/backend.hpp"
#include "memory.hpp"

namespace conformance {

#ifdef CONVOLVE_HAVE_CUDA
inline constexpr bool has_cuda = true;
#else
inline constexpr bool has_cuda = false;
#endif

struct OpenBackend {
  std::unique_ptr<Memory> memory;
  std::unique_ptr<convolve::Backend> backend;
};

OpenBackend open_cpu(unsigned threads);

/// Throws std::runtime_error where there is no device, and in a build without CUDA.
OpenBackend open_cuda();

}  // namespace conformance
