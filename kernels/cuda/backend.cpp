// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/backend.hpp"

namespace convolve {

std::unique_ptr<Backend> make_cuda_backend() {
  throw PlanError("the CUDA backend has no algorithm yet");
}

}  // namespace convolve
