// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/regions/owner_map.hpp"

#include <algorithm>
#include <limits>

#include "cpu/regions/samples.hpp"
#include "regions/pixel_rects.hpp"

namespace convolve::cpu {
namespace {

int clamp_to(std::int64_t value, std::int64_t low, std::int64_t high) {
  return static_cast<int>(std::clamp(value, low, high));
}

// The pixels of row `y` that are in the region.
RegionWeights::PixelSpan held(const RegionWeights& weights, const Layer& layer, std::int64_t y) {
  if (y < layer.first_row || y >= layer.last_row) return {};
  if (layer.box.shape == RegionShape::rectangle) return {layer.box.left, layer.box.right};
  return weights.spans()[layer.at + static_cast<std::size_t>(y - layer.first_row)];
}

// The first distance that has the weight of the next one; none: -1.
int tied_distance(const RegionWeights& weights) {
  for (int d = 0; d < weights.feather(); ++d)
    if (weights.weight_at()[d] == weights.weight_at()[d + 1]) return d;
  return -1;
}

}  // namespace

bool OwnerMap::set(const RegionWeights& weights, bool by_means, unsigned workers) {
  feather_ = weights.feather();
  weight_at_ = weights.weight_at();
  const int tied = tied_distance(weights);
  if (!place(weights)) return false;
  if (cost_without(weights, by_means) < (tied >= 0 ? 10.0 : 5.0) * columns_ * rows_ * workers) return false;
  far_ = (static_cast<Key>(feather_ + 1) << index_bits) | index_mask;
  paint(weights);
  if (tied >= 0) first_near_ = keys_;
  if (feather_ > 0) spread();
  if (tied >= 0) join_distances(tied);
  note_owners(weights.layers().size());
  return true;
}

// Finds the bounds and the extent. False: there is no map of such layers.
bool OwnerMap::place(const RegionWeights& weights) {
  const std::span<const Layer> layers = weights.layers();
  if (layers.size() < 2 || layers.size() >= index_mask) return false;
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
  std::int64_t left = far, top = far, right = -far, bottom = -far;
  bounds_ = {};
  for (const Layer& layer : layers) {
    if (layer.mapped) return false;
    left = std::min(left, layer.box.left);
    top = std::min(top, layer.box.top);
    right = std::max(right, layer.box.right);
    bottom = std::max(bottom, layer.box.bottom);
    bounds_ = bounds_of(bounds_, layer.window);
  }
  // Squares around pixels, see join_distances(), reach two pixels farther than feathers.
  const int margin = feather_ + 2;
  extent_ = {clamp_to(left - margin, -margin, width_), clamp_to(top - margin, -margin, height_),
             clamp_to(right + margin, 0, width_ + margin), clamp_to(bottom + margin, 0, height_ + margin)};
  columns_ = extent_.right - extent_.left;
  rows_ = extent_.bottom - extent_.top;
  return true;
}

// What it costs to ask each layer for its weights and values, in values of a pixel: of each row its pixels, most of all
// where values are made for each layer anew, and its span at each distance.
double OwnerMap::cost_without(const RegionWeights& weights, bool by_means) {
  double cost = 0;
  for (const Layer& layer : weights.layers()) {
    const PixelRect& window = layer.window;
    cost += (window.bottom - window.top) *
            ((by_means ? 1.0 : 0.1) * (window.right - window.left) + 4.0 * weights.feather());
  }
  return cost;
}

// Gives the pixels of each region the key of the first that holds them. Each pixel is written once, whatever the number
// of regions that hold it: those that have a key are skipped.
void OwnerMap::paint(const RegionWeights& weights) {
  const std::span<const Layer> layers = weights.layers();
  keys_.assign(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_), far_);
  unpainted_.resize(static_cast<std::size_t>(columns_) + 1);
  // The column itself, or one on the way to the first unpainted one behind it; the way is shortened while it is gone.
  const auto next_unpainted = [&](int x) {
    while (unpainted_[x] != x) x = unpainted_[x] = unpainted_[unpainted_[x]];
    return x;
  };
  for (int y = 0; y < rows_; ++y) {
    Key* row = row_of(keys_, y);
    for (int x = 0; x <= columns_; ++x) unpainted_[x] = x;
    int left = columns_;
    for (std::size_t l = 0; l < layers.size() && left > 0; ++l) {
      const RegionWeights::PixelSpan span = held(weights, layers[l], y + extent_.top);
      const int end = clamp_to(span.right - extent_.left, 0, columns_);
      for (int x = next_unpainted(clamp_to(span.left - extent_.left, 0, columns_)); x < end;
           x = next_unpainted(x + 1)) {
        row[x] = static_cast<Key>(l);
        unpainted_[x] = x + 1;
        --left;
      }
    }
  }
}

