// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/separable/tensor_taps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "convolve/is_whole.hpp"
#include "cuda/common/byte_planes.hpp"
#include "cuda/common/half.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/byte_factors.hpp"

namespace convolve::cuda::tensor {
namespace {

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
      return is_whole(level);
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
  taps = {Epilogue::scaled, f.column, f.row, start * unit};
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
  taps = {Epilogue::magic_number, f.column, f.row, -128 * sum};
  const double times = join_divisor(desc, arithmetic.divisor, 127, taps);
  taps.offset = -0x1p23 * taps.gain;
  const auto start = [&](const Component& c) { return -(c.zero * sum + taps.start) * sum_of(taps.row); };
  const bool reads = times != 0 && all_filtered(desc.layout, [&](const Component& c, int p, int i) {
                       const double from = (c.zero + c.bias) * arithmetic.divisor * times + start(c);
                       taps.from[p][i] = float_bits + from;
                       return std::abs(from) < 0x1p28;
                     });
  if (reads) return true;
  taps = {Epilogue::biased, f.column, f.row, -128 * sum};
  return all_filtered(desc.layout, [&](const Component& c, int p, int i) {
    const Quantizer q = make_quantizer(arithmetic, desc.layout, c);
    taps.gain = q.gain;
    taps.rounding_bias = q.rounding_bias;
    taps.from[p][i] = start(c);
    taps.level[p][i] = q.offset + q.rounding_bias;
    return q.division == Division::product && is_whole(c.zero);
  });
}

/// Real taps in half precision, where the result is within one code value of the exact one. Samples are scaled by
/// 2^-24. `roundings`: how often V is rounded; `times`: what the column is multiplied by, and the row divided by.
bool real_halves(const PlanDesc& desc, const SpaceFactors& f, double centre, int roundings, double times,
                 TensorTaps& taps) {
  constexpr double sample = 0x1p-24;
  double largest = 0;
  for (const double v : f.column) largest = std::max(largest, std::abs(v));
  const double scale = std::ldexp(times, 15 - 1 - std::ilogb(largest));
  const double unit = sample * scale;  // of V
  double sum = 0, column_magnitude = 0, column_error = 0, row_magnitude = 0, row_error = 0;
  taps.epilogue = centre == 0 ? Epilogue::saturate : Epilogue::centre_tap;
  taps.centre = centre;
  for (const double v : f.column) {
    const double wanted = v * scale;
    taps.column.push_back(nearest_half(wanted));
    sum += taps.column.back();
    column_magnitude += std::abs(taps.column.back());
    column_error += std::abs(taps.column.back() - wanted);
  }
  for (const double v : f.row) {
    const double wanted = v / unit;
    taps.row.push_back(nearest_half(wanted));
    row_magnitude += std::abs(taps.row.back());
    row_error += std::abs(taps.row.back() - wanted);
  }
  taps.start = nearest_half(-128 * sum * sample);
  const double v_magnitude = 128 * column_magnitude * sample + std::abs(128 * sum * sample + taps.start);
  const double v_error = 255 * column_error * sample + roundings * 2 * half_rounding(v_magnitude);
  const double error = v_error * row_magnitude + v_magnitude * row_error;
  const double taps_sum = sum_of(f.column) * sum_of(f.row) + centre;
  return all_filtered(desc.layout, [&](const Component& c, int p, int i) {
    const double from = c.zero + c.bias - c.zero * taps_sum - taps.start / unit * sum_of(f.row);
    taps.from[p][i] = from;
    const double rounded = (v_magnitude * row_magnitude + std::abs(from) + 255 * std::abs(centre)) * 0x1p-20;
    return error + rounded + ghost_rounding(desc, f) < max_sample_error;
  });
}

}  // namespace

bool is_even_packed_422(const FrameLayout& layout) {
  return lies_as_packed_422(layout) &&
         layout.plane[0].component[static_cast<std::size_t>(luma_index(layout.plane[0]))].width % 2 == 0;
}

int component_at(const PlaneLayout& plane, int b) {
  int c = 0;
  while ((b - plane.component[static_cast<std::size_t>(c)].offset) % plane.component[static_cast<std::size_t>(c)].step)
    ++c;
  return c;
}

