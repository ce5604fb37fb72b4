// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The host side of streams of rows of four 16-bit components: which cases they serve, and their grid.
#include "cuda/common/four_stream.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "convolve/is_whole.hpp"
#include "cuda/common/fused_product.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/sample_plane.hpp"

namespace convolve::cuda {
namespace {

/// Rows that a warp makes. Each takes `halo` more, so many are better than few; but blocks come in waves of `resident`
/// a multiprocessor, and a wave that is not full takes longer than its share.
int choose_rows(int strips, int height, int halo, int multiprocessors, int resident) {
  constexpr int most = 256;
  constexpr double fewest = 0.85;  // of the resident blocks, that a multiprocessor is as busy with as with one less
  const auto time_of = [&](std::int64_t blocks) {
    return blocks == 0 ? 0 : std::max<double>(blocks, fewest * resident);
  };
  int best = 1;
  double least = std::numeric_limits<double>::max();
  for (int rows = std::min(most, height); rows > 0; --rows) {
    const std::int64_t blocks = (std::int64_t{strips} * ceil_div(height, rows) - 1) / four_stream_warps + 1;
    const std::int64_t each = (blocks - 1) / multiprocessors + 1;
    const std::int64_t in_full_waves = each / resident * resident;
    const double cost = (static_cast<double>(in_full_waves) + time_of(each % resident)) * (rows + halo);
    if (cost < least) least = cost, best = rows;
  }
  return best;
}

/// The components' places in a pixel, with the copied one, where there is one, behind the others.
std::array<int, 4> filtered_first(const PlaneLayout& plane) {
  std::array<int, 4> order{0, 1, 2, 3};
  std::stable_partition(order.begin(), order.end(), [&](int c) { return plane.component[c].filtered; });
  return order;
}

/// Selects the two samples at these places of a pixel's two words.
std::uint32_t select_samples(int low, int high) {
  return 0x10u + 0x22u * low + (0x1000u + 0x2200u * high);
}

FourOrder make_order(const std::array<int, 4>& order) {
  std::array<int, 4> stored{};
  for (int i = 0; i < 4; ++i) stored[order[i]] = i;
  return {select_samples(order[0], order[1]), select_samples(order[2], order[3]), select_samples(stored[0], stored[1]),
          select_samples(stored[2], stored[3])};
}

/// Levels are multiples of the least float there, as samples are.
bool is_level(double value) {
  return is_whole(value) && std::abs(value) < 0x1p23;
}

/// True where kernels know such a plane, of which so many components are filtered.
bool serves_plane(const FrameLayout& layout, bool ghosts, int filtered) {
  if (layout.type != SampleType::u16 || layout.planes != 1 || plane_mix(layout) != PlaneMix::four || filtered < 3 ||
      layout.plane[0].component[0].width % 4 != 0)
    return false;
  // Kernels for pixels that are all filtered know neither zero levels nor fewer bits; the others clamp to the largest
  // sample only where samples are shifted.
  if (layout.bits + (filtered == 4 ? 0 : layout.shift) != 16) return false;
  return std::ranges::all_of(layout.plane[0].component, [&](const Component& k) {
    return !k.filtered || ((filtered == 3 || k.zero == 0) && is_level(k.zero) && (!ghosts || is_level(k.ghost)));
  });
}

/// The shared memory that a block is to ask for, so that a multiprocessor holds kernel.resident of them and no more: a
/// launch that begins while the one before it ends would crowd onto those that are done first. 0 where it cannot hold
/// as many.
int find_shared_bytes(const Device& device, const FourStreamKernel& kernel) {
  constexpr int reserved = 1 << 10, granularity = 128;
  const void* const run = reinterpret_cast<const void*>(kernel.run);
  int ordinal = 0, all = 0, resident = 0;
  if (cudaGetDevice(&ordinal) != cudaSuccess ||
      cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, ordinal) != cudaSuccess)
    throw PlanError(std::string("shared memory: ") + launch_error());
  const int one_too_many = (all / (kernel.resident + 1) - reserved) / granularity * granularity + granularity;
  const int bytes = std::max(kernel.shared, one_too_many);
  if (bytes > device.shared_bytes) return 0;
  if (cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, run, four_stream_threads, bytes) != cudaSuccess)
    throw PlanError(std::string("shared memory: ") + launch_error());
  return resident == kernel.resident ? bytes : 0;
}

}  // namespace

