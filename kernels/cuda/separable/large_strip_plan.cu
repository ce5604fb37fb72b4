// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <vector>

#include "cuda/common/launch.hpp"
#include "cuda/separable/large_strip_plan.hpp"
#include "cuda/separable/large_strips.cuh"

namespace convolve::cuda::large {
namespace {

template <class Numbers, PlaneMix mix, int units, bool plain>
constexpr auto strip_kernel_for = strip_kernel<Numbers, mix, units, plain>;
template <class Numbers, int units, bool plain>
constexpr auto strip_kernel_for<Numbers, PlaneMix::none, units, plain> = pair_strip_kernel<Numbers, units, plain>;

template <class Numbers, int units>
StripKernel strip_kernel_of(PlaneMix mix) {
  using Shape = Strip<Numbers, units>;
  StripKernel strip{Numbers::unit,
                    units,
                    nullptr,
                    nullptr,
                    Shape::taps_bytes,
                    Shape::stages,
                    goes_on<Numbers, units>(max_components_of(mix)),
                    mix == PlaneMix::none && skews_pairs<Numbers>};
  const auto take = [&]<PlaneMix of>() {
    if (mix != of) return;
    strip.kernel = strip_kernel_for<Numbers, of, units, false>;
    strip.plain = strip_kernel_for<Numbers, of, units, true>;
  };
  // Integer taps that both kinds of limbs hold: each has the layouts that it is faster for.
  if constexpr (!std::is_same_v<Numbers, LimbsOf16>) {
    take.template operator()<PlaneMix::one>();
    take.template operator()<PlaneMix::one_and_two>();
  }
  if constexpr (!std::is_same_v<Numbers, Limbs> || units > 2) {
    take.template operator()<PlaneMix::none>();
    take.template operator()<PlaneMix::three>();
    take.template operator()<PlaneMix::four>();
  }
  return strip;
}

/// Strips whose units of rows are dealt out to so many blocks each, or all one after the other.
struct Deal {
  std::int64_t sequences, units, pieces;

  std::int64_t longest() const { return (units - 1) / pieces + 1; }
};

/// As deal_strips() says; `gap`: units of rows.
std::vector<Deal> deal(const Args& args, bool by_strip, int gap, int resident) {
  std::vector<Deal> deals;
  std::int64_t all = 0, blocks = 0;
  for (int p = 0; p < args.planes; ++p) {
    const Plane& plane = args.plane[p];
    all += std::int64_t{plane.strips_x} * plane.strip_units;
    deals.push_back(by_strip ? Deal{plane.strips_x, plane.strip_units, 1}
                             : Deal{1, std::int64_t{plane.strips_x} * (plane.strip_units + gap), 1});
    blocks += deals.back().sequences;
  }
  const auto shorter = [](const Deal& a, const Deal& b) { return a.longest() < b.longest(); };
  for (int p = 0; p < args.planes && !by_strip; ++p) {
    const Plane& plane = args.plane[p];
    const std::int64_t most = std::int64_t{plane.strips_x} * plane.strip_units * resident / all;
    deals[p].pieces = std::clamp<std::int64_t>(most, 1, deals[p].units);
  }
  while (by_strip) {
    Deal& longest = *std::max_element(deals.begin(), deals.end(), shorter);
    blocks += longest.sequences;
    if (blocks > resident || longest.pieces == longest.units) break;
    ++longest.pieces;
  }
  return deals;
}

}  // namespace

StripKernel strip_kernel_of(LargeNumbers numbers, const Filter& filter, PlaneMix mix) {
  const auto units = [&](int unit) {
    return std::max(large_row_units(unit, filter.width(), filter.centre_x()),
                    large_column_units(unit, filter.height()));
  };
  const bool few = mix == PlaneMix::one || mix == PlaneMix::one_and_two;
  if (numbers == LargeNumbers::halves)
    return units(16) <= 3   ? strip_kernel_of<Halves, 3>(mix)
           : units(16) <= 5 ? strip_kernel_of<Halves, 5>(mix)
                            : StripKernel{};
  return units(16) <= 3 && !few  ? strip_kernel_of<LimbsOf16, 3>(mix)
         : units(32) <= 2 && few ? strip_kernel_of<Limbs, 2>(mix)
         : units(32) <= 3        ? strip_kernel_of<Limbs, 3>(mix)
                                 : StripKernel{};
}

int strip_width(int components) {
  return strip_warps(components) * (components == 1 ? StripWarp<1>::pixels : StripWarp<4>::pixels);
}

int strip_memory(const StripKernel& strip, int centre_x, int components) {
  const int window = strip_window(strip.unit, strip.units, centre_x, strip_width(components), components);
  return strip.taps_bytes + strip.stages * strip.unit * strip_pitch(window, components, strip.skewed) +
         strip_cells_bytes(window) + (components == 3 ? strip_warps(3) * TripleOutlet::bytes : 0);
}

unsigned deal_strips(Args& args, const StripKernel& strip, int resident) {
  std::int64_t blocks = 0;
  const std::vector<Deal> deals = deal(args, !strip.goes_on, strip_gap(strip.units), resident);
  for (int p = 0; p < args.planes; ++p) {
    Plane& plane = args.plane[p];
    const Deal& of = deals[p];
    plane.first_strip = static_cast<int>(blocks);
    plane.sequences = static_cast<int>(of.sequences), plane.sequence_units = static_cast<int>(of.units);
    plane.share = static_cast<int>(of.units / of.pieces), plane.more = static_cast<int>(of.units % of.pieces);
    blocks += of.sequences * of.pieces;
  }
  return checked_blocks(blocks);
}

bool is_plain(const Args& args, LargeNumbers numbers) {
  if (args.centre != 0 || (numbers == LargeNumbers::limbs && args.whole == 0)) return false;
  return std::all_of(args.plane, args.plane + args.planes, [](const Plane& plane) {
    // What a lane stores of a row; of three components a warp.
    const int bytes = plane.components == 3 ? 4 * TripleOutlet::row_words : plane.components == 4 ? 16 : 8;
    return (plane.passthrough == 0 || plane.passthrough == ~0u) && plane.row_bytes % bytes == 0;
  });
}

}  // namespace convolve::cuda::large
