// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu.hpp"

#ifdef CONVOLVE_HAVE_CUDA
#include "cuda/gpu.hpp"
#endif

namespace convolve {

std::unique_ptr<Gpu> make_gpu() {
#ifdef CONVOLVE_HAVE_CUDA
  return std::make_unique<CudaGpu>();
#else
  return std::make_unique<Gpu>();
#endif
}

}  // namespace convolve
