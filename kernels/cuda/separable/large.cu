// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of separable's tensor kernels for large filters: see large.cuh.
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/device_array.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/common/shared_memory.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/byte_factors.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/large.cuh"
#include "cuda/separable/large_group_plan.hpp"
#include "cuda/separable/large_strip_plan.hpp"

namespace convolve::cuda {
namespace {

using namespace large;

template <class Numbers>
auto row_kernel_of(PlaneMix mix) {
  return mix == PlaneMix::one     ? row_kernel<Numbers, PlaneMix::one>
         : mix == PlaneMix::three ? row_kernel<Numbers, PlaneMix::three>
         : mix == PlaneMix::four  ? row_kernel<Numbers, PlaneMix::four>
                                  : row_kernel<Numbers, PlaneMix::one_and_two>;
}

/// A tile of the row pass, of a plane of so many components.
struct RowShape {
  int width, rows;
};
template <int C>
constexpr RowShape shape_of{RowTile<C>::width, RowTile<C>::rows};
RowShape row_shape(int components) {
  return components == 1 ? shape_of<1> : components == 2 ? shape_of<2> : components == 3 ? shape_of<3> : shape_of<4>;
}

class LargePlan final : public Plan {
 public:
  LargePlan(const Device& device, const PlanDesc& desc, const LargeTaps& taps)
      : shape_(desc.filter.shape()), numbers_(taps.numbers), capability_(device.capability) {
    const Filter& filter = desc.filter;
    args_.planes = desc.layout.planes;
    args_.border = desc.border;
    args_.centre_x = filter.centre_x(), args_.centre_y = filter.centre_y(), args_.reach_x = filter.reach_x();
    args_.row_units = large_row_units(unit_of(numbers_), filter.width(), filter.centre_x());
    args_.column_units = large_column_units(unit_of(numbers_), filter.height());
    args_.row_start = static_cast<float>(taps.row_start);
    args_.gain = taps.gain, args_.gain_low = taps.gain_low, args_.divisor = taps.divisor, args_.centre = taps.centre;
    const PlaneMix mix = plane_mix(desc.layout);
    if (mix == PlaneMix::none)
      set_pairs(args_.plane[0], desc.layout.plane[0], filter, taps);
    else
      for (int p = 0; p < args_.planes; ++p) set_plane(args_.plane[p], desc.layout.plane[p], filter, taps, p);
    if (!set_strips(device, filter, taps, mix)) {
      set_matrices(device, taps);
      set_passes(device, mix);
    }
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = matrices_.send(stream)) return error;
    bool plain = plain_ != nullptr;
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      const std::uintptr_t bits = bind(plane, window.image[0]->plane[p], out.plane[p]);
      plane.wide = aligned(window.image[0]->plane[p], 16);
      plane.out_wide = bits % (plane.components == 4 ? 16 : 8) == 0;
      plain = plain && bits % (plane.components > 2 ? 16 : 8) == 0;
    }
    for (const Launch& launch : launch_)
      if (launch.kernel)
        launch_pdl(capability_, plain ? plain_ : launch.kernel, launch.blocks, dim3(launch.threads), stream, args_,
                   launch.memory);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + (args_.centre != 0 ? " with a centre tap" : "") + ", tensor cores, " +
           (numbers_ == LargeNumbers::halves ? "half precision" : "8-bit integers") +
           (launch_[1].kernel ? ", rows and columns in 2 launches" : ", strips");
  }

 private:
  struct Launch {
    void (*kernel)(Args) = nullptr;
    unsigned blocks = 0, threads = 0, memory = 0;
  };

  void set_size(Plane& to, int components, int width, int height, const Filter& filter) const {
    to.components = components, to.width = width, to.height = height;
    to.row_bytes = width * components;
    to.columns = edge_axis(args_.border, width), to.rows = edge_axis(args_.border, height);
    to.simple = edge_folds_once(width, filter.reach_x()) && edge_folds_once(height, filter.reach_y());
  }

  void set_plane(Plane& to, const PlaneLayout& from, const Filter& filter, const LargeTaps& taps, int p) const {
    set_size(to, from.components, from.component[0].width, from.component[0].height, filter);
    const PlaneMasks masks = plane_masks(from);
    to.passthrough = masks.passthrough, to.ghost = masks.ghost;
    for (int b = 0; b < 4; ++b) {
      const int c = b % to.components;
      to.level[b] = taps.level[p][c], to.start[b] = taps.start[p][c];
      to.ghost_sums[b / 2] |= std::uint32_t{taps.ghost[p][c]} << b % 2 * 16;
    }
  }

