// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of boxes by running sums: see box.cuh.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "cuda/common/by_components.cuh"
#include "cuda/common/byte_planes.hpp"
#include "cuda/common/device_array.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/common/shared_memory.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/box_tile.cuh"
#include "cuda/separable/factors.hpp"

namespace convolve::cuda {
namespace box {
namespace {

template <PlaneMix mix>
__global__ void __launch_bounds__(threads) sum_kernel(const __grid_constant__ Args args) {
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_sums) ++p;
  const Plane& plane = args.plane[p];
  by_components<mix>(plane.components, [&](auto C) { sum_groups<C>(args, plane); });
}

template <PlaneMix mix>
__global__ void __launch_bounds__(threads, resident) tile_kernel(const __grid_constant__ Args args) {
  extern __shared__ __align__(16) std::uint8_t memory[];
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_tile) ++p;
  const Plane& plane = args.plane[p];
  by_components<mix>(plane.components, [&](auto C) { filter_tile<C>(args, plane, memory); });
}

/// The kernels of a kind of frame.
struct Kernels {
  void (*sums)(Args);
  void (*tiles)(Args);
};
constexpr int shared_bytes = sizeof(Shared<4>);

Kernels kernels_of(PlaneMix mix) {
  switch (mix) {
    case PlaneMix::one:
      return {sum_kernel<PlaneMix::one>, tile_kernel<PlaneMix::one>};
    case PlaneMix::one_and_two:
      return {sum_kernel<PlaneMix::one_and_two>, tile_kernel<PlaneMix::one_and_two>};
    case PlaneMix::three:
      return {sum_kernel<PlaneMix::three>, tile_kernel<PlaneMix::three>};
    default:
      return {sum_kernel<PlaneMix::four>, tile_kernel<PlaneMix::four>};
  }
}

/// What turns a sum into a sample, of one component.
struct Numbers {
  float factor = 1, gain = 1, rounding_bias = 0, divisor = 0, level = 0;
  std::uint32_t start = 0;
  bool product = true;  ///< no need to divide by `divisor`
};

bool all_equal(const std::vector<double>& taps) {
  return std::all_of(taps.begin(), taps.end(), [&](double tap) { return tap == taps[0]; });
}

/// The most that the samples of a box add up to, each less `level`.
double largest_sum(const FrameLayout& layout, const Filter& filter, double level) {
  return std::max(level, layout.max_value() - level) * filter.height() * filter.width();
}

/// False where a component's results could be off.
bool find_numbers(const PlanDesc& desc, const Arithmetic& arithmetic, double tap, const Component& c, Numbers& to) {
  const FrameLayout& layout = desc.layout;
  const double taps = static_cast<double>(desc.filter.height()) * desc.filter.width();
  if (c.zero != std::floor(c.zero)) return false;
  if (has_ghost_cells(desc.border) && (c.ghost != std::floor(c.ghost) || c.ghost < 0 || c.ghost > layout.max_value()))
    return false;
  to.start = static_cast<std::uint32_t>(c.zero * taps);
  const double largest = largest_sum(layout, desc.filter, c.zero) * std::abs(tap);
  if (arithmetic.accumulator == Accumulator::exact) {
    const Quantizer q = make_quantizer(arithmetic, layout, c);
    to.factor = static_cast<float>(tap), to.gain = q.gain, to.level = q.offset;
    to.rounding_bias = q.rounding_bias, to.divisor = static_cast<float>(q.divisor);
    to.product = q.division == Division::product;
    return q.division != Division::doubles && largest < 0x1p24;
  }
  // Sums that 24 bits hold are to be exact, whatever stands beside them.
  if (arithmetic.exact_taps && largest < 0x1p24) return false;
  const double gain = tap / arithmetic.divisor;
  double level = c.zero + c.bias;
  if ((layout.max_value() - c.zero) * taps > std::numeric_limits<std::int32_t>::max()) {
    const double middle = std::ldexp(1.0, layout.bits - 1);
    to.start = static_cast<std::uint32_t>(middle * taps);
    level += (middle - c.zero) * taps * gain;
  }
  to.gain = static_cast<float>(gain), to.level = static_cast<float>(level);
  const double sum = layout.max_value() * taps * std::abs(gain);
  return (sum + std::abs(level)) * 0x1p-22 < 0.4;
}

class BoxPlan final : public Plan {
 public:
  BoxPlan(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, double tap)
      : shape_(desc.filter.shape()), capability_(device.capability), kernels_(kernels_of(plane_mix(desc.layout))) {
    args_.planes = desc.layout.planes;
    args_.border = desc.border;
    args_.height = desc.filter.height(), args_.centre_y = desc.filter.centre_y();
    args_.groups = (args_.height - 1) / group;
    args_.shift = desc.layout.shift;
    args_.max = static_cast<float>(desc.layout.max_value());
    // All components are divided in one way: a level without a bias may do with less than its neighbours.
    const bool product = all_filtered(desc.layout, [&](const Component& c, int, int) {
      Numbers numbers;
      return find_numbers(desc, arithmetic, tap, c, numbers) && numbers.product;
    });
    for (int p = 0; p < args_.planes; ++p) {
      set_plane(args_.plane[p], desc, desc.layout.plane[p]);
      set_numbers(args_.plane[p], desc, desc.layout.plane[p], arithmetic, tap, product);
    }
    set_blocks(device);
    allow_shared_memory(kernels_.tiles, shared_bytes);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    for (int p = 0; p < args_.planes; ++p) {
      bind(args_.plane[p], window.image[0]->plane[p], out.plane[p]);
      args_.plane[p].wide = aligned(window.image[0]->plane[p], vector_bytes);
      args_.plane[p].out_wide = aligned(out.plane[p], vector_bytes);
    }
    if (args_.groups > 0) launch_pdl(capability_, kernels_.sums, sum_blocks_, dim3(threads), stream, args_);
    launch_pdl(capability_, kernels_.tiles, tile_blocks_, dim3(threads), stream, args_, shared_bytes);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + ", running sums, tiles of " + std::to_string(args_.rows) + " rows";
  }

