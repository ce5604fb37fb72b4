// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of frame_rows.cuh, their plans, and which cases they serve.
#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "cuda/common/half.hpp"
#include "cuda/separable/byte_steps.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/frame_rows.cuh"
#include "cuda/separable/frame_rows_taps.hpp"

namespace convolve::cuda {
namespace frame_rows {
namespace {

template <RowsPlanes planes, int radius, int frames>
constexpr RowsKernel kernel{radius, frames, lane_bytes(planes, radius),
                            [](int capability, const RowsArgs& args, int blocks, cudaStream_t stream) {
                              launch_pdl(capability, frame_rows_kernel<planes, radius, frames>, blocks,
                                         dim3(32 * warps), stream, args);
                            },
                            [] {
                              int blocks = 1;
                              if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                      &blocks, frame_rows_kernel<planes, radius, frames>, 32 * warps, 0) != cudaSuccess)
                                cudaGetLastError();
                              return std::max(blocks, 1);
                            }};

template <RowsPlanes planes>
const RowsKernel* find(int radius, int frames) {
  if (radius <= 1) return frames <= 3 ? &kernel<planes, 1, 3> : &kernel<planes, 1, 5>;
  return frames <= 3 ? &kernel<planes, 3, 3> : &kernel<planes, 3, 5>;
}

RowsPlanes planes_of(const FrameLayout& layout, bool packed) {
  if (packed) return step_at(layout.plane[0], true, 0) == 2 ? RowsPlanes::luma_first : RowsPlanes::chroma_first;
  const PlaneMix mix = plane_mix(layout);
  return mix == PlaneMix::one           ? RowsPlanes::one
         : mix == PlaneMix::one_and_two ? RowsPlanes::one_and_two
         : mix == PlaneMix::three       ? RowsPlanes::three
                                        : RowsPlanes::four;
}

/// Bytes of a row of the plane's samples.
int row_bytes_of(const PlaneLayout& plane, bool packed) {
  return step_at(plane, packed, 0) * at_byte(plane, packed, 0).width;
}

/// The kernel and the taps of a case; null where it is not served.
const RowsKernel* serve(const PlanDesc& desc, const Arithmetic& arithmetic, const Factors& factors, RowsTaps& taps) {
  const Filter& filter = desc.filter;
  const int radius = std::max(filter.reach_x(), filter.reach_y());
  bool packed = false;
  if (factors.space.size() != 1 || filter.depth() < 2 || filter.depth() > max_frames || radius > max_radius ||
      !has_byte_steps(desc.layout, packed))
    return nullptr;
  const RowsPlanes planes = planes_of(desc.layout, packed);
  const RowsKernel* const kernel = find_frame_rows(planes, radius, filter.depth());
  for (int p = 0; p < desc.layout.planes; ++p) {
    const PlaneLayout& plane = desc.layout.plane[p];
    const int bytes = row_bytes_of(plane, packed);
    if (bytes < kernel->bytes || bytes % kernel->bytes != 0 ||
        !edge_folds_once(plane.component[0].height, kernel->radius))
      return nullptr;
  }
  return make_rows_taps(desc, arithmetic, factors.time, factors.space.front(), taps) ? kernel : nullptr;
}

class FrameRowsPlan final : public Plan {
 public:
  FrameRowsPlan(const Device& device, const PlanDesc& desc, RowsTaps taps, const RowsKernel& kernel,
                std::unique_ptr<Plan> unaligned)
      : capability_(device.capability),
        frames_(desc),
        taps_(std::move(taps)),
        kernel_(kernel),
        unaligned_(std::move(unaligned)) {
    args_.planes = desc.layout.planes;
    args_.border = desc.border;
    const int down = kernel.radius - desc.filter.centre_y(), right = kernel.radius - desc.filter.centre_x();
    for (std::size_t i = 0; i < taps_.column.size(); ++i)
      args_.column[static_cast<std::size_t>(down) + i] = half_twice(taps_.column[i]);
    for (std::size_t i = 0; i < taps_.row.size(); ++i)
      args_.row[static_cast<std::size_t>(right) + i] = static_cast<float>(taps_.row[i]);
    for (int p = 0; p < args_.planes; ++p) set_plane(desc, p);
    blocks_ = lay_out(device.multiprocessors * kernel.resident());
    set_levels(0);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    const unsigned missing = frames_.missing(window);
    for (int p = 0; p < args_.planes; ++p)
      if (!bind_plane(p, window, out)) return unaligned_->enqueue(window, out, stream);
    if (missing != missing_) set_levels(missing);
    kernel_.launch(capability_, args_, blocks_, static_cast<cudaStream_t>(stream));
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + frames_.shape + ", stream of rows in half precision" +
           (frames_.packed ? ", luma and chroma at once, " : ", ") + std::to_string(args_.rows) + " rows a warp";
  }

 private:
  void set_plane(const PlanDesc& desc, int p) {
    const PlaneLayout& from = frames_.layout.plane[p];
    RowsPlane& to = args_.plane[p];
    to.row_bytes = row_bytes_of(from, frames_.packed);
    to.height = from.component[0].height;
    to.components = from.components;
    to.strips = ceil_div(to.row_bytes, strip_bytes(kernel_.bytes));
    to.rows = edge_axis(desc.border, to.height);
    to.passthrough = frames_.passthrough(p);
  }