  /// Of packed 4:2:2: pairs for pixels.
  void set_pairs(Plane& to, const PlaneLayout& from, const Filter& filter, const LargeTaps& taps) {
    const int luma = luma_index(from), luma_at = from.component[luma].offset, width = from.component[luma].width;
    set_size(to, 4, width / 2, from.component[luma].height, filter);
    PlaneLayout bytes;
    bytes.components = 4;
    for (int c = 0; c < from.components; ++c) {
      const int at = from.component[c].offset;
      bytes.component[at] = from.component[c];
      if (c == luma) bytes.component[at + 2] = from.component[c];
      const int tile = c == luma ? 0 : 2 + at / 2;
      to.level[tile] = taps.level[0][c], to.start[tile] = taps.start[0][c];
    }
    to.level[1] = to.level[0], to.start[1] = to.start[0];
    const PlaneMasks masks = plane_masks(bytes);
    to.passthrough = masks.passthrough, to.ghost = masks.ghost;
    args_.pairs = {.luma_at = luma_at,
                   .luma = luma_at ? 0x7531u : 0x6420u,
                   .luma_halves = luma_at ? 0x4341u : 0x4240u,
                   .chroma = luma_at ? 0x6420u : 0x7531u,
                   .in_turn = luma_at ? 0x1504u : 0x5140u,
                   .luma_columns = edge_axis(args_.border, width)};
  }

  void set_matrices(const Device& device, const LargeTaps& taps) {
    std::vector<std::uint32_t> words = large_column_matrices(taps, args_.column_units);
    std::size_t first[max_planes];
    for (int p = 0; p < args_.planes; ++p) {
      const auto rows = large_row_matrices(taps, args_.centre_x, args_.plane[p].components);
      first[p] = words.size() / 4;
      words.insert(words.end(), rows.begin(), rows.end());
    }
    set_table(device, words);
    for (int p = 0; p < args_.planes; ++p) {
      args_.plane[p].column_taps = matrices_.get();
      args_.plane[p].row_taps = matrices_.get() + first[p];
    }
  }

  void set_table(const Device& device, const std::vector<std::uint32_t>& words) {
    std::vector<uint4> table(words.size() / 4);
    std::memcpy(table.data(), words.data(), table.size() * sizeof(uint4));
    matrices_ = Table<uint4>(device.tables, table);
  }

  int row_memory(int rows, int width, int components) const {
    const int window = row_window(unit_of(numbers_), args_.row_units, args_.centre_x, width, components);
    return rows * row_pitch(window, components);
  }

