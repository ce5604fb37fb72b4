// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/launch.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace convolve::cuda {

FrameArgs make_frame_args(const PlanDesc& desc, const Arithmetic& arithmetic) {
  FrameArgs frame{};
  const Filter& filter = desc.filter;
  frame.shift = desc.layout.type == SampleType::f32 ? 0 : static_cast<std::int16_t>(desc.layout.shift);
  frame.depth = static_cast<std::int16_t>(filter.depth());
  frame.height = static_cast<std::int16_t>(filter.height());
  frame.width = static_cast<std::int16_t>(filter.width());
  frame.centre_t = static_cast<std::int16_t>(filter.centre_t());
  frame.centre_y = static_cast<std::int16_t>(filter.centre_y());
  frame.centre_x = static_cast<std::int16_t>(filter.centre_x());
  frame.border = desc.border;
  for (int p = 0; p < desc.layout.planes; ++p)
    for (int c = 0; c < desc.layout.plane[p].components; ++c) {
      const Component& from = desc.layout.plane[p].component[c];
      ComponentArgs& to = frame.component[frame.components++];
      to.plane = static_cast<std::uint8_t>(p);
      to.offset = static_cast<std::uint8_t>(from.offset);
      to.step = static_cast<std::uint8_t>(from.step);
      to.filtered = from.filtered;
      to.width = from.width;
      to.height = from.height;
      to.zero = static_cast<float>(from.zero);
      to.ghost = from.ghost - from.zero;
      to.quantizer = make_quantizer(arithmetic, desc.layout, from);
    }
  return frame;
}

int set_tiles(FrameArgs& frame, int tile_width, int tile_height) {
  assert(tile_width > 0 && tile_height > 0);
  std::int64_t tiles = 0;
  for (int c = 0; c < frame.components; ++c) {
    ComponentArgs& component = frame.component[c];
    component.first_tile = static_cast<int>(tiles);
    component.tiles_x = (component.width - 1) / tile_width + 1;
    tiles += static_cast<std::int64_t>(component.tiles_x) * ((component.height - 1) / tile_height + 1);
    if (tiles > std::numeric_limits<int>::max()) throw PlanError("the frame is too large for one launch");
  }
  return static_cast<int>(tiles);
}

void bind(FrameArgs& frame, int planes, const Window& window, const Image& out) noexcept {
  assert(window.depth == frame.depth && window.image[frame.centre_t]);
  for (int p = 0; p < planes; ++p) {
    for (int t = 0; t < frame.depth; ++t) frame.in[t][p] = window.image[t] ? window.image[t]->plane[p] : PlaneView{};
    frame.out[p] = out.plane[p];
  }
}

namespace {

/// What a limit depends on: the device, the kernel, threads of a block, blocks.
using Residency = std::tuple<int, const void*, unsigned, std::int64_t>;

unsigned find_residency_limit(int ordinal, const void* kernel, unsigned threads, std::int64_t blocks) {
  constexpr std::int64_t most = 48 << 10, reserved = 1 << 10;
  cudaFuncAttributes attributes{};
  int memory = 0, resident = 0;
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess ||
      cudaDeviceGetAttribute(&memory, cudaDevAttrMaxSharedMemoryPerMultiprocessor, ordinal) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(threads), 0) != cudaSuccess)
    throw PlanError(std::string("the filter's kernel: ") + launch_error());
  // No more shared memory than needed: the rest of it stays first level cache.
  if (resident <= blocks) return 0;
  const std::int64_t own = static_cast<std::int64_t>(attributes.sharedSizeBytes);
  const std::int64_t enough = (memory / (blocks + 1) - reserved + 128) / 128 * 128;
  return static_cast<unsigned>(std::max<std::int64_t>(std::min(enough, most) - own, 0));
}

}  // namespace

// A filter that changes while frames flow asks with each change: the driver is asked once.
unsigned residency_limit(const void* kernel, unsigned threads, std::int64_t blocks) {
  static std::mutex mutex;
  static std::map<Residency, unsigned> known;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) throw PlanError(std::string("the filter's kernel: ") + launch_error());
  const Residency asked{device, kernel, threads, blocks};
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(asked); found != known.end()) return found->second;
  const unsigned limit = find_residency_limit(device, kernel, threads, blocks);
  known.emplace(asked, limit);
  return limit;
}

}  // namespace convolve::cuda
