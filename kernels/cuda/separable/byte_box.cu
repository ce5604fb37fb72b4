// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of boxes of bytes by running sums: see byte_box.cuh.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/device_array.hpp"
#include "cuda/common/fused_product.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/separable/byte_box.cuh"
#include "cuda/separable/byte_box_shape.cuh"
#include "cuda/separable/byte_factors.hpp"
#include "cuda/separable/factors.hpp"

namespace convolve::cuda {
namespace byte_box {
namespace {

using Kernel = void (*)(Args);

template <int warps, Way way>
Kernel kernel_of(PlaneMix mix) {
  switch (mix) {
    case PlaneMix::none:
      return box_kernel<PlaneMix::none, warps, way>;
    case PlaneMix::one:
      return box_kernel<PlaneMix::one, warps, way>;
    case PlaneMix::one_and_two:
      return box_kernel<PlaneMix::one_and_two, warps, way>;
    case PlaneMix::three:
      return box_kernel<PlaneMix::three, warps, way>;
    default:
      return box_kernel<PlaneMix::four, warps, way>;
  }
}
template <int warps>
Kernel kernel_of(PlaneMix mix, Way way) {
  return way == Way::beside       ? kernel_of<warps, Way::beside>(mix)
         : way == Way::difference ? kernel_of<warps, Way::difference>(mix)
                                  : kernel_of<warps, Way::wide>(mix);
}

/// A tile's width, whose numbers are compiled in.
struct Width {
  int warps;
  Kernel (*kernel)(PlaneMix mix, Way way);
  bool (*set)(Plane& plane, bool pairs, int columns, int centre);  ///< set_windows()
  int (*bytes)(const Plane& plane, bool pairs, int groups, int chunks);
};
/// f(std::integral_constant<Kind, kind>) for a plane.
template <class F>
auto with_kind(const Plane& plane, bool pairs, F&& f) {
  if (pairs) return f(std::integral_constant<Kind, Kind::pairs>{});
  switch (plane.components) {
    case 1:
      return f(std::integral_constant<Kind, Kind::one>{});
    case 2:
      return f(std::integral_constant<Kind, Kind::two>{});
    case 3:
      return f(std::integral_constant<Kind, Kind::three>{});
    default:
      return f(std::integral_constant<Kind, Kind::four>{});
  }
}
template <int warps>
constexpr Width width_of() {
  return {warps, kernel_of<warps>,
          [](Plane& plane, bool pairs, int columns, int centre) {
            return with_kind(plane, pairs,
                             [&](auto kind) { return set_windows<kind.value, warps>(plane, columns, centre); });
          },
          [](const Plane& plane, bool pairs, int groups, int chunks) {
            return with_kind(plane, pairs, [&](auto kind) { return group_bytes<kind.value, warps>(groups, chunks); });
          }};
}
constexpr Width widths[] = {width_of<1>(), width_of<2>(), width_of<4>(), width_of<8>()};

/// What turns the sums of one component into samples.
struct Numbers {
  std::int32_t start = 0;
  float level = 0;
};

/// The numbers of all components.
struct Quotient {
  double tap = 0, divisor = 1;  ///< of a sum
  bool exact = false;
  Way way = Way::wide;
  double whole = 0;  ///< of Way::beside: the multiple. Magic numbers, kernels/README.md
  double lift = 0;   ///< of Way::difference: what is added to sums, so that none is less than 0

