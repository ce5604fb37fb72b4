// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// register's kernels for pixels of four 16-bit components, and which case takes which.
#include "cuda/register/four_stream.cuh"

namespace convolve::cuda {
namespace {

template <int filtered, int width>
constexpr FourStreamKernel kernel{width, register_four_kernel<filtered, width>,
                                  four_stream_warps* FourShared<width, register_four_slots(filtered, width)>::bytes,
                                  FourShared<width, register_four_slots(filtered, width)>::strip,
                                  register_four_blocks(width)};

}  // namespace

const FourStreamKernel* find_register_four(int filtered, int width) {
  const auto of_width = [&]<int f>() -> const FourStreamKernel* {
    return width <= 3 ? &kernel<f, 3> : width <= 5 ? &kernel<f, 5> : width <= 7 ? &kernel<f, 7> : nullptr;
  };
  return filtered == 4 ? of_width.operator()<4>() : filtered == 3 ? of_width.operator()<3>() : nullptr;
}

}  // namespace convolve::cuda
