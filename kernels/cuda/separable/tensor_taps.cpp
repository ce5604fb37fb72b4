// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/separable/tensor_taps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/byte_factors.hpp"
#include "cuda/common/half.hpp"

namespace convolve::cuda::tensor {
namespace {

double as_half(double v) {
  return half_value(half_bits(v));
}

std::uint32_t bits_of(float v) {
  return std::bit_cast<std::uint32_t>(v);
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
    return q.division == Division::product && c.zero == std::floor(c.zero);
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

/// The taps of one axis as bytes or as halves, with zeros around them.
class TapBits {
 public:
  TapBits(const std::vector<double>& taps, bool bytes) {
    for (std::size_t i = 0; i < taps.size(); ++i)
      bits_[around + i] = bytes ? static_cast<std::uint32_t>(static_cast<int>(taps[i])) & 255 : half_bits(taps[i]);
  }
  /// Tap `i`; -32 to 63, of which those that are no taps are 0.
  std::uint32_t operator[](int i) const { return bits_[around + i]; }

 private:
  static constexpr int around = 32;
  std::array<std::uint32_t, 3 * around> bits_{};
};

/// A sparse product takes rows from and from + 16 as one, and row `to` only one of them: 1 for the farther.
int farther(int from, int to) {
  return from < to ? 1 : 0;
}

/// The metadata of the sparse product, by lane: which two of four columns the matrix holds, 16 bits for either row of a
/// lane.
std::array<std::uint32_t, 32> chosen_columns() {
  std::array<std::uint32_t, 32> chosen{};
  for (int lane = 0; lane < 32; ++lane)
    for (int bit = 0; bit < 32; bit += 2) {
      const int to = (lane >> 2) + 8 * (bit >> 4), from = 8 * (lane & 1) + (bit >> 1 & 7);
      chosen[lane] |= static_cast<std::uint32_t>((bit & 2) | farther(from, to)) << bit;
    }
  return chosen;
}

/// The pixel of a half of the window that element e of word k of a lane's column t meets.
int pixel_of(bool bytes, int components, int k, int t, int e) {
  if (components == 1) return bytes ? 4 * t + e : 4 * t + k + 2 * e;
  if (components == 2) return bytes ? (e >> 1) * 8 + 2 * t + (e & 1) : 8 * k + 2 * t + e;
  return bytes ? t + 4 * e : 8 * k + t + 4 * e;
}

/// The row pass over three components in turn, triples.cuh: product n (0 or 1) takes 32 of a window's 64 bytes, as
/// eight groups of four columns, of which row `to` has two, `entry` 0 and 1.
struct TripleRow {
  int n, to;

  /// How far the byte in the group's column is from that which the row makes.
  int distance(int group, int column) const {
    const int k = 4 * group + column, in_window = 32 * n + 16 * (k >> 4) + 2 * (k & 7) + (k >> 3 & 1);
    return in_window - (24 + 2 * ((to + 4) & 7) + (to >> 3));
  }
  /// The first and the last column may both be of the component; else one of those between, beside the last one.
  int chosen(int group, int entry) const {
    if (entry == 1) return 3;
    int column = 0;
    while (distance(group, column) % 3 != 0) ++column;
    return column;
  }
  std::uint32_t tap(const TapBits& taps, int centre, int group, int entry) const {
    const int away = distance(group, chosen(group, entry));
    return away % 3 == 0 ? taps[away / 3 + centre] : 0;
  }
};

/// The selectors of such a product, in the order of chosen_columns().
std::array<std::uint32_t, 32> chosen_of_triples(int n) {
  std::array<std::uint32_t, 32> chosen{};
  for (int lane = 0; lane < 32; ++lane)
    for (int bit = 0; bit < 32; bit += 2) {
      const TripleRow row{n, (lane >> 2) + 8 * (bit >> 4)};
      const int entry = 8 * (lane & 1) + (bit >> 1 & 7);
      chosen[static_cast<std::size_t>(lane)] |= static_cast<std::uint32_t>(row.chosen(entry >> 1, entry & 1)) << bit;
    }
  return chosen;
}

}  // namespace

bool make_tensor_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const SpaceFactors& f, double centre,
                      TensorTaps& taps) {
  const FrameLayout& layout = desc.layout;
  const Filter& filter = desc.filter;
  if (filter.depth() > 1 || !is_of_bytes(desc, arithmetic, f)) return false;
  if (filter.reach_y() > max_radius || filter.reach_x() > max_radius) return false;
  if (arithmetic.exact_taps && ghost_rounding(desc, f) / arithmetic.divisor >= max_sample_error) return false;
  // Planes of three components come alone, and so do those of four.
  const PlaneMix mix = plane_mix(layout);
  const bool triples = mix == PlaneMix::three;
  if (mix == PlaneMix::none || (triples && (layout.planes > 1 || !is_filtered_alike(layout.plane[0])))) return false;
  if (centre != 0 && arithmetic.exact_taps) return false;
  if (arithmetic.accumulator != Accumulator::exact) return real_halves(desc, f, centre, 1, 1, taps);
  return exact_halves(desc, arithmetic.divisor, f, taps) || (!triples && exact_limbs(desc, arithmetic, f, taps));
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
  return as_half(unit > 0 ? std::ceil(sum / unit) * unit : sum);
}

double FrameTaps::from_of(int p, int c, double level, unsigned missing) const {
  double from = taps.from[p][c] + (taps.start - start_of(missing)) * row_sum;
  for (std::size_t t = 0; t < ghost.size(); ++t)
    if (missing >> t & 1) from += level * ghost[t];
  return from;
}

void add_half_columns(const std::vector<double>& column, int centre, std::vector<std::uint32_t>& words) {
  const TapBits taps(column, false);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      std::uint32_t word = 0;
      for (int e = 0; e < 2; ++e) {
        const int to = (lane >> 2) + 8 * (i & 1);
        int from = 8 * (i >> 1) + 2 * (lane & 3) + e;
        from += 16 * farther(from, to);
        word |= taps[from - radius - to + centre] << 16 * e;
      }
      words.push_back(word);
    }
}

