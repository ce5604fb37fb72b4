// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Weights: how much of the effect each sample gets from each region, a row at a time.
//
// Each region is a layer over the frame. The weights of rectangles and ellipses follow from the span of pixels that
// each of their rows holds: both are convex, so that the pixels within distance d of them are again one span a row,
// that of the widest row within d rows, longer by d at both ends. Masks, and all that is outside of the regions, have
// the weight of each pixel in a map, which a distance transform fills.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convolve/region.hpp"

namespace convolve {

/// Which pixels the samples of a component cover: sample (x, y) those from (x * step_x, y * step_y) on, step_x by
/// step_y of them, as far as the frame goes.
struct Sampling {
  int step_x = 1, step_y = 1;
  int width = 0, height = 0;  ///< samples
};

/// The sampling of a component of a frame. Subsampling is by powers of two, and rounds up.
Sampling sampling_of(const Component& component, int frame_width, int frame_height);

/// One region, or everything outside of all.
struct Layer {
  Region box;           ///< what its cells are counted in; whole, however little of it is on the frame
  PixelRect window;     ///< the part of the frame where its weights may be more than 0; not empty
  bool mapped = false;  ///< weights are in the map, else they follow from spans
  std::size_t at = 0;   ///< of the window's first pixel in the map, or of the first span
  std::int64_t first_row = 0, last_row = 0;  ///< that have spans: those of the box within the feather's reach
};

class RegionWeights {
 public:
  static constexpr int full = 256;  ///< the weight of samples in a region
  static constexpr int max_feather = 256;

  RegionWeights(int frame_width, int frame_height) : width_(frame_width), height_(frame_height) {}

  /// Makes layers of the regions, in order; none of those that no pixel of the frame has a weight of, or no pixel the
  /// full weight where `cores` is true. Allocates where they take more memory than any before.
  void set(std::span<const Region> regions, bool outside, int feather, bool cores);

  std::span<const Layer> layers() const { return layers_; }
  int feather() const { return feather_; }
  /// The weights of the pixels at each distance from a region, up to feather().
  const std::uint16_t* weight_at() const { return weight_at_; }
  /// The pixels left <= x < right.
  struct PixelSpan {
    std::int64_t left = 0, right = 0;
  };
  /// What the rows of ellipses hold, from a layer's `at` on; and the weights of the pixels of mapped layers' windows.
  std::span<const PixelSpan> spans() const { return spans_; }
  std::span<const std::uint16_t> map() const { return map_; }

  /// The samples of row `y` that lie in the region itself, first <= x < last. Of layers that are not mapped.
  struct Span {
    int first = 0, last = 0;
    bool empty() const { return first >= last; }
  };
  Span core(const Layer& layer, const Sampling& sampling, int y) const noexcept;

  /// The weights of the samples first <= x < last of row `y`.
  void row(const Layer& layer, const Sampling& sampling, int y, int first, int last,
           std::uint16_t* weights) const noexcept;

 private:
  bool add_spans(const Region& region);
  void add_ellipse(const Region& region, const Layer& layer);
  bool has_core(const Layer& layer) const noexcept;
  void add_mask(const Region& region);
  void add_outside(std::span<const Region> regions);
  void add_map(const Region& box, const PixelRect& extent);
  void paint_mask(const Region& region, const PixelRect& extent, std::uint16_t distance);
  PixelRect reached(const Region& region) const;
  PixelSpan held(const Layer& layer, std::int64_t y) const noexcept;
  PixelSpan within(const Layer& layer, std::int64_t y, int distance) const noexcept;
  Span samples(const Layer& layer, const Sampling& sampling, int y, int distance) const noexcept;

  int width_, height_;
  int feather_ = 0;
  bool cores_ = false;                             ///< layers without the full weight somewhere are none
  std::uint16_t weight_at_[max_feather + 1] = {};  ///< of each distance
  std::vector<Layer> layers_;
  std::vector<PixelSpan> spans_;
  std::vector<std::uint16_t> map_;
  std::vector<std::uint16_t> distances_;  ///< of the layer that is being made
  std::vector<int> mask_columns_;         ///< likewise: the mask's column at each of its pixels
};

}  // namespace convolve
