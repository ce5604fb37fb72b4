// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's kernels for pixels of four 16-bit components, and which case takes which.
#include "cuda/separable/four_stream.cuh"

namespace convolve::cuda {
namespace {

template <int filtered, int width, bool several>
constexpr FourStreamKernel kernel{width, separable_four_kernel<filtered, width, several>,
                                  four_stream_warps* SeparableFourShared<width, several>::bytes,
                                  SeparableFourShared<width, several>::strip, separable_four_blocks(filtered, width)};

template <bool several>
const FourStreamKernel* find(int filtered, int width) {
  const auto of_width = [&]<int f>() -> const FourStreamKernel* {
    if (width <= 7)
      return width <= 3 ? &kernel<f, 3, several> : width <= 5 ? &kernel<f, 5, several> : &kernel<f, 7, several>;
    if constexpr (!several)
      return width <= 9    ? &kernel<f, 9, false>
             : width <= 11 ? &kernel<f, 11, false>
             : width <= 15 ? &kernel<f, 15, false>
                           : nullptr;
    return nullptr;
  };
  return filtered == 4   ? of_width.template operator()<4>()
         : filtered == 3 ? of_width.template operator()<3>()
                         : nullptr;
}

}  // namespace

const FourStreamKernel* find_separable_four(int filtered, int width) {
  return find<false>(filtered, width);
}
const FourStreamKernel* find_separable_four_frames(int filtered, int width) {
  return find<true>(filtered, width);
}

}  // namespace convolve::cuda
