// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of separable's tensor kernel: which cases it serves, the tables of taps, and how far half precision can be
// off.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

#include "cuda/launch.hpp"
#include "cuda/separable.hpp"
#include "cuda/separable_tensor.cuh"

namespace convolve::cuda {
namespace {

using namespace tensor;

template <bool exact>
void launch(const TensorArgs& args, int components, int blocks, cudaStream_t stream) {
  constexpr int threads = 32 * TensorTile::warps;
  if (components == 1)
    tensor_kernel<exact, 1><<<blocks, threads, 0, stream>>>(args);
  else if (components == 3)
    tensor_kernel<exact, 3><<<blocks, threads, 0, stream>>>(args);
  else
    tensor_kernel<exact, 4><<<blocks, threads, 0, stream>>>(args);
}

class TensorPlan final : public Plan {
 public:
  TensorPlan(const PlanDesc& desc, const TensorArgs& args, const std::vector<uint4> (&fragments)[max_planes],
             bool exact, int components, int blocks)
      : shape_(desc.filter.shape()), args_(args), exact_(exact), components_(components), blocks_(blocks) {
    for (int p = 0; p < args_.planes; ++p) {
      fragments_[p] = DeviceArray<uint4>(fragments[p]);
      args_.plane[p].fragments = fragments_[p].get();
    }
  }

  const char* enqueue(const convolve::Window& window, const Image& out, void* stream) noexcept override {
    for (int p = 0; p < args_.planes; ++p) {
      TensorPlane& plane = args_.plane[p];
      const PlaneView& from = window.image[0]->plane[p];
      const PlaneView& to = out.plane[p];
      plane.in = static_cast<const std::uint8_t*>(from.data);
      plane.in_stride = from.stride;
      plane.words = plane.simple && aligned(from, 4);
      plane.wide = aligned(from, 16);
      plane.out = static_cast<std::uint8_t*>(to.data);
      plane.out_stride = to.stride;
      plane.out_words = aligned(to, plane.components == 1 ? 8 : 16);
    }
    const auto queue = static_cast<cudaStream_t>(stream);
    exact_ ? launch<true>(args_, components_, blocks_, queue) : launch<false>(args_, components_, blocks_, queue);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + ", tensor cores, " + (exact_ ? "8-bit integers" : "half precision") + ", " +
           std::to_string(args_.steps) + " steps of 16 rows";
  }

 private:
  static bool aligned(const PlaneView& view, int bytes) {
    return (reinterpret_cast<std::uintptr_t>(view.data) | static_cast<std::uintptr_t>(view.stride)) % bytes == 0;
  }

  std::string shape_;
  DeviceArray<uint4> fragments_[max_planes];
  TensorArgs args_;
  bool exact_;
  int components_, blocks_;
};

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}
double magnitude_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += std::abs(v);
  return sum;
}
double at(const std::vector<double>& values, int i) {
  return i >= 0 && i < static_cast<int>(values.size()) ? values[i] : 0;
}
double as_half(double v) {
  return __half2float(__float2half_rn(static_cast<float>(v)));
}
std::uint32_t half_bits(double v) {
  return __half_as_ushort(__float2half_rn(static_cast<float>(v)));
}

/// How far rounding to a half can move values of this magnitude.
double half_ulp(double magnitude) {
  return magnitude == 0 ? 0 : std::ldexp(1.0, std::max(std::ilogb(magnitude) - 11, -25));
}

/// The products in half precision: taps scaled for them, and how far the result can be from the exact one. Samples
/// are scaled by 2^-24, H by 1 / 255.
struct Halves {
  std::vector<double> column, row;
  double start;          ///< what V starts at, a half
  double unit;           ///< the scale of V: scaled = value * unit
  double magnitude;      ///< the largest |H| less its offset
  double error_of_taps;  ///< of H, from rounded taps and V

