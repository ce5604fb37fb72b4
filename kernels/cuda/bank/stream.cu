// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of the row stream of banks, and which case takes which.
#include <algorithm>

#include "cuda/bank/stream.cuh"

namespace convolve::cuda {
namespace {

template <class Sample, BankPlanes planes, BankTaps taps, BankSum sum>
constexpr BankStreamKernel kernel{
    [](int capability, const BankStreamArgs& args, int blocks, cudaStream_t stream) {
      launch_pdl(capability, bank_stream_kernel<Sample, planes, taps, sum>, blocks, dim3(32 * row_stream_warps), stream,
                 args);
    },
    [] {
      int blocks = 1;
      if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bank_stream_kernel<Sample, planes, taps, sum>,
                                                        32 * row_stream_warps, 0) != cudaSuccess)
        cudaGetLastError();
      return std::max(blocks, 1);
    }};

template <class Sample, BankPlanes planes>
const BankStreamKernel* find(BankTaps taps, BankSum sum) {
  const bool any = taps == BankTaps::any;
  if (sum == BankSum::linear) return any ? &kernel<Sample, planes, BankTaps::any, BankSum::linear> : nullptr;
  if (sum == BankSum::root)
    return any ? &kernel<Sample, planes, BankTaps::any, BankSum::root>
               : &kernel<Sample, planes, BankTaps::gradients, BankSum::root>;
  if constexpr (sizeof(Sample) == 2)
    return any ? &kernel<Sample, planes, BankTaps::any, BankSum::exact_root>
               : &kernel<Sample, planes, BankTaps::gradients, BankSum::exact_root>;
  return nullptr;
}

}  // namespace

const BankStreamKernel* find_bank_stream(SampleType type, BankPlanes planes, BankTaps taps, BankSum sum) {
  switch (type) {
    case SampleType::u8:
      return planes == BankPlanes::three          ? find<std::uint8_t, BankPlanes::three>(taps, sum)
             : planes == BankPlanes::luma_first   ? find<std::uint8_t, BankPlanes::luma_first>(taps, sum)
             : planes == BankPlanes::chroma_first ? find<std::uint8_t, BankPlanes::chroma_first>(taps, sum)
                                                  : nullptr;
    case SampleType::u16:
      return planes == BankPlanes::one           ? find<std::uint16_t, BankPlanes::one>(taps, sum)
             : planes == BankPlanes::one_and_two ? find<std::uint16_t, BankPlanes::one_and_two>(taps, sum)
             : planes == BankPlanes::four        ? find<std::uint16_t, BankPlanes::four>(taps, sum)
                                                 : nullptr;
    case SampleType::f32:
      return planes == BankPlanes::one ? find<float, BankPlanes::one>(taps, sum) : nullptr;
  }
  return nullptr;
}

}  // namespace convolve::cuda