  void set_passes(const Device& device, PlaneMix mix) {
    int memory = 0;
    std::int64_t sums = 0, row_blocks = 0, column_blocks = 0;
    std::int64_t first_sum[max_planes];
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      const RowShape tile = row_shape(plane.components);
      plane.row_tiles_x = (plane.width - 1) / tile.width + 1;
      plane.column_tiles_x = (plane.row_bytes - 1) / ColumnTile::bytes + 1;
      plane.pitch = plane.row_tiles_x * tile.width * plane.components;
      plane.first_row_block = static_cast<int>(checked_blocks(row_blocks));
      plane.first_column_block = static_cast<int>(checked_blocks(column_blocks));
      row_blocks += std::int64_t{plane.row_tiles_x} * ((plane.height - 1) / tile.rows + 1);
      column_blocks += std::int64_t{plane.column_tiles_x} * ((plane.height - 1) / ColumnTile::rows + 1);
      memory = std::max(memory, row_memory(tile.rows, tile.width, plane.components));
      first_sum[p] = sums;
      sums += std::int64_t{plane.pitch} * plane.height;
    }
    sums_ = Table<std::uint16_t>(device.tables, static_cast<std::size_t>(sums));
    for (int p = 0; p < args_.planes; ++p) args_.plane[p].sums = sums_.get() + first_sum[p];
    // Even with 255 taps this is within the 48 KiB that a kernel has without asking.
    const int column_memory = sums_pitch * (ColumnTile::rows + (args_.column_units - 1) * unit_of(numbers_));
    const bool halves = numbers_ == LargeNumbers::halves;
    launch_[0] = {halves ? row_kernel_of<Halves>(mix) : row_kernel_of<Limbs>(mix), checked_blocks(row_blocks), threads,
                  static_cast<unsigned>(memory)};
    launch_[1] = {halves ? column_kernel<Halves> : column_kernel<Limbs>, checked_blocks(column_blocks), threads,
                  static_cast<unsigned>(column_memory)};
  }

  /// False where no kernel takes in as much, or a block may not have as much shared memory.
  bool set_strips(const Device& device, const Filter& filter, const LargeTaps& taps, PlaneMix mix) {
    const StripKernel strip = strip_kernel_of(numbers_, filter, mix);
    if (!strip.kernel) return false;
    int memory = 0;
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      plane.strips_x = (plane.width - 1) / strip_width(plane.components) + 1;
      plane.strip_units = (plane.height - 1) / strip.unit + 1;
      memory = std::max(memory, strip_memory(strip, args_.centre_x, plane.components));
    }
    if (memory > device.shared_bytes) return false;
    const unsigned blocks = deal_strips(args_, strip, device.multiprocessors * strip_resident);
    args_.whole = taps.whole, args_.rounding = taps.rounding, args_.whole_level = taps.rounding - taps.whole;
    for (int p = 0; p < args_.planes; ++p)
      for (std::int32_t& start : args_.plane[p].start) start += taps.beside;
    if (numbers_ == LargeNumbers::limbs) {  // V without a sign
      args_.row_start += 0x1p15f;
      for (int p = 0; p < args_.planes; ++p)
        for (std::int32_t& start : args_.plane[p].start)
          start -= static_cast<std::int32_t>(0x1p15 * sum_of(taps.column));
    }
    std::vector<std::uint32_t> words;
    std::size_t first = 3 * 32;  // of the row's matrices
    if (strip.unit == unit_of(numbers_)) {
      words = large_column_matrices(taps, strip.units);
      first = words.size() / 4;
      const auto rows = large_strip_matrices(taps, args_.centre_x, strip.units);
      words.insert(words.end(), rows.begin(), rows.end());
    } else {
      words = large_byte_strip_matrices(taps, args_.centre_x);
    }
    // What V starts at, four times, behind the matrix, and the places of a word's second byte and of its third.
    words.insert(words.end(), 4,
                 numbers_ == LargeNumbers::limbs
                     ? static_cast<std::uint32_t>(static_cast<std::int32_t>(args_.row_start))
                     : std::bit_cast<std::uint32_t>(args_.row_start));
    words.insert(words.end(), {1u << 8, 1u << 16, 0, 0});
    set_table(device, words);
    for (int p = 0; p < args_.planes; ++p) {
      args_.plane[p].column_taps = matrices_.get();
      args_.plane[p].row_taps = matrices_.get() + first;
    }
    // All that a block may have: other plans of the same kernel may need more.
    allow_shared_memory(strip.kernel, device.shared_bytes);
    if (is_plain(args_, numbers_)) allow_shared_memory(plain_ = strip.plain, device.shared_bytes);
    launch_[0] = {strip.kernel, blocks, 32u * strip_warps(max_components_of(mix)), static_cast<unsigned>(memory)};
    return true;
  }

  std::string shape_;
  LargeNumbers numbers_;
  int capability_;
  Args args_{};
  Table<uint4> matrices_;
  Table<std::uint16_t> sums_;
  Launch launch_[2];
  void (*plain_)(Args) = nullptr;  ///< strips where addresses allow it, in place of the first launch's kernel
};

/// True for packed 4:2:2 of whole pairs that strips take.
bool is_in_strips_of_pairs(const Device& device, const PlanDesc& desc, LargeNumbers numbers) {
  const PlaneLayout& plane = desc.layout.plane[0];
  if (!lies_as_packed_422(desc.layout) || plane.component[luma_index(plane)].width % 2 != 0) return false;
  const StripKernel strip = strip_kernel_of(numbers, desc.filter, PlaneMix::none);
  return strip.kernel && strip_memory(strip, desc.filter.centre_x(), 4) <= device.shared_bytes;
}

/// The taps that the kernels would compute with; false where no case has such.
bool find_taps(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, LargeTaps& taps) {
  const std::vector<FrameFactors>& frames = desc.filter.frame_factors();
  return device.capability >= 80 && desc.filter.depth() == 1 && frames.size() == 1 &&
         make_large_taps(desc, arithmetic, frames.front(), taps);
}
/// Whether LargePlan serves a case that has these taps.
bool has_its_planes(const Device& device, const PlanDesc& desc, const LargeTaps& taps) {
  return repeats_by_fours(desc.layout) || is_in_strips_of_pairs(device, desc, taps.numbers);
}

}  // namespace

bool serves_separable_large(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic) {
  LargeTaps taps;
  return find_taps(device, desc, arithmetic, taps) &&
         (has_its_planes(device, desc, taps) || serves_separable_wide(device, desc, taps));
}

std::unique_ptr<Plan> make_separable_large(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic) {
  LargeTaps taps;
  if (!find_taps(device, desc, arithmetic, taps)) return nullptr;
  try {
    if (auto plan = make_separable_wide(device, desc, taps)) return plan;
  } catch (const std::bad_alloc&) {  // what follows needs less memory
  }
  if (!has_its_planes(device, desc, taps)) return nullptr;
  if (auto plan = make_separable_groups(device, desc, taps)) return plan;
  return std::make_unique<LargePlan>(device, desc, taps);
}

}  // namespace convolve::cuda
