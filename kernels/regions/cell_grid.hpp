// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Cells: the grid over a region whose means are all that blur and pixelate let through.
//
// Cells are squares of ceil(longer side / cells) pixels, counted from the region's top left, wherever that is; those at
// the right and at the bottom may be cut short. Only the cells that meet the frame are kept. A subsampled sample
// stands where its first pixel does.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "convolve/host_device.hpp"
#include "convolve/region.hpp"

namespace convolve {

/// a / b of numbers that are not negative. Of 32 bits, as nearly all are, a division takes a fraction of the time.
inline std::int64_t divided(std::int64_t a, std::int64_t b) {
  if (((a | b) >> 32) == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}

/// One axis of a grid. Kernels hold copies of it, and count in 32 bits where that is enough.
template <class Int>
class BasicCellAxis {
 public:
  BasicCellAxis() = default;
  /// `begin`, `end`: the region's, in pixels; `frame`: pixels of the frame on this axis.
  BasicCellAxis(std::int64_t begin, std::int64_t end, std::int64_t size, int frame)
      : begin_(static_cast<Int>(begin)), end_(static_cast<Int>(end)), size_(static_cast<Int>(size)) {
    const auto cell_of = [&](std::int64_t pixel) { return divided(std::clamp(pixel, begin, end - 1) - begin, size); };
    first_ = static_cast<Int>(begin < 0 ? cell_of(0) : 0);
    last_ = static_cast<Int>(cell_of(frame - 1));
  }
  /// The axis `other` in other integers; where they have fewer bits, other.narrow() has to be true.
  template <class Other>
  CONVOLVE_HD explicit BasicCellAxis(const BasicCellAxis<Other>& other)
      : begin_(static_cast<Int>(other.begin_)),
        end_(static_cast<Int>(other.end_)),
        size_(static_cast<Int>(other.size_)),
        first_(static_cast<Int>(other.first_)),
        last_(static_cast<Int>(other.last_)) {}

  /// Whether 32 bits are enough, and single precision to divide by a cell's size.
  bool narrow() const {
    constexpr std::int64_t far = 1 << 19;
    return begin_ > -far && end_ < far;
  }

  /// How many cells meet the frame.
  CONVOLVE_HD int count() const { return static_cast<int>(last_ - first_) + 1; }
  /// The cell of a pixel of the frame, or the nearest to it.
  CONVOLVE_HD int cell(int pixel) const noexcept {
    const Int at = std::clamp<Int>(pixel, begin_, end_ - 1) - begin_;
#ifdef __CUDA_ARCH__
    // A GPU has no division. In this one the product is off by less than the half that was added, over the size.
    if (sizeof(Int) == 4) {
      const Int cell = static_cast<Int>((static_cast<float>(at) + 0.5f) * __frcp_rn(static_cast<float>(size_)));
      return static_cast<int>(std::clamp(cell, first_, last_) - first_);
    }
#endif
    // A division of 32 bits is several times faster.
    const bool small = sizeof(Int) == 4 || (at < std::int64_t{1} << 31 && size_ < std::int64_t{1} << 31);
    const Int cell =
        small ? static_cast<Int>(static_cast<std::uint32_t>(at) / static_cast<std::uint32_t>(size_)) : at / size_;
    return static_cast<int>(std::clamp(cell, first_, last_) - first_);
  }
  /// The first of `samples` samples, `step` (a power of two) pixels each, in this cell or a later one; `cell` up to
  /// count().
  CONVOLVE_HD int first_sample(int cell, int step, int samples) const noexcept {
    if (cell <= 0) return 0;
    if (cell >= count()) return samples;
    const Int begin = begin_ + (first_ + cell) * size_;
    if (begin <= 0) return 0;
    if (begin > std::int64_t{step} * (samples - 1)) return samples;
    return static_cast<int>((static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(step) - 1) >> log2(step));
  }
  /// The centre of a cell, and the middle of a pixel, in half pixels from the region's begin.
  CONVOLVE_HD Int centre(int cell) const noexcept {
    const Int at = first_ + cell;
    return at * size_ + std::min((at + 1) * size_, end_ - begin_);
  }
  CONVOLVE_HD Int middle(int pixel) const noexcept {
    return 2 * (pixel - begin_) + 1;
  }
  Int begin() const {
    return begin_;
  }  ///< of the region, in pixels
  Int size() const {
    return size_;
  }  ///< of a cell, in pixels
  Int first() const {
    return first_;
  }  ///< kept cell, counted from the region's begin
  /// The first sample whose middle is not before the centre of a cell.
  int first_from_centre(int cell, int step, int samples) const noexcept;

 private:
  CONVOLVE_HD static int log2(int step) {
#ifdef __CUDA_ARCH__
    return __ffs(step) - 1;
#else
    return std::countr_zero(static_cast<unsigned>(step));
#endif
  }

  template <class Other>
  friend class BasicCellAxis;

  Int begin_ = 0, end_ = 1, size_ = 1;
  Int first_ = 0, last_ = 0;
};

using CellAxis = BasicCellAxis<std::int64_t>;

struct CellGrid {
  CellAxis x, y;

  CellGrid() = default;
  CellGrid(const Region& box, int cells, int frame_width, int frame_height) {
    const std::int64_t longer = std::max(box.right - box.left, box.bottom - box.top);
    const std::int64_t size = divided(longer + cells - 1, cells);
    x = CellAxis(box.left, box.right, size, frame_width);
    y = CellAxis(box.top, box.bottom, size, frame_height);
  }
};

}  // namespace convolve
