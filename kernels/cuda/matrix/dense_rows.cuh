// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The products of `matrix`, small filters: pairs of output rows of one component, from what a lane holds of its input
// rows. dense.cu says which of them that is.
#pragma once

#include "cuda/common/epilogue.cuh"
#include "cuda/common/ptx.cuh"
#include "cuda/matrix/dense.cuh"

namespace convolve::cuda {

#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

/// The operand that the sums of a component start from. It is loaded from memory, since a value that is computed or
/// constant would be moved into place again for each product.
struct Start {
  int sum[4];
  __device__ __forceinline__ void load(const MatrixLevels& levels, int c) {
    const int4 loaded = __ldg(&levels.start[c]);
    sum[0] = loaded.x, sum[1] = loaded.y, sum[2] = loaded.z, sum[3] = loaded.w;
  }
  /// Keeps the compiler from loading it only where it is used, and waiting there.
  __device__ __forceinline__ void hold() {
#pragma unroll
    for (int& s : sum) ptx::hide_here(s);
  }
};

/// Rows of a component, two a step, four pixels a word: packed[s][0] of the lane's strip g, packed[s][1] of g + 8.
/// left(s, i): row pair i of step s. Steps are made side by side because a product takes long to be there.
template <Epilogue epilogue, int steps, int radius, int limbs, class Left>
__device__ __forceinline__ void make_rows(const MatrixArgs& args, const Start& start, float base,
                                          const Right<radius, limbs>& right, const Left& left,
                                          std::uint32_t (&packed)[steps][2]) {
  const int nothing[4] = {};
  int made[steps][limbs][2][4];
#pragma unroll
  for (int i = 0; i <= radius; ++i)
#pragma unroll
    for (int s = 0; s < steps; ++s)
#pragma unroll
      for (int d = 0; d < limbs; ++d)
#pragma unroll
        for (int q = 0; q < 2; ++q) {
          // Exact sums of two limbs start once.
          const bool starts = epilogue == Epilogue::separate_limbs || d == limbs - 1;
          const int* from = i > 0 ? made[s][d][q] : starts ? start.sum : nothing;
          ptx::mma_u8_s8(made[s][d][q], left(s, i), right.word[d][i] + 2 * q, from);
        }
#pragma unroll
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int strip = 0; strip < 2; ++strip) {
      const auto sample = [&](int pixel) {
        const int q = pixel / 2, e = 2 * strip + pixel % 2;
        const int high = made[s][0][q][e], low = made[s][limbs - 1][q][e];
        const int sum[2] = {epilogue == Epilogue::separate_limbs || limbs == 1 ? high : high * 256 + low, low};
        return value_of<epilogue>(args, sum, base);
      };
      packed[s][strip] = pack_bytes(sample(0), sample(1), sample(2), sample(3));
    }
}

/// The sample of component c that a sum of its plain products stands for.
__device__ __forceinline__ std::uint8_t sample_of(const MatrixArgs& args, const MatrixLevels& levels, int c, int sum) {
  float value;
  if (args.epilogue == Epilogue::separate_limbs) {
    value = __fmaf_rn(__int2float_rn(sum), args.gain, levels.level[c]);
  } else {
    const float whole_sum = __int2float_rn(sum + levels.sum_start[c]);
    value = __fmaf_rn(whole_sum, args.gain, __fmul_rn(whole_sum, args.gain_low));
  }
  return static_cast<std::uint8_t>(min(max(__float2int_rn(value), 0), static_cast<int>(args.max & 255)));
}

#endif

}  // namespace convolve::cuda