void add_chosen_columns(std::vector<std::uint32_t>& words) {
  for (const std::uint32_t chosen : chosen_columns()) words.push_back(chosen);
}

void add_half_rows(const std::vector<double>& row, int centre, int margin, bool apart, const int (&step)[2],
                   std::vector<std::uint32_t>& words) {
  const TapBits taps(row, false);
  const int matrices = apart ? 2 * (margin + 1) : 2 * margin + 1;
  for (int n = 0; n < matrices; ++n)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        std::uint32_t word = 0;
        for (int e = 0; e < 2; ++e) {
          // V's registers hold every second byte of a block, and so do the columns of the matrix.
          const int g = lane >> 2, high = i >> 1, pair = 2 * (2 * (lane & 3) + e), odd = n / (margin + 1);
          const int to = apart ? 2 * (g + 8 * (i & 1)) + odd : 2 * g + (i & 1);
          const int from =
              apart ? 16 * (2 * (n % (margin + 1)) + high - margin) + pair + odd : 16 * (n - margin) + pair + high;
          const int away = from - to, between = step[to & 1];
          if (away % between == 0) word |= taps[away / between + centre] << 16 * e;
        }
        words.push_back(word);
      }
}

std::vector<std::uint32_t> make_fragments(const Filter& filter, const TensorTaps& taps, int p, int components) {
  const bool bytes = !in_halves(taps.epilogue);
  const int parts = bytes ? 4 : 2;  // of a word
  const TapBits column_taps(taps.column, bytes), row_taps(taps.row, bytes);
  std::vector<std::uint32_t> words;
  const auto add_matrix = [&](auto&& tap) {
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        std::uint32_t word = 0;
        for (int e = 0; e < parts; ++e) word |= tap(i, lane >> 2, lane & 3, e) << (bytes ? 8 * e : 16 * e);
        words.push_back(word);
      }
  };
  if (bytes)
    add_matrix([&](int i, int g, int t, int e) {
      const int to = g + 8 * (i & 1), from = 16 * (i >> 1) + (e >> 1) * 8 + 2 * t + (e & 1);
      return column_taps[from - radius - to + filter.centre_y()];
    });
  else
    add_half_columns(taps.column, filter.centre_y(), words);
  // n: with bytes, which half of the window comes first, and i / 2 is the group of outputs; with halves, the group, and
  // i / 2 is the half.
  for (int n = 0; n < 2; ++n)
    add_matrix([&](int i, int g, int t, int e) {
      const int group = bytes ? i >> 1 : n, k = i & 1, half = bytes ? k ^ n : i >> 1;
      if (components == 3) return TripleRow{n, g + 8 * k}.tap(row_taps, filter.centre_x(), t + 4 * half, e);
      const int from = 16 * half + pixel_of(bytes, components, k, t, e);
      return row_taps[from - radius - (4 * (g >> 1) + 2 * group + (g & 1)) + filter.centre_x()];
    });
  if (!bytes) add_chosen_columns(words);
  if (components == 3)
    for (int n = 0; n < 2; ++n)
      for (const std::uint32_t chosen : chosen_of_triples(n)) words.push_back(chosen);
  const auto add_four = [&](std::uint32_t v) { words.insert(words.end(), 4, v); };
  add_four(bytes ? static_cast<std::uint32_t>(static_cast<int>(taps.start)) : half_bits(taps.start) * 0x10001u);
  for (int c = 0; c < components; ++c) {
    const double from = taps.from[p][c];
    if (bytes)
      words.insert(words.end(), {static_cast<std::uint32_t>(static_cast<int>(from)), bits_of(taps.level[p][c]), 0, 0});
    else
      add_four(bits_of(static_cast<float>(from)));
  }
  return words;
}

}  // namespace convolve::cuda::tensor
