// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "cuda/common/launch.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/common/pixels.cuh"
#include "cuda/common/table.hpp"
#include "cuda/views/widened.hpp"

namespace convolve::cuda {
namespace {

constexpr int threads = 256, vector_bytes = 16;
constexpr int whole_width = 64;  ///< of a copy, a multiple of it: planes at a quarter of it have rows of whole vectors

/// A component's samples of a row.
struct ComponentRow {
  int offset, step, width, wide;  ///< wide: in the copy
  std::uint32_t ghost;            ///< a sample as it is stored
};
/// Rows of a plane, of frames and of their copies.
struct PlaneRows {
  PlaneView copy;  ///< of the first frame
  ComponentRow component[max_components];
  int components, period;      ///< samples of the plane until the components are in the same order again
  int vectors;                 ///< of 16 bytes with which a row begins in both
  int whole, samples, height;  ///< samples of these vectors; of a row of the copy
  int first_block, blocks_x;
};
struct Args {
  PlaneRows plane[max_planes];
  PlaneView frame[max_depth][max_planes];
  std::ptrdiff_t copy_bytes;  ///< from one frame's copy to the next one's
  int planes, blocks, reach;  ///< blocks: of a frame
  Border border;
};

/// Sample i of a row: of which component, and its place there.
struct Place {
  const ComponentRow& component;
  int pixel;
};
__device__ __forceinline__ Place place_of(const PlaneRows& plane, int i) {
  const int turn = i / plane.period, at = i - turn * plane.period;
  int c = 0;
  while (c + 1 < plane.components &&
         (at < plane.component[c].offset || (at - plane.component[c].offset) % plane.component[c].step != 0))
    ++c;
  const ComponentRow& component = plane.component[c];
  return {component, (i - component.offset) / component.step};
}

/// A sample of the copy that is beside the frame.
template <class Sample>
__device__ __forceinline__ Sample outer_sample(const Args& args, const Sample* row, const Place& place) {
  const ComponentRow& of = place.component;
  // What a periodic border has left of the frame is at the end of the copy.
  const int pixel = place.pixel >= of.wide - args.reach ? place.pixel - of.wide : place.pixel;
  const int from = border_index(args.border, args.border == Border::wrap ? pixel : place.pixel, of.width);
  return from < 0 ? static_cast<Sample>(of.ghost) : row[of.offset + from * of.step];
}

/// Copies frames (as many times the blocks of one) to their copies, or back what was made. A thread has 16 bytes that
/// lie in both, or one of the samples behind them.
template <class Sample, bool back>
__global__ void __launch_bounds__(threads) copy_kernel(const __grid_constant__ Args args) {
  constexpr int count = vector_bytes / static_cast<int>(sizeof(Sample));
  const int t = blockIdx.x / args.blocks, block_of_frame = blockIdx.x - t * args.blocks;
  int p = 0;
  while (p + 1 < args.planes && block_of_frame >= args.plane[p + 1].first_block) ++p;
  const PlaneRows& plane = args.plane[p];
  const PlaneView& view = args.frame[t][p];
  const int block = block_of_frame - plane.first_block, y = block / plane.blocks_x;
  const int item = (block - y * plane.blocks_x) * threads + static_cast<int>(threadIdx.x);
  pdl_wait();
  if (!view.data) return;
  Sample* const frame = row_of<Sample>(view, y);
  Sample* const copy = row_of<Sample>(plane.copy, y) + t * args.copy_bytes / static_cast<int>(sizeof(Sample));
  if (item < plane.vectors) {
    const bool aligned = ((reinterpret_cast<std::uintptr_t>(view.data) | view.stride) & (vector_bytes - 1)) == 0;
    Sample *const in_frame = frame + item * count, *const in_copy = copy + item * count;
    if (aligned) {
      if constexpr (back)
        *reinterpret_cast<uint4*>(in_frame) = *reinterpret_cast<const uint4*>(in_copy);
      else
        *reinterpret_cast<uint4*>(in_copy) = *reinterpret_cast<const uint4*>(in_frame);  // not __ldg(): see pdl_wait()
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i)
        if constexpr (back)
          in_frame[i] = in_copy[i];
        else
          in_copy[i] = in_frame[i];
    }
    return;
  }
  const int x = plane.whole + item - plane.vectors;
  if (x >= plane.samples) return;
  const Place place = place_of(plane, x);
  const bool inside = place.pixel < place.component.width;
  if constexpr (back) {
    if (inside) frame[x] = copy[x];
  } else {
    copy[x] = inside ? frame[x] : outer_sample(args, frame, place);
  }
}

int widest(const FrameLayout& layout) {
  int width = 0;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c) width = std::max(width, layout.plane[p].component[c].width);
  return width;
}
/// The frame's pixels for one sample of a component: 1, 2 or 4.
int spread_of(const Component& component, int width) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(ceil_div(width, component.width))));
}
int period_of(const PlaneLayout& plane) {
  int period = 1;
  for (int c = 0; c < plane.components; ++c) period = std::max(period, plane.component[c].step);
  return period;
}
/// Samples of a row that lie in the order of the period, without a gap.
int whole_samples(const PlaneLayout& plane) {
  int periods = 1 << 30;
  for (int c = 0; c < plane.components; ++c)
    periods = std::min(periods, plane.component[c].width / (period_of(plane) / plane.component[c].step));
  return periods * period_of(plane);
}
bool is_sample(double level, const FrameLayout& layout) {
  return level >= 0 && level <= layout.max_value() && std::floor(level) == level;
}

