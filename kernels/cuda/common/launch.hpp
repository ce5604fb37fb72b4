// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What every plan's host side shares: arguments made once and bound to each frame's planes, owned device memory,
// and the text of a launch that failed.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "convolve/plan.hpp"
#include "cuda/common/frame.cuh"

namespace convolve::cuda {

/// Everything but the planes' addresses and the tiles.
FrameArgs make_frame_args(const PlanDesc& desc, const Arithmetic& arithmetic);

/// Covers every component with tiles of this many samples and returns the number of tiles, all of them blocks of
/// one launch. Throws PlanError where that is more than a launch may have.
int set_tiles(FrameArgs& frame, int tile_width, int tile_height);

/// Puts this frame's planes in.
void bind(FrameArgs& frame, int planes, const Window& window, const Image& out) noexcept;

/// Puts one plane in. Returns all bits that are set in its addresses and strides: what is a multiple of 2^n, they are.
template <class Plane>
std::uintptr_t bind(Plane& plane, const PlaneView& from, const PlaneView& to) noexcept {
  plane.in = static_cast<const std::uint8_t*>(from.data);
  plane.out = static_cast<std::uint8_t*>(to.data);
  plane.in_stride = from.stride;
  plane.out_stride = to.stride;
  return reinterpret_cast<std::uintptr_t>(from.data) | reinterpret_cast<std::uintptr_t>(to.data) |
         static_cast<std::uintptr_t>(from.stride) | static_cast<std::uintptr_t>(to.stride);
}

/// True where the plane's address and stride are multiples of so many bytes.
inline bool aligned(const PlaneView& view, int bytes) noexcept {
  return (reinterpret_cast<std::uintptr_t>(view.data) | static_cast<std::uintptr_t>(view.stride)) % bytes == 0;
}

/// Null, or the static text of what the launch just made on this thread failed with.
inline const char* launch_error() noexcept {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

/// The quotient of a number above 0, rounded up.
constexpr int ceil_div(int a, int b) {
  return (a - 1) / b + 1;
}

/// The blocks of a launch, for its grid. Throws PlanError where they are too many.
inline unsigned checked_blocks(std::int64_t blocks) {
  if (blocks > (1LL << 30)) throw PlanError("the frame is too large for one launch");
  return static_cast<unsigned>(blocks);
}

/// Returns the bytes of shared memory to ask for beyond what a kernel needs, so that a multiprocessor holds no more
/// than `blocks` of its blocks of `threads` threads. Without that limit, a launch that begins while the one before it
/// still runs would crowd onto the multiprocessors that finish first. Throws PlanError.
unsigned residency_limit(const void* kernel, unsigned threads, std::int64_t blocks);

/// Launches a kernel on a GPU of this capability by programmatic dependent launch (CUDA C++ Programming Guide): from
/// compute capability 9.0 on its blocks may start while the launch before it in the stream is still ending. The kernel
/// calls pdl_wait() before it touches a frame.
template <class Args>
void launch_pdl(int capability, void (*kernel)(Args), unsigned blocks, dim3 threads, void* stream, const Args& args,
                unsigned shared_memory = 0) noexcept {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_memory;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &early;
  config.numAttrs = capability >= 90 ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, args);
}

#ifdef __CUDACC__
/// Lets the next launch of the stream start its blocks, and waits until all that the stream did before this launch is
/// done and can be seen.
///
/// Frames, and memory that another launch of the plan writes, are read by plain loads where nothing else comes between
/// the wait and the load. ptxas takes what is read by way of the read-only cache (__ldg(), ld.global.nc) for constant
/// and may move the load up past the wait, as CUDA 13.0 did in one kernel. Where a kernel takes that way all the same,
/// its machine code has to be looked at: tests/gpu/early_loads.py does. Tables may be read before the wait that the
/// stream copied before the plan's first launch. A thread that does not come here touches a frame only behind one that
/// did, at a barrier.
__device__ __forceinline__ void pdl_wait() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}
#endif

}  // namespace convolve::cuda
