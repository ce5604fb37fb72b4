// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "filters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace conformance {
namespace {

using convolve::FilterOptions;
using convolve::Tap;
using convolve::TapArray;

int count(const Shape& s) {
  return s.depth * s.height * s.width;
}

// Real taps whose magnitudes sum to `strength` and whose sum is near 1, so that outputs fall inside of the range.
Taps real_taps(const Shape& shape, Random& random, double strength) {
  Taps taps;
  if (count(shape) == 1) {
    taps.real.push_back(random.real(0.3, 1.5));
    return taps;
  }
  double magnitude = 0;
  for (int i = 0; i < count(shape); ++i) {
    taps.real.push_back(random.real(-1, 1));
    magnitude += std::abs(taps.real.back());
  }
  double sum = 0;
  for (double& tap : taps.real) sum += tap *= strength / magnitude;
  for (double& tap : taps.real) tap += (1 - sum) / count(shape);
  return taps;
}

Taps integers(const Shape& shape, Random& random, int low, int high, std::int64_t divisor) {
  Taps taps;
  for (int i = 0; i < count(shape); ++i) taps.integers.push_back(random.integer(low, high));
  taps.divisor = divisor;
  return taps;
}

std::int64_t sum(const Taps& taps) {
  return std::accumulate(taps.integers.begin(), taps.integers.end(), std::int64_t{0});
}

Taps real(const Shape& shape, Random& random) {
  return real_taps(shape, random, random.real(1, 4));
}

// Much cancellation, which asks for more bits in the sum.
Taps real_strong(const Shape& shape, Random& random) {
  return real_taps(shape, random, random.real(20, 120));
}

// time x column x row.
Taps real_separable(const Shape& shape, Random& random) {
  Taps taps, axis[3];
  const int length[3] = {shape.depth, shape.height, shape.width};
  for (int i = 0; i < 3; ++i) axis[i] = real_taps({1, 1, length[i]}, random, random.real(1, 2));
  for (const double t : axis[0].real)
    for (const double y : axis[1].real)
      for (const double x : axis[2].real) taps.real.push_back(t * y * x);
  return taps;
}

// time x the sum of two or three column x row.
Taps real_low_rank(const Shape& shape, Random& random) {
  Taps taps = real_separable({1, shape.height, shape.width}, random);
  for (int terms = random.integer(1, 2); terms > 0; --terms) {
    const Taps more = real_separable({1, shape.height, shape.width}, random);
    for (std::size_t i = 0; i < taps.real.size(); ++i) taps.real[i] += more.real[i];
  }
  const std::vector<double> space = std::exchange(taps.real, {});
  for (const double t : real_taps({1, 1, shape.depth}, random, random.real(1, 2)).real)
    for (const double tap : space) taps.real.push_back(t * tap);
  return taps;
}

Taps integer(const Shape& shape, Random& random) {
  return integers(shape, random, -9, 9, 1);
}

// Few taps that are not 0, so that most outputs stay inside of the range.
Taps integer_sparse(const Shape& shape, Random& random) {
  Taps taps;
  taps.integers.assign(count(shape), 0);
  for (int i = 0; i < 4; ++i) taps.integers[random.integer(0, count(shape) - 1)] += i % 2 == 0 ? 1 : -1;
  taps.integers[random.integer(0, count(shape) - 1)] += 1;
  return taps;
}

// Over an even divisor near the sum: many quotients are ties.
Taps fraction(const Shape& shape, Random& random) {
  Taps taps = integers(shape, random, -3, 9, 1);
  taps.divisor = std::max<std::int64_t>(2, (sum(taps) + random.integer(0, 4)) & ~std::int64_t{1});
  return taps;
}

// Over their own sum, as `normalize` has it; any parity.
Taps normalized(const Shape& shape, Random& random) {
  Taps taps = integers(shape, random, -2, 7, 1);
  taps.divisor = sum(taps);
  if (taps.divisor == 0) taps.divisor = 1;
  if (taps.divisor < 0) {
    taps.divisor = -taps.divisor;
    for (std::int64_t& n : taps.integers) n = -n;
  }
  return taps;
}

Taps byte_range(const Shape& shape, Random& random) {
  Taps taps = integers(shape, random, -128, 127, 1);
  taps.integers[0] = -128;
  taps.integers.back() = 127;
  taps.divisor = std::max<std::int64_t>(1, std::abs(sum(taps)));
  return taps;
}

// Past 8 bits, and for large filters or deep samples past an exact sum of 24.
Taps wide_integer(const Shape& shape, Random& random) {
  constexpr std::array limits{129, 300, 3000, 20000};
  const int limit = random.pick(limits);
  Taps taps = integers(shape, random, -limit / 2, limit, 1);
  taps.integers[0] = limit;
  taps.divisor = std::max<std::int64_t>(2, std::abs(sum(taps)));
  return taps;
}

Taps integer_separable(const Shape& shape, Random& random) {
  Taps taps, axis[3];
  const int length[3] = {shape.depth, shape.height, shape.width};
  for (int i = 0; i < 3; ++i) axis[i] = integers({1, 1, length[i]}, random, -1, 3, 1);
  for (const std::int64_t t : axis[0].integers)
    for (const std::int64_t y : axis[1].integers)
      for (const std::int64_t x : axis[2].integers) taps.integers.push_back(t * y * x);
  taps.divisor = std::max<std::int64_t>(2, (sum(taps) + 1) & ~std::int64_t{1});
  return taps;
}

// Each axis the same from both ends, as smoothing and sharpening filters are.
Taps real_mirrored(const Shape& shape, Random& random) {
  Taps taps;
  std::vector<double> axis[3];
  const int length[3] = {shape.depth, shape.height, shape.width};
  for (int i = 0; i < 3; ++i) {
    const double sigma = length[i] * random.real(0.1, 0.5), dip = random.chance(0.3) ? random.real(0, 0.2) : 0;
    double total = 0;
    for (int k = 0; k < length[i]; ++k) {
      const double at = k - (length[i] - 1) / 2.0;
      axis[i].push_back(std::exp(-at * at / (2 * sigma * sigma)) - dip);
      total += axis[i].back();
    }
    const double gain = random.chance(0.5) ? 1 : random.real(0.5, 1.2);
    for (double& tap : axis[i]) tap *= gain / (std::abs(total) > 0.5 ? total : 1);
  }
  for (const double t : axis[0])
    for (const double y : axis[1])
      for (const double x : axis[2]) taps.real.push_back(t * y * x);
  return taps;
}

// Without signs, over the sum or a number near it.
Taps integer_mirrored(const Shape& shape, Random& random) {
  Taps taps;
  std::vector<std::int64_t> axis[3];
  const int length[3] = {shape.depth, shape.height, shape.width};
  for (int i = 0; i < 3; ++i) {
    axis[i].resize(length[i]);
    for (int k = 0; k <= length[i] / 2; ++k)
      axis[i][k] = axis[i][length[i] - 1 - k] = random.integer(k == length[i] / 2 ? 1 : 0, length[i] < 5 ? 4 : 2);
  }
  for (const std::int64_t t : axis[0])
    for (const std::int64_t y : axis[1])
      for (const std::int64_t x : axis[2]) taps.integers.push_back(t * y * x);
  taps.divisor = std::max<std::int64_t>(2, sum(taps) + (random.chance(0.5) ? 0 : random.integer(-2, 40)));
  return taps;
}

Taps box(const Shape& shape, Random&) {
  Taps taps;
  taps.integers.assign(count(shape), 1);
  taps.divisor = count(shape);
  return taps;
}

Taps real_box(const Shape& shape, Random& random) {
  Taps taps;
  taps.real.assign(count(shape), (random.chance(0.8) ? 1 : -1) * random.real(0.5, 1.5) / count(shape));
  return taps;
}

// One tap, anywhere, perhaps negative.
Taps impulse(const Shape& shape, Random& random) {
  Taps taps;
  taps.integers.assign(count(shape), 0);
  taps.integers[random.integer(0, count(shape) - 1)] = random.chance(0.7) ? 1 : -2;
  return taps;
}

// Outputs are zero levels or far outside of the range. Few and powers of two: sums are exact in single precision.
Taps loud(const Shape& shape, Random& random) {
  Taps taps;
  taps.real.assign(count(shape), 0);
  const double loudness = std::ldexp(1, random.integer(8, 40));
  for (int i = 0; i < 5; ++i)
    taps.real[random.integer(0, count(shape) - 1)] += random.chance(0.6) ? loudness : -loudness;
  return taps;
}

Taps nothing(const Shape& shape, Random&) {
  Taps taps;
  taps.integers.assign(count(shape), 0);
  return taps;
}

std::size_t centre_of(const Shape& shape, int t) {
  return (static_cast<std::size_t>(t) * shape.height + shape.height / 2) * shape.width + shape.width / 2;
}

// The input less a blur, as unsharp masks are, in each frame.
Taps real_centred(const Shape& shape, Random& random) {
  Taps taps = real_mirrored(shape, random);
  const double amount = random.real(0.3, 0.9) / shape.depth;
  for (double& tap : taps.real) tap *= -amount;
  for (int t = 0; t < shape.depth; ++t) taps.real[centre_of(shape, t)] += random.real(0.5, 2);
  return taps;
}

Taps integer_centred(const Shape& shape, Random& random) {
  Taps taps = integer_mirrored(shape, random);
  for (std::int64_t& tap : taps.integers) tap = -tap;
  for (int t = 0; t < shape.depth; ++t) taps.integers[centre_of(shape, t)] += random.integer(1, 40);
  taps.divisor = random.integer(1, 30);
  return taps;
}

// Frames that factor, each into a column and a row of its own: they do not factor over time.
Taps real_frames(const Shape& shape, Random& random) {
  Taps taps;
  for (int t = 0; t < shape.depth; ++t) {
    const Taps frame = random.chance(0.3) ? real_centred({1, shape.height, shape.width}, random)
                                          : real_separable({1, shape.height, shape.width}, random);
    for (const double tap : frame.real) taps.real.push_back(tap / shape.depth);
  }
  return taps;
}

constexpr KindRow table[] = {
    {"real", real},
    {"fraction", fraction},
    {"integer", integer},
    {"real-separable", real_separable, true},
    {"real-low-rank", real_low_rank},
    {"byte-range", byte_range},
    {"integer-separable", integer_separable, true},
    {"real-mirrored", real_mirrored, true},
    {"integer-mirrored", integer_mirrored, true},
    {"integer-sparse", integer_sparse},
    {"real-strong", real_strong},
    {"normalized", normalized},
    {"box", box, true},
    {"wide-integer", wide_integer},
    {"impulse", impulse, true},
    {"nothing", nothing, true},
    {"loud", loud},
    {"real-centred", real_centred, true},
    {"integer-centred", integer_centred, true},
    {"real-frames", real_frames, true},
    {"real-box", real_box, true},
};

template <class Number>
void reverse_time(std::vector<Number>& taps, const Shape& shape) {
  const std::vector<Number> forwards = taps;
  const std::size_t frame = static_cast<std::size_t>(shape.height) * shape.width;
  for (std::size_t i = 0; i < taps.size(); ++i) taps[i] = forwards[(shape.depth - 1 - i / frame) * frame + i % frame];
}

/// Flipping an even axis moves the centre off the tap that makes some large kinds factor; boxes factor whatever it is.
bool factors_flipped(const KindRow& kind, const Shape& shape) {
  const bool odd = shape.height % 2 != 0 && shape.width % 2 != 0;
  return odd || shape.height + shape.width <= 2 * convolve::max_dense_taps ||
         std::string_view(kind.name).ends_with("box");
}

}  // namespace

