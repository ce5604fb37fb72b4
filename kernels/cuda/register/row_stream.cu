// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row stream's kernels, and which case takes which.
#include <algorithm>
#include <array>

#include "cuda/register/row_stream.cuh"

namespace convolve::cuda {
namespace {

template <class Sample, PlaneMix mix, int width>
constexpr RowStreamKernel kernel{
    [](int capability, const RowStreamArgs& args, int blocks, cudaStream_t stream) {
      launch_pdl(capability, row_stream_kernel<Sample, mix, width>, blocks, dim3(32 * row_stream_warps), stream, args);
    },
    [] {
      int blocks = 1;
      if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, row_stream_kernel<Sample, mix, width>,
                                                        32 * row_stream_warps, 0) != cudaSuccess)
        cudaGetLastError();
      return std::max(blocks, 1);
    }};

using KernelRow = std::array<const RowStreamKernel*, row_stream_classes>;
template <class Sample, PlaneMix mix>
constexpr KernelRow row{&kernel<Sample, mix, register_classes[0]>, &kernel<Sample, mix, register_classes[1]>,
                        &kernel<Sample, mix, register_classes[2]>};

}  // namespace

const RowStreamKernel* find_subnormal_row_stream(PlaneMix mix, std::size_t width_class) {
  if (width_class >= row_stream_classes) return nullptr;
  switch (mix) {
    case PlaneMix::one:
      return row<SubnormalWord, PlaneMix::one>[width_class];
    case PlaneMix::one_and_two:
      return row<SubnormalWord, PlaneMix::one_and_two>[width_class];
    case PlaneMix::four:
      return row<SubnormalWord, PlaneMix::four>[width_class];
    default:
      return nullptr;
  }
}

const RowStreamKernel* find_row_stream(SampleType type, PlaneMix mix, std::size_t width_class) {
  struct TableRow {
    SampleType type;
    PlaneMix mix;
    const KernelRow* kernels;
  };
  static constexpr TableRow table[]{
      {SampleType::u8, PlaneMix::one, &row<std::uint8_t, PlaneMix::one>},
      {SampleType::u8, PlaneMix::one_and_two, &row<std::uint8_t, PlaneMix::one_and_two>},
      {SampleType::u8, PlaneMix::three, &row<std::uint8_t, PlaneMix::three>},
      {SampleType::u8, PlaneMix::four, &row<std::uint8_t, PlaneMix::four>},
      {SampleType::u16, PlaneMix::one, &row<std::uint16_t, PlaneMix::one>},
      {SampleType::u16, PlaneMix::one_and_two, &row<std::uint16_t, PlaneMix::one_and_two>},
      {SampleType::u16, PlaneMix::four, &row<std::uint16_t, PlaneMix::four>},
      {SampleType::f32, PlaneMix::one, &row<float, PlaneMix::one>},
  };
  if (width_class >= row_stream_classes) return nullptr;
  for (const TableRow& entry : table)
    if (entry.type == type && entry.mix == mix) return (*entry.kernels)[width_class];
  return nullptr;
}

}  // namespace convolve::cuda