  explicit Halves(const Factors& f) {
    double largest = 0;
    for (const double v : f.column) largest = std::max(largest, std::abs(v));
    const int scale = 15 - 1 - std::ilogb(largest);
    unit = std::ldexp(1.0, scale - 24);
    double sum = 0, column_magnitude = 0, column_error = 0, row_magnitude = 0, row_error = 0;
    for (const double v : f.column) {
      const double wanted = std::ldexp(v, scale);
      column.push_back(as_half(wanted));
      sum += column.back();
      column_magnitude += std::abs(column.back());
      column_error += std::abs(column.back() - wanted);
    }
    for (const double v : f.row) {
      const double wanted = v / (255 * unit);
      row.push_back(as_half(wanted));
      row_magnitude += std::abs(row.back());
      row_error += std::abs(row.back() - wanted);
    }
    const double sample = std::ldexp(1.0, -24);
    start = as_half(-128 * sum * sample);
    const double v_magnitude = 128 * column_magnitude * sample + std::abs(128 * sum * sample + start);
    const double v_error = 128 * column_error * sample + 2 * half_ulp(v_magnitude);
    magnitude = v_magnitude * row_magnitude;
    error_of_taps = v_error * row_magnitude + v_magnitude * row_error;
  }
  /// How far a code value can be from the exact one before it is rounded, where H starts at `offset`: four sums, and
  /// the half that is added last.
  double error(double offset) const {
    return 255 * (error_of_taps + 4 * half_ulp(magnitude + std::abs(offset)) + half_ulp(offset) + half_ulp(0.75));
  }
};

/// What Products takes: each lane's fragments of the matrices.
template <bool exact>
std::vector<uint4> make_fragments(const Filter& filter, const std::vector<double>& column,
                                  const std::vector<double>& row, int components) {
  constexpr int parts = exact ? 4 : 2;  // of a word
  const auto word = [](auto&& tap) {
    std::uint32_t bits = 0;
    for (int e = 0; e < parts; ++e)
      bits |= exact ? (static_cast<std::uint32_t>(static_cast<int>(tap(e))) & 255) << (8 * e)
                    : half_bits(tap(e)) << (16 * e);
    return bits;
  };
  // Quarters of 16 rows or pixels that a lane's bytes come from: pairs t of either half.
  const auto halves = [](int t, int e) { return (e >> 1) * 8 + 2 * t + (e & 1); };
  std::vector<uint4> fragments;
  const auto add = [&](auto&& value) {
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane >> 2, t = lane & 3;
      fragments.push_back({value(0, g, t), value(1, g, t), value(2, g, t), value(3, g, t)});
    }
  };
  for (int chunk = 0; chunk < (exact ? 1 : 2); ++chunk)
    add([&](int i, int g, int t) {
      return word([&](int e) {
        const int from = exact ? 16 * (i >> 1) + halves(t, e) : 16 * chunk + 8 * (i >> 1) + 2 * t + e;
        return at(column, from - reach - (g + 8 * (i & 1)) + filter.centre_y());
      });
    });
  // Word i of the first kind: group i / 2 of outputs; of real ones: group n.
  for (int n = 0; n < (exact ? 1 : 2); ++n)
    add([&](int i, int g, int t) {
      const int group = exact ? i >> 1 : n, k = i & 1, half = exact ? k : i >> 1;
      return word([&](int e) {
        int from = 16 * half;
        if (components == 1) from += exact ? 4 * t + e : 4 * t + k + 2 * e;
        if (components == 2) from += exact ? halves(t, e) : 8 * k + 2 * t + e;
        if (components == 4) from += exact ? t + 4 * e : 8 * k + t + 4 * e;
        return at(row, from - reach - (4 * (g >> 1) + 2 * group + (g & 1)) + filter.centre_x());
      });
    });
  return fragments;
}

}  // namespace