 private:
  static void set_plane(Plane& to, const PlanDesc& desc, const PlaneLayout& from) {
    to.components = from.components, to.pixels = from.component[0].width, to.height = from.component[0].height;
    to.samples = to.pixels * to.components;
    const int before = desc.filter.centre_x() * to.components;
    to.margin = (before + 15) / 16 * 16;
    to.begin = to.margin - before;
    to.end = to.begin + desc.filter.width() * to.components;
    to.outputs = (threads * count - to.end) / 16 * 16;
    to.pitch = (to.samples + 15) / 16 * 16;
    bool filtered = false;
    for (int c = 0; c < from.components; ++c) (from.component[c].filtered ? filtered : to.passes_some) = true;
    to.passes_all = !filtered;
  }
  /// By sample: four hold each component's, but of three, which are all alike.
  void set_numbers(Plane& to, const PlanDesc& desc, const PlaneLayout& from, const Arithmetic& arithmetic, double tap,
                   bool product) {
    for (int c = 0; c < from.components; ++c) {
      const Component& component = from.component[c];
      Numbers numbers;
      find_numbers(desc, arithmetic, tap, component, numbers);
      for (int i = component.offset; i < 4 + from.components; i += component.step) {
        const int s = i % 4;
        if (!component.filtered) {
          to.passthrough[s / 2] |= 0xFFFFu << 16 * (s % 2);
          continue;
        }
        to.ghost[s] = static_cast<std::uint32_t>(std::clamp(component.ghost, 0.0, double(args_.max))) << args_.shift;
        to.start[s] = numbers.start, to.level[s] = numbers.level + (product ? numbers.rounding_bias : 0);
        args_.factor = numbers.factor, args_.gain = numbers.gain;
        args_.rounding_bias = product ? numbers.rounding_bias : 0, args_.divisor = product ? 0 : numbers.divisor;
      }
    }
  }

