// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "regions/weights.hpp"

#include <algorithm>
#include <cmath>

namespace convolve {
namespace {

int subsampling(int pixels, int samples) {
  int step = 1;
  while ((pixels + step - 1) / step > samples) step *= 2;
  return step;
}

// Whether the pixel whose centre is `x` half pixels from the middle of an ellipse lies in it; y, width and height
// likewise in half pixels. Never on its rim: with odd and even numbers as they are here, the two sides differ.
bool in_ellipse(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
  if (std::max(width, height) < std::int64_t{1} << 30) {
    __extension__ using Wide = __int128;
    const Wide across = static_cast<Wide>(x) * x * height * height, down = static_cast<Wide>(y) * y * width * width;
    return across + down <= static_cast<Wide>(width) * width * height * height;
  }
  const auto u = static_cast<long double>(x) / static_cast<long double>(width);
  const auto v = static_cast<long double>(y) / static_cast<long double>(height);
  return u * u + v * v <= 1;
}

// The products in in_ellipse() have 64 bits where both sides of the ellipse are shorter than this.
constexpr std::int64_t small_ellipse = 1 << 15;

// Pixels from the left end that a row of an ellipse leaves out, about. `down`: half pixels from its middle.
std::int64_t cut_near(std::int64_t width, std::int64_t height, std::int64_t down) {
  const double v = static_cast<double>(down) / static_cast<double>(height);
  const double half = std::sqrt(std::max(0.0, 1 - v * v)) * static_cast<double>(width) / 2;
  const auto near = static_cast<std::int64_t>(static_cast<double>(width) / 2 - half);
  return std::clamp<std::int64_t>(near, 0, (width + 1) / 2);
}

// What cut_near() is about, to the pixel.
std::int64_t cut_of_large(std::int64_t width, std::int64_t height, std::int64_t down) {
  std::int64_t cut = cut_near(width, height, down);
  const auto holds = [&](std::int64_t x) { return in_ellipse(2 * x + 1 - width, down, width, height); };
  while (cut > 0 && holds(cut - 1)) --cut;
  while (2 * cut < width && !holds(cut)) ++cut;
  return cut;
}

// Cuts of the rows of a small ellipse, to the pixel, one after another. A row holds pixel x where
// (2 x + 1 - width)^2 * height^2 <= width^2 * (height^2 - down^2): both sides are carried on by their differences.
class SmallEllipse {
 public:
  SmallEllipse(std::int64_t width, std::int64_t height) : width_(width), height_(height) {}

  std::int64_t start(std::int64_t near, std::int64_t down) {
    cut_ = near;
    const std::int64_t across = 2 * cut_ + 1 - width_;
    at_cut_ = across * across * height_ * height_;
    return next(down);
  }
  std::int64_t next(std::int64_t down) {
    const std::int64_t room = width_ * width_ * (height_ * height_ - down * down);
    for (; cut_ > 0 && at_cut_ + step_to(cut_) <= room; --cut_) at_cut_ += step_to(cut_);
    for (; 2 * cut_ < width_ && at_cut_ > room; ++cut_) at_cut_ -= step_to(cut_ + 1);
    return cut_;
  }

 private:
  // What the left side grows by from pixel x to the one before it.
  std::int64_t step_to(std::int64_t x) const { return 4 * height_ * height_ * (width_ - 2 * x); }

