// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/filter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "convolve/is_whole.hpp"
#include "convolve/shortest_text.hpp"

namespace convolve {
namespace {

// Numerators and divisors past this are kept as doubles only: their sums could not fit the 24 bits that the exact
// contract asks for.
constexpr std::int64_t exact_limit = std::int64_t{1} << 24;

// A double as numerator / denominator with a power of two below the line, or denominator 0.
Tap binary_fraction(double v) {
  Tap tap{v, 0, 0};
  for (std::int64_t denominator = 1; denominator <= 4096; denominator *= 2) {
    const double scaled = v * static_cast<double>(denominator);
    if (std::abs(scaled) > static_cast<double>(exact_limit)) break;
    if (is_whole(scaled)) {
      tap.numerator = static_cast<std::int64_t>(scaled);
      tap.denominator = denominator;
      break;
    }
  }
  return tap;
}

// A filter factors where what its factors leave is at most this part of its largest tap.
constexpr double factor_tolerance = 0x1p-40;

std::string size_limits() {
  const std::string dense = std::to_string(max_dense_taps), factored = std::to_string(max_factored_taps);
  return "a filter has 1 to " + std::to_string(max_depth) + " frames of up to " + dense + "x" + dense +
         " taps, or of up to " + factored +
         " on an axis where each frame is a column times a row, alone or plus one centre tap";
}

void check_axis(const char* axis, int n, int most) {
  if (n < 1 || n > most)
    throw std::invalid_argument(size_limits() + ", but this one has " + std::to_string(n) + " " + axis);
}

// Integer numerators over one divisor, or nothing where a tap is no fraction or the numbers grow past the limit.
std::optional<ExactTaps> common_divisor(const std::vector<Tap>& taps, const FilterOptions& options) {
  std::int64_t divisor = 1;
  for (const Tap& tap : taps) {
    if (tap.denominator == 0 || tap.denominator > exact_limit) return std::nullopt;
    divisor = std::lcm(divisor, tap.denominator);
    if (divisor > exact_limit) return std::nullopt;
  }
  std::vector<std::int64_t> numerators;
  std::int64_t sum = 0;
  for (const Tap& tap : taps) {
    const std::int64_t factor = divisor / tap.denominator;
    if (tap.numerator > exact_limit || tap.numerator < -exact_limit) return std::nullopt;
    numerators.push_back(tap.numerator * factor);
    sum += numerators.back();
  }
  if (options.normalize && sum != 0) divisor = sum;

  Tap scale = Tap::real(options.scale);
  if (scale.denominator == 0 && options.scale != 0) {
    // 1/9 as a double is the reciprocal of a whole number: the user meant the fraction.
    const double reciprocal = std::round(1 / options.scale);
    if (std::abs(reciprocal) <= static_cast<double>(exact_limit) && 1 / reciprocal == options.scale)
      scale = Tap::fraction(1, static_cast<std::int64_t>(reciprocal));
  }
  if (scale.denominator == 0) return std::nullopt;
  std::int64_t common = 0;
  for (std::int64_t& n : numerators) {
    if (std::abs(n) > exact_limit) return std::nullopt;
    n *= scale.numerator;
    common = std::gcd(common, n);
  }
  if (std::abs(divisor) > exact_limit) return std::nullopt;
  divisor *= scale.denominator;
  common = std::gcd(common, divisor);
  if (divisor < 0) common = -common;
  ExactTaps exact;
  exact.divisor = divisor / common;
  if (exact.divisor > exact_limit) return std::nullopt;
  for (const std::int64_t n : numerators) {
    if (std::abs(n / common) > exact_limit) return std::nullopt;
    exact.taps.push_back(static_cast<std::int32_t>(n / common));
  }
  return exact;
}

// matrix[i][j] = left[i] * right[j], with left scaled to 1 at the pivot. False where the rank is not 1: `tolerance` is
// what may be left.
bool rank_one(const std::vector<double>& matrix, int rows, int columns, std::vector<double>& left,
              std::vector<double>& right, double tolerance) {
  std::size_t pivot = 0;
  for (std::size_t i = 0; i < matrix.size(); ++i)
    if (std::abs(matrix[i]) > std::abs(matrix[pivot])) pivot = i;
  if (matrix[pivot] == 0) return false;
  const std::size_t row = pivot / columns, column = pivot % columns;
  left.assign(rows, 0);
  right.assign(columns, 0);
  for (int i = 0; i < rows; ++i) left[i] = matrix[i * columns + column] / matrix[pivot];
  for (int j = 0; j < columns; ++j) right[j] = matrix[row * columns + j];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (std::abs(left[i] * right[j] - matrix[i * columns + j]) > tolerance) return false;
  return true;
}

// Factors a matrix of integers into integers: left is the primitive integer vector of the columns' direction.
bool rank_one(const std::vector<std::int32_t>& matrix, int rows, int columns, std::vector<std::int32_t>& left,
              std::vector<std::int32_t>& right) {
  const auto pivot = std::find_if(matrix.begin(), matrix.end(), [](std::int32_t v) { return v != 0; });
  if (pivot == matrix.end()) return false;
  const std::size_t column = (pivot - matrix.begin()) % columns;
  std::int32_t common = 0;
  for (int i = 0; i < rows; ++i) common = std::gcd(common, matrix[i * columns + column]);
  left.assign(rows, 0);
  right.assign(columns, 0);
  int lead = -1;
  for (int i = 0; i < rows; ++i) {
    left[i] = matrix[i * columns + column] / common;
    if (lead < 0 && left[i] != 0) lead = i;
  }
  for (int j = 0; j < columns; ++j) {
    if (matrix[lead * columns + j] % left[lead] != 0) return false;
    right[j] = matrix[lead * columns + j] / left[lead];
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (static_cast<std::int64_t>(left[i]) * right[j] != matrix[i * columns + j]) return false;
  return true;
}

double largest_of(const std::vector<double>& taps) {
  double largest = 0;
  for (const double tap : taps) largest = std::max(largest, std::abs(tap));
  return largest;
}

// The largest element outside of the centre's row and column, or -1 where all of them are 0.
template <class Number>
std::ptrdiff_t largest_off_the_cross(const std::vector<Number>& frame, int height, int width, int centre_y,
                                     int centre_x) {
  std::ptrdiff_t found = -1;
  Number largest = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (const Number magnitude = std::abs(frame[y * width + x]);
          y != centre_y && x != centre_x && magnitude > largest) {
        largest = magnitude;
        found = y * width + x;
      }
  return found;
}

// The centre tap that a frame of rank 1 would have: the others on the cross through it decide. Nothing where they do
// not, or where integers would need a fraction.
template <class Number>
std::optional<Number> centre_of_rank_one(const std::vector<Number>& frame, int height, int width, int centre_y,
                                         int centre_x) {
  const std::ptrdiff_t at = largest_off_the_cross(frame, height, width, centre_y, centre_x);
  if (at < 0) return std::nullopt;
  const std::ptrdiff_t y = at / width, x = at % width;
  if constexpr (std::is_integral_v<Number>) {
    const std::int64_t product = static_cast<std::int64_t>(frame[centre_y * width + x]) * frame[y * width + centre_x];
    if (product % frame[at] != 0 || std::abs(product / frame[at]) > exact_limit) return std::nullopt;
    return static_cast<Number>(product / frame[at]);
  } else {
    return frame[centre_y * width + x] * (frame[y * width + centre_x] / frame[at]);
  }
}

}  // namespace

double magnitude_of(const std::vector<double>& taps) {
  return std::accumulate(taps.begin(), taps.end(), 0.0, [](double sum, double tap) { return sum + std::abs(tap); });
}

Tap Tap::integer(std::int64_t v) {
  return {static_cast<double>(v), v, 1};
}

Tap Tap::fraction(std::int64_t numerator, std::int64_t denominator) {
  if (denominator == 0) throw std::invalid_argument("a tap is a fraction with denominator 0");
  const double value = static_cast<double>(numerator) / static_cast<double>(denominator);
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();  // has no opposite
  if (numerator == lowest || denominator == lowest) return {value, 0, 0};
  return denominator < 0 ? Tap{value, -numerator, -denominator} : Tap{value, numerator, denominator};
}

Tap Tap::real(double v) {
  return binary_fraction(v);
}

Filter::Filter(const TapArray& array, const FilterOptions& options) {
  check_axis("frames", array.depth, max_depth);
  check_axis("rows", array.height, max_factored_taps);
  check_axis("columns", array.width, max_factored_taps);
  depth_ = array.depth;
  height_ = array.height;
  width_ = array.width;
  if (array.taps.size() != static_cast<std::size_t>(count()))
    throw std::invalid_argument("a filter of " + shape() + " taps needs " + std::to_string(count()) + " values, not " +
                                std::to_string(array.taps.size()));
  for (std::size_t i = 0; i < array.taps.size(); ++i)
    if (!std::isfinite(array.taps[i].value))
      throw std::invalid_argument("tap " + std::to_string(i % width_) + " of row " +
                                  std::to_string(i / width_ % height_) + " of frame " +
                                  std::to_string(i / width_ / height_) + " is " + shortest_text(array.taps[i].value) +
                                  "; every tap is a finite number");
  if (!std::isfinite(options.scale))
    throw std::invalid_argument("scale is " + shortest_text(options.scale) + "; it is a finite number");

  std::vector<Tap> ordered = array.taps;
  if (options.convolve) std::reverse(ordered.begin(), ordered.end());
  const auto centre = [&](int n) { return options.convolve ? n - 1 - n / 2 : n / 2; };
  centre_t_ = centre(depth_);
  centre_y_ = centre(height_);
  centre_x_ = centre(width_);

  exact_ = common_divisor(ordered, options);
  if (exact_) {
    for (const std::int32_t n : exact_->taps) taps_.push_back(static_cast<double>(n) / exact_->divisor);
  } else {
    for (const Tap& tap : ordered) taps_.push_back(tap.value);
    double divisor = sum();
    if (options.normalize && !std::isfinite(divisor))
      throw std::invalid_argument("the taps sum to " + std::to_string(divisor) +
                                  ", by which normalize cannot divide; their sum is to be finite");
    // Decimals such as 0.1 + 0.2 - 0.3 sum to 0 but for their rounding, by which there is no dividing.
    const double rounding = sum_abs() * count() * std::numeric_limits<double>::epsilon();
    if (!options.normalize || std::abs(divisor) <= rounding) divisor = 1;
    for (double& tap : taps_) tap = options.scale * (tap / divisor);
  }
  // Sums of products with 16-bit samples are formed in single precision at the least.
  if (!(sum_abs() <= 1e30))
    throw std::invalid_argument("after scale and normalize the taps' magnitudes sum to " + shortest_text(sum_abs()) +
                                "; at most 1e30 is allowed");
  factor();
  if ((height_ > max_dense_taps || width_ > max_dense_taps) && frame_factors_.empty())
    throw std::invalid_argument(size_limits() + ", but this one is " + shape() + " and does not factor so");
}

Filter Filter::identity() {
  TapArray one;
  one.taps.push_back(Tap::integer(1));
  return Filter(one);
}

void Filter::factor() {
  if (depth_ == 1) {
    SpaceFactors factors;
    bool found = rank_one(taps_, height_, width_, factors.column, factors.row, factor_tolerance * largest_of(taps_));
    if (found && exact_) found = rank_one(exact_->taps, height_, width_, factors.exact_column, factors.exact_row);
    if (found) space_factors_ = std::move(factors);
  } else {
    bool found = rank_one(taps_, depth_, height_ * width_, time_, space_, factor_tolerance * largest_of(taps_));
    if (found && exact_) found = rank_one(exact_->taps, depth_, height_ * width_, exact_time_, exact_space_);
    if (!found) {
      time_.clear();
      space_.clear();
      exact_time_.clear();
      exact_space_.clear();
    }
  }
  frame_factors_.assign(depth_, {});
  for (int t = 0; t < depth_; ++t)
    if (!factor_frame(t, frame_factors_[t])) {
      frame_factors_.clear();
      break;
    }
}

bool Filter::factor_frame(int t, FrameFactors& frame) const {
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(height_) * width_, centre = centre_y_ * width_ + centre_x_;
  std::vector<double> taps(taps_.begin() + t * size, taps_.begin() + (t + 1) * size);
  std::vector<std::int32_t> exact;
  if (exact_) exact.assign(exact_->taps.begin() + t * size, exact_->taps.begin() + (t + 1) * size);
  SpaceFactors& f = frame.factors;
  if (largest_of(taps) == 0) {
    f.column.assign(height_, 0);
    f.row.assign(width_, 0);
    f.exact_column.assign(height_, 0);
    f.exact_row.assign(width_, 0);
    return true;
  }
  const double tolerance = factor_tolerance * largest_of(taps_);
  const auto found = [&] {
    return rank_one(taps, height_, width_, f.column, f.row, tolerance) &&
           (!exact_ || rank_one(exact, height_, width_, f.exact_column, f.exact_row));
  };
  if (found()) return true;
  const std::optional<double> rest = centre_of_rank_one(taps, height_, width_, centre_y_, centre_x_);
  if (!rest) return false;
  frame.centre = taps[centre] - *rest;
  taps[centre] = *rest;
  if (exact_) {
    const std::optional<std::int32_t> whole = centre_of_rank_one(exact, height_, width_, centre_y_, centre_x_);
    if (!whole) return false;
    frame.exact_centre = exact[centre] - *whole;
    exact[centre] = *whole;
  }
  return found();
}

std::vector<SpaceFactors> Filter::space_terms(int most) const {
  if (depth_ > 1) return {};
  std::vector<double> rest = taps_;
  const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const double tolerance = factor_tolerance * largest_of(taps_);
  std::vector<SpaceFactors> terms;
  while (true) {
    const auto pivot = std::max_element(rest.begin(), rest.end(), smaller);
    if (std::abs(*pivot) <= tolerance) return terms;
    if (std::ssize(terms) == most) return {};
    const std::ptrdiff_t at = pivot - rest.begin(), row = at / width_, column = at % width_;
    const double value = *pivot;
    SpaceFactors term;
    for (int y = 0; y < height_; ++y) term.column.push_back(rest[y * width_ + column] / value);
    for (int x = 0; x < width_; ++x) term.row.push_back(rest[row * width_ + x]);
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) rest[y * width_ + x] -= term.column[y] * term.row[x];
    terms.push_back(std::move(term));
  }
}

int Filter::rank() const {
  if (depth_ > 1 && time_.empty()) return unknown_rank;
  if (depth_ > 1) return space_filter().rank();
  return space_factors_ ? 1 : std::max(2, static_cast<int>(space_terms(unknown_rank).size()));
}

Filter Filter::space_filter() const {
  if (depth_ == 1) return *this;
  Filter filter{Raw{}};
  filter.height_ = height_;
  filter.width_ = width_;
  filter.centre_y_ = centre_y_;
  filter.centre_x_ = centre_x_;
  filter.taps_ = space_;
  if (exact_) filter.exact_ = ExactTaps{exact_space_, exact_->divisor};
  filter.factor();
  return filter;
}

Filter Filter::reversed_in_time() const {
  Filter filter = *this;
  const std::size_t frame = static_cast<std::size_t>(height_) * width_;
  for (int t = 0; t < depth_; ++t)
    for (std::size_t i = 0; i < frame; ++i) {
      filter.taps_[t * frame + i] = taps_[(depth_ - 1 - t) * frame + i];
      if (exact_) filter.exact_->taps[t * frame + i] = exact_->taps[(depth_ - 1 - t) * frame + i];
    }
  filter.centre_t_ = depth_ - 1 - centre_t_;
  filter.factor();
  return filter;
}

Filter Filter::ending_at_newest() const {
  Filter filter = *this;
  filter.centre_t_ = depth_ - 1;
  return filter;
}

bool Filter::is_identity() const {
  std::vector<double> identity(taps_.size());
  identity[(static_cast<std::size_t>(centre_t_) * height_ + centre_y_) * width_ + centre_x_] = 1;
  return taps_ == identity;
}

double Filter::sum() const {
  return std::accumulate(taps_.begin(), taps_.end(), 0.0);
}

double Filter::sum_abs() const {
  return magnitude_of(taps_);
}

std::string Filter::shape() const {
  std::string text = std::to_string(height_) + "x" + std::to_string(width_);
  return depth_ == 1 ? text : std::to_string(depth_) + "x" + text;
}

bool Filter::operator==(const Filter& other) const {
  return depth_ == other.depth_ && height_ == other.height_ && width_ == other.width_ && centre_t_ == other.centre_t_ &&
         centre_y_ == other.centre_y_ && centre_x_ == other.centre_x_ && taps_ == other.taps_ && exact_ == other.exact_;
}

}  // namespace convolve