  std::int64_t tiles_of(const Plane& plane, int rows) const {
    return std::int64_t{plane.tiles_x} * ((plane.height - 1) / rows + 1);
  }
  /// Rows of a tile, so that the waves of blocks are over soonest: a tile begins with what its first sums are of.
  int rows_of_tiles(const Device& device) const {
    const int begin = 2 * args_.groups + args_.height - 1 - args_.groups * group;
    int best = group;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int rows = group; rows <= 1024; rows += group) {
      std::int64_t tiles = 0;
      for (int p = 0; p < args_.planes; ++p) tiles += tiles_of(args_.plane[p], rows);
      const std::int64_t waves = (tiles - 1) / (std::int64_t{device.multiprocessors} * resident) + 1;
      const std::int64_t time = waves * (begin + 6 * rows);
      if (time < least) best = rows, least = time;
    }
    return best;
  }
  void set_blocks(const Device& device) {
    for (int p = 0; p < args_.planes; ++p)
      args_.plane[p].tiles_x = (args_.plane[p].samples - 1) / args_.plane[p].outputs + 1;
    args_.rows = rows_of_tiles(device);
    std::int64_t tiles = 0, blocks = 0, sums = 0;
    std::int64_t first_sum[max_planes];
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      plane.first_tile = static_cast<int>(checked_blocks(tiles)),
      plane.first_sums = static_cast<int>(checked_blocks(blocks));
      tiles += tiles_of(plane, args_.rows);
      // A tile begins with a whole group, wherever the frame ends.
      const std::int64_t groups = (plane.height - 1) / group + 1 + args_.groups;
      plane.sums_x = (plane.samples - 1) / (threads * count) + 1;
      blocks += groups * plane.sums_x;
      first_sum[p] = sums;
      sums += groups * plane.pitch;
    }
    tile_blocks_ = checked_blocks(tiles), sum_blocks_ = checked_blocks(blocks);
    if (args_.groups == 0) return;
    sums_ = Table<std::uint32_t>(device.tables, static_cast<std::size_t>(sums));
    for (int p = 0; p < args_.planes; ++p) args_.plane[p].sums = sums_.get() + first_sum[p];
  }

  std::string shape_;
  int capability_;
  Kernels kernels_;
  Args args_{};
  unsigned sum_blocks_ = 0, tile_blocks_ = 0;
  Table<std::uint32_t> sums_;
};

/// The tap of a box that the kernels serve; 0: they do not.
double find_tap(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic) {
  const FrameLayout& layout = desc.layout;
  const std::vector<FrameFactors>& frames = desc.filter.frame_factors();
  if (layout.type != SampleType::u16 || desc.filter.depth() != 1 || frames.size() != 1 || frames[0].centre != 0)
    return 0;
  const SpaceFactors factors = in_numbers_of(arithmetic, frames[0].factors);
  if (!all_equal(factors.column) || !all_equal(factors.row)) return 0;
  const double tap = factors.column[0] * factors.row[0];
  const bool served = tap != 0 && repeats_by_fours(layout) && shared_bytes <= device.shared_bytes &&
                      all_filtered(layout, [&](const Component& c, int, int) {
                        Numbers numbers;
                        return find_numbers(desc, arithmetic, tap, c, numbers);
                      });
  return served ? tap : 0;
}

}  // namespace
}  // namespace box

std::unique_ptr<Plan> make_separable_box(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic) {
  const double tap = box::find_tap(device, desc, arithmetic);
  return tap == 0 ? nullptr : std::make_unique<box::BoxPlan>(device, desc, arithmetic, tap);
}

}  // namespace convolve::cuda
