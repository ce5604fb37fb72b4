// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/matrix/taps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "convolve/arithmetic.hpp"
#include "convolve/is_whole.hpp"
#include "cuda/matrix/limbs.hpp"

namespace convolve::cuda {
namespace {

// Rounds taps * scale so that the whole sum is right to half a unit: the largest remainders go up.
std::vector<std::int32_t> round_keeping_sum(const std::vector<double>& taps, double scale) {
  std::vector<std::int32_t> fixed(taps.size());
  std::vector<std::size_t> order(taps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> remainder(taps.size());
  double sum = 0;
  std::int64_t floors = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double whole = std::floor(taps[i] * scale);
    fixed[i] = static_cast<std::int32_t>(whole);
    remainder[i] = taps[i] * scale - whole;
    floors += fixed[i];
    sum += taps[i] * scale;
  }
  const std::int64_t missing = std::clamp<std::int64_t>(std::llround(sum) - floors, 0, std::ssize(taps));
  const auto end = order.begin() + missing;
  // Where remainders are equal the first taps are rounded up.
  if (end != order.end())
    std::nth_element(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
      return remainder[a] != remainder[b] ? remainder[a] > remainder[b] : a < b;
    });
  std::for_each(order.begin(), end, [&](std::size_t i) { ++fixed[i]; });
  return fixed;
}

}  // namespace

bool in_limbs(const std::vector<double>& fixed, int limbs) {
  double least = 0, most = 0;
  for (int d = 0; d < limbs; ++d) least = least * 256 - 128, most = most * 256 + 127;
  return fits(fixed, least, most);
}

TapRange::TapRange(const std::vector<double>& taps)
    : least(*std::min_element(taps.begin(), taps.end())), most(*std::max_element(taps.begin(), taps.end())) {}

bool rounded_in_limbs(const TapRange& taps, double units, int limbs) {
  const auto farther = [&](double t) { return t * units + (t > 0 ? 1 : -1); };
  return in_limbs({farther(taps.least), farther(taps.most)}, limbs);
}

RoundedTaps round_taps(const std::vector<double>& taps, double units) {
  RoundedTaps rounded{round_keeping_sum(taps, units)};
  double above = 0, below = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double off = rounded.fixed[i] / units - taps[i];
    (off > 0 ? above : below) += std::abs(off);
    rounded.sum += rounded.fixed[i];
    rounded.magnitude += std::abs(rounded.fixed[i]);
  }
  rounded.off = std::max(above, below);
  return rounded;
}

std::int32_t limb_of(std::int32_t fixed, int from_lowest) {
  for (; from_lowest > 0; --from_lowest) fixed = (fixed + 128) >> 8;
  return ((fixed + 128) & 255) - 128;
}

std::vector<std::int8_t> limbs_of(const std::vector<std::int32_t>& fixed, int from_lowest) {
  std::vector<std::int8_t> limbs(fixed.size());
  std::transform(fixed.begin(), fixed.end(), limbs.begin(),
                 [&](std::int32_t tap) { return static_cast<std::int8_t>(limb_of(tap, from_lowest)); });
  return limbs;
}

std::string too_coarse(int limbs, double max_error) {
  return "real taps that " + std::to_string(limbs) + " 8-bit limbs do not hold to within " +
         std::to_string(max_error).substr(0, 4) + " code values";
}

