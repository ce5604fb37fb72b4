// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of separable's tensor kernel: which cases it serves, the tables of taps, and how far half precision can be
// off.
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/tap_bits.hpp"
#include "cuda/separable/tensor.cuh"

namespace convolve::cuda {
namespace {

using namespace tensor;

template <Sums sums>
auto kernel_for(int components) {
  return components == 1 ? tensor_kernel<sums, 1> : components == 3 ? tensor_kernel<sums, 3> : tensor_kernel<sums, 4>;
}

auto kernel_for(Sums sums, int components) {
  return sums == Sums::real      ? kernel_for<Sums::real>(components)
         : sums == Sums::centred ? kernel_for<Sums::centred>(components)
         : sums == Sums::halves  ? kernel_for<Sums::halves>(components)
         : sums == Sums::limbs   ? kernel_for<Sums::limbs>(components)
                                 : kernel_for<Sums::snapped>(components);
}

class TensorPlan final : public Plan {
 public:
  TensorPlan(const Device& device, const PlanDesc& desc, const TensorArgs& args,
             const std::vector<uint4> (&fragments)[max_planes], Sums sums, int components, unsigned blocks)
      : shape_(desc.filter.shape()),
        args_(args),
        sums_(sums),
        kernel_(kernel_for(sums, components)),
        capability_(device.capability),
        blocks_(blocks),
        threads_(TensorTile::threads(components)) {
    Joined tables;
    std::size_t first[max_planes] = {};
    for (int p = 0; p < args_.planes; ++p) first[p] = tables.add(fragments[p]);
    fragments_ = Table<std::byte>(device.tables, tables.bytes());
    for (int p = 0; p < args_.planes; ++p) args_.plane[p].fragments = array_at<uint4>(fragments_, first[p]);
    args_.wave = device.multiprocessors * TensorTile::blocks(components);
    // Of one wave, a multiprocessor's share.
    more_memory_ =
        residency_limit(reinterpret_cast<const void*>(kernel_), threads_, (blocks_ - 1) / device.multiprocessors + 1);
  }

  const char* enqueue(const convolve::Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = fragments_.send(stream)) return error;
    for (int p = 0; p < args_.planes; ++p) {
      TensorPlane& plane = args_.plane[p];
      const PlaneView& from = window.image[0]->plane[p];
      const PlaneView& to = out.plane[p];
      bind(plane, from, to);
      plane.words = plane.simple && aligned(from, 4) && std::abs(from.stride) <= std::numeric_limits<int>::max();
      plane.wide = aligned(from, 16);
      plane.out_wide = aligned(to, 16);
    }
    launch_pdl(capability_, kernel_, blocks_, dim3(threads_), stream, args_, more_memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + (sums_ == Sums::centred ? " with a centre tap" : "") + ", tensor cores, " +
           (in_halves(sums_) ? "half precision" : "8-bit integers");
  }