void OwnerMap::spread() noexcept {
  const auto pass = [&](int y, int from, int step) {
    Key* row = row_of(keys_, y);
    if (from >= 0 && from < rows_) take_nearer(row, row_of(keys_, from), one_farther, far_, columns_);
    Key neighbour = far_;
    for (int x = step > 0 ? 0 : columns_ - 1; x >= 0 && x < columns_; x += step)
      neighbour = row[x] = std::min({row[x], neighbour + one_farther, far_});
  };
  for (int y = 0; y < rows_; ++y) pass(y, y - 1, 1);
  for (int y = rows_ - 1; y >= 0; --y) pass(y, y + 1, -1);
}

// Pixels at the distance `nearer` or one more take the first of the regions within the larger of both, at `nearer`.
void OwnerMap::join_distances(int nearer) {
  // Least indices over `width` rows and columns from each pixel on, by doubling the width.
  const int radius = nearer + 1, side = 2 * radius + 1;
  const auto widen = [&](int by) {
    for (int y = 0; y < rows_; ++y) {
      Key* row = row_of(first_near_, y);
      if (by < columns_) take_lesser(row, row + by, columns_ - by);
    }
    for (int y = 0; y + by < rows_; ++y) take_lesser(row_of(first_near_, y), row_of(first_near_, y + by), columns_);
  };
  int width = 1;
  for (; 2 * width <= side; width *= 2) widen(width);
  widen(side - width);
  for (int y = radius; y < rows_; ++y) {
    Key* row = row_of(keys_, y);
    const Key* first_near = row_of(first_near_, y - radius);
    for (int x = radius; x < columns_; ++x)
      if (const int distance = static_cast<int>(row[x] >> index_bits); distance == nearer || distance == nearer + 1)
        row[x] = (static_cast<Key>(nearer) << index_bits) | first_near[x - radius];
  }
}

void OwnerMap::note_owners(std::size_t layers) {
  owns_.assign(layers, 0);
  for (int y = bounds_.top; y < bounds_.bottom; ++y) {
    const Key* row = row_of(keys_, y - extent_.top) - extent_.left;
    for (int x = bounds_.left; x < bounds_.right; ++x)
      if (static_cast<int>(row[x] >> index_bits) <= feather_) owns_[row[x] & index_mask] = 1;
  }
}

void OwnerMap::row(const Sampling& s, int y, int first, int last, std::uint16_t* weights,
                   std::int32_t* owners) const noexcept {
  const int top = std::max(y * s.step_y, bounds_.top), bottom = std::min((y + 1) * s.step_y, bounds_.bottom);
  for (int x = first; x < last; ++x) {
    const int left = std::max(x * s.step_x, bounds_.left), right = std::min((x + 1) * s.step_x, bounds_.right);
    Key least = far_;
    for (int row = top; row < bottom; ++row)
      for (int column = left; column < right; ++column)
        least =
            std::min(least, keys_[static_cast<std::size_t>(row - extent_.top) * columns_ + (column - extent_.left)]);
    const auto distance = static_cast<int>(least >> index_bits);
    weights[x - first] = distance > feather_ ? std::uint16_t{0} : weight_at_[distance];
    owners[x - first] = static_cast<std::int32_t>(least & index_mask);
  }
}

}  // namespace convolve::cpu