namespace {

constexpr int max_input = 255;
constexpr int max_shift = 16, max_scaled_shift = 22;
constexpr int max_reading_shift = 15;       // samples up to 255 are sums below 2^23
constexpr double max_reading_sum = 0x1p29;  // either way: float_bits + sum is a finite positive float

bool joins(LimbSums how) {
  return how == LimbSums::joined || how == LimbSums::joined_biased;
}

// Sum of levels, in units: what the sum of fixed taps times plain samples lacks.
double start_of(const Component& k, double units, double sum_fixed) {
  return (k.zero + k.bias) * units - k.zero * sum_fixed;
}

// one_product_divides() of sum * gain + rounding bias, rounded once, to 2^-14: ties are multiples of that, what the
// product is off by is less than half of it, and no other quotient is that near to a tie.
bool biased_product_divides(double divisor, float gain) {
  const double offset = static_cast<double>(MatrixTaps::rounding_bias) - 0x1p23 * static_cast<double>(gain);
  return divisor <= 8192 && static_cast<double>(static_cast<float>(offset)) == offset;
}

bool exact_taps(const PlanDesc& desc, const Arithmetic& arithmetic, LimbSums how, MatrixTaps& taps, std::string& why) {
  // Levels that are no multiple of 1 / divisor become one when taps and divisor are doubled.
  std::vector<double> scaled = arithmetic.coefficients;
  double divisor = arithmetic.divisor;
  const auto levels_whole = [&] {
    return all_filtered(desc.layout, [&](const Component& k, int, int) {
      return is_whole(k.zero) && is_whole((k.zero + k.bias) * divisor);
    });
  };
  for (int doubled = 0; !levels_whole(); ++doubled) {
    if (doubled == 8) {
      why = "a bias that is no short binary fraction of a code value, with integer taps";
      return false;
    }
    for (double& t : scaled) t *= 2;
    divisor *= 2;
  }
  if (divisor >= 65536) {
    why = "integer taps over a divisor of 65536 or more";
    return false;
  }
  taps.limbs = in_limbs(scaled, 1) ? 1 : 2;
  if (!in_limbs(scaled, taps.limbs)) {
    why = "integer taps that need more than 16 bits";
    return false;
  }
  taps.fixed.assign(scaled.begin(), scaled.end());
  // The two-term product is right to 2^-40, so that rounding it to single precision leaves ties, which single
  // precision holds, and does not reach one from where the nearest other quotients are, 1 / (2 * divisor) away.
  taps.epilogue = divisor == 1 && taps.limbs == 1 ? Epilogue::saturate : Epilogue::quotient;
  taps.gain = static_cast<float>(1 / divisor);
  taps.gain_low = static_cast<float>(1 / divisor - static_cast<double>(taps.gain));
  const double sum = std::accumulate(scaled.begin(), scaled.end(), 0.0);
  const bool one = one_product_divides(divisor, taps.gain);
  const bool as_float = joins(how) || (how == LimbSums::separate_float && taps.limbs == 1);
  bool reads = taps.epilogue == Epilogue::quotient &&
               ((as_float && one) || (how == LimbSums::joined_biased && biased_product_divides(divisor, taps.gain)));
  double largest = 0;
  for (const double t : scaled) largest += std::abs(t) * max_input;
  const bool fit = all_filtered(desc.layout, [&](const Component& k, int p, int c) {
    const double start = start_of(k, divisor, sum);
    if (std::abs(start) + largest >= 2147483647.0) return false;
    taps.start[p][c] = static_cast<std::int32_t>(start);
    reads = reads && std::abs(start) + largest < max_reading_sum;
    return true;
  });
  if (reads) {
    taps.epilogue = one ? Epilogue::magic_number : Epilogue::biased_magic_number;
    for (auto& plane : taps.start)
      for (std::int32_t& start : plane) start += float_bits;
  }
  if (!fit) why = "sums beyond 32 bits";
  return fit;
}

// How far sums are moved up so that 2^23 + sum reads as a float in [2^23, 2^24): a multiple of 2^12, for few bits.
std::int64_t move_into_float(std::int64_t low) {
  constexpr std::int64_t grain = 1 << 12;
  return (-low + grain - 1) / grain * grain;
}

bool real_taps(const PlanDesc& desc, const Arithmetic& arithmetic, MatrixTaps& taps, std::string& why) {
  const TapRange range(arithmetic.coefficients);
  taps.limbs = 2;
  taps.epilogue = Epilogue::separate_limbs;
  double error = 0;
  for (int shift = max_shift; shift >= 0; --shift) {
    const double units = std::ldexp(1.0, shift);
    if (!rounded_in_limbs(range, units, 2)) continue;
    const RoundedTaps rounded = round_taps(arithmetic.coefficients, units);
    taps.fixed = rounded.fixed;
    std::array<std::int64_t, 2> low{}, high{};
    for (std::size_t i = 0; i < taps.fixed.size(); ++i)
      for (int d = 0; d < 2; ++d) (taps.limb(d, i) < 0 ? low : high)[d] += taps.limb(d, i) * max_input;
    const std::int64_t move = move_into_float(std::min(low[0], low[1]));
    if (std::max(high[0], high[1]) + move >= 1 << 23) continue;  // fewer fraction bits leave more room
    // The float readings are off by this.
    const double off_by = 257.0 * (0x1p23 + static_cast<double>(move)) / units;
    // The tap errors at their worst, and what the two float products and their constant round off.
    error = max_input * rounded.off + off_by * 0x1p-23 + 0x1p-14;
    if (error > MatrixTaps::max_error) break;
    taps.real_start = float_bits + static_cast<std::int32_t>(move);
    taps.gain = static_cast<float>(1 / units);
    all_filtered(desc.layout, [&](const Component& k, int p, int c) {
      const double level = k.zero + k.bias - k.zero * rounded.sum / units;
      taps.base[p][c] = static_cast<float>(level - off_by);
      taps.level[p][c] = static_cast<float>(level);
      return true;
    });
    return true;
  }
  why = too_coarse(2, MatrixTaps::max_error);
  return false;
}

// Real taps for sums that are joined before they are floats: many taps leave no room in 23 bits. `reads`: for
// Epilogue::magic_number, with levels in the sums.
bool joined_taps(const PlanDesc& desc, const Arithmetic& arithmetic, int limbs, bool reads, MatrixTaps& taps,
                 std::string& why) {
  const TapRange range(arithmetic.coefficients);
  taps = {};
  taps.limbs = limbs;
  taps.epilogue = reads ? Epilogue::magic_number : Epilogue::scaled;
  for (int shift = reads ? max_reading_shift : max_scaled_shift; shift >= 0; --shift) {
    const double units = std::ldexp(1.0, shift);
    if (!rounded_in_limbs(range, units, limbs)) continue;
    const RoundedTaps rounded = round_taps(arithmetic.coefficients, units);
    taps.fixed = rounded.fixed;
    double largest_level = 0;
    const auto level_of = [&](const Component& k) { return k.zero + k.bias - k.zero * rounded.sum / units; };
    all_filtered(desc.layout, [&](const Component& k, int, int) {
      largest_level = std::max(largest_level, std::abs(level_of(k)));
      return true;
    });
    const double largest = rounded.magnitude * max_input + (reads ? largest_level * units : 0);
    if (largest >= (reads ? max_reading_sum : 2147483647.0)) continue;
    taps.gain = static_cast<float>(1 / units);
    all_filtered(desc.layout, [&](const Component& k, int p, int c) {
      if (reads)
        taps.start[p][c] = float_bits + static_cast<std::int32_t>(std::llround(level_of(k) * units));
      else
        taps.level[p][c] = static_cast<float>(level_of(k));
      return true;
    });
    // The tap errors at their worst, and what the level in whole units, or the sum as a float, its product and the
    // level round off where the sample is not clamped anyway.
    const double by_sums = reads ? 0.5 / units + 0x1p-16 : (largest_level + 512) * 0x1p-22;
    if (max_input * rounded.off + by_sums <= MatrixTaps::max_error) return true;
    break;
  }
  why = too_coarse(limbs, MatrixTaps::max_error);
  return false;
}

}  // namespace

