// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of separable by warpgroups for large filters of bytes with exact taps, compute capability 9.0: see
// large_groups.cuh.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/shared_memory.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/large_group_plan.hpp"
#include "cuda/separable/large_group_taps.hpp"
#include "cuda/separable/large_groups.cuh"
#include "cuda/separable/large_taps.hpp"

namespace convolve::cuda {
namespace {

using namespace large_groups;

struct Kernel {
  void (*kernel)(Args) = nullptr;
  int units = 0, threads = 0, memory = 0;
};

template <int units>
Kernel kernel_of() {
  constexpr int memory = Shape{units}.memory();
  static_assert(memory <= Shape::most_memory);
  return {group_kernel<units>, units, 128 * (makers + 1), memory};
}
/// The kernels are compiled for what they are faster at than strips, and than two passes (one H100, 2026-11-26).
Kernel kernel_of(int units) {
  return units <= 6 ? kernel_of<6>() : units <= 10 ? kernel_of<10>() : Kernel{};
}
bool is_faster(const PlanDesc& desc) {
  constexpr int least_taps = 96;
  return desc.layout.planes == 1 && plane_mix(desc.layout) == PlaneMix::one &&
         std::min(desc.filter.width(), desc.filter.height()) >= least_taps;
}

int strips_of(int width) {
  return (width - 1) / 64 + 1;
}
int steps_of(int height) {
  return (height - 1) / step_rows + 1;
}

/// The time of a block that makes so many output steps, in arbitrary units: it makes V for `delay` more, and starting
/// costs 3.
int time_of(int steps, int delay) {
  return 2 * steps + delay + 3;
}
/// When the last block is over, a multiprocessor taking one block after the other.
std::int64_t end_of(const std::vector<int>& times, int multiprocessors) {
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> busy;
  std::int64_t end = 0;
  for (const int time : times) {
    std::int64_t begin = 0;
    if (static_cast<int>(busy.size()) == multiprocessors) begin = busy.top(), busy.pop();
    busy.push(begin + time);
    end = std::max(end, begin + time);
  }
  return end;
}
/// The steps of a plane's blocks with which all are over soonest.
int best_steps(const Plane& plane, int delay, int multiprocessors) {
  const int all = steps_of(plane.height);
  int best = 0;
  std::int64_t least = 0;
  for (int slabs = 1; slabs <= std::min(all, 8); ++slabs) {
    const int steps = (all - 1) / slabs + 1;
    std::vector<int> times;
    for (int first = 0; first < all; first += steps)
      times.insert(times.end(), plane.strips_x, time_of(std::min(steps, all - first), delay));
    const std::int64_t end = end_of(times, multiprocessors);
    if (least == 0 || end < least) least = end, best = steps;
  }
  return best;
}

class GroupPlan final : public Plan {
 public:
  GroupPlan(const Device& device, const PlanDesc& desc, const Kernel& kernel, const LargeTaps& taps)
      : shape_(desc.filter.shape()), centre_x_(desc.filter.centre_x()), kernel_(kernel) {
    const Filter& filter = desc.filter;
    args_.planes = desc.layout.planes;
    args_.before_x = group_before(filter.centre_x());
    args_.centre_y = filter.centre_y(), args_.reach_x = filter.reach_x();
    args_.repeats = desc.border == Border::replicate, args_.passes_round = desc.border == Border::wrap;
    args_.row_start = static_cast<std::int32_t>(taps.row_start);
    args_.gain = taps.gain, args_.gain_low = taps.gain_low, args_.divisor = taps.divisor;
    args_.centre = taps.centre, args_.whole = reads_floats(taps) ? taps.whole : 0;
    for (int p = 0; p < args_.planes; ++p) set_plane(args_.plane[p], desc, taps, p);
    const Shape shape{kernel.units};
    std::int64_t blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      plane.steps = best_steps(plane, shape.slots_of_step() - 1, device.multiprocessors);
      plane.first_block = static_cast<int>(checked_blocks(blocks));
      blocks += std::int64_t{plane.strips_x} * ((steps_of(plane.height) - 1) / plane.steps + 1);
    }
    blocks_ = checked_blocks(blocks);
    set_matrices(device, taps);
    allow_shared_memory(kernel.kernel, kernel.memory);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = matrices_.send(stream)) return error;
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      const std::uintptr_t bits = bind(plane, window.image[0]->plane[p], out.plane[p]);
      plane.wide = bits % 16 == 0 && (!args_.passes_round || plane.row_bytes % 16 == 0);
    }
    launch_pdl(90, kernel_.kernel, blocks_, dim3(static_cast<unsigned>(kernel_.threads)), stream, args_,
               static_cast<unsigned>(kernel_.memory));
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + (args_.centre != 0 ? " with a centre tap" : "") +
           ", tensor cores, 8-bit integers, warpgroups";
  }

 private:
  /// Sums are read as floats where one multiply-add divides them (LargeTaps): the kernel rounds in no other way.
  static bool reads_floats(const LargeTaps& taps) { return taps.whole != 0 && taps.rounding == 0; }
  void set_plane(Plane& to, const PlanDesc& desc, const LargeTaps& taps, int p) const {
    const PlaneLayout& from = desc.layout.plane[p];
    to.components = from.components;
    to.width = from.component[0].width, to.height = from.component[0].height;
    to.row_bytes = to.width * to.components;
    to.strips_x = strips_of(to.width);
    to.columns = edge_axis(desc.border, to.width), to.rows = edge_axis(desc.border, to.height);
    const PlaneMasks masks = plane_masks(from);
    to.passthrough = masks.passthrough, to.ghost = masks.ghost;
    for (int b = 0; b < 4; ++b) {
      const int c = b % to.components;
      to.level[b] = taps.level[p][c], to.start[b] = taps.start[p][c] + (reads_floats(taps) ? taps.beside : 0);
    }
  }
  void set_matrices(const Device& device, const LargeTaps& taps) {
    std::vector<std::uint32_t> words = group_column_matrices(taps.column, kernel_.units);
    const std::size_t first_row = words.size() / 4;
    const std::vector<std::uint32_t> rows = group_row_matrices(taps.row, centre_x_, kernel_.units);
    words.insert(words.end(), rows.begin(), rows.end());
    std::vector<uint4> table(words.size() / 4);
    std::memcpy(table.data(), words.data(), table.size() * sizeof(uint4));
    matrices_ = Table<uint4>(device.tables, table);
    args_.column_taps = matrices_.get();
    args_.row_taps = matrices_.get() + first_row;
  }

  std::string shape_;
  int centre_x_;
  Kernel kernel_;
  Args args_{};
  Table<uint4> matrices_;
  unsigned blocks_ = 0;
};

/// True where one fold leads from all that the taps reach into the frame, and within what a strip reads.
bool folds_within_windows(const PlanDesc& desc) {
  const Filter& filter = desc.filter;
  for (int p = 0; p < desc.layout.planes; ++p) {
    const Component& component = desc.layout.plane[p].component[0];
    if (!edge_folds_once(component.width, filter.reach_x()) || !edge_folds_once(component.height, filter.reach_y()))
      return false;
  }
  const int after = filter.width() - 1 - filter.centre_x();
  return desc.border != Border::reflect_101 || after <= group_before(filter.centre_x());
}

}  // namespace

std::unique_ptr<Plan> make_separable_groups(const Device& device, const PlanDesc& desc, const LargeTaps& taps) {
  const Filter& filter = desc.filter;
  if (device.capability != 90 || taps.numbers != LargeNumbers::limbs || !is_faster(desc) || !folds_within_windows(desc))
    return nullptr;
  const Kernel kernel = kernel_of(group_units(filter.width(), filter.centre_x(), filter.height()));
  if (!kernel.kernel || kernel.memory > device.shared_bytes) return nullptr;
  return std::make_unique<GroupPlan>(device, desc, kernel, taps);
}

}  // namespace convolve::cuda
