// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// OwnerMap: which region each pixel takes its effect from, and at which weight, where regions lie on top of each other.
// Its cost follows the frame, however many regions there are; to ask each region for its weights costs the sum of their
// areas, feathers included.
//
// A weight falls with the distance to the region, so that the region with the largest weight is the nearest one, and of
// equally near ones the first. A key holds both, a smaller one being nearer or earlier:
//
//     key = distance << index_bits | index of the layer
//
// Pixels of regions begin with distance 0 and the first region that holds them. A key then spreads to its eight
// neighbours at one more: two passes, down and up the map, give each pixel the least key of all regions. That is exact:
// where the nearest and first region is i, it is nearest and first at the neighbour on the way to i as well.
//
// Of a feather of 256 two distances, 128 and 129, share one weight. There the first of the regions within 129 counts,
// however near the others are: the least index in a square around the pixel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regions/weights.hpp"

namespace convolve::cpu {

class OwnerMap {
 public:
  OwnerMap(int frame_width, int frame_height) : width_(frame_width), height_(frame_height) {}

  /// Makes the map of these layers where that costs less than to ask each for its weights, which `workers` could share,
  /// and for its values, which are made for each of them where they are of means. Not of layers that have maps of their
  /// own. Returns whether it has; until the next call the layers stay as they are. Allocates where it takes
  /// more memory than ever before.
  bool set(const RegionWeights& weights, bool by_means, unsigned workers);

  /// Whether a pixel takes its effect from this layer.
  bool owns(int layer) const { return owns_[static_cast<std::size_t>(layer)] != 0; }
  /// The part of the frame where weights may be more than 0.
  const PixelRect& bounds() const { return bounds_; }
  /// The weights of the samples first <= x < last of row `y`, in bounds(), and the layers that they are of; owners of
  /// samples with a weight of 0 mean nothing.
  void row(const Sampling& sampling, int y, int first, int last, std::uint16_t* weights,
           std::int32_t* owners) const noexcept;

 private:
  using Key = std::uint32_t;
  static constexpr int index_bits = 22;
  static constexpr Key index_mask = (Key{1} << index_bits) - 1, one_farther = Key{1} << index_bits;

  bool place(const RegionWeights& weights);
  static double cost_without(const RegionWeights& weights, bool by_means);
  void paint(const RegionWeights& weights);
  void spread() noexcept;
  void join_distances(int nearer);
  void note_owners(std::size_t layers);
  Key* row_of(std::vector<Key>& map, int y) const { return map.data() + static_cast<std::ptrdiff_t>(y) * columns_; }

  int width_, height_;
  int feather_ = 0;
  const std::uint16_t* weight_at_ = nullptr;
  PixelRect bounds_;
  PixelRect extent_;  ///< of the map: beyond the frame as far as a region there can be near a pixel of the frame
  int columns_ = 0, rows_ = 0;
  Key far_ = 0;  ///< of pixels that no region is near
  std::vector<Key> keys_;
  std::vector<Key> first_near_;  ///< the least index of the regions in squares of pixels
  std::vector<int> unpainted_;   ///< from each column of a row on, the first that has no region yet, about
  std::vector<std::uint8_t> owns_;
};

}  // namespace convolve::cpu