/// A description without its numbers, which follow the frame's size.
std::string kind_of(const Plan& plan) {
  std::string text = plan.describe();
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

class WidenedPlan final : public Plan {
 public:
  WidenedPlan(const Device& device, const PlanDesc& desc, const PlanDesc& wide, std::unique_ptr<Plan> widened)
      : capability_(device.capability),
        bytes_(bytes_per_sample(desc.layout.type)),
        depth_(desc.filter.depth()),
        plan_(std::move(widened)) {
    args_.planes = desc.layout.planes, args_.border = desc.border, args_.reach = desc.filter.reach_x();
    std::size_t size = 0, offset[max_planes];
    std::ptrdiff_t stride[max_planes];
    std::int64_t blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      const PlaneLayout &from = desc.layout.plane[p], &to = wide.layout.plane[p];
      PlaneRows& plane = args_.plane[p];
      plane.components = from.components, plane.period = period_of(from);
      plane.vectors = whole_samples(from) * bytes_ / vector_bytes, plane.whole = plane.vectors * vector_bytes / bytes_;
      plane.samples = whole_samples(to), plane.height = from.component[0].height;
      for (int c = 0; c < from.components; ++c) {
        const Component& k = from.component[c];
        const auto ghost = static_cast<std::uint32_t>(std::clamp(k.ghost, 0., double(desc.layout.max_value())));
        plane.component[c] = {k.offset, k.step, k.width, to.component[c].width, ghost << desc.layout.shift};
      }
      plane.first_block = static_cast<int>(checked_blocks(blocks));
      plane.blocks_x = ceil_div(plane.vectors + plane.samples - plane.whole, threads);
      blocks += std::int64_t{plane.blocks_x} * plane.height;
      // Whole groups of the widest loads that kernels make.
      stride[p] = static_cast<std::ptrdiff_t>((plane.samples * std::size_t(bytes_) + 255) / 256 * 256);
      offset[p] = size;
      size += static_cast<std::size_t>(stride[p]) * static_cast<std::size_t>(plane.height);
    }
    checked_blocks(blocks * depth_);
    args_.blocks = static_cast<int>(blocks);
    args_.copy_bytes = static_cast<std::ptrdiff_t>(size);
    memory_ = Table<unsigned char>(device.tables, size * static_cast<std::size_t>(depth_ + 1));
    for (int t = 0; t <= depth_; ++t)
      for (int p = 0; p < args_.planes; ++p)
        copy_[t].plane[p] = {memory_.get() + static_cast<std::size_t>(t) * size + offset[p], stride[p]};
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    Window copies;
    copies.depth = depth_;
    for (int t = 0; t < depth_; ++t) {
      if (window.image[t]) copies.image[t] = &copy_[t];
      std::ranges::copy(window.image[t] ? window.image[t]->plane : Image{}.plane, args_.frame[t]);
    }
    const char* const copy_error = copy<false>(copy_[0], depth_, stream);
    const char* const error = plan_->enqueue(copies, copy_[depth_], stream);
    std::ranges::copy(out.plane, args_.frame[0]);
    const char* const back_error = copy<true>(copy_[depth_], 1, stream);
    return copy_error ? copy_error : error ? error : back_error;
  }
  Algorithm algorithm() const override { return plan_->algorithm(); }
  std::string describe() const override { return "in rows of whole vectors: " + plan_->describe(); }

 private:
  template <bool back>
  const char* copy(const Image& first, int frames, void* stream) noexcept {
    for (int p = 0; p < args_.planes; ++p) args_.plane[p].copy = first.plane[p];
    const auto kernel = bytes_ == 1 ? copy_kernel<std::uint8_t, back> : copy_kernel<std::uint16_t, back>;
    launch_pdl(capability_, kernel, static_cast<unsigned>(args_.blocks * frames), dim3(threads), stream, args_);
    return launch_error();
  }

  int capability_, bytes_, depth_;
  std::unique_ptr<Plan> plan_;
  Table<unsigned char> memory_;
  Image copy_[max_depth + 1];  ///< the last one is made
  Args args_{};
};

}  // namespace