  std::int64_t width_, height_, cut_ = 0, at_cut_ = 0;  ///< `at_cut_`: the left side at pixel `cut_`
};

// Chessboard distances, in two passes over the neighbours already visited. On entry 0 in the set, `far` elsewhere.
void transform_distances(std::uint16_t* distance, int width, int height, std::uint16_t far) {
  const auto nearer = [far](std::uint16_t& at, std::uint16_t neighbour) {
    at = std::min<std::uint16_t>(at, std::min<std::uint16_t>(far, neighbour + 1));
  };
  const auto pass = [&](std::uint16_t* row, const std::uint16_t* before, bool backwards) {
    if (before)
      for (int x = 0; x < width; ++x) {
        std::uint16_t least = before[x];
        if (x > 0) least = std::min(least, before[x - 1]);
        if (x + 1 < width) least = std::min(least, before[x + 1]);
        nearer(row[x], least);
      }
    if (backwards)
      for (int x = width - 2; x >= 0; --x) nearer(row[x], row[x + 1]);
    else
      for (int x = 1; x < width; ++x) nearer(row[x], row[x - 1]);
  };
  const auto row = [&](int y) { return distance + static_cast<std::ptrdiff_t>(y) * width; };
  for (int y = 0; y < height; ++y) pass(row(y), y > 0 ? row(y - 1) : nullptr, false);
  for (int y = height - 1; y >= 0; --y) pass(row(y), y + 1 < height ? row(y + 1) : nullptr, true);
}

int clamp_to(std::int64_t value, std::int64_t low, std::int64_t high) {
  return static_cast<int>(std::clamp(value, low, high));
}

}  // namespace

Sampling sampling_of(const Component& component, int frame_width, int frame_height) {
  return {subsampling(frame_width, component.width), subsampling(frame_height, component.height), component.width,
          component.height};
}

void RegionWeights::set(std::span<const Region> regions, bool outside, int feather, bool cores) {
  cores_ = cores;
  feather_ = std::clamp(feather, 0, max_feather);
  for (int d = 0; d <= feather_; ++d)
    weight_at_[d] = static_cast<std::uint16_t>(std::nearbyint(256.0 * (feather_ + 1 - d) / (feather_ + 1)));
  layers_.clear();
  spans_.clear();
  map_.clear();
  layers_.reserve(regions.size() + 1);
  if (outside) {
    add_outside(regions);
    return;
  }
  for (const Region& region : regions) {
    if (region.empty()) continue;
    if (region.shape == RegionShape::mask)
      add_mask(region);
    else
      add_spans(region);
  }
}

// The part of the frame that a region and its feather reach; empty with left >= right or top >= bottom.
PixelRect RegionWeights::reached(const Region& region) const {
  return {clamp_to(region.left - feather_, 0, width_), clamp_to(region.top - feather_, 0, height_),
          clamp_to(region.right + feather_, 0, width_), clamp_to(region.bottom + feather_, 0, height_)};
}

bool RegionWeights::add_spans(const Region& region) {
  Layer layer;
  layer.box = region;
  layer.window = reached(region);
  layer.at = spans_.size();
  if (layer.window.left >= layer.window.right || layer.window.top >= layer.window.bottom) return false;
  layer.first_row = std::max<std::int64_t>(region.top, layer.window.top - feather_);
  layer.last_row = std::min<std::int64_t>(region.bottom, layer.window.bottom + feather_);
  if (region.shape == RegionShape::ellipse) add_ellipse(region, layer);
  if (cores_ && !has_core(layer)) {
    spans_.resize(layer.at);
    return false;
  }
  layers_.push_back(layer);
  return true;
}

// The spans of an ellipse's rows. Those of a small one go on from the row before, which differs little; those of a
// large one, whose rows may differ by billions of pixels, each begin near what a square root says. The lower half
// mirrors the upper one.
void RegionWeights::add_ellipse(const Region& region, const Layer& layer) {
  const std::int64_t width = region.right - region.left, height = region.bottom - region.top;
  const std::int64_t mirror = region.top + region.bottom - 1;
  spans_.resize(layer.at + static_cast<std::size_t>(std::max<std::int64_t>(layer.last_row - layer.first_row, 0)));
  PixelSpan* spans = spans_.data() + layer.at;
  SmallEllipse small(width, height);
  for (std::int64_t y = layer.first_row; y < layer.last_row; ++y) {
    if (const std::int64_t mirrored = mirror - y; mirrored < y && mirrored >= layer.first_row) {
      spans[y - layer.first_row] = spans[mirrored - layer.first_row];
      continue;
    }
    const std::int64_t down = 2 * (y - region.top) + 1 - height;
    std::int64_t cut = 0;
    if (std::max(width, height) >= small_ellipse)
      cut = cut_of_large(width, height, down);
    else
      cut = y == layer.first_row ? small.start(cut_near(width, height, down), down) : small.next(down);
    spans[y - layer.first_row] = {region.left + cut, region.right - cut};
  }
}

bool RegionWeights::has_core(const Layer& layer) const noexcept {
  const Region& box = layer.box;
  if (box.shape == RegionShape::rectangle)
    return box.left < width_ && box.right > 0 && box.top < height_ && box.bottom > 0;
  for (int y = layer.window.top; y < layer.window.bottom; ++y)
    if (!core(layer, {1, 1, width_, height_}, y).empty()) return true;
  return false;
}

// The frame's part of `extent`, whose pixels have their distances in distances_, becomes a layer with a map.
void RegionWeights::add_map(const Region& box, const PixelRect& extent) {
  const int width = extent.right - extent.left;
  if (feather_ > 0) transform_distances(distances_.data(), width, extent.bottom - extent.top, feather_ + 1);
  Layer layer;
  layer.box = box;
  layer.mapped = true;
  layer.at = map_.size();
  layer.window = {std::max(extent.left, 0), std::max(extent.top, 0), std::min(extent.right, width_),
                  std::min(extent.bottom, height_)};
  if (layer.window.left >= layer.window.right || layer.window.top >= layer.window.bottom) return;
  bool any = false;
  for (int y = layer.window.top; y < layer.window.bottom; ++y) {
    const std::uint16_t* from = distances_.data() + static_cast<std::ptrdiff_t>(y - extent.top) * width - extent.left;
    for (int x = layer.window.left; x < layer.window.right; ++x) {
      const std::uint16_t weight = from[x] > feather_ ? 0 : weight_at_[from[x]];
      map_.push_back(weight);
      any |= weight > (cores_ ? full - 1 : 0);
    }
  }
  if (any)
    layers_.push_back(layer);
  else
    map_.resize(layer.at);
}

// Sets the distances of the pixels that a mask holds, in an image of the pixels of `extent`.
void RegionWeights::paint_mask(const Region& region, const PixelRect& extent, std::uint16_t distance) {
  const RegionMask& mask = *region.mask;
  const std::int64_t width = region.right - region.left, height = region.bottom - region.top;
  const auto left = std::max<std::int64_t>(region.left, extent.left);
  const auto right = std::min<std::int64_t>(region.right, extent.right);
  mask_columns_.clear();
  for (std::int64_t x = left; x < right; ++x)
    mask_columns_.push_back(static_cast<int>((2 * (x - region.left) + 1) * mask.width / (2 * width)));
  for (auto y = std::max<std::int64_t>(region.top, extent.top);
       y < std::min<std::int64_t>(region.bottom, extent.bottom); ++y) {
    const std::uint8_t* held = mask.held.data() + (2 * (y - region.top) + 1) * mask.height / (2 * height) * mask.width;
    std::uint16_t* row = distances_.data() + (y - extent.top) * (extent.right - extent.left) + (left - extent.left);
    for (std::size_t i = 0; i < mask_columns_.size(); ++i)
      if (held[mask_columns_[i]]) row[i] = distance;
  }
}

void RegionWeights::add_mask(const Region& region) {
  // Pixels off the frame count for the feather, as far as it reaches.
  const PixelRect extent{clamp_to(region.left - feather_, -feather_, width_ + feather_),
                         clamp_to(region.top - feather_, -feather_, height_ + feather_),
                         clamp_to(region.right + feather_, -feather_, width_ + feather_),
                         clamp_to(region.bottom + feather_, -feather_, height_ + feather_)};
  distances_.assign(
      static_cast<std::size_t>(extent.right - extent.left) * static_cast<std::size_t>(extent.bottom - extent.top),
      static_cast<std::uint16_t>(feather_ + 1));
  paint_mask(region, extent, 0);
  add_map(region, extent);
}

void RegionWeights::add_outside(std::span<const Region> regions) {
  const PixelRect frame{0, 0, width_, height_};
  const auto far = static_cast<std::uint16_t>(feather_ + 1);
  distances_.assign(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), 0);
  for (const Region& region : regions) {
    if (region.empty()) continue;
    if (region.shape == RegionShape::mask) {
      paint_mask(region, frame, far);
      continue;
    }
    // Its spans are needed here alone.
    if (!add_spans(region)) continue;
    const Layer hole = layers_.back();
    layers_.pop_back();
    for (int y = hole.window.top; y < hole.window.bottom; ++y) {
      const Span span = core(hole, {1, 1, width_, height_}, y);
      std::uint16_t* row = distances_.data() + static_cast<std::ptrdiff_t>(y) * width_;
      if (!span.empty()) std::fill(row + span.first, row + span.last, far);
    }
    spans_.clear();
  }
  add_map(Region{0, 0, width_, height_}, frame);
}

