// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/hopper/tensor/map.hpp"

#include <cuda_runtime.h>

namespace convolve::cuda {
namespace {

/// The driver's function, which no library is linked for; null where the driver has none.
auto encoder() noexcept {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    cudaGetLastError();  // it is no error of the launch that follows
    function = nullptr;
  }
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

}  // namespace

bool describe_tensor(CUtensorMap& map, TensorUnit unit, const std::uint8_t* first, int row_bytes, int rows,
                     std::ptrdiff_t stride, int box_row_bytes, int box_rows, bool swizzled) noexcept {
  static const auto encode = encoder();
  if (!encode || stride <= 0) return false;
  const int bytes = static_cast<int>(unit);
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>((row_bytes + bytes - 1) / bytes), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(stride)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_row_bytes / bytes), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  const auto type = unit == TensorUnit::byte ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  return encode(&map, type, 2, const_cast<std::uint8_t*>(first), sizes, strides, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace convolve::cuda