bool FourStream::lay_out(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, int width,
                         FindFourStream find) {
  const FrameLayout& layout = desc.layout;
  const PlaneLayout& from = layout.plane[0];
  const int filtered = static_cast<int>(std::ranges::count_if(from.component, &Component::filtered));
  if (device.capability < 80 || !serves_plane(layout, has_ghost_cells(desc.border), filtered)) return false;
  const SamplePlane plane = make_sample_plane(layout, from, arithmetic);
  const FourStreamKernel* const kernel = find(filtered, width);
  if (!kernel || !edge_folds_once(std::min(plane.width, plane.height), kernel->width / 2)) return false;
  shared_ = find_shared_bytes(device, *kernel);
  if (shared_ == 0) return false;

  args.columns = edge_axis(desc.border, plane.width);
  args.lines = edge_axis(desc.border, plane.height);
  args.frames = desc.filter.depth();
  args.centre_t = desc.filter.centre_t();
  const std::array<int, 4> order = filtered_first(from);
  args.order = make_order(order);
  args.mask = sample_mask(layout.shift) * 0x10001u;
  for (int i = 0; i < filtered; ++i) {
    const int c = order[i];
    args.zero[i] = std::ldexp(plane.zero[c], layout.shift - subnormal_exponent);
    args.ghost[i] = std::ldexp(plane.ghost[c], layout.shift - subnormal_exponent);
    args.offset[i] = plane.offset[c];
  }
  args.numbers = by_remainder(make_sample_numbers(layout, arithmetic));
  args.gain = args.numbers.gain * second_factor;
  const bool two_products =
      args.numbers.division() != Division::product && std::ranges::all_of(from.component, [&](const Component& k) {
        return !k.filtered || two_products_divide_before_offset(arithmetic, layout, k);
      });
  if (two_products) {
    const double lacks = 1 / arithmetic.divisor - static_cast<double>(args.numbers.gain);
    args.gain_low = static_cast<float>(lacks * second_factor);
    for (float& offset : args.offset) offset -= four_stream_whole;
  }
  args.strips = ceil_div(plane.width, kernel->strip);
  args.rows = choose_rows(args.strips, plane.height, kernel->width / 2 * 2, device.multiprocessors, kernel->resident);
  const std::int64_t warps = std::int64_t{args.strips} * ceil_div(plane.height, args.rows);
  if (warps > std::numeric_limits<int>::max()) return false;
  args.warps = static_cast<int>(warps);
  blocks_ = ceil_div(args.warps, four_stream_warps);
  capability_ = device.capability;
  kernel_ = kernel;
  return true;
}

bool FourStream::enqueue(const Window& window, const Image& out, cudaStream_t stream) noexcept {
  if (!kernel_) return false;
  bool whole = aligned(out.plane[0], 16);
  for (int t = 0; t < args.frames; ++t) {
    args.in[t] = window.image[t] ? window.image[t]->plane[0] : PlaneView{};
    whole = whole && aligned(args.in[t], 16);
  }
  // One frame alone must not be one of ghost cells.
  if (!whole || (args.frames == 1 && !args.in[0].data)) return false;
  args.out = out.plane[0];
  launch_pdl(capability_, kernel_->run, static_cast<unsigned>(blocks_), dim3(four_stream_threads), stream, args,
             static_cast<unsigned>(shared_));
  return true;
}

}  // namespace convolve::cuda