bool make_tensor_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const SpaceFactors& f, double centre,
                      TensorTaps& taps) {
  const FrameLayout& layout = desc.layout;
  const Filter& filter = desc.filter;
  if (filter.depth() > 1 || !is_of_bytes(desc, arithmetic, f)) return false;
  if (filter.reach_y() > max_radius || filter.reach_x() > max_radius) return false;
  if (arithmetic.exact_taps && ghost_rounding(desc, f) / arithmetic.divisor >= max_sample_error) return false;
  // Planes of three components come alone, and so do those of four.
  const PlaneMix mix = plane_mix(layout);
  if ((mix == PlaneMix::none && !is_even_packed_422(layout)) ||
      (mix == PlaneMix::three && (layout.planes > 1 || !is_filtered_alike(layout.plane[0]))))
    return false;
  if (centre != 0 && arithmetic.exact_taps) return false;
  if (arithmetic.accumulator != Accumulator::exact) return real_halves(desc, f, centre, 1, 1, taps);
  return exact_halves(desc, arithmetic.divisor, f, taps) || exact_limbs(desc, arithmetic, f, taps);
}

bool make_frame_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const std::vector<double>& time,
                     const SpaceFactors& space, FrameTaps& made) {
  SpaceFactors f{{}, space.row, {}, {}};  // The column of all frames, one after the other.
  for (const double t : time)
    for (const double v : space.column) f.column.push_back(t * v);
  if (!is_of_bytes(desc, arithmetic, f)) return false;
  if (arithmetic.exact_taps && ghost_rounding(desc, f) / arithmetic.divisor >= max_sample_error) return false;
  TensorTaps& taps = made.taps;
  constexpr double sample = 0x1p-24;
  if (arithmetic.accumulator == Accumulator::exact) {
    if (!exact_halves(desc, arithmetic.divisor, f, taps)) return false;
    made.unit = 0x1p-14;
    made.row_sum = sum_of(taps.row);
    // Ghosts of frames that are missing are in what H starts at.
    const double most = 3 * 2048 * magnitude_of(taps.row);
    if (!all_filtered(desc.layout, [&](const Component&, int p, int c) {
          return most + std::abs(taps.from[p][c] / made.unit) < 0x1p23;
        }))
      return false;
  } else {
    // V is rounded for each frame: the least where its magnitude is just below a power of two.
    double largest = 0;
    for (const double v : f.column) largest = std::max(largest, std::abs(v));
    const double magnitude = std::ldexp(magnitude_of(f.column), -std::ilogb(largest));
    const double times = std::ldexp(1 - 0x1p-8, std::ilogb(magnitude)) / magnitude;
    if (!real_halves(desc, f, 0, static_cast<int>(time.size()), times, taps)) return false;
    made.unit = 0;
    made.row_sum = sum_of(f.row) / (sample * std::ldexp(times, 15 - 1 - std::ilogb(largest)));
  }
  const bool exact = made.unit > 0;
  const std::size_t rows = space.column.size();
  for (std::size_t t = 0; t < time.size(); ++t) {
    double sum = 0;
    for (std::size_t k = 0; k < rows; ++k) sum += taps.column[t * rows + k];
    made.start.push_back(-(exact ? 127.5 : 128.0) * sum * sample);
    made.ghost.push_back(time[t] * sum_of(space.column) * (exact ? sum_of(taps.row) * made.unit : sum_of(space.row)));
  }
  return true;
}

double FrameTaps::start_of(unsigned missing) const {
  double sum = 0;
  for (std::size_t t = 0; t < start.size(); ++t)
    if (!(missing >> t & 1)) sum += start[t];
  return nearest_half(unit > 0 ? std::ceil(sum / unit) * unit : sum);
}

double FrameTaps::from_of(int p, int c, double level, unsigned missing) const {
  double from = taps.from[p][c] + (taps.start - start_of(missing)) * row_sum;
  for (std::size_t t = 0; t < ghost.size(); ++t)
    if (missing >> t & 1) from += level * ghost[t];
  return from;
}

}  // namespace convolve::cuda::tensor