  /// What is added to sums of a component, as integers.
  static double start_of(const Component& c, double divisor, double taps) {
    return (c.zero + c.bias) * divisor - taps * c.zero;
  }
  bool find(const Component& c, double taps, Numbers& to) const {
    if (c.zero != std::floor(c.zero)) return false;
    if (!exact) {
      to.level = static_cast<float>(c.zero + c.bias - tap * taps * c.zero);
      return (255 * taps * std::abs(tap) + std::abs(to.level)) * 0x1p-22 < 0.4;
    }
    const double start = start_of(c, divisor, taps) + lift + whole * divisor;
    to.start = static_cast<std::int32_t>(way == Way::wide     ? start
                                         : way == Way::beside ? float_bits + start - 0x1p23
                                                              : float_bits + start);
    return true;
  }
  /// Finds the fastest way that rounds right, ties included, which even divisors have.
  void find_way(const FrameLayout& layout, double taps) {
    double least = 0, most = 0;
    all_filtered(layout, [&](const Component& c, int, int) {
      const double start = start_of(c, divisor, taps);
      least = std::min(least, start), most = std::max(most, start + 255 * taps);
      return true;
    });
    const double off = std::abs(static_cast<double>(static_cast<float>(1 / divisor)) * divisor - 1);
    if (off != 0 && std::fmod(divisor, 2) != 1) return;
    const double multiple = std::ceil((0x1p23 - least) / divisor), largest = multiple * divisor + most;
    if (largest < 0x1p24 && off * largest + 0x1p-17 * divisor < 0.5)
      way = Way::beside, whole = multiple;
    else if (most - least < 0x1p23 && off * 256 * divisor + 0x1p-16 * divisor < 0.5)
      way = Way::difference, lift = -least;
  }
};

bool all_equal(const std::vector<double>& taps) {
  return std::all_of(taps.begin(), taps.end(), [&](double tap) { return tap == taps[0]; });
}

/// The numbers of a box; a tap of 0 where the kernel does not serve it.
Quotient find_quotient(const PlanDesc& desc, const Arithmetic& arithmetic) {
  const std::vector<FrameFactors>& frames = desc.filter.frame_factors();
  if (desc.filter.depth() != 1 || frames.size() != 1 || frames[0].centre != 0) return {};
  const SpaceFactors factors = in_numbers_of(arithmetic, frames[0].factors);
  if (!is_of_bytes(desc, arithmetic, factors) || !all_equal(factors.column) || !all_equal(factors.row)) return {};
  if (ghost_rounding(desc, factors) != 0) return {};
  const double taps = static_cast<double>(desc.filter.height()) * desc.filter.width();
  Quotient to;
  to.tap = factors.column[0] * factors.row[0];
  to.exact = arithmetic.exact_taps;
  if (to.exact) {
    Arithmetic reduced = arithmetic;
    to.divisor = reduced.divisor = arithmetic.divisor / to.tap;
    const bool divides = to.tap > 0 && to.divisor == std::floor(to.divisor) &&
                         all_filtered(desc.layout, [&](const Component& c, int, int) {
                           return two_products_divide_with_offset(reduced, c, 0);
                         });
    if (!divides) return {};
    if (desc.filter.height() <= most_signed_rows) to.find_way(desc.layout, taps);
  }
  Numbers numbers;
  const bool found = all_filtered(desc.layout, [&](const Component& c, int, int) { return to.find(c, taps, numbers); });
  return found ? to : Quotient{};
}

bool is_pairs(const FrameLayout& layout) {
  return lies_as_packed_422(layout) && layout.plane[0].component[luma_index(layout.plane[0])].width % 2 == 0;
}

class ByteBoxPlan final : public Plan {
 public:
  ByteBoxPlan(const Device& device, const PlanDesc& desc, const Quotient& quotient)
      : shape_(desc.filter.shape()), capability_(device.capability), pairs_(is_pairs(desc.layout)), way_(quotient.way) {
    const Filter& filter = desc.filter;
    args_.planes = desc.layout.planes, args_.border = desc.border;
    args_.height = filter.height(), args_.centre_y = filter.centre_y();
    const double gain = quotient.exact ? 1 / quotient.divisor : quotient.tap;
    args_.gain = static_cast<float>(gain);
    args_.whole = static_cast<float>(quotient.way == Way::difference ? 0x1p23 + quotient.lift : quotient.whole);
    args_.gain_low = static_cast<float>(gain - static_cast<double>(args_.gain));
    const double taps = static_cast<double>(filter.height()) * filter.width();
    for (int p = 0; p < args_.planes; ++p) {
      if (pairs_)
        set_pairs(args_.plane[0], desc.layout.plane[0]);
      else
        set_plane(args_.plane[p], desc.layout.plane[p]);
      set_numbers(args_.plane[p], desc.layout.plane[p], quotient, taps);
    }
    find_tiles(device, filter, plane_mix(desc.layout));
  }
  bool served() const { return kernel_ != nullptr; }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    for (int p = 0; p < args_.planes; ++p) {
      bind(args_.plane[p], window.image[0]->plane[p], out.plane[p]);
      args_.plane[p].wide = aligned(window.image[0]->plane[p], 16);
      args_.plane[p].out_wide = aligned(out.plane[p], 16);
    }
    launch_pdl(capability_, kernel_, blocks_, dim3(threads_), stream, args_, memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + ", running sums, tiles of " + std::to_string(args_.rows) + " rows";
  }

