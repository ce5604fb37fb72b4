// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which banks the tensor cores serve, and their plan.
#include "cuda/bank/tensor.cuh"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "convolve/is_whole.hpp"
#include "cuda/bank/bank.hpp"
#include "cuda/bank/tensor_tuning.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/table.hpp"

namespace convolve::cuda {
namespace {

/// The taps of all kernels as whole numbers of one unit, and what turns their combined sums into samples.
struct BankTaps {
  std::vector<std::int32_t> whole;  ///< [kernel][row][column]
  Combine combine = Combine::max;
  bool exact_root = false;  ///< of Combine::magnitude: a comparison of squares decides next to a tie
  float gain = 1, divisor = 1;
  float rounding_bias = 0;
  float moved = 0;  ///< what the levels' base has beyond what is added to the value
};

bool in_8_bits(const std::vector<double>& whole) {
  return fits(whole, -128, 127);
}

/// Real taps as whole numbers of 8 bits of one unit, the smallest tap or a small part of it; nothing where there is no
/// such unit. Returns the unit.
std::optional<double> whole_taps(const std::vector<double>& taps, std::vector<double>& whole) {
  double smallest = 0;
  for (const double tap : taps)
    if (tap != 0 && (smallest == 0 || std::abs(tap) < smallest)) smallest = std::abs(tap);
  if (smallest == 0) return std::nullopt;
  constexpr int most_parts = 12;
  for (int parts = 1; parts <= most_parts; ++parts) {
    const double unit = smallest / parts;
    whole.clear();
    for (const double tap : taps) whole.push_back(std::nearbyint(tap / unit));
    const bool same = std::equal(taps.begin(), taps.end(), whole.begin(), [&](double tap, double n) {
      return std::abs(tap - n * unit) <= std::abs(tap) * 0x1p-40;
    });
    if (same && in_8_bits(whole)) return unit;
  }
  return std::nullopt;
}

/// Whether exact taps' magnitudes are rounded right without comparing squares next to a tie (false), or by that alone
/// (true); nothing where neither does it. Roots compare with ties by their squares, whole numbers that have to be exact
/// as floats, and multiples of 1/16. An approximate root is off by 2^-22 of its value at the most, and its distance
/// from a tie that is none, where ties are halves, is 1 / (8 * tie) or more.
std::optional<bool> needs_exact_root(const FrameLayout& layout, double divisor) {
  bool whole = true, quarters = true;
  double most = 0;
  all_filtered(layout, [&](const Component& component, int, int) {
    const double offset = component.zero + component.bias;
    whole &= is_whole(offset);
    quarters &= is_whole(4 * offset);
    most = std::max(most, divisor * (layout.max_value() + 1 + std::abs(offset)));
    return true;
  });
  if (divisor == 1 && whole && most <= 512) return false;
  if (quarters && most < 4096) return true;
  return std::nullopt;
}

/// Exact sums, and what they combine to, are whole numbers below 2^24, exact as floats; so the value has to be right as
/// well.
bool round_exactly(const PlanDesc& desc, Arithmetic arithmetic, BankTaps& taps) {
  taps.divisor = static_cast<float>(arithmetic.divisor);
  if (taps.combine == Combine::magnitude) {
    const std::optional<bool> exact_root = needs_exact_root(desc.layout, arithmetic.divisor);
    taps.exact_root = exact_root.value_or(false);
    if (taps.exact_root) taps.moved = -0.5f;
    return exact_root.has_value();
  }
  arithmetic.accumulator = Accumulator::exact;
  return all_filtered(desc.layout, [&](const Component& component, int, int) {
    const Quantizer quantizer = make_quantizer(arithmetic, desc.layout, component);
    taps.moved = taps.rounding_bias = quantizer.rounding_bias;
    return quantizer.division == Division::product;
  });
}

bool make_bank_taps(const PlanDesc& desc, BankTaps& taps, std::string& why) {
  taps.combine = combine_of(desc.bank);
  const Arithmetic arithmetic =
      choose_arithmetic(desc.bank, desc.layout, has_ghost_cells(desc.border), all_components(desc.layout));
  std::vector<double> whole = arithmetic.coefficients;
  double unit = 1 / arithmetic.divisor;
  if (!arithmetic.exact_taps) {
    const std::optional<double> found = whole_taps(arithmetic.coefficients, whole);
    if (!found) {
      why = "taps that are no 8-bit multiples of one number";
      return false;
    }
    unit = *found;
  } else if (!in_8_bits(whole)) {
    why = "integer taps that need more than 8 bits over the bank's common divisor";
    return false;
  }
  taps.whole.assign(whole.begin(), whole.end());
  taps.gain = static_cast<float>(unit);
  const bool right = arithmetic.exact_taps
                         ? round_exactly(desc, arithmetic, taps)
                         : all_filtered(desc.layout, [&](const Component& component, int, int) {
                             return std::abs(component.zero + component.bias) <= 4.0 * desc.layout.max_value();
                           });
  if (!right) why = "a divisor and a bias that single precision does not round right";
  return right;
}

/// The float that a kernel's sum reads as where the sum of taps times (samples less their zero level) is 0.
float none_of(const Component& component, const std::int32_t* taps, int count) {
  return static_cast<float>(bank_sum_offset + component.zero * std::accumulate(taps, taps + count, 0));
}

class BankTensorPlan final : public Plan {
 public:
  BankTensorPlan(const Device& device, const PlanDesc& desc, const BankTaps& taps)
      : capability_(device.capability), name_(desc.bank.describe()), max_(max_components_of(desc.layout)) {
    const Filter& filter = desc.filter;
    const std::size_t kernels = desc.bank.kernels().size(), count = taps.whole.size() / kernels;
    args_.kernels = static_cast<int>(kernels);
    args_.rounding_bias = taps.rounding_bias;
    args_.divisor = taps.divisor;
    set_tables(device, desc, taps);
    MatrixArgs& matrix = args_.matrix;
    matrix.taps = taps_.get();
    matrix.fixed = fixed_.get();
    matrix.levels = levels_.get();
    matrix.taps_x = filter.width();
    matrix.taps_y = filter.height();
    matrix.centre_x = filter.centre_x();
    matrix.centre_y = filter.centre_y();
    matrix.planes = desc.layout.planes;
    matrix.gain = taps.gain;
    matrix.border = desc.border;
    for (int p = 0; p < desc.layout.planes; ++p) {
      const PlaneLayout& plane = desc.layout.plane[p];
      set_plane(matrix.plane[p], plane, desc.border);
      for (int c = 0; c < plane.components; ++c)
        for (std::size_t n = 0; n < kernels; ++n)
          args_.none[p][c][n] = none_of(plane.component[c], &taps.whole[n * count], static_cast<int>(count));
    }
    kernel_ = bank_tensor_kernel(taps.combine, taps.exact_root, max_, kernels == 2);
    const int resident = bank_tile(max_, max_).blocks_resident;
    matrix.wave = static_cast<unsigned>(device.multiprocessors * dense_warps * resident);
    more_memory_ = residency_limit(reinterpret_cast<const void*>(kernel_), 32 * dense_warps, resident);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    for (const char* error : {taps_.send(stream), fixed_.send(stream), levels_.send(stream)})
      if (error) return error;
    unsigned blocks = 0;
    for (unsigned p = 0; p < args_.matrix.planes; ++p) {
      MatrixPlane& plane = args_.matrix.plane[p];
      const std::uintptr_t bits = bind(plane, window.image[0]->plane[p], out.plane[p]);
      plane.first_block = blocks;
      blocks += set_dense_tiles(plane, bank_tile(plane.components, max_).rows, aligned_for_tiles(plane, bits));
    }
    launch_pdl(capability_, kernel_, blocks, dim3(32, dense_warps), stream, args_, more_memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override { return "matrix " + name_ + ", each tile read once, integer products"; }

 private:
  void set_tables(const Device& device, const PlanDesc& desc, const BankTaps& taps) {
    const auto kernels = static_cast<std::ptrdiff_t>(desc.bank.kernels().size());
    const std::ptrdiff_t count = static_cast<std::ptrdiff_t>(taps.whole.size()) / kernels;
    std::vector<uint4> right;
    for (std::ptrdiff_t n = 0; n < kernels; ++n) {
      MatrixTaps one;
      one.fixed.assign(taps.whole.begin() + n * count, taps.whole.begin() + (n + 1) * count);
      const std::vector<uint4> words = dense_matrix_taps(desc.filter, one, bank_tensor_radius);
      right.insert(right.end(), words.begin(), words.end());
    }
    std::vector<MatrixLevels> levels(desc.layout.planes);
    for (int p = 0; p < desc.layout.planes; ++p) {
      const PlaneLayout& plane = desc.layout.plane[p];
      const unsigned ghost = plane_masks(plane).ghost;
      levels[p].ghosts = {ghost, ghost, ghost, ghost};
      for (int c = 0; c < plane.components; ++c)
        levels[p].base[c] = static_cast<float>(plane.component[c].zero + plane.component[c].bias) + taps.moved;
    }
    taps_ = Table<uint4>(device.tables, right);
    fixed_ = Table<int>(device.tables, taps.whole);
    levels_ = Table<MatrixLevels>(device.tables, levels);
  }

  int capability_;
  std::string name_;
  int max_;
  Table<uint4> taps_;
  Table<int> fixed_;
  Table<MatrixLevels> levels_;
  BankTensorArgs args_{};
  BankTensorKernel kernel_ = nullptr;
  unsigned more_memory_ = 0;
};

}  // namespace

bool serves_bank_tensor(const Device& device, const PlanDesc& desc, std::string& why) {
  why.clear();
  if (device.capability < 80)
    why = "banks on GPUs of compute capability below 8.0";
  else if (desc.layout.type != SampleType::u8 || desc.layout.bits != 8 || desc.layout.shift != 0)
    why = "banks over samples other than 8-bit ones";
  else if (desc.filter.reach_y() > bank_tensor_radius || desc.filter.reach_x() > dense_margin)
    why = "banks that reach further than " + std::to_string(bank_tensor_radius) + " rows or " +
          std::to_string(dense_margin) + " columns from the centre";
  BankTaps taps;
  return why.empty() && serves_planes(desc, why) && make_bank_taps(desc, taps, why);
}

std::unique_ptr<Plan> make_bank_tensor(const Device& device, const PlanDesc& desc) {
  BankTaps taps;
  std::string why;
  if (!make_bank_taps(desc, taps, why)) throw PlanError("matrix: " + why);
  return std::make_unique<BankTensorPlan>(device, desc, taps);
}

}  // namespace convolve::cuda