std::span<const KindRow> kinds() {
  return table;
}

FilterPair make_filter(const KindRow& kind, const Shape& shape, Random& random) {
  const Taps taps = kind.make(shape, random);
  FilterPair pair;
  pair.text = (shape.depth > 1 ? std::to_string(shape.depth) + "x" : "") + std::to_string(shape.height) + "x" +
              std::to_string(shape.width) + " " + kind.name;

  oracle::Kernel& kernel = pair.kernel;
  kernel.depth = shape.depth;
  kernel.height = shape.height;
  kernel.width = shape.width;
  kernel.taps = taps.real;
  kernel.integers = taps.integers;
  kernel.divisor = taps.integers.empty() ? 0 : taps.divisor;

  FilterOptions options;
  TapArray array{shape.depth, shape.height, shape.width, {}};
  if (taps.integers.empty()) {
    // 0.3 has no short binary fraction, so the product is the oracle's tap to the last bit or two.
    options.scale = random.chance(0.3) ? 0.3 : 1.0;
    for (const double tap : taps.real) array.taps.push_back(Tap::real(tap / options.scale));
  } else {
    pair.text.append("/").append(std::to_string(taps.divisor));
    enum { fractions, normalize, scale };
    const bool can_normalize = sum(taps) == taps.divisor;
    const int way = can_normalize && random.chance(0.6) ? normalize : random.chance(0.3) ? scale : fractions;
    if (way == normalize) options.normalize = true;
    if (way == scale) options.scale = 1.0 / static_cast<double>(taps.divisor);
    for (const std::int64_t n : taps.integers)
      array.taps.push_back(way == fractions ? Tap::fraction(n, taps.divisor) : Tap::integer(n));
    if (way != fractions && taps.divisor != 1) pair.text += way == normalize ? " normalize" : " scale";
  }

  const bool flip = random.chance(0.2) && factors_flipped(kind, shape);
  const auto centre = [](int n, bool mirrored) { return mirrored ? n - 1 - n / 2 : n / 2; };
  kernel.centre_t = centre(shape.depth, flip);
  kernel.centre_y = centre(shape.height, flip);
  kernel.centre_x = centre(shape.width, flip);
  if (flip) {
    options.convolve = true;
    std::reverse(array.taps.begin(), array.taps.end());
    pair.text += " convolve";
  }
  pair.filter = convolve::Filter(array, options);

  if (shape.depth > 1 && random.chance(0.3)) {
    pair.filter = pair.filter.ending_at_newest();
    kernel.centre_t = shape.depth - 1;
    pair.text += " causal";
  }
  if (shape.depth > 1 && random.chance(0.2)) {
    pair.filter = pair.filter.reversed_in_time();
    kernel.centre_t = shape.depth - 1 - kernel.centre_t;
    reverse_time(kernel.taps, shape);
    reverse_time(kernel.integers, shape);
    pair.text += " backwards";
  }
  return pair;
}

}  // namespace conformance