std::unique_ptr<Plan> make_separable_tensor(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const Factors& f) {
  const FrameLayout& layout = desc.layout;
  if (device.capability < 80 || desc.filter.depth() > 1) return nullptr;
  if (layout.type != SampleType::u8 || layout.bits != 8 || layout.shift != 0) return nullptr;
  if (arithmetic.accumulator == Accumulator::double_) return nullptr;
  const bool exact = arithmetic.accumulator == Accumulator::exact;

  TensorArgs args{};
  args.planes = layout.planes;
  args.border = desc.border;
  const double column = magnitude_of(f.column), row = magnitude_of(f.row), sum = sum_of(f.column) * sum_of(f.row);
  if (column == 0 || row == 0) return nullptr;
  const Halves halves(f);
  if (exact) {
    const auto fits = [](double v) { return v >= -128 && v <= 127; };
    if (!std::all_of(f.column.begin(), f.column.end(), fits) || !std::all_of(f.row.begin(), f.row.end(), fits))
      return nullptr;
    if (128 * column > 32767) return nullptr;  // V's two digits
  }

  std::vector<uint4> fragments[max_planes];
  int components = 0;
  std::int64_t tiles = 0;
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneLayout& from = layout.plane[p];
    TensorPlane& to = args.plane[p];
    if (!from.uniform() || from.components == 3) return nullptr;
    if (!(components & from.components)) components += from.components;
    to.components = from.components;
    to.width = from.component[0].width;
    to.height = from.component[0].height;
    to.row_bytes = to.width * to.components;
    to.columns = edge_axis(desc.border, to.width);
    to.rows = edge_axis(desc.border, to.height);
    to.simple = edge_folds_once(to.width, most_reach) && edge_folds_once(to.height, most_reach) &&
                (desc.border != Border::wrap || to.row_bytes % block_bytes == 0);
    // The first strip of one component begins half a set outside.
    to.strips = (to.row_bytes + (to.components == 1 ? reach : 0) - 1) / strip_bytes + 1;
    tiles += to.strips * (to.height / step_rows + 1LL);
    std::uint32_t starts[4] = {};
    for (int i = 0; i < 4; ++i) {
      const Component& c = from.component[i % from.components];
      if (!c.filtered) {
        to.copied |= 255u << (8 * i);
        continue;
      }
      const Quantizer q = make_quantizer(arithmetic, layout, c);
      if (q.wide || c.zero != std::floor(c.zero)) return nullptr;
      args.gain = q.gain;
      args.snap = q.snap;
      double ghost = 0;
      if (desc.border == Border::constant) {
        ghost = std::nearbyint(c.ghost);
        if (ghost < 0 || ghost > 255) return nullptr;
      }
      to.ghost |= static_cast<std::uint32_t>(ghost) << (8 * i);
      if (exact) {
        to.offset[i] = q.offset + q.snap;
        to.constant[i] = static_cast<int>((128 - c.zero) * sum);
      } else {
        const double offset = c.zero + c.bias - c.zero * sum - halves.start / halves.unit * sum_of(f.row);
        const double scaled = offset / 255 - 0.5;
        starts[i] = half_bits(scaled) * 0x10001u;
        const double ghost_error = desc.border == Border::constant ? std::abs(ghost - c.ghost) * column * row : 0;
        if (!(halves.error(scaled) + ghost_error < 0.95) || !(std::abs(scaled) < 1000)) return nullptr;
      }
    }
    if (exact) {
      fragments[p] = make_fragments<true>(desc.filter, f.column, f.row, to.components);
    } else {
      fragments[p] = make_fragments<false>(desc.filter, halves.column, halves.row, to.components);
      const std::uint32_t start = half_bits(halves.start) * 0x10001u;
      fragments[p].push_back({start, start, 0, 0});
      fragments[p].push_back({starts[0], starts[0], starts[1], starts[1]});
      fragments[p].push_back({starts[2], starts[2], starts[3], starts[3]});
    }
  }
  if (components == 2) components = 3;
  if (components > 4) return nullptr;

  const std::int64_t resident =
      std::int64_t{device.multiprocessors} * TensorTile::warps * TensorTile::blocks(exact, components);
  args.steps = static_cast<int>(
      std::clamp<std::int64_t>((tiles + resident - 1) / resident, 1, TensorTile::most_steps(components)));
  std::int64_t blocks = 0;
  for (int p = 0; p < layout.planes; ++p) {
    TensorPlane& plane = args.plane[p];
    plane.first_block = static_cast<int>(blocks);
    plane.strips_inverse = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + plane.strips - 1) / plane.strips);
    plane.bands = (plane.height - 1) / (step_rows * args.steps) + 1;
    blocks += (std::int64_t{plane.strips} * plane.bands - 1) / TensorTile::warps + 1;
    // Beyond, the inverse is not exact.
    if (std::int64_t{plane.strips} * plane.strips * plane.bands >= std::int64_t{1} << 32) return nullptr;
    if (blocks > (1LL << 30)) throw PlanError("the frame is too large for one launch");
  }
  return std::make_unique<TensorPlan>(desc, args, fragments, exact, components, static_cast<int>(blocks));
}

}  // namespace convolve::cuda