  /// The fewest rows a warp with which no more blocks are needed than run at once. Returns their number.
  int lay_out(int at_once) {
    std::int64_t blocks = 0;
    int most = 1;
    for (int p = 0; p < args_.planes; ++p) most = std::max(most, args_.plane[p].height);
    for (args_.rows = std::min(min_rows, most);; ++args_.rows) {
      blocks = 0;
      for (int p = 0; p < args_.planes; ++p) {
        RowsPlane& plane = args_.plane[p];
        plane.first_block = static_cast<int>(std::min<std::int64_t>(blocks, std::numeric_limits<int>::max()));
        plane.ranges = ceil_div(plane.height, args_.rows);
        blocks += (std::int64_t{plane.strips} * plane.ranges - 1) / warps + 1;
      }
      if (blocks <= at_once || args_.rows >= most) break;
    }
    return static_cast<int>(checked_blocks(blocks));
  }

  /// Sets what depends on frames beyond the stream's ends: they get a tap of 0, and their ghost level goes into what H
  /// starts at.
  void set_levels(unsigned missing) noexcept {
    missing_ = missing;
    args_.start = half_twice(taps_.start_of(missing));
    for (int t = 0; t < max_frames; ++t)
      args_.time[t] =
          t < frames_.depth && !(missing >> t & 1) ? half_twice(taps_.time[static_cast<std::size_t>(t)]) : 0;
    for (int p = 0; p < args_.planes; ++p) {
      RowsPlane& plane = args_.plane[p];
      plane.combined_ghost[0] = plane.combined_ghost[1] = plane.ghost[0] = plane.ghost[1] = 0;
      for (int b = 0; b < 4; ++b) {
        const Component& component = frames_.at(p, b);
        plane.from[b] = static_cast<float>(taps_.from_of(component, missing));
        const std::uint32_t combined = half_bits(taps_.combined_ghost_of(component.ghost, missing)),
                            column = half_bits(taps_.ghost_of(component.ghost, missing));
        plane.combined_ghost[b & 1] |= combined << 8 * (b & 2);
        plane.ghost[b & 1] |= column << 8 * (b & 2);
      }
    }
  }

  /// Puts a plane's addresses in; false where the kernel does not take them.
  bool bind_plane(int p, const Window& window, const Image& out) noexcept {
    RowsPlane& plane = args_.plane[p];
    const PlaneView &centre = window.image[frames_.centre]->plane[p], &to = out.plane[p];
    if (!aligned(to, kernel_.bytes) || centre.stride != static_cast<int>(centre.stride)) return false;
    plane.centre = static_cast<const std::uint8_t*>(centre.data);
    plane.stride = static_cast<int>(centre.stride);
    plane.out = static_cast<std::uint8_t*>(to.data);
    plane.out_stride = to.stride;
    for (int t = 0; t < max_frames; ++t) {
      const Image* const image = t < frames_.depth ? window.image[t] : nullptr;
      const PlaneView& from = image ? image->plane[p] : centre;
      if (from.stride != centre.stride || !aligned(from, kernel_.bytes)) return false;
      plane.in[t] = static_cast<const std::uint8_t*>(from.data);
    }
    return true;
  }

  static constexpr int min_rows = 4;  ///< that a warp makes: it reads as many as the filter reaches more
  int capability_;
  ByteFrames frames_;
  RowsTaps taps_;
  const RowsKernel& kernel_;
  std::unique_ptr<Plan> unaligned_;  ///< runs frames whose rows are not aligned, or not alike
  RowsArgs args_{};
  unsigned missing_ = 0;
  int blocks_ = 0;
};

}  // namespace

const RowsKernel* find_frame_rows(RowsPlanes planes, int radius, int frames) {
  switch (planes) {
    case RowsPlanes::one:
      return find<RowsPlanes::one>(radius, frames);
    case RowsPlanes::one_and_two:
      return find<RowsPlanes::one_and_two>(radius, frames);
    case RowsPlanes::three:
      return find<RowsPlanes::three>(radius, frames);
    case RowsPlanes::four:
      return find<RowsPlanes::four>(radius, frames);
    case RowsPlanes::luma_first:
      return find<RowsPlanes::luma_first>(radius, frames);
    case RowsPlanes::chroma_first:
      return find<RowsPlanes::chroma_first>(radius, frames);
  }
  return nullptr;
}

}  // namespace frame_rows

bool serves_separable_frame_rows(const PlanDesc& desc, const Arithmetic& arithmetic, const Factors& factors) {
  frame_rows::RowsTaps taps;
  return frame_rows::serve(desc, arithmetic, factors, taps) != nullptr;
}

std::unique_ptr<Plan> make_separable_frame_rows(const Device& device, const PlanDesc& desc,
                                                const Arithmetic& arithmetic, const Factors& factors,
                                                const std::function<std::unique_ptr<Plan>()>& make_unaligned) {
  frame_rows::RowsTaps taps;
  const frame_rows::RowsKernel* const kernel = frame_rows::serve(desc, arithmetic, factors, taps);
  if (!kernel) return nullptr;
  return std::make_unique<frame_rows::FrameRowsPlan>(device, desc, std::move(taps), *kernel, make_unaligned());
}

}  // namespace convolve::cuda
