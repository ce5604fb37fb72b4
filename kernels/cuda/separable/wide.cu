// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of separable for wide filters of bytes with real taps by warpgroups, compute capability 9.0: see wide.cuh.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/half.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/large_group_plan.hpp"
#include "cuda/separable/wide.cuh"

namespace convolve::cuda {
namespace {

using namespace wide;

/// How the kernel has planes of one number of components.
struct Strips {
  int components, pixels, piece_pixels, window, block_pixels, memory;
};
template <int C, int chunks, int groups>
constexpr Strips strips_of() {
  using S = Shape<C, chunks, groups>;
  static_assert(S::memory <= 227 << 10);
  return {C, S::pixels, S::piece_pixels, S::window, S::pixels * groups, S::memory};
}
struct Kernel {
  void (*kernel)(Args) = nullptr;
  int chunks = 0, groups = 0;
  Strips strips[2];  ///< of one component, or all; of two
  int memory() const { return std::max(strips[0].memory, strips[1].memory); }
  const Strips& of(int components) const { return strips[strips[1].components == components]; }
};
template <PlaneMix mix, int chunks>
Kernel kernel_of() {
  constexpr int groups = groups_of(mix, chunks), first = mix == PlaneMix::one_and_two ? 1 : max_components_of(mix);
  constexpr int second = mix == PlaneMix::one_and_two ? 2 : first;
  return {wide_kernel<mix, chunks>,
          chunks,
          groups,
          {strips_of<first, chunks, groups>(), strips_of<second, chunks, groups>()}};
}
template <PlaneMix mix>
Kernel kernel_of(int chunks) {
  if (chunks == 2) return kernel_of<mix, 2>();
  if (chunks == 3) return kernel_of<mix, 3>();
  return chunks == 4 ? kernel_of<mix, 4>() : kernel_of<mix, 5>();
}
Kernel kernel_of(PlaneMix mix, int chunks) {
  switch (mix) {
    case PlaneMix::one:
      return kernel_of<PlaneMix::one>(chunks);
    case PlaneMix::one_and_two:
      return kernel_of<PlaneMix::one_and_two>(chunks);
    case PlaneMix::three:
      return kernel_of<PlaneMix::three>(chunks);
    case PlaneMix::four:
      return kernel_of<PlaneMix::four>(chunks);
    case PlaneMix::none:
      break;
  }
  return {};
}

int before_of(const Strips& strips, int centre_x) {
  return ceil_div(centre_x, strips.piece_pixels) * strips.piece_pixels;
}
bool takes_in(const Kernel& kernel, const Filter& filter) {
  if (!kernel.kernel || step_rows - 1 + filter.height() > step_rows * kernel.chunks) return false;
  return std::all_of(kernel.strips, kernel.strips + 2, [&](const Strips& strips) {
    const int lead = before_of(strips, filter.centre_x()) - filter.centre_x();
    return lead + strips.pixels - 1 + filter.width() <= strips.window;
  });
}
/// The smallest kernel that takes a filter in.
Kernel kernel_for(PlaneMix mix, const Filter& filter) {
  for (int chunks = 2; chunks <= 5; ++chunks)
    if (const Kernel kernel = kernel_of(mix, chunks); takes_in(kernel, filter)) return kernel;
  return {};
}

double tap_at(const std::vector<double>& taps, int i) {
  return i >= 0 && i < static_cast<int>(taps.size()) ? taps[i] : 0;
}
/// The pixel of a strip that column n of the row pass' product makes, so that a lane of the column pass ends with
/// neighbours that are a vector, or two of four pixels that four lanes store side by side.
int pixel_of(const Strips& strips, int n) {
  const int i = n / 8, t = n % 8 / 2, e = n % 2;
  return strips.components == 4 ? i / 2 * 16 + 4 * t + i % 2 * 2 + e : strips.pixels / 4 * t + 2 * i + e;
}
/// The pixel of a window that row k of a product of the row pass takes in.
int window_pixel(const Strips& strips, int product, int k) {
  const int of_piece = strips.piece_pixels / 4, t = k % 8 / 2, e = k % 2;
  return product / of_piece * 4 * strips.piece_pixels + t * strips.piece_pixels + product % of_piece * 4 + k / 8 * 2 +
         e;
}
/// The row's taps as products read them in shared memory: blocks of 8 columns by 8 rows, whose columns are 16 bytes.
std::vector<std::uint16_t> row_matrices(const Strips& strips, const std::vector<double>& taps, int lead) {
  std::vector<std::uint16_t> halves;
  for (int product = 0; product < strips.window / 16; ++product)
    for (int half = 0; half < 2; ++half)
      for (int n = 0; n < strips.pixels; ++n)
        for (int k = 8 * half; k < 8 * half + 8; ++k)
          halves.push_back(half_bits(tap_at(taps, window_pixel(strips, product, k) - lead - pixel_of(strips, n))));
  return halves;
}
/// The column's as the threads of a warpgroup hold them: [product][thread][8].
std::vector<std::uint16_t> column_matrices(const std::vector<double>& taps, int chunks) {
  std::vector<std::uint16_t> halves;
  for (int product = 0; product < 4 * chunks; ++product)
    for (int thread = 0; thread < 128; ++thread)
      for (int i = 0; i < 8; ++i) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
        halves.push_back(half_bits(tap_at(taps, 16 * product + i / 4 * 8 + 2 * (thread % 4) + i % 2 - row)));
      }
  return halves;
}

int steps_of(int height) {
  return (height - 1) / step_rows + 1;
}
/// When the last block is over that makes `steps` output steps, a multiprocessor taking one block after the other.
/// A block makes V for `delay` more; starting costs about 3.
std::int64_t end_of(const Args& args, int steps, int delay, int multiprocessors) {
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> busy;
  std::int64_t end = 0;
  for (int p = 0; p < args.planes; ++p)
    for (int first = 0; first < steps_of(args.plane[p].height); first += steps)
      for (int x = 0; x < args.plane[p].blocks_x; ++x) {
        std::int64_t begin = 0;
        if (static_cast<int>(busy.size()) == multiprocessors) begin = busy.top(), busy.pop();
        const std::int64_t over = begin + 2 * std::min(steps, steps_of(args.plane[p].height) - first) + delay + 3;
        busy.push(over);
        end = std::max(end, over);
      }
  return end;
}
int best_steps(const Args& args, int delay, int multiprocessors) {
  int most = 1, best = 1;
  for (int p = 0; p < args.planes; ++p) most = std::max(most, steps_of(args.plane[p].height));
  std::int64_t least = 0;
  for (int steps = std::min(most, 64); steps >= 1; --steps) {
    const std::int64_t end = end_of(args, steps, delay, multiprocessors);
    if (least == 0 || end < least) least = end, best = steps;
  }
  return best;
}

class WidePlan final : public Plan {
 public:
  WidePlan(const Device& device, const PlanDesc& desc, const Kernel& kernel, const LargeTaps& taps)
      : shape_(desc.filter.shape()), kernel_(kernel), border_(desc.border) {
    args_.planes = desc.layout.planes;
    args_.centre_y = desc.filter.centre_y();
    args_.row_start = static_cast<float>(taps.row_start), args_.gain = taps.gain, args_.centre = taps.centre;
    for (int p = 0; p < args_.planes; ++p) set_plane(args_.plane[p], desc, taps, p);
    const int steps = best_steps(args_, kernel.chunks - 1, device.multiprocessors);
    std::int64_t blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      plane.steps = steps;
      plane.first_block = static_cast<int>(checked_blocks(blocks));
      blocks += std::int64_t{plane.blocks_x} * ((steps_of(plane.height) - 1) / steps + 1);
    }
    blocks_ = checked_blocks(blocks);
    set_matrices(device, desc.filter, taps);
    if (cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kernel.memory()) !=
        cudaSuccess)
      throw PlanError(std::string("shared memory for the filter: ") + launch_error());
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = matrices_.send(stream)) return error;
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      plane.wide = bind(plane, window.image[0]->plane[p], out.plane[p]) % 16 == 0;
      const int unit = kernel_.of(plane.components).piece_pixels;
      const bool turned = border_ == Border::reflect_101 || (border_ == Border::reflect && plane.components == 3);
      plane.whole = plane.wide && !turned && plane.width % unit == 0;
    }
    launch_pdl(90, kernel_.kernel, blocks_, dim3(static_cast<unsigned>(128 * kernel_.groups)), stream, args_,
               static_cast<unsigned>(kernel_.memory()));
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + (args_.centre != 0 ? " with a centre tap" : "") +
           ", tensor cores, half precision, warpgroups";
  }

 private:
  void set_plane(Plane& to, const PlanDesc& desc, const LargeTaps& taps, int p) const {
    const PlaneLayout& from = desc.layout.plane[p];
    const Strips& strips = kernel_.of(from.components);
    to.components = from.components;
    to.width = from.component[0].width, to.height = from.component[0].height;
    to.row_bytes = to.width * to.components;
    to.blocks_x = (to.width - 1) / strips.block_pixels + 1;
    to.before = before_of(strips, desc.filter.centre_x());
    to.columns = edge_axis(desc.border, to.width), to.rows = edge_axis(desc.border, to.height);
    const int piece = strips.piece_pixels * to.components, last = to.row_bytes - piece;
    to.low_scale = to.columns.low_scale, to.high_scale = to.columns.high_scale;
    to.low_offset = to.low_scale < 0 ? -piece : to.low_scale > 0 ? to.row_bytes : 0;
    to.high_offset = to.high_scale < 0 ? last + to.row_bytes : to.high_scale > 0 ? -to.row_bytes : last;
    const PlaneMasks masks = plane_masks(from);
    to.copied = true;
    for (int c = 0; c < to.components; ++c) {
      to.level[c] = taps.level[p][c];
      to.ghost_byte[c] = static_cast<std::uint8_t>(masks.ghost >> 8 * c);
      to.copied &= !from.component[c].filtered;
    }
    for (int b = 0; b < 12; ++b) {
      const int c = b % to.components;
      to.ghost[b / 4] |= std::uint32_t{to.ghost_byte[c]} << b % 4 * 8;
      if (!from.component[c].filtered) to.passthrough[b / 4] |= 0xFFu << b % 4 * 8;
    }
  }
  void set_matrices(const Device& device, const Filter& filter, const LargeTaps& taps) {
    std::vector<std::uint16_t> halves = column_matrices(taps.column, kernel_.chunks);
    std::size_t first[2];
    for (int i = 0; i < 2; ++i) {
      const int lead = before_of(kernel_.strips[i], filter.centre_x()) - filter.centre_x();
      const std::vector<std::uint16_t> rows = row_matrices(kernel_.strips[i], taps.row, lead);
      first[i] = halves.size() / 8;
      halves.insert(halves.end(), rows.begin(), rows.end());
    }
    std::vector<uint4> table(halves.size() / 8);
    std::memcpy(table.data(), halves.data(), table.size() * sizeof(uint4));
    matrices_ = Table<uint4>(device.tables, table);
    args_.column_taps = matrices_.get();
    for (int p = 0; p < args_.planes; ++p)
      args_.plane[p].row_taps = matrices_.get() + first[&kernel_.of(args_.plane[p].components) - kernel_.strips];
  }

  std::string shape_;
  Kernel kernel_;
  Border border_;
  Args args_{};
  Table<uint4> matrices_;
  unsigned blocks_ = 0;
};