 private:
  std::string shape_;
  Table<std::byte> fragments_;
  TensorArgs args_;
  Sums sums_;
  void (*kernel_)(TensorArgs);
  int capability_;
  unsigned blocks_, threads_, more_memory_ = 0;
};

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}
double as_half(double v) {
  return __half2float(__float2half_rn(static_cast<float>(v)));
}

std::uint32_t bits_of(float v) {
  return std::bit_cast<std::uint32_t>(v);
}

/// How far rounding to a half can move values of this magnitude.
double half_ulp(double magnitude) {
  return magnitude == 0 ? 0 : std::ldexp(1.0, std::max(std::ilogb(magnitude) - 11, -25));
}

/// What the kernel computes with.
struct TensorTaps {
  Sums sums;
  std::vector<double> column, row;
  double start;  ///< what V starts at
  double gain = 1, offset = 0, snap = 0, centre = 0;
  double from[max_planes][4]{};  ///< what H starts at
  float level[max_planes][4]{};  ///< snapped: the quantizer's offset and snap
};

/// What keeps a sample within one code value of the right one.
constexpr double largest_error = 0.95;

/// How far ghost levels that are rounded to whole code values can move a sum.
double ghost_rounding(const PlanDesc& desc, const SpaceFactors& f) {
  double most = 0;
  if (desc.border == Border::constant)
    all_filtered(desc.layout, [&](const Component& c, int, int) {
      most = std::max(most, std::abs(std::nearbyint(c.ghost) - c.ghost));
      return true;
    });
  return most * magnitude_of(f.column) * magnitude_of(f.row);
}

/// Sets `gain` to the reciprocal of the divisor, both it and the row multiplied by something up to `max_row` so that
/// one_product_divides(). Returns what they are multiplied by; 0: nothing will do.
double join_divisor(const PlanDesc& desc, double divisor, double max_row, TensorTaps& taps) {
  double largest = 0;
  for (const double v : taps.row) largest = std::max(largest, std::abs(v));
  for (double times = 1; times * largest <= max_row && times * divisor <= 8192; ++times) {
    const double whole = divisor * times;
    const auto gain = static_cast<float>(1 / whole);
    const bool levels = all_filtered(desc.layout, [&](const Component& c, int, int) {
      const double level = (c.zero + c.bias) * whole;
      return level == std::floor(level);
    });
    if (!levels || !one_product_divides(whole, gain)) continue;
    taps.gain = gain;
    for (double& v : taps.row) v *= times;
    return times;
  }
  return 0;
}

/// Integer taps in half precision: V is n * 2^-14, which is exact up to n = 2048.
bool exact_halves(const PlanDesc& desc, double divisor, const SpaceFactors& f, TensorTaps& taps) {
  constexpr double unit = 0x1p-14, sample = 0x1p-24;
  const double sum = sum_of(f.column), magnitude = magnitude_of(f.column);
  const double start = -std::floor(127.5 * sum);
  if (std::max(std::abs(start + 127.5 * (sum + magnitude)), std::abs(start + 127.5 * (sum - magnitude))) > 2048)
    return false;
  taps = {Sums::halves, f.column, f.row, start * unit};
  const double times = join_divisor(desc, divisor, 2048, taps);
  if (times == 0) return false;
  for (double& v : taps.column) v *= unit / sample;
  const double row = magnitude_of(taps.row), row_sum = sum_of(taps.row);
  const bool small = all_filtered(desc.layout, [&](const Component& c, int p, int i) {
    const double from = (c.zero + c.bias) * divisor * times - (c.zero * sum + start) * row_sum;
    taps.from[p][i] = from * unit;
    return 2048 * row + std::abs(from) < 0x1p23;
  });
  taps.gain /= unit;
  return small;
}

/// Integer taps in 8 bits.
bool exact_limbs(const PlanDesc& desc, const Arithmetic& arithmetic, const SpaceFactors& f, TensorTaps& taps) {
  const double sum = sum_of(f.column);
  if (!fits(f.column, -128, 127) || !fits(f.row, -128, 127)) return false;
  if (128 * magnitude_of(f.column) > 32767) return false;  // V's two limbs
  taps = {Sums::limbs, f.column, f.row, -128 * sum};
  const double times = join_divisor(desc, arithmetic.divisor, 127, taps);
  taps.offset = -0x1p23 * taps.gain;
  const auto start = [&](const Component& c) { return -(c.zero * sum + taps.start) * sum_of(taps.row); };
  const bool reads = times != 0 && all_filtered(desc.layout, [&](const Component& c, int p, int i) {
                       const double from = (c.zero + c.bias) * arithmetic.divisor * times + start(c);
                       taps.from[p][i] = float_bits + from;
                       return std::abs(from) < 0x1p28;
                     });
  if (reads) return true;
  taps = {Sums::snapped, f.column, f.row, -128 * sum};
  return all_filtered(desc.layout, [&](const Component& c, int p, int i) {
    const Quantizer q = make_quantizer(arithmetic, desc.layout, c);
    taps.gain = q.gain;
    taps.snap = q.snap;
    taps.from[p][i] = start(c);
    taps.level[p][i] = q.offset + q.snap;
    return q.division == Division::product && c.zero == std::floor(c.zero);
  });
}

/// Real taps in half precision, where the result is within one code value of the exact one. Samples are scaled by
/// 2^-24.
bool real_halves(const PlanDesc& desc, const SpaceFactors& f, double centre, TensorTaps& taps) {
  constexpr double sample = 0x1p-24;
  double largest = 0;
  for (const double v : f.column) largest = std::max(largest, std::abs(v));
  const int scale = 15 - 1 - std::ilogb(largest);
  const double unit = std::ldexp(sample, scale);  // of V
  double sum = 0, column_magnitude = 0, column_error = 0, row_magnitude = 0, row_error = 0;
  taps.sums = centre == 0 ? Sums::real : Sums::centred;
  taps.centre = centre;
  for (const double v : f.column) {
    const double wanted = std::ldexp(v, scale);
    taps.column.push_back(as_half(wanted));
    sum += taps.column.back();
    column_magnitude += std::abs(taps.column.back());
    column_error += std::abs(taps.column.back() - wanted);
  }
  for (const double v : f.row) {
    const double wanted = v / unit;
    taps.row.push_back(as_half(wanted));
    row_magnitude += std::abs(taps.row.back());
    row_error += std::abs(taps.row.back() - wanted);
  }
  taps.start = as_half(-128 * sum * sample);
  const double v_magnitude = 128 * column_magnitude * sample + std::abs(128 * sum * sample + taps.start);
  const double v_error = 128 * column_error * sample + 2 * half_ulp(v_magnitude);
  const double error = v_error * row_magnitude + v_magnitude * row_error;
  const double taps_sum = sum_of(f.column) * sum_of(f.row) + centre;
  return all_filtered(desc.layout, [&](const Component& c, int p, int i) {
    const double from = c.zero + c.bias - c.zero * taps_sum - taps.start / unit * sum_of(f.row);
    taps.from[p][i] = from;
    const double rounded = (v_magnitude * row_magnitude + std::abs(from) + 255 * std::abs(centre)) * 0x1p-20;
    return error + rounded + ghost_rounding(desc, f) < largest_error;
  });
}

/// What Products takes: each lane's fragments of the matrices.
std::vector<uint4> make_fragments(const Filter& filter, const TensorTaps& taps, int p, int components) {
  const bool exact = !in_halves(taps.sums);
  const int parts = exact ? 4 : 2;  // of a word
  const TapBits column_taps(taps.column, exact), row_taps(taps.row, exact);
  const auto word = [&](auto&& tap) {
    std::uint32_t bits = 0;
    for (int e = 0; e < parts; ++e) bits |= tap(e) << (exact ? 8 * e : 16 * e);
    return bits;
  };
  const auto column = [&](int from, int to) { return column_taps[from - radius - to + filter.centre_y()]; };
  // Quarters of 16 rows or pixels that a lane's bytes come from: pairs t of either half.
  const auto halves = [](int t, int e) { return (e >> 1) * 8 + 2 * t + (e & 1); };
  std::vector<uint4> fragments;
  fragments.reserve(4 * 32);
  const auto add = [&](auto&& value) {
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane >> 2, t = lane & 3;
      fragments.push_back({value(0, g, t), value(1, g, t), value(2, g, t), value(3, g, t)});
    }
  };
  add([&](int i, int g, int t) {
    const int to = g + 8 * (i & 1);
    return word([&](int e) {
      if (exact) return column(16 * (i >> 1) + halves(t, e), to);
      const int from = 8 * (i >> 1) + 2 * t + e;
      return column(from + 16 * farther(from, to), to);
    });
  });
  // Of limbs n says which half of the window comes first, word i / 2 the group of outputs; of halves n does.
  for (int n = 0; n < 2; ++n)
    add([&](int i, int g, int t) {
      const int group = exact ? i >> 1 : n, k = i & 1, half = exact ? k ^ n : i >> 1;
      return word([&](int e) {
        int from = 16 * half;
        if (components == 1) from += exact ? 4 * t + e : 4 * t + k + 2 * e;
        if (components == 2) from += exact ? halves(t, e) : 8 * k + 2 * t + e;
        if (components == 4) from += exact ? t + 4 * e : 8 * k + t + 4 * e;
        return row_taps[from - radius - (4 * (g >> 1) + 2 * group + (g & 1)) + filter.centre_x()];
      });
    });
  if (!exact) {
    const auto chosen = chosen_columns();
    for (std::size_t i = 0; i < 32; i += 4)
      fragments.push_back({chosen[i], chosen[i + 1], chosen[i + 2], chosen[i + 3]});
  }
  const auto add_four = [&](std::uint32_t v) { fragments.push_back({v, v, v, v}); };
  add_four(exact ? static_cast<std::uint32_t>(static_cast<int>(taps.start)) : half_bits(taps.start) * 0x10001u);
  for (int c = 0; c < components; ++c) {
    const double from = taps.from[p][c];
    if (exact)
      fragments.push_back({static_cast<std::uint32_t>(static_cast<int>(from)), bits_of(taps.level[p][c]), 0, 0});
    else
      add_four(bits_of(static_cast<float>(from)));
  }
  return fragments;
}

