// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bank_cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace conformance {
namespace {

using convolve::Combine;
using convolve::Tap;
using oracle::Combination;

struct Way {
  Combine combine;
  Combination combination;
};
constexpr std::array ways{Way{Combine::magnitude, Combination::magnitude}, Way{Combine::sum_abs, Combination::sum_abs},
                          Way{Combine::max_abs, Combination::max_abs}, Way{Combine::max, Combination::max}};

// A scale as the user writes it, and as a fraction; divisor 0: it is none.
struct Scale {
  double value;
  std::int64_t numerator, divisor;
};
constexpr std::array scales{Scale{1, 1, 1},       Scale{1, 1, 1},      Scale{0.5, 1, 2}, Scale{0.125, 1, 8},
                            Scale{1.0 / 9, 1, 9}, Scale{-0.75, -3, 4}, Scale{3, 3, 1},   Scale{0.3, 3, 0}};

// What holds for all kernels of a bank.
struct Options {
  Scale scale;
  bool normalize, flip;
};

int centre_of(int n, bool flip) {
  return flip ? n - 1 - n / 2 : n / 2;
}

// One kernel as the oracle takes it, from taps as they are written.
oracle::Kernel oracle_kernel(const Taps& taps, int height, int width, const Options& options) {
  oracle::Kernel kernel{1,  height, width, 0, centre_of(height, options.flip), centre_of(width, options.flip),
                        {}, {},     0};
  const bool real = taps.integers.empty() || options.scale.divisor == 0;
  const std::int64_t sum = std::accumulate(taps.integers.begin(), taps.integers.end(), std::int64_t{0});
  if (!real) {
    std::int64_t divisor = (options.normalize && sum != 0 ? sum : taps.divisor) * options.scale.divisor;
    std::int64_t common = divisor;
    for (const std::int64_t n : taps.integers) {
      kernel.integers.push_back(n * options.scale.numerator);
      common = std::gcd(common, kernel.integers.back());
    }
    if (divisor < 0) common = -common;
    for (std::int64_t& n : kernel.integers) n /= common;
    kernel.divisor = divisor / common;
  } else {
    std::vector<double> values = taps.real;
    if (values.empty())
      for (const std::int64_t n : taps.integers) values.push_back(static_cast<double>(n) / taps.divisor);
    double total = std::accumulate(values.begin(), values.end(), 0.0);
    if (!taps.integers.empty()) total = static_cast<double>(sum) / taps.divisor;
    for (const double value : values)
      kernel.taps.push_back(value * options.scale.value / (options.normalize && total != 0 ? total : 1));
  }
  if (options.flip) {
    std::reverse(kernel.taps.begin(), kernel.taps.end());
    std::reverse(kernel.integers.begin(), kernel.integers.end());
  }
  return kernel;
}

double magnitude_of(const oracle::Kernel& kernel, std::int64_t divisor) {
  double magnitude = 0;
  for (const double tap : kernel.taps) magnitude += std::abs(tap);
  for (const std::int64_t n : kernel.integers)
    magnitude += std::abs(static_cast<double>(n)) * static_cast<double>(divisor) / static_cast<double>(kernel.divisor);
  return magnitude;
}

// A kernel that has the extent of the whole bank, and the taps that decide whether its sums have to be exact: of all
// kernels where they are added up, else of the largest. Not exact where one of them is not, or where the common divisor
// is beyond 24 bits.
oracle::Kernel envelope(const std::vector<oracle::Kernel>& bank, Combine combine, bool real_samples) {
  oracle::Kernel all;
  std::int64_t divisor = 1;
  bool exact = true;
  int below = 0, right = 0;
  for (const oracle::Kernel& kernel : bank) {
    all.centre_y = std::max(all.centre_y, kernel.centre_y);
    all.centre_x = std::max(all.centre_x, kernel.centre_x);
    below = std::max(below, kernel.height - kernel.centre_y);
    right = std::max(right, kernel.width - kernel.centre_x);
    exact &= kernel.divisor > 0;
    if (exact) divisor = std::lcm(divisor, kernel.divisor);
    exact &= divisor <= 1 << 24;
  }
  all.height = all.centre_y + below;
  all.width = all.centre_x + right;
  std::vector<oracle::Kernel> counted = bank;
  if (combine != Combine::sum_abs && !real_samples && exact) {
    const auto smaller = [](const auto& a, const auto& b) { return magnitude_of(a, 1) < magnitude_of(b, 1); };
    counted = {*std::max_element(bank.begin(), bank.end(), smaller)};
  }
  if (exact) all.divisor = divisor;
  for (const oracle::Kernel& kernel : counted) {
    for (const double tap : kernel.taps) all.taps.push_back(tap);
    for (const std::int64_t n : kernel.integers)
      if (exact)
        all.integers.push_back(n * (divisor / kernel.divisor));
      else
        all.taps.push_back(static_cast<double>(n) / static_cast<double>(kernel.divisor));
  }
  return all;
}

// One of a pair of 3x3 gradients: a column times a row with nothing in the middle, or the same lying down. Integers up
// to `most`, over `divisor`, or over any where that is 0. `middle` other than 0: as Sobel's and Prewitt's, with that
// number between ones.
Taps gradient(bool lying, bool integers, int most, std::int64_t divisor, int middle, Random& random) {
  const auto draw = [&](bool gap) {
    std::array<double, 3> axis;
    if (middle != 0) return gap ? std::array{-1.0, 0.0, 1.0} : std::array{1.0, static_cast<double>(middle), 1.0};
    for (double& tap : axis) tap = integers ? random.integer(-most, most) : random.real(-1, 1);
    if (gap) axis[1] = 0;
    return axis;
  };
  const std::array<double, 3> column = draw(lying), row = draw(!lying);
  Taps taps;
  for (const double y : column)
    for (const double x : row)
      if (integers)
        taps.integers.push_back(static_cast<std::int64_t>(x * y));
      else
        taps.real.push_back(x * y);
  taps.divisor = !integers ? 1 : divisor != 0 ? divisor : random.integer(1, 12);
  return taps;
}

// Integers of few bits over one divisor, as gradients and compass masks have them.
Taps mask(const Shape& shape, std::int64_t divisor, Random& random) {
  Taps taps;
  for (int i = 0; i < shape.height * shape.width; ++i) taps.integers.push_back(random.integer(-12, 12));
  taps.divisor = divisor;
  return taps;
}

// The case with a bank in the place of its filter. `masks`: of masks or small gradients alone, over one divisor.
Case with_bank(Case c, const Way& way, std::size_t count, int side, bool masks, Random& random) {
  Options options{random.pick(scales), !masks && random.chance(0.2), random.chance(0.25)};
  const bool integers_alone = random.chance(0.6);
  const std::int64_t divisor = random.chance(0.5) ? 1 : random.integer(2, 16);
  convolve::FilterOptions written{options.scale.value, options.normalize, options.flip};
  std::vector<convolve::TapArray> arrays;
  std::string text;
  const bool one_size = random.chance(0.5);
  const bool gradients = count == 2 && side == 3 && random.chance(0.5);
  const int middle = random.chance(0.5) ? random.integer(1, 4) : 0;
  // The sum of such taps is 0, by which nobody divides.
  if (gradients && middle != 0) options.normalize = written.normalize = false;
  const bool lying_first = random.chance(0.5), small = masks || random.chance(0.5);  // small: as the presets are
  Shape shape{1, side, side};
  while (arrays.size() < count) {
    const KindRow& kind = random.pick(kinds());
    if (!one_size && !gradients) shape = {1, random.integer(1, side), random.integer(1, side)};
    const Taps taps = gradients ? gradient(lying_first != (arrays.size() == 1), masks || integers_alone, small ? 2 : 9,
                                           small ? divisor : 0, middle, random)
                      : masks   ? mask(shape, divisor, random)
                                : kind.make(shape, random);
    if (integers_alone && taps.integers.empty()) continue;
    const double total = std::accumulate(taps.real.begin(), taps.real.end(), 0.0);
    // A sum of real taps that is nearly 0 is not one that anybody divides by.
    if (options.normalize && taps.integers.empty() && std::abs(total) < 0.05) continue;
    convolve::TapArray& array = arrays.emplace_back(convolve::TapArray{1, shape.height, shape.width, {}});
    for (const std::int64_t n : taps.integers) array.taps.push_back(Tap::fraction(n, taps.divisor));
    for (const double tap : taps.real) array.taps.push_back(Tap::real(tap));
    c.bank.push_back(oracle_kernel(taps, shape.height, shape.width, options));
    text += std::to_string(shape.height) + "x" + std::to_string(shape.width) + " " +
            (gradients ? "gradient"
             : masks   ? "mask"
                       : kind.name) +
            ", ";
  }
  c.combination = way.combination;
  c.desc.bank = convolve::Bank(arrays, way.combine, written);
  c.desc.filter = c.desc.bank.kernels().front();
  c.kernel = envelope(c.bank, way.combine, c.desc.layout.type == convolve::SampleType::f32);
  c.ghosts = 0;
  c.exact = is_exact(c);
  c.name = std::string(nick(way.combine)) + " of " + text + "scale " + std::to_string(options.scale.value) +
           (options.normalize ? ", normalize" : "") + (options.flip ? ", convolve" : "") + (c.exact ? ", exact" : "") +
           "; but for its filter: " + c.name;
  return c;
}

// 3x3 banks over the frames of a layout, under each border and combined in each way. `draw` sets the frame's options,
// and says whether all kernels are masks.
template <class Draw>
void add_banks(std::vector<Case>& cases, const LayoutRow& layout, const std::array<std::size_t, 6>& counts,
               std::size_t& turn, Random& random, Draw draw) {
  for (const convolve::BorderRow& border : convolve::borders)
    for (const Way& way : ways) {
      CaseOptions o = draw_options(random);
      o.layout = &layout;
      o.border = border.value;
      o.shape = {1, 1, 1};
      const bool masks = draw(o);
      cases.push_back(with_bank(make_case(o, random.next()), way, counts[turn++ % counts.size()], 3, masks, random));
    }
}

// Banks of small kernels over frames whose rows are whole vectors, in bands of rows and strips of columns, most of them
// without a bias, as magnitudes of 16 bits are asked for.
void add_vectors(std::vector<Case>& cases, Random& random) {
  constexpr std::array<std::size_t, 6> counts{2, 2, 8, 2, 4, 1};
  std::size_t turn = 0;
  for (const LayoutRow& layout : layouts())
    add_banks(cases, layout, counts, turn, random, [&](CaseOptions& o) {
      o.width = 16 * random.integer(1, random.chance(0.5) ? 4 : 40);
      o.height = random.chance(0.7) ? random.integer(4, 70) : random.integer(1, 4);
      o.levels = {random.integer(0, 1) * 1.0, random.chance(0.8) ? 0 : random.integer(-2, 4) * 0.25};
      if (random.chance(0.9)) o.in = o.out = Placement::aligned;
      return random.chance(0.6);
    });
}

// Banks of masks, over frames of 8 bits that hold a tile of the tensor cores' kernels and more, or hardly one.
void add_masks(std::vector<Case>& cases, Random& random) {
  constexpr std::array<std::size_t, 6> counts{2, 8, 2, 3, 1, 2};
  std::size_t turn = 0;
  for (const LayoutRow& layout : layouts()) {
    if (layout.type != convolve::SampleType::u8) continue;
    add_banks(cases, layout, counts, turn, random, [&](CaseOptions& o) {
      o.width = random.chance(0.5) ? 4 * random.integer(31, 110) : random.integer(120, 440);
      o.height = random.integer(1, 70);
      o.levels = {random.integer(0, 1) * 1.0, random.integer(-2, 4) * 0.25};
      if (random.chance(0.7)) o.in = o.out = Placement::aligned;
      return true;
    });
  }
}

}  // namespace

std::vector<Case> bank_cases(std::uint64_t seed) {
  Random random(seed);
  constexpr std::array<std::size_t, 8> counts{2, 1, 3, 8, 2, 5, 2, 16};
  constexpr std::array sides{3, 3, 2, 5, 4, 3, 7, 15, 1};
  std::vector<Case> cases;
  for (const LayoutRow& layout : layouts())
    for (const convolve::BorderRow& border : convolve::borders)
      for (const Way& way : ways) {
        const std::size_t turn = cases.size();
        CaseOptions o = draw_options(random);
        o.layout = &layout;
        o.border = border.value;
        o.shape = {1, 1, 1};
        const std::size_t count = counts[turn % counts.size()];
        const int side = sides[turn % sides.size()];
        // The oracle takes its time for large banks.
        if (count * side * side > 200) o.width = std::min(o.width, 67), o.height = std::min(o.height, 23);
        cases.push_back(with_bank(make_case(o, random.next()), way, count, side, false, random));
      }
  add_masks(cases, random);
  add_vectors(cases, random);
  // A part of them is as varied as all.
  for (std::size_t i = 1; i < cases.size(); ++i) std::swap(cases[i], cases[random.integer(0, static_cast<int>(i))]);
  return cases;
}

}  // namespace conformance
