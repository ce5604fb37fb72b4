// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which of the row stream's kernels a bank takes, and what it is launched with.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "convolve/is_whole.hpp"
#include "cuda/bank/bank.hpp"
#include "cuda/bank/stream.hpp"
#include "cuda/common/packed_422.hpp"

namespace convolve::cuda {
namespace {

constexpr int side = bank_stream_side;

/// Packed 4:2:2 of 8 bits as a plane of pairs, each of four components.
FrameLayout as_pairs(const FrameLayout& layout) {
  const PlaneLayout& plane = layout.plane[0];
  const int luma = luma_index(plane);
  PlaneLayout pairs;
  pairs.components = 4;
  for (int c = 0; c < plane.components; ++c) {
    const Component& from = plane.component[c];
    for (int at = from.offset; at < 4; at += from.step) {
      Component& to = pairs.component[at];
      to = from;
      to.offset = at;
      to.step = 4;
      to.width = plane.component[luma].width / 2;
    }
  }
  FrameLayout result = layout;
  result.plane[0] = pairs;
  return result;
}

/// The layout as evenly interleaved planes, and what the kernels call it; nothing where they do not know it.
struct Planes {
  FrameLayout layout;
  BankPlanes kind;
};
std::optional<Planes> planes_of(const FrameLayout& layout) {
  if (layout.type == SampleType::u8 && lies_as_packed_422(layout)) {
    const PlaneLayout& plane = layout.plane[0];
    const Component& luma = plane.component[luma_index(plane)];
    if (luma.width % 2 != 0) return std::nullopt;
    return Planes{as_pairs(layout), luma.offset == 0 ? BankPlanes::luma_first : BankPlanes::chroma_first};
  }
  switch (plane_mix(layout)) {
    case PlaneMix::one:
      return Planes{layout, BankPlanes::one};
    case PlaneMix::one_and_two:
      return Planes{layout, BankPlanes::one_and_two};
    case PlaneMix::three:
      return Planes{layout, BankPlanes::three};
    case PlaneMix::four:
      return Planes{layout, BankPlanes::four};
    case PlaneMix::none:
      break;
  }
  return std::nullopt;
}

bool has_whole_ghosts(const FrameLayout& layout, const PlanDesc& desc) {
  if (!has_ghost_cells(desc.border)) return true;
  const auto components = all_components(layout);
  return std::all_of(components.begin(), components.end(),
                     [](const Component* c) { return !c->filtered || is_whole(c->ghost); });
}

/// The most that a filtered component adds, with its zero level; nothing where one adds no whole number.
std::optional<double> largest_whole_offset(const FrameLayout& layout) {
  double largest = 0;
  for (const Component* c : all_components(layout)) {
    const double offset = c->zero + c->bias;
    if (c->filtered && !is_whole(offset)) return std::nullopt;
    if (c->filtered) largest = std::max(largest, std::abs(offset));
  }
  return largest;
}

/// The most that a sum of exact taps can be.
double largest_sum(const Arithmetic& arithmetic, std::size_t kernels, double input) {
  const std::size_t count = arithmetic.coefficients.size() / kernels;
  double largest = 0;
  for (std::size_t n = 0; n < kernels; ++n) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += std::abs(arithmetic.coefficients[n * count + i]);
    largest = std::max(largest, sum * input);
  }
  return largest;
}

/// How sums become a value, and how that value is to be rounded; nothing where no kernel does it right. The arithmetic
/// of a magnitude is that of its root; sums that are exact in single precision need none in doubles here.
std::optional<BankSum> sum_of(const PlanDesc& desc, const FrameLayout& layout, Arithmetic& arithmetic) {
  const bool magnitude = combine_of(desc.bank) == Combine::magnitude;
  if (arithmetic.exact_taps && desc.bank.combine() == Combine::magnitude) {
    const double input = largest_input(layout, has_ghost_cells(desc.border), all_components(layout));
    const double largest = largest_sum(arithmetic, desc.bank.kernels().size(), input);
    if (largest < (magnitude ? 1 << 22 : 1 << 24) && has_whole_ghosts(layout, desc))
      arithmetic.accumulator = Accumulator::exact;
    else
      return std::nullopt;
  }
  if (arithmetic.accumulator == Accumulator::double_) return std::nullopt;
  if (!magnitude) return BankSum::linear;
  if (!arithmetic.exact_taps) return BankSum::root;
  const std::optional<double> offset = largest_whole_offset(layout);
  if (arithmetic.divisor != 1 || !offset || *offset > layout.max_value()) return std::nullopt;
  if (layout.type == SampleType::u16) return BankSum::exact_root;
  // The root of a whole number below 512^2 that is no tie lies further from one than an approximate root is off.
  return layout.max_value() + 1 + *offset <= 512 ? std::optional(BankSum::root) : std::nullopt;
}

/// Taps of a bank within squares about their centre.
void set_taps(const PlanDesc& desc, const Arithmetic& arithmetic, BankStreamArgs& args) {
  const Filter& filter = desc.filter;
  const int down = side / 2 - filter.centre_y(), right = side / 2 - filter.centre_x();
  const double* from = arithmetic.coefficients.data();
  for (int n = 0; n < args.kernels; ++n)
    for (int y = 0; y < filter.height(); ++y)
      for (int x = 0; x < filter.width(); ++x)
        args.taps[(n * side + y + down) * side + x + right] = static_cast<float>(*from++);
}

/// The factor of a kernel that is (1, m, 1) down times (-1, 0, 1) across, or lying down where `step` is that between
/// columns and `other` that between rows; 0 of others.
float gradient_factor(const float* taps, int along, int across, float& middle) {
  const auto at = [&](int a, int b) { return taps[a * along + b * across]; };
  const float factor = at(0, 2);
  if (factor == 0) return 0;
  middle = at(1, 2) / factor;
  for (int a = 0; a < side; ++a) {
    const float tap = a == 1 ? middle * factor : factor;
    if (at(a, 0) != -tap || at(a, 1) != 0 || at(a, 2) != tap) return 0;
  }
  return factor;
}

/// Whether the bank is a pair of gradients whose magnitude is asked, but for a factor that rides in the gain. What has
/// to be exact has whole numbers there.
bool set_gradients(BankSum sum, const Arithmetic& arithmetic, BankStreamArgs& args) {
  if (args.kernels != 2 || sum == BankSum::linear) return false;
  constexpr int count = side * side;
  float middle[2] = {}, factor[2] = {};
  bool upright[2] = {};
  for (int n = 0; n < 2; ++n) {
    const float* taps = args.taps + n * count;
    factor[n] = gradient_factor(taps, side, 1, middle[n]);
    upright[n] = factor[n] != 0;
    if (!upright[n]) factor[n] = gradient_factor(taps, 1, side, middle[n]);
    if (factor[n] == 0) return false;
  }
  if (upright[0] == upright[1]) return false;
  if (middle[0] != middle[1] || std::abs(factor[0]) != std::abs(factor[1])) return false;
  if (arithmetic.exact_taps && (std::abs(factor[0]) != 1 || middle[0] != std::floor(middle[0]))) return false;
  args.middle = middle[0];
  args.numbers.gain = std::abs(factor[0]);
  return true;
}

}  // namespace