/// True where one fold leads from all that the taps reach into the frame.
bool folds_once(const PlanDesc& desc) {
  for (int p = 0; p < desc.layout.planes; ++p) {
    const Component& component = desc.layout.plane[p].component[0];
    if (!edge_folds_once(component.width, desc.filter.reach_x()) ||
        !edge_folds_once(component.height, desc.filter.reach_y()))
      return false;
  }
  return true;
}

/// True where the planes are as the kernel finds them: any of one component each, one of one and one of two, one alone.
bool has_its_planes(const FrameLayout& layout) {
  switch (plane_mix(layout)) {
    case PlaneMix::none:
      return false;
    case PlaneMix::one:
      return true;
    case PlaneMix::one_and_two:
      return layout.planes == 2 && layout.plane[0].components == 1 && layout.plane[1].components == 2;
    case PlaneMix::three:
    case PlaneMix::four:
      return layout.planes == 1;
  }
  return false;
}

}  // namespace

std::unique_ptr<Plan> make_separable_wide(const Device& device, const PlanDesc& desc, const LargeTaps& taps) {
  constexpr int least_taps = 48;  // where strips and two passes are slower (one H100, 2026-11-26)
  const Filter& filter = desc.filter;
  if (device.capability != 90 || taps.numbers != LargeNumbers::halves || !has_its_planes(desc.layout) ||
      !folds_once(desc) || std::min(filter.width(), filter.height()) < least_taps)
    return nullptr;
  const Kernel kernel = kernel_for(plane_mix(desc.layout), filter);
  if (!kernel.kernel || kernel.memory() > device.shared_bytes) return nullptr;
  return std::make_unique<WidePlan>(device, desc, kernel, taps);
}

}  // namespace convolve::cuda