 private:
  void set_size(Plane& to, int components, int pixels, int height, const PlaneLayout& bytes) const {
    to.components = components, to.pixels = pixels, to.row_bytes = pixels * components, to.height = height;
    to.lines = edge_axis(args_.border, height);
    const PlaneMasks masks = plane_masks(bytes);
    to.passthrough = masks.passthrough, to.ghost = masks.ghost;
    to.passes_some = masks.passthrough != 0, to.passes_all = masks.passthrough == ~0u;
  }
  void set_plane(Plane& to, const PlaneLayout& from) const {
    set_size(to, from.components, from.component[0].width, from.component[0].height, from);
  }
  /// Of packed 4:2:2: pairs for pixels.
  void set_pairs(Plane& to, const PlaneLayout& from) {
    const Component& luma = from.component[luma_index(from)];
    PlaneLayout bytes;
    bytes.components = 4;
    for (int c = 0; c < 3; ++c) {
      const Component& component = from.component[c];
      bytes.component[component.offset] = component;
      if (component.step == 2) bytes.component[component.offset + 2] = component;
    }
    args_.luma_at = luma.offset;
    set_size(to, 4, luma.width / 2, luma.height, bytes);
  }
  void set_numbers(Plane& to, const PlaneLayout& from, const Quotient& quotient, double taps) const {
    for (int c = 0; c < from.components; ++c) {
      const Component& component = from.component[c];
      if (!component.filtered) continue;
      Numbers numbers;
      quotient.find(component, taps, numbers);
      const int chain = !pairs_ ? c : component.step == 2 ? 0 : 1 + component.offset / 2;
      to.start[chain] = static_cast<std::uint32_t>(numbers.start), to.level[chain] = numbers.level;
    }
  }