std::optional<BankStreamCase> make_bank_stream_case(const PlanDesc& desc, std::string& why) {
  BankStreamCase stream;
  const auto refused = [&](const char* what) {
    why = what;
    return std::nullopt;
  };
  const std::optional<Planes> planes = planes_of(desc.layout);
  if (!planes) return refused("banks over components at uneven steps");
  if (desc.filter.reach_y() > side / 2 || desc.filter.reach_x() > side / 2)
    return refused("banks that reach further than one row or column from the centre");
  Arithmetic arithmetic =
      choose_arithmetic(desc.bank, desc.layout, has_ghost_cells(desc.border), all_components(desc.layout));
  const std::optional<BankSum> sum = sum_of(desc, planes->layout, arithmetic);
  if (!sum) return refused("banks whose sums or magnitudes single precision does not round right");
  if (!has_sample_planes(planes->layout, arithmetic, why)) return std::nullopt;
  BankStreamArgs& args = stream.args;
  args.planes = planes->layout.planes;
  args.numbers = by_remainder(make_sample_numbers(planes->layout, arithmetic));
  for (int p = 0; p < args.planes; ++p)
    args.plane[p] = make_sample_plane(planes->layout, planes->layout.plane[p], arithmetic);
  args.kernels = static_cast<int>(desc.bank.kernels().size());
  args.combine = combine_of(desc.bank);
  set_taps(desc, arithmetic, args);
  stream.type = desc.layout.type;
  stream.planes = planes->kind;
  stream.sum = *sum;
  stream.taps = set_gradients(*sum, arithmetic, args) ? BankTaps::gradients : BankTaps::any;
  if (is_packed_422(planes->kind)) {
    const PlaneLayout& plane = desc.layout.plane[0];
    args.luma_columns = edge_axis(desc.border, plane.component[luma_index(plane)].width);
  }
  return stream;
}

}  // namespace convolve::cuda