// The pixels of row `y` that are in the region.
RegionWeights::PixelSpan RegionWeights::held(const Layer& layer, std::int64_t y) const noexcept {
  if (layer.box.shape == RegionShape::rectangle) return {layer.box.left, layer.box.right};
  return spans_[layer.at + static_cast<std::size_t>(y - layer.first_row)];
}

// The pixels of row `y` that are no farther than `distance` from the region.
RegionWeights::PixelSpan RegionWeights::within(const Layer& layer, std::int64_t y, int distance) const noexcept {
  const std::int64_t top = std::max(y - distance, layer.box.top);
  const std::int64_t bottom = std::min(y + distance, layer.box.bottom - 1);
  if (top > bottom) return {};
  // The widest row from top to bottom is the one nearest to the middle of the box.
  const std::int64_t middle = (layer.box.top + layer.box.bottom - 1) / 2;
  const PixelSpan widest = held(layer, std::clamp(middle, top, bottom));
  if (widest.left >= widest.right) return {};
  return {widest.left - distance, widest.right + distance};
}

// The samples of row `y` that cover a pixel no farther than `distance` from the region.
RegionWeights::Span RegionWeights::samples(const Layer& layer, const Sampling& s, int y, int distance) const noexcept {
  PixelSpan pixels;
  for (int row = y * s.step_y; row < std::min((y + 1) * s.step_y, height_); ++row) {
    const PixelSpan span = within(layer, row, distance);
    // One span holds the other: they have the same middle.
    if (span.right - span.left > pixels.right - pixels.left) pixels = span;
  }
  const int left = clamp_to(pixels.left, 0, width_), right = clamp_to(pixels.right, 0, width_);
  if (left >= right) return {};
  return {left / s.step_x, (right + s.step_x - 1) / s.step_x};
}