std::int32_t MatrixTaps::limb(int d, std::size_t tap) const {
  return limb_of(fixed[tap], limbs - 1 - d);
}

std::vector<std::int8_t> MatrixTaps::limbs_from_highest(int d) const {
  return limbs_of(fixed, limbs - 1 - d);
}

const char* name(Epilogue epilogue) {
  return epilogue == Epilogue::saturate                                                ? "packed"
         : epilogue == Epilogue::quotient || epilogue == Epilogue::biased_magic_number ? "quotient"
                                                                                       : "fixed point";
}

bool make_matrix_taps(const PlanDesc& desc, LimbSums how, MatrixTaps& taps, std::string& why, int max_limbs) {
  taps = {};
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border));
  if (arithmetic.accumulator == Accumulator::exact) return exact_taps(desc, arithmetic, how, taps, why);
  if (arithmetic.accumulator != Accumulator::single) {
    why = "sums that need double precision";
    return false;
  }
  if (joins(how) && joined_taps(desc, arithmetic, 2, true, taps, why)) return true;
  if (joins(how) || desc.filter.depth() > 1) {
    for (int limbs = 2; limbs <= max_limbs; ++limbs)
      if (joined_taps(desc, arithmetic, limbs, false, taps, why)) return true;
    return false;
  }
  return real_taps(desc, arithmetic, taps, why);
}

}  // namespace convolve::cuda
