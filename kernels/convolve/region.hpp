// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions: where in a frame an effect applies, and the plan that applies it there and nowhere else.
//
// Coordinates count the frame's pixels, which are the samples of its largest component. A region lies anywhere, on the
// frame or off it, and may be far larger; its cells, its shape and its top left corner never depend on the frame's
// size.
//
// Each sample has a weight w in 256ths, and out = round((in * (256 - w) + effect * w) / 256), ties to even. A sample in
// a region weighs 256. With a feather of f pixels, the one at distance d from it weighs round(256 * (f + 1 - d) /
// (f + 1)), d being the larger of the two axes' distances. A subsampled sample has the largest weight of the pixels
// that it covers. Where regions overlap the one of the largest weight counts; of equal ones the first.
//
//      f = 2      85  85  85  85  85  85
//                 85 171 171 171 171  85     a region of 2x1 pixels and the two rings around it
//                 85 171 256 256 171  85
//                 85 171 171 171 171  85
//                 85  85  85  85  85  85
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "convolve/host_device.hpp"
#include "convolve/plane.hpp"

namespace convolve {

enum class RegionEffect : std::uint8_t {
  filter,    ///< a filter's output, which the caller brings
  blur,      ///< means of cells, bilinear between the cells' centres
  pixelate,  ///< the mean of each cell
  fill       ///< one colour
};

/// Whether the effect is made of the means of cells.
CONVOLVE_HD constexpr bool hides_by_means(RegionEffect effect) {
  switch (effect) {
    case RegionEffect::blur:
    case RegionEffect::pixelate:
      return true;
    case RegionEffect::filter:
    case RegionEffect::fill:
      break;
  }
  return false;
}

enum class RegionShape : std::uint8_t {
  rectangle,
  ellipse,  ///< the samples whose centres it holds
  mask      ///< the samples where the mask is not 0
};

/// Which part of a box a region is: rows of bytes, not 0 where the region is, stretched over the box.
struct RegionMask {
  int width = 0, height = 0;
  std::vector<std::uint8_t> held;
};

/// One region: the pixels left <= x < right, top <= y < bottom, or the ellipse that they bound, or those of a mask.
struct Region {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;  ///< within +-2^40
  RegionShape shape = RegionShape::rectangle;
  const RegionMask* mask = nullptr;  ///< of RegionShape::mask; outlives the frame

  bool empty() const { return left >= right || top >= bottom; }
  bool operator==(const Region&) const = default;
};

/// The box of `width` x `height` at (x, y), with `grow` times its width and height added on each side, its edges
/// rounded to whole pixels. Empty where the box is, and where a number is NaN; what is beyond +-2^40 is drawn in to
/// there.
Region make_region(double x, double y, double width, double height, double grow, RegionShape shape);

/// What is done to the regions of one frame.
struct RegionTreatment {
  RegionEffect effect = RegionEffect::pixelate;
  bool outside = false;  ///< the effect covers what is in none of the regions; cells are then those of the whole frame,
                         ///< and the feather runs into the regions
  int feather = 0;       ///< pixels, 0 to 256
  int cells = 6;         ///< of blur and pixelate: along the longer side, 1 to 64
  /// Code values of RegionEffect::fill, of each plane's components; below 0: the component stays as it is.
  std::array<std::array<int, max_components>, max_planes> fill{};

  bool operator==(const RegionTreatment&) const = default;
};

/// What a region plan depends on. The components that are not `filtered` stay as they are.
struct RegionDesc {
  FrameLayout layout;
  int width = 0, height = 0;  ///< of the frame
};

/// The treatment of frames of one layout. Used by one thread at a time.
class RegionPlan {
 public:
  virtual ~RegionPlan() = default;
  RegionPlan() = default;
  RegionPlan(const RegionPlan&) = delete;
  RegionPlan& operator=(const RegionPlan&) = delete;

  /// Takes the regions of the next frame. False: no sample of it has a weight, so that the frame stays as it is.
  /// Allocates where there are more regions than ever before.
  virtual bool set_regions(std::span<const Region> regions, const RegionTreatment& treatment) = 0;

  /// The parts of the frame where a weight may be more than 0; they may overlap.
  virtual std::span<const PixelRect> areas() const = 0;

  /// Applies the effect to `frame`, in place. `filtered`, of RegionEffect::filter alone: the filter's output, at least
  /// in areas(). Null on success, else a static text that says what failed.
  [[nodiscard]] virtual const char* apply(const Image& frame, const Image* filtered, void* stream) noexcept = 0;
};

}  // namespace convolve