RegionWeights::Span RegionWeights::core(const Layer& layer, const Sampling& sampling, int y) const noexcept {
  return samples(layer, sampling, y, 0);
}

void RegionWeights::row(const Layer& layer, const Sampling& s, int y, int first, int last,
                        std::uint16_t* weights) const noexcept {
  std::fill(weights, weights + (last - first), std::uint16_t{0});
  if (layer.mapped) {
    const PixelRect& window = layer.window;
    const int from = std::max(first * s.step_x, window.left), to = std::min(last * s.step_x, window.right);
    for (int row = std::max(y * s.step_y, window.top); row < std::min((y + 1) * s.step_y, window.bottom); ++row) {
      const std::uint16_t* map = map_.data() + layer.at +
                                 static_cast<std::ptrdiff_t>(row - window.top) * (window.right - window.left) -
                                 window.left;
      if (s.step_x == 1)
        for (int x = from; x < to; ++x) weights[x - first] = std::max(weights[x - first], map[x]);
      else
        for (int x = from; x < to; ++x) {
          std::uint16_t& weight = weights[x / s.step_x - first];
          weight = std::max(weight, map[x]);
        }
    }
    return;
  }
  // From the region outward, each distance adds a piece at both ends.
  Span inner;
  for (int d = 0; d <= feather_; ++d) {
    Span outer = samples(layer, s, y, d);
    outer = {std::max(outer.first, first), std::min(outer.last, last)};
    if (outer.empty()) continue;
    if (inner.empty()) inner = {outer.last, outer.last};
    std::fill(weights + (outer.first - first), weights + (inner.first - first), weight_at_[d]);
    std::fill(weights + (inner.last - first), weights + (outer.last - first), weight_at_[d]);
    inner = outer;
  }
}

}  // namespace convolve
