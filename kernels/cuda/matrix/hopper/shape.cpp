// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/matrix/hopper/shape.hpp"

#include "cuda/matrix/right_matrices.hpp"
#include "cuda/matrix/taps.hpp"

namespace convolve::cuda::wgmma {
namespace {

constexpr int multiprocessor = 228 << 10, of_each_block = 1 << 10;  // shared memory of compute capability 9.0

/// The filter's rows of taps as one kind of block after the other wants them.
class TapsWriter {
 public:
  TapsWriter(const Filter& filter, WgmmaShape shape, const std::function<std::int32_t(std::size_t)>& limb)
      : filter_(filter), shape_(shape), limb_(limb) {}

  /// A row of the filter as blocks of 8 columns of 16 pixels, `across` of them from pixel `first` of the window on,
  /// for the first 8 columns and then for the others. Rows outside of the filter are empty.
  void write_row(int row, int first, int across, std::vector<std::uint8_t>& bytes) const {
    for (int half = 0; half < 2; ++half)
      for (int block = 0; block < across; ++block)
        for (int n = 8 * half; n < 8 * half + 8; ++n)
          for (int k = 0; k < 16; ++k) bytes.push_back(tap(row, n, first + 16 * block + k));
  }

 private:
  /// The tap by which pixel k of a window goes into the output of column n.
  std::uint8_t tap(int row, int n, int k) const {
    const int to = 4 * (n >> 1 & 3) + 2 * (n >> 3) + (n & 1);
    const int y = row - shape_.height / 2 + filter_.centre_y(), x = k - shape_.margin - to + filter_.centre_x();
    if (y < 0 || y >= filter_.height() || x < 0 || x >= filter_.width()) return 0;
    return static_cast<std::uint8_t>(limb_(static_cast<std::size_t>(y) * filter_.width() + x));
  }

  const Filter& filter_;
  WgmmaShape shape_;
  const std::function<std::int32_t(std::size_t)>& limb_;
};

}  // namespace

WgmmaShape shape_for(const Filter& filter) {
  const auto holds = [&](WgmmaShape shape) {
    return shape.height > 2 * filter.reach_y() && shape.margin >= filter.reach_x();
  };
  for (const WgmmaShape shape : short_windows)
    if (holds(shape)) return shape;
  for (const WgmmaShape shape : long_windows)
    if (holds(shape)) return shape;
  return {};
}

int memory_of(WgmmaShape shape, int components, int limbs) {
  const int spare = shape.has_long_windows() ? 3 * 256 : 0;
  return tuning(shape, components).stages * components * shape.input_bytes() + limbs * shape.taps_bytes() + spare;
}

int blocks_by_memory(int bytes) {
  return multiprocessor / (bytes + of_each_block);
}

int max_limbs(WgmmaShape shape, int components) {
  const int blocks = shape.has_long_windows() ? 1 : tuning(shape, components).blocks_resident;
  int limbs = 2;
  while (limbs < U16Taps::max_limbs && blocks_by_memory(memory_of(shape, components, limbs + 1)) >= blocks) ++limbs;
  return limbs;
}

std::vector<std::uint8_t> right_matrices(const Filter& filter, int limbs, WgmmaShape shape,
                                         const std::function<std::int32_t(int, std::size_t)>& limb) {
  const int padding = group_rows - 1;
  if (!shape.has_long_windows()) {
    std::vector<std::vector<std::int8_t>> values(static_cast<std::size_t>(limbs));
    for (int d = 0; d < limbs; ++d)
      for (std::size_t tap = 0; tap < filter.taps().size(); ++tap)
        values[static_cast<std::size_t>(d)].push_back(static_cast<std::int8_t>(limb(d, tap)));
    return warpgroup_matrices(filter, values, shape.height, padding, shape.margin);
  }
  std::vector<std::uint8_t> bytes;
  for (int d = 0; d < limbs; ++d) {
    const std::function<std::int32_t(std::size_t)> of_limb = [&](std::size_t tap) { return limb(d, tap); };
    const TapsWriter writer(filter, shape, of_limb);
    for (int row = -padding; row < shape.height; ++row) writer.write_row(row, 0, 2, bytes);
    for (int row = -padding; row <= shape.height; ++row) writer.write_row(row, 32, 1, bytes);
  }
  return bytes;
}

}  // namespace convolve::cuda::wgmma
