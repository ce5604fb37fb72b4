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
#include "cuda/common/shared_memory.hpp"
#include "cuda/separable/byte_box.cuh"
#include "cuda/separable/byte_box_shape.cuh"
#include "cuda/separable/byte_factors.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/large_group_plan.hpp"

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
  return way == Way::codes        ? kernel_of<warps, Way::codes>(mix)
         : way == Way::wide_codes ? kernel_of<warps, Way::wide_codes>(mix)
                                  : kernel_of<warps, Way::wide>(mix);
}

/// A tile's width, whose numbers are compiled in.
struct Width {
  int warps;
  Kernel (*kernel)(PlaneMix mix, Way way);
  bool (*set)(Plane& plane, bool pairs, int columns, int centre);       ///< set_windows()
  int (*bytes)(const Plane& plane, bool pairs, int groups, int units);  ///< group_bytes()
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
          [](const Plane& plane, bool pairs, int groups, int units) {
            return with_kind(plane, pairs, [&](auto kind) { return group_bytes<kind.value, warps>(groups, units); });
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
  double whole = 0;  ///< of Way::codes: the multiple of the divisor beside which sums are read as floats. Magic
                     ///< numbers, kernels/README.md

  /// What is added to sums of a component, as integers.
  static double start_of(const Component& c, double divisor, double taps) {
    return (c.zero + c.bias) * divisor - taps * c.zero;
  }
  /// And where that is nothing: what sums begin with, as integers.
  double start_of_codes() const { return way == Way::codes ? float_bits + whole * divisor - 0x1p23 : 0; }
  bool find(const Component& c, double taps, Numbers& to) const {
    if (c.zero != std::floor(c.zero)) return false;
    if (!exact) {
      to.level = static_cast<float>(c.zero + c.bias - tap * taps * c.zero);
      return (255 * taps * std::abs(tap) + std::abs(to.level)) * 0x1p-22 < 0.4;
    }
    const double start = start_of(c, divisor, taps) + whole * divisor;
    to.start = static_cast<std::int32_t>(way == Way::codes ? float_bits + start - 0x1p23 : start);
    return true;
  }
  /// Finds the fastest way. A product with the reciprocal rounds right, where it is rounded once, to an integer, and is
  /// off by less than quotients are from ties; even divisors have ties, which ask for an exact reciprocal.
  void find_way(const FrameLayout& layout, int rows, double taps) {
    const bool within_limits = divisor == taps && all_filtered(layout, [&](const Component& c, int, int) {
                                 return start_of(c, divisor, taps) == 0;
                               });
    const double off = std::abs(static_cast<double>(static_cast<float>(1 / divisor)) * divisor - 1);
    if (!within_limits || (off != 0 && std::fmod(divisor, 2) != 1)) return;
    const double multiple = std::ceil(0x1p23 / divisor), largest = (multiple + 255) * divisor;
    if (rows <= most_signed_rows && largest < 0x1p24 && off * largest < 0.499)
      way = Way::codes, whole = multiple;
    else if (off * 255 * divisor < 0.499)
      way = Way::wide_codes;
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
    to.find_way(desc.layout, desc.filter.height(), taps);
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
    // The lower bits of a float of 1.5 * 2^23 and a little more are an integer.
    args_.whole = static_cast<float>(0x1.8p23 - quotient.whole);
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

  /// Tiles of a block, one below the other, their rows, and in how many units of rows these are.
  struct Tiles {
    int groups = 0, rows = 0, units = 1;
  };
  /// The blocks of such tiles; 0: they do not fit. Sets what depends on it in `args_` and `memory_`.
  std::int64_t set_blocks(const Device& device, const Width& width, const Tiles& tiles) {
    const int groups = tiles.groups, rows = tiles.rows;
    args_.groups = groups, args_.rows = rows, args_.tile_units = tiles.units, args_.unit_rows = rows / tiles.units;
    args_.window_units = groups > 1 ? (args_.height - 1) / args_.unit_rows : 0;
    args_.rest = args_.height - 1 - args_.window_units * args_.unit_rows;
    const int all = args_.window_units > 0 ? tiles.units * (groups - 1) + args_.window_units : 0;
    args_.adds_all_before = 2 * args_.window_units > 3 * all / groups + 4;
    int area = 0, mends = 0;
    std::int64_t blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      plane.first_block = static_cast<int>(std::min<std::int64_t>(blocks, std::numeric_limits<int>::max()));
      blocks += std::int64_t{plane.tiles_x} * ((plane.height - 1) / (rows * groups) + 1);
      area = std::max(area, width.bytes(plane, pairs_, groups, all));
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
  /// What a tile takes, in rows of outputs: those of a tile, and what it begins with. Measured, as the 15 cases of
  /// 63x63 to 255x255 of tests/bench have it.
  double time_of_tile(int at_once) const {
    constexpr double row = 0.03, wait = 0.2, unit = 0.17, unit_before = 0.25;
    const auto time = [&](int rows) { return row * rows + wait * ((rows + at_once - 1) / at_once); };
    const int units = args_.window_units > 0 ? args_.tile_units * (args_.groups - 1) + args_.window_units : 0;
    const int sums = (units + args_.groups - 1) / args_.groups;
    const double adding =
        args_.adds_all_before ? (1.5 * units / args_.groups + 3) * unit_before : args_.window_units * unit;
    return args_.rows + sums * time(args_.unit_rows) + time(args_.rest) + adding;
  }
  /// When all blocks are over, with these tiles; 0: they do not fit.
  double end_of_blocks(const Device& device, const Width& width, const Tiles& tiles, PlaneMix mix) {
    const std::int64_t blocks = set_blocks(device, width, tiles);
    const int resident = most_warps(mix) / (width.warps * tiles.groups);
    const double waves = std::ceil(static_cast<double>(blocks) / (device.multiprocessors * resident));
    const Kind kind = mix == PlaneMix::none    ? Kind::pairs
                      : mix == PlaneMix::three ? Kind::three
                      : mix == PlaneMix::four  ? Kind::four
                                               : Kind::one;
    return waves * time_of_tile(rows_at_once(kind));
  }
  /// Finds the tiles with which all blocks are over soonest.
  void find_tiles(const Device& device, const Filter& filter, PlaneMix mix) {
    const int most = most_warps(mix), batch = mix == PlaneMix::three ? 1 : 2;
    double least = 0;
    const Width* best = nullptr;
    Tiles best_tiles;
    for (const Width& width : widths) {
      if (!set_width(width, filter)) continue;
      Tiles tiles;
      for (tiles.groups = most / width.warps; tiles.groups * width.warps >= most / 4; --tiles.groups) {
        if (most % (tiles.groups * width.warps) != 0) continue;  // leaves a multiprocessor less than full
        for (tiles.rows = 8; tiles.rows <= 128; tiles.rows += batch)
          for (tiles.units = 1; tiles.units <= 2; ++tiles.units) {
            if (tiles.rows % tiles.units != 0) continue;
            const double end = end_of_blocks(device, width, tiles, mix);
            if (end == 0 || (best && end >= least)) continue;
            least = end, best = &width, best_tiles = tiles;
          }
      }
    }
    if (!best || !set_width(*best, filter)) return;
    blocks_ = checked_blocks(set_blocks(device, *best, best_tiles));
    threads_ = static_cast<unsigned>(32 * best->warps * best_tiles.groups);
    kernel_ = best->kernel(mix, way_);
    allow_shared_memory(kernel_, device.shared_bytes);
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
  const Quotient quotient = find_quotient(desc, arithmetic);
  auto plan = std::make_unique<ByteBoxPlan>(device, desc, quotient);
  if (!plan->served()) return nullptr;
  if (quotient.way == Way::wide) return plan;
  const auto gain = static_cast<float>(1 / quotient.divisor), whole = static_cast<float>(0x1.8p23 - quotient.whole);
  const BoxQuotient of_sums{gain, whole, static_cast<std::int32_t>(quotient.start_of_codes()),
                            quotient.way == Way::codes};
  return make_separable_wide_box(device, desc, of_sums, std::move(plan));
}

}  // namespace convolve::cuda
