// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for wide filters of bytes with real taps by warpgroups (wide.cuh): the tables of strips. Host code only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "convolve/border.hpp"

namespace convolve::cuda::wide {

/// How the kernel has strips of planes of one number of components.
struct Strips {
  int components, pixels, piece_pixels, window;
  int run;  ///< pixels side by side that a lane of the column pass ends with
  int pixel_bytes;
  bool tiles;           ///< no pieces of the frame stand beside it (wide_tiles.cuh)
  bool start_products;  ///< sums begin with rows of a product
  bool edges = false;   ///< taps beside the frame are there, apart, for its first and last pixels
  bool bands = false;   ///< of one component, taps are blocks that repeat (PairSums)
  bool has_bands() const { return bands && components == 1; }
  int pieces() const { return window / piece_pixels; }
  std::size_t matrix_halves() const { return static_cast<std::size_t>(window) * static_cast<std::size_t>(pixels); }
};

/// A row of an axis of `width` pixels under a filter, as strips of it see it.
struct StripAxis {
  Border border;
  int width;
  int before, lead;          ///< pixels from a window's first to a strip's; and to the first that a tap meets
  std::vector<double> taps;  ///< halves
  double row_start;          ///< what sums begin with
  bool adds_taps;            ///< taps that meet one pixel may be added up, and the sum rounded to a half
  std::array<double, 4> ghost;
};

/// Components that are filtered alike.
struct StripPart {
  Strips strips;
  StripAxis axis;
};

/// The tables of strips, one behind the other: the row's taps, what sums of each column begin with, and where the
/// window's pieces are.
class StripTables {
 public:
  /// Of packed 4:2:2 the parts are luma and chroma. Pieces are the last part's.
  /// `bytes`: the taps are whole numbers of one byte each.
  explicit StripTables(const std::vector<StripPart>& parts, bool bytes = false);
  /// That of strips whose window is within the frame.
  void add_inner();
  /// That of the strip that begins at pixel `left` of the last part. Beside the frame its window has other pieces of
  /// the frame, and taps are where the pixel is that they meet: behind a last piece that is not whole there may be none
  /// left, and of tiles there is none, so that taps are added to that of the pixel itself. False where they may not be,
  /// where that pixel is in no piece either, or where a tap is no half.
  bool add(int left);
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  struct Part : StripPart {
    std::vector<int> order;               ///< the places of a table's taps in a window's; below 0: none
    std::vector<std::uint16_t> tap_bits;  ///< the filter's
  };
  template <class Set>
  bool add_table(Set&& set);

  std::vector<Part> parts_;
  bool of_bytes_;
  std::vector<std::byte> bytes_;
};

/// A column's taps, of which the first meets row `lead` of the first step, as products read them in shared memory:
/// blocks of 8 rows by 8 columns, groups of 8 rows in reverse. So a block is that of the group before and the columns
/// before as well, and all of them are no more than those of a row.
std::vector<std::uint16_t> column_blocks(const std::vector<double>& taps, int blocks, int lead);
/// The same of a box, whose sums along rows are two limbs: bytes that weigh `limb` and 1.
std::vector<std::uint16_t> box_column_blocks(const std::vector<double>& taps, int blocks, int limb, int lead);

}  // namespace convolve::cuda::wide