std::optional<PlanDesc> as_widened(const PlanDesc& desc) {
  const int width = widest(desc.layout), sides = is_periodic(desc.border) ? 2 : 1;
  if (desc.layout.type == SampleType::f32 || width < whole_width) return std::nullopt;
  int spread = 1;
  bool whole = true;
  for (int p = 0; p < desc.layout.planes; ++p) {
    const PlaneLayout& plane = desc.layout.plane[p];
    if (!plane.uniform() && !lies_as_packed_422(desc.layout)) return std::nullopt;
    for (int c = 0; c < plane.components; ++c) {
      const int own = spread_of(plane.component[c], width);
      if (plane.component[c].width != ceil_div(width, own)) return std::nullopt;
      spread = std::max(spread, own);
      if (has_ghost_cells(desc.border) && !is_sample(plane.component[c].ghost, desc.layout)) return std::nullopt;
      whole &= plane.component[c].width % 16 == 0;
    }
  }
  if (whole) return std::nullopt;
  PlanDesc wide = desc;
  const int reach = sides * spread * desc.filter.reach_x(), to = ceil_div(width + reach, whole_width) * whole_width;
  for (int p = 0; p < desc.layout.planes; ++p)
    for (int c = 0; c < desc.layout.plane[p].components; ++c) {
      Component& component = wide.layout.plane[p].component[c];
      component.width = to / spread_of(component, width);
    }
  return wide;
}

bool is_worth_widening(const PlanDesc& desc, const Plan& plan) {
  const Algorithm algorithm = plan.algorithm();
  if (!desc.bank.empty()) return algorithm == Algorithm::tiled;
  if (algorithm == Algorithm::matrix) return false;
  if (lies_as_packed_422(desc.layout)) return widest(desc.layout) % 2 != 0 || algorithm != Algorithm::separable;
  constexpr int many_taps = 200;  // of which products one by one cost more than copies
  return algorithm != Algorithm::separable && desc.filter.depth() > 1 && desc.filter.count() >= many_taps;
}

bool is_faster_widened(const PlanDesc& desc, const Plan& plan, const Plan& widened) {
  if (lies_as_packed_422(desc.layout)) return kind_of(plan) != kind_of(widened);
  return desc.bank.empty() ? widened.algorithm() == Algorithm::matrix : widened.algorithm() != Algorithm::tiled;
}

std::unique_ptr<Plan> make_widened(const Device& device, const PlanDesc& desc, const PlanDesc& wide,
                                   std::unique_ptr<Plan> widened) {
  return std::make_unique<WidenedPlan>(device, desc, wide, std::move(widened));
}

}  // namespace convolve::cuda
