// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes of bytes by running sums, sums over the lanes of a warp: see byte_box.cuh.
#pragma once

#include <cstdint>

#include "cuda/common/sums/ptx.cuh"

namespace convolve::cuda::byte_box {

/// Exclusive sums over the lanes of `count` numbers, a power of two. Lanes exchange halves of what they have, until
/// each has one number, summed over as many lanes as there are numbers; then what comes before goes back the same way.
/// Of eight numbers that is 16 shuffles, not 40.
///
///   four numbers of two lanes     a0 a1 a2 a3     b0 b1 b2 b3
///   exchanged, and added          a0+b0 a1+b1     a2+b2 a3+b3
template <int count>
struct LaneSums {
  std::uint32_t before[count];  ///< of the first of two lanes, by level: count / 2 numbers, then half as many
  /// The number of those that the lane has in the end.
  static __device__ __forceinline__ int number_of(int lane) {
    int number = 0;
#pragma unroll
    for (int d = 1, n = count / 2; n > 0; d *= 2, n /= 2) number += lane & d ? n : 0;
    return number;
  }
  /// The sum of the lane's number over lanes up to its group's last.
  __device__ __forceinline__ std::uint32_t gather(std::uint32_t (&number)[count], int lane, std::uint32_t& own) {
#pragma unroll
    for (int d = 1, n = count / 2; n > 0; d *= 2, n /= 2)
#pragma unroll
      for (int i = 0; i < n; ++i) {
        const bool second = lane & d;
        const std::uint32_t keep = second ? number[i + n] : number[i], give = second ? number[i] : number[i + n],
                            taken = __shfl_xor_sync(~0u, give, d);
        before[n + i] = second ? taken : keep;
        number[i] = keep + taken;
      }
    own = number[0];
    std::uint32_t sum = own;
#pragma unroll
    for (int d = count; d < 32; d *= 2) ptx::add_lane_before(sum, d);
    return sum;
  }
  /// From what comes before the lane's group, what comes before the lane, of all numbers.
  __device__ __forceinline__ void spread(std::uint32_t (&number)[count], int lane, std::uint32_t base) const {
    number[0] = base;
#pragma unroll
    for (int d = count / 2, n = 1; d > 0; d /= 2, n *= 2)
#pragma unroll
      for (int i = 0; i < n; ++i) {
        const bool second = lane & d;
        const std::uint32_t first = number[i], next = first + before[n + i];
        const std::uint32_t keep = second ? next : first, taken = __shfl_xor_sync(~0u, second ? first : next, d);
        number[i] = second ? taken : keep;
        number[i + n] = second ? keep : taken;
      }
  }
};

}  // namespace convolve::cuda::byte_box