/// The taps that the kernel would compute with; false where it does not serve the case.
bool find_taps(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, const SpaceFactors& f,
               double centre, TensorTaps& taps) {
  const FrameLayout& layout = desc.layout;
  const Filter& filter = desc.filter;
  if (device.capability < 80 || filter.depth() > 1) return false;
  if (layout.type != SampleType::u8 || layout.bits != 8 || layout.shift != 0) return false;
  if (arithmetic.accumulator == Accumulator::double_) return false;
  if (magnitude_of(f.column) == 0 || magnitude_of(f.row) == 0) return false;
  if (filter.reach_y() > max_radius || filter.reach_x() > max_radius) return false;
  const bool ghosts_fit = desc.border != Border::constant || all_filtered(layout, [](const Component& c, int, int) {
                            return std::nearbyint(c.ghost) >= 0 && std::nearbyint(c.ghost) <= 255;
                          });
  if (!ghosts_fit) return false;
  if (arithmetic.exact_taps && ghost_rounding(desc, f) / arithmetic.divisor >= largest_error) return false;
  int most = 0;
  for (int p = 0; p < layout.planes; ++p) {
    if (!layout.plane[p].uniform() || layout.plane[p].components == 3) return false;
    most = std::max(most, layout.plane[p].components);
  }
  // Planes of four components come alone.
  for (int p = 0; p < layout.planes; ++p)
    if (most == 4 && layout.plane[p].components != 4) return false;
  if (centre != 0 && arithmetic.exact_taps) return false;
  return arithmetic.accumulator == Accumulator::exact
             ? exact_halves(desc, arithmetic.divisor, f, taps) || exact_limbs(desc, arithmetic, f, taps)
             : real_halves(desc, f, centre, taps);
}

}  // namespace

