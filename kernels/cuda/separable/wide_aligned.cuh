// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames for wide.cuh whose rows do not begin at multiples of 16 bytes: a kernel of its own copies them to memory where
// they do, before the one that filters, or what that makes to where it belongs. Included by wide.cu alone.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda/common/entry.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/wide.hpp"

namespace convolve::cuda::wide {

/// A plane on its way. Rows of `to` have as many bytes or a few more, which become 0.
struct RowCopy {
  const std::uint8_t* from;
  std::uint8_t* to;
  std::ptrdiff_t from_stride, to_stride;
  int row_bytes, to_row_bytes, height;
};
struct RowCopies {
  RowCopy plane[max_planes];
};

constexpr int copy_threads = 128, most_rows = 65535;  ///< of a block, and of a launch at once

/// A thread copies the bytes of a row that belong into 16 bytes of memory, a vector where all of them do.
__global__ void __launch_bounds__(copy_threads) copy_rows_kernel(const __grid_constant__ RowCopies copies) {
  const RowCopy& copy = copies.plane[blockIdx.z];
  const int vector = static_cast<int>(blockIdx.x * copy_threads + threadIdx.x);
  for (int y = static_cast<int>(blockIdx.y); y < copy.height; y += static_cast<int>(gridDim.y)) {
    std::uint8_t* const to = copy.to + y * copy.to_stride;
    const std::uint8_t* const from = copy.from + y * copy.from_stride;
    const int x = 16 * vector - static_cast<int>(reinterpret_cast<std::uintptr_t>(to) & 15);
    const auto shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(from + x) & 3);
    if (x >= shift && x + 20 <= copy.row_bytes) {  // so that no word is beside the row
      const auto* const words = reinterpret_cast<const std::uint32_t*>(from + x - shift);
      std::uint32_t word[5];
#pragma unroll
      for (int k = 0; k < 5; ++k) word[k] = __ldg(words + k);
#pragma unroll
      for (int k = 0; k < 4; ++k) word[k] = __funnelshift_r(word[k], word[k + 1], 8 * static_cast<unsigned>(shift));
      *reinterpret_cast<uint4*>(to + x) = {word[0], word[1], word[2], word[3]};
    } else {
#pragma unroll 1
      for (int b = max(x, 0); b < min(x + 16, copy.to_row_bytes); ++b) to[b] = b < copy.row_bytes ? __ldg(from + b) : 0;
    }
  }
}

/// The memory of a plan for such copies.
class AlignedRows {
 public:
  void reserve(const Device& device, const Args& args) {
    for (int p = 0; p < args.planes; ++p) {
      const Plane& plane = args.plane[p];
      first_[p] = bytes_;
      bytes_ += static_cast<std::size_t>(stride_of(plane)) * static_cast<std::size_t>(plane.height);
    }
    rows_ = Table<std::uint8_t>(device.tables, 2 * bytes_);
  }
  /// Queues copies of the planes, which are then what is to be filtered. Null, or the static text of what failed.
  const char* take(Args& args, void* stream) const noexcept {
    RowCopies copies{};
    for (int p = 0; p < args.planes; ++p) {
      Plane& plane = args.plane[p];
      std::uint8_t* const to = filtered(p);
      const std::ptrdiff_t stride = stride_of(plane);
      copies.plane[p] = {plane.in,    to, plane.in_stride, stride, plane.row_bytes, static_cast<int>(stride),
                         plane.height};
      plane.in = to, plane.in_stride = stride;
    }
    return copy(copies, args.planes, stream);
  }
  /// What is made goes to this memory, from where give() queues copies to the frame.
  void set_out(Args& args, void* stream) noexcept {
    // Once: of what tensor copies write, compute-sanitizer's initcheck (CUDA 13.0) does not know that it is written.
    if (!std::exchange(cleared_, true)) cudaMemsetAsync(made(0), 0, bytes_, static_cast<cudaStream_t>(stream));
    for (int p = 0; p < args.planes; ++p) {
      Plane& plane = args.plane[p];
      plane.out = made(p), plane.out_stride = stride_of(plane);
    }
  }
  const char* give(const Args& args, const Image& out, void* stream) const noexcept {
    RowCopies copies{};
    for (int p = 0; p < args.planes; ++p) {
      const Plane& plane = args.plane[p];
      copies.plane[p] = {plane.out,        static_cast<std::uint8_t*>(out.plane[p].data),
                         plane.out_stride, out.plane[p].stride,
                         plane.row_bytes,  plane.row_bytes,
                         plane.height};
    }
    return copy(copies, args.planes, stream);
  }

 private:
  static std::ptrdiff_t stride_of(const Plane& plane) { return ceil_div(plane.row_bytes, 16) * 16; }
  static const char* copy(const RowCopies& copies, int planes, void* stream) noexcept {
    int vectors = 0, height = 0;
    for (int p = 0; p < planes; ++p) {
      vectors = std::max(vectors, ceil_div(copies.plane[p].row_bytes, 16) + 1);
      height = std::max(height, copies.plane[p].height);
    }
    const dim3 blocks(static_cast<unsigned>(ceil_div(vectors, copy_threads)),
                      static_cast<unsigned>(std::min(height, most_rows)), static_cast<unsigned>(planes));
    copy_rows_kernel<<<blocks, copy_threads, 0, static_cast<cudaStream_t>(stream)>>>(copies);
    return launch_error();
  }

  std::uint8_t* filtered(int p) const { return rows_.get() + first_[p]; }
  std::uint8_t* made(int p) const { return filtered(p) + bytes_; }

  Table<std::uint8_t> rows_;  ///< of what is filtered, then of what is made
  std::size_t first_[max_planes] = {}, bytes_ = 0;
  bool cleared_ = false;  ///< what is made
};

}  // namespace convolve::cuda::wide
