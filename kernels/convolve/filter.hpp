// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Filter: immutable taps, depth x height x width, ready to be applied as a correlation, with what is known of their
// structure: integers over one divisor, and factors over time and space.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace convolve {

inline constexpr int max_depth = 15;           ///< frames of a filter
inline constexpr int max_dense_taps = 31;      ///< of each spatial axis of any filter
inline constexpr int max_factored_taps = 255;  ///< of each spatial axis of a filter whose frames have FrameFactors

/// One tap as the user wrote it: an int, a double or a fraction. `denominator` 0: a double that is not a fraction.
struct Tap {
  double value = 0;
  std::int64_t numerator = 0;
  std::int64_t denominator = 0;

  static Tap integer(std::int64_t v);
  static Tap fraction(std::int64_t numerator, std::int64_t denominator);
  static Tap real(double v);  ///< recognises whole numbers and short binary fractions (0.25) as exact
};

double magnitude_of(const std::vector<double>& taps);  ///< the sum of their magnitudes

/// Taps [time][row][column], oldest frame, top row, left column first.
struct TapArray {
  int depth = 1, height = 1, width = 1;
  std::vector<Tap> taps;

  Tap& at(int t, int y, int x) { return taps[(static_cast<std::size_t>(t) * height + y) * width + x]; }
};

struct FilterOptions {
  double scale = 1.0;
  bool normalize = false;  ///< divide by the sum of taps where that is not 0
  bool convolve = false;   ///< flip every axis, and the centre with it
};

/// Integer taps over one divisor: tap[i] = taps[i] / divisor exactly. divisor > 0.
struct ExactTaps {
  std::vector<std::int32_t> taps;
  std::int64_t divisor = 1;

  bool operator==(const ExactTaps&) const = default;
};

/// A spatial filter of rank 1: tap(y, x) = column[y] * row[x]. Where the filter has exact taps so do the factors:
/// exact tap(y, x) = exact_column[y] * exact_row[x], over the same divisor.
struct SpaceFactors {
  std::vector<double> column, row;
  std::vector<std::int32_t> exact_column, exact_row;
};

/// One frame of a filter that is of rank 1, or so but for the centre tap (a blur, or the input less a blur):
/// tap(y, x) = column[y] * row[x], and `centre` more at the centre. Factors of a frame of zeros are zeros.
/// `exact_centre` likewise, beside the exact factors.
struct FrameFactors {
  SpaceFactors factors;
  double centre = 0;
  std::int32_t exact_centre = 0;
};

class Filter {
 public:
  /// Throws std::invalid_argument with a message fit for the user: more taps on an axis than the limits above, NaN or
  /// Inf, a result that overflows.
  explicit Filter(const TapArray& taps, const FilterOptions& options = {});
  Filter() : Filter(identity()) {}
  static Filter identity();

  int depth() const { return depth_; }
  int height() const { return height_; }
  int width() const { return width_; }
  int count() const { return depth_ * height_ * width_; }
  /// The tap that lies on the output sample: n/2, or its mirror where the axis was flipped.
  int centre_t() const { return centre_t_; }
  int centre_y() const { return centre_y_; }
  int centre_x() const { return centre_x_; }
  /// Rows and pixels to the farther end of the axis, as seen from that tap.
  int reach_y() const { return std::max(centre_y_, height_ - 1 - centre_y_); }
  int reach_x() const { return std::max(centre_x_, width_ - 1 - centre_x_); }

  /// Effective taps, scale and normalisation applied: [time][row][column].
  const std::vector<double>& taps() const { return taps_; }
  double tap(int t, int y, int x) const { return taps_[(static_cast<std::size_t>(t) * height_ + y) * width_ + x]; }
  const std::optional<ExactTaps>& exact() const { return exact_; }

  /// 1 on the centre, 0 elsewhere: output equals input.
  bool is_identity() const;
  double sum() const;
  double sum_abs() const;

  /// Rank-1 factors of a spatial filter (depth 1); empty where it has none.
  const std::optional<SpaceFactors>& space_factors() const { return space_factors_; }
  /// Factors of each frame, oldest first; empty where a frame has none.
  const std::vector<FrameFactors>& frame_factors() const { return frame_factors_; }
  /// Factors, without exact ones, that sum to a spatial filter of rank 1 to `most`; empty where its rank is another.
  /// Gaussian elimination with complete pivoting.
  std::vector<SpaceFactors> space_terms(int most) const;
  /// rank() of a filter over several frames that does not factor over time.
  static constexpr int unknown_rank = 15;
  /// The rank of the spatial part of a filter that has one frame or factors over time; unknown_rank of any other.
  int rank() const;
  /// tap(t, y, x) = time[t] * space(y, x), for depth > 1; empty where it does not factor. `exact_time` likewise:
  /// exact tap = exact_time[t] * exact tap of `space_filter()`, over this filter's divisor.
  const std::vector<double>& time_factor() const { return time_; }
  const std::vector<std::int32_t>& exact_time_factor() const { return exact_time_; }
  /// The spatial filter of a 3D filter that factors (depth 1, same centre); its divisor is this filter's.
  Filter space_filter() const;

  /// This filter with time running backwards, for reverse playback.
  Filter reversed_in_time() const;
  /// This filter with the newest frame as its centre, for a causal window.
  Filter ending_at_newest() const;

  /// "5x3" or "3x7x7" (depth x height x width), for messages and logs.
  std::string shape() const;

  bool operator==(const Filter& other) const;

 private:
  struct Raw {};
  explicit Filter(Raw) {}
  void factor();
  bool factor_frame(int t, FrameFactors& frame) const;

  int depth_ = 1, height_ = 1, width_ = 1;
  int centre_t_ = 0, centre_y_ = 0, centre_x_ = 0;
  std::vector<double> taps_;
  std::optional<ExactTaps> exact_;
  std::optional<SpaceFactors> space_factors_;
  std::vector<FrameFactors> frame_factors_;
  std::vector<double> time_, space_;
  std::vector<std::int32_t> exact_time_, exact_space_;
};

/// Whether the frames of a window may be added up, weighted, before one spatial filter: the filter factors into
/// time x space.
inline bool combines_frames(const Filter& filter) {
  return filter.depth() > 1 && !filter.time_factor().empty();
}

/// Whether all taps of a frame may be summed at once; larger filters are summed by their factors alone.
inline bool is_dense(const Filter& filter) {
  return filter.height() <= max_dense_taps && filter.width() <= max_dense_taps;
}

}  // namespace convolve