bool serves_separable_tensor(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                             const SpaceFactors& factors, double centre) {
  TensorTaps taps;
  return find_taps(device, desc, arithmetic, factors, centre, taps);
}

std::unique_ptr<Plan> make_separable_tensor(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const SpaceFactors& f, double centre) {
  const FrameLayout& layout = desc.layout;
  const Filter& filter = desc.filter;
  TensorTaps taps;
  if (!find_taps(device, desc, arithmetic, f, centre, taps)) return nullptr;

  TensorArgs args{};
  args.planes = layout.planes;
  args.border = desc.border;
  args.gain = static_cast<float>(taps.gain);
  args.offset = static_cast<float>(taps.offset);
  args.snap = static_cast<float>(taps.snap);
  args.centre = static_cast<float>(taps.centre);
  std::vector<uint4> fragments[max_planes];
  int components = 0;
  std::int64_t blocks = 0;
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneLayout& from = layout.plane[p];
    TensorPlane& to = args.plane[p];
    if (!(components & from.components)) components += from.components;
    to.components = from.components;
    to.width = from.component[0].width;
    to.height = from.component[0].height;
    to.row_bytes = to.width * to.components;
    to.columns = edge_axis(desc.border, to.width);
    to.rows = edge_axis(desc.border, to.height);
    to.above = filter.centre_y();
    to.lines = TensorTile::rows + filter.height() - 1;
    to.simple = edge_folds_once(to.width, max_radius) && edge_folds_once(to.height, max_radius) &&
                (desc.border != Border::wrap || to.row_bytes % block_bytes == 0);
    const PlaneMasks masks = plane_masks(from);
    to.passthrough = masks.passthrough;
    to.ghost = masks.ghost;
    fragments[p] = make_fragments(filter, taps, p, to.components);
    to.first_block = static_cast<int>(blocks);
    to.tiles_x = (to.row_bytes - 1) / TensorTile::bytes + 1;
    to.tiles_x_inverse = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + to.tiles_x - 1) / to.tiles_x);
    const std::int64_t tiles_y = (to.height - 1) / TensorTile::rows + 1, tiles = to.tiles_x * tiles_y;
    blocks += tiles;
    // Beyond, the inverse is not exact.
    if (to.tiles_x * tiles >= std::int64_t{1} << 32) return nullptr;
    if (blocks > (1LL << 30)) throw PlanError("the frame is too large for one launch");
    to.tiles = static_cast<int>(tiles);
  }
  if (components == 2) components = 3;
  return std::make_unique<TensorPlan>(device, desc, args, fragments, taps.sums, components,
                                      static_cast<unsigned>(blocks));
}

}  // namespace convolve::cuda
