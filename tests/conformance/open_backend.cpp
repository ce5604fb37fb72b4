// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open_backend.hpp"

#include <stdexcept>
#include <utility>

namespace conformance {

OpenBackend open_cpu(unsigned threads) {
  return {host_memory(), convolve::make_cpu_backend(threads)};
}

OpenBackend open_cuda() {
#ifdef CONVOLVE_HAVE_CUDA
  std::unique_ptr<Memory> memory = cuda_memory();
  return {std::move(memory), convolve::make_cuda_backend()};
#else
  throw std::runtime_error("this build has no CUDA backend");
#endif
}

}  // namespace conformance