  /// The blocks of tiles of so many rows; 0: they do not fit. Sets what depends on it in `args_` and `memory_`.
  std::int64_t set_blocks(const Device& device, const Width& width, int groups, int rows) {
    args_.groups = groups, args_.rows = rows;
    args_.chunks = groups > 1 ? (args_.height - 1) / rows : 0;
    args_.rest = args_.height - 1 - args_.chunks * rows;
    int area = 0, mends = 0;
    std::int64_t blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      plane.first_block = static_cast<int>(std::min<std::int64_t>(blocks, std::numeric_limits<int>::max()));
      blocks += std::int64_t{plane.tiles_x} * ((plane.height - 1) / (rows * groups) + 1);
      area = std::max(area, width.bytes(plane, pairs_, groups, args_.chunks));
      mends = std::max(mends, 4 * (1 + plane.before + plane.after));
    }
    args_.group_bytes = (area + 15) / 16 * 16;
    memory_ = static_cast<unsigned>(args_.group_bytes + mends);
    return static_cast<int>(memory_) <= device.shared_bytes ? blocks : 0;
  }
  bool set_width(const Width& width, const Filter& filter) {
    for (int p = 0; p < args_.planes; ++p)
      if (!width.set(args_.plane[p], pairs_, filter.width(), filter.centre_x())) return false;
    return true;
  }
  /// What a tile takes, in rows of outputs: those of a tile, and what it begins with.
  double time_of_tile() const {
    constexpr int at_once = 6, sums_in_a_row = 8;  // measured
    const auto loads = [](int rows) { return (rows + at_once - 1) / at_once; };
    const int sums = args_.chunks > 0 ? (args_.groups + args_.chunks - 2) / args_.groups + 1 : 0;
    return args_.rows + sums * loads(args_.rows) + loads(args_.rest) +
           static_cast<double>(args_.chunks) / sums_in_a_row;
  }
  /// When all blocks are over, with these tiles; 0: they do not fit.
  double end_of_blocks(const Device& device, const Width& width, int groups, int rows, int most) {
    const std::int64_t blocks = set_blocks(device, width, groups, rows);
    const int resident = most / (width.warps * groups);
    const double waves = std::ceil(static_cast<double>(blocks) / (device.multiprocessors * resident));
    return waves * time_of_tile();
  }
  /// Finds the tiles with which all blocks are over soonest.
  void find_tiles(const Device& device, const Filter& filter, PlaneMix mix) {
    const int most = most_warps(mix), batch = mix == PlaneMix::three ? 1 : 2;
    double least = 0;
    const Width* best = nullptr;
    int best_groups = 0, best_rows = 0;
    for (const Width& width : widths) {
      if (!set_width(width, filter)) continue;
      for (int groups = most / width.warps; groups > 0 && groups * width.warps >= most / 4; --groups) {
        if (most % (groups * width.warps) != 0) continue;  // leaves a multiprocessor less than full
        for (int rows = 8; rows <= 128; rows += batch) {
          const double end = end_of_blocks(device, width, groups, rows, most);
          if (end == 0 || (best && end >= least)) continue;
          least = end, best = &width, best_groups = groups, best_rows = rows;
        }
      }
    }
    if (!best || !set_width(*best, filter)) return;
    blocks_ = checked_blocks(set_blocks(device, *best, best_groups, best_rows));
    threads_ = static_cast<unsigned>(32 * best->warps * best_groups);
    kernel_ = best->kernel(mix, way_);
    check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, device.shared_bytes),
          "the filter's kernel");
  }

  std::string shape_;
  int capability_;
  bool pairs_;
  Way way_;
  Kernel kernel_ = nullptr;
  Args args_{};
  unsigned blocks_ = 0, threads_ = 0, memory_ = 0;
};

/// True where one fold leads from all that the taps reach into the frame, and a tile beside the frame holds where it
/// leads to: other frames are small.
bool folds_within_tiles(const PlanDesc& desc) {
  if (is_periodic(desc.border)) return false;
  for (int p = 0; p < desc.layout.planes; ++p) {
    const Component& component = desc.layout.plane[p].component[0];
    if (!edge_folds_once(component.height, desc.filter.reach_y())) return false;
  }
  return true;
}

/// Where it is faster than the tensor cores (one H100, 2026-11-26).
bool is_faster(const PlanDesc& desc) {
  constexpr int least_taps = 48;
  return std::min(desc.filter.width(), desc.filter.height()) >= least_taps;
}

}  // namespace
}  // namespace byte_box

bool serves_separable_byte_box(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic) {
  using namespace byte_box;
  return device.capability >= 80 && is_faster(desc) && folds_within_tiles(desc) &&
         (repeats_by_fours(desc.layout) || is_pairs(desc.layout)) && find_quotient(desc, arithmetic).tap != 0;
}

std::unique_ptr<Plan> make_separable_byte_box(const Device& device, const PlanDesc& desc,
                                              const Arithmetic& arithmetic) {
  using namespace byte_box;
  if (!serves_separable_byte_box(device, desc, arithmetic)) return nullptr;
  auto plan = std::make_unique<ByteBoxPlan>(device, desc, find_quotient(desc, arithmetic));
  return plan->served() ? std::move(plan) : nullptr;
}

}  // namespace convolve::cuda
