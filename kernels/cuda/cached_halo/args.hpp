// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What cached-halo's kernels are given, and how a plan fills it in: host code, compiled once and tested without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda/cached_halo/tuning.hpp"
#include "cuda/common/frame.cuh"
#include "cuda/common/limits.hpp"

namespace convolve::cuda {

/// Components that share a tile: all of a uniform plane, or a single one of any other.
struct HaloGroup {
  std::uint8_t first, count;
};

struct HaloFrame {
  FrameArgs frame;
  float weight[max_taps];             ///< of each frame; 1 where they are not combined
  float base[max_frame_components];   ///< what unpack() subtracts from each component's samples
  float ghost[max_frame_components];  ///< cells that stand for ghosts
  HaloGroup group[max_frame_components];
  std::uint8_t groups, combine;
  std::uint8_t in_aligned[max_planes], out_aligned[max_planes];  ///< to 16 bytes, rows and all
};

template <int capacity>
struct HaloArgs : HaloFrame {
  float taps[capacity];  ///< [frame, unless combined][row][2 * radius + 1]
};
static_assert(sizeof(HaloArgs<few_taps>) <= 4096);

/// True where the filter, padded to a compiled radius, has more taps than the small kernel parameters hold.
bool has_many_taps(const Filter& filter, SampleType type);

/// The columns to either side of the centre that the kernel for this filter is compiled for.
int compiled_radius(const Filter& filter, SampleType type, bool many_taps);

/// Whether these kernels filter such frames on a GPU that takes so many bytes of kernel parameters; else `why` says why
/// not.
bool serves_cached_halo(std::size_t parameter_bytes, const PlanDesc& desc, std::string& why);

/// Fills in all but the planes' addresses. `taps` has room for a row of 2 * radius + 1 taps for each row of the filter,
/// and holds zeros. Returns the number of tiles, each of which is a block of one launch; throws PlanError where that is
/// more than a launch may have.
int fill_halo_args(HaloFrame& args, float* taps, const PlanDesc& desc, const Arithmetic& arithmetic, int radius);

/// Puts this frame's planes in.
void bind_halo(HaloFrame& args, int planes, const Window& window, const Image& out) noexcept;

}  // namespace convolve::cuda
