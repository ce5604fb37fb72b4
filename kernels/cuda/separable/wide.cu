// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of separable for wide filters of bytes with real taps by warpgroups, compute capability 9.0: see wide.cuh.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/half.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/common/shared_memory.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/large_group_plan.hpp"
#include "cuda/separable/wide_aligned.cuh"
#include "cuda/separable/wide_kernels.cuh"
#include "cuda/separable/wide_maps.cuh"

namespace convolve::cuda {
namespace {

using namespace wide;

/// Pixels from the beginning of a window to that of its strip. Of packed 4:2:2, pairs and luma alike.
int before_of(const Kernel& kernel, const Strips& strips, int centre_x) {
  if (kernel.pairs) return step_rows / 2 * (kernel.chunks - 1);
  // Lanes load multiples of 16 bytes. Tensor copies take up to half as long again where they begin within a sector of
  // 32 bytes (one H100, 2026-11-26).
  const int unit = strips.tiles ? 32 : strips.components == 3 ? 2 * strips.piece_pixels : strips.piece_pixels;
  return (centre_x + unit - 1) / unit * unit;
}
bool takes_in(const Kernel& kernel, const Filter& filter) {
  if (!kernel.kernel || step_rows - 1 + filter.height() > step_rows * kernel.chunks) return false;
  if (kernel.pairs) return filter.reach_x() <= before_of(kernel, kernel.strips[0], 0);
  return std::all_of(kernel.strips, kernel.strips + 2, [&](const Strips& strips) {
    const int lead = before_of(kernel, strips, filter.centre_x()) - filter.centre_x();
    return lead + strips.pixels - 1 + filter.width() <= strips.window;
  });
}
/// The smallest kernel that takes a filter in.
Kernel kernel_for(PlaneMix mix, const Filter& filter) {
  for (int chunks = 2; chunks <= 5; ++chunks)
    if (const Kernel kernel = kernel_of<RowTaps::halves>(mix, chunks); takes_in(kernel, filter)) return kernel;
  return {};
}
/// Rows from the first of the steps that a step of output takes in to the output's. By a ring steps begin with the
/// frame.
int above_of(const Kernel& kernel, const Filter& filter) {
  return kernel.ring ? ceil_div(filter.centre_y(), step_rows) * step_rows : filter.centre_y();
}
/// Whether rows are whole words, as with edges tensor copies of rows and loads of their last pixels need them.
bool has_whole_words(const FrameLayout& layout) {
  const PlaneLayout& plane = layout.plane[0];
  return lies_as_packed_422(layout) || plane.component[0].width * plane.components % 4 == 0;
}
/// The kernel by a ring of so many chunks, where it serves a case.
Kernel ring_kernel_for(const Device& device, const PlanDesc& desc, int chunks, RowTaps row) {
  const Kernel ring = ring_kernel_of(plane_mix(desc.layout), chunks, row);
  if (!ring.kernel || ring.memory > device.shared_bytes || desc.border != Border::replicate ||
      !takes_in(ring, desc.filter) || (ring.strips[0].edges && !has_whole_words(desc.layout)))
    return {};
  const int lead = above_of(ring, desc.filter) - desc.filter.centre_y();
  return lead + step_rows - 1 + desc.filter.height() <= step_rows * ring.chunks ? ring : Kernel{};
}
/// The smallest kernel for a box. Where running sums are faster than registers, a ring is faster than these from the
/// size on that only it takes in (one H100, 2026-11-26).
Kernel box_kernel_for(const Device& device, const PlanDesc& desc, bool read_as_floats) {
  for (int chunks = 2; chunks <= 5; ++chunks) {
    if (desc.filter.width() > most_box_width(chunks) || read_as_floats != (limb_of(chunks) == 128)) continue;
    const Kernel kernel = box_kernel_of(plane_mix(desc.layout), chunks);
    if (takes_in(kernel, desc.filter)) return kernel;
    const bool largest = std::min(desc.filter.width(), desc.filter.height()) > step_rows * (chunks - 2) + 1;
    if (const Kernel ring = ring_kernel_for(device, desc, chunks, RowTaps::ones); ring.kernel && largest) return ring;
  }
  return {};
}

/// Whether samples stay within what they may be off by where taps are added up and rounded once more. Those of boxes
/// are counts.
bool adds_taps_well(const LargeTaps& taps) {
  constexpr double half_unit = 0x1p-11;
  return taps.numbers == LargeNumbers::limbs || taps.error + 255 * half_unit * taps.magnitude < max_sample_error;
}
/// Whether no window of tiles holds more than what is once beside the frame, in whole copies.
bool wraps_once(const Kernel& kernel, const Strips& strips, int width, int centre_x) {
  const int before = before_of(kernel, strips, centre_x), last = (ceil_div(width, strips.pixels) - 1) * strips.pixels;
  return width * strips.pixel_bytes % 16 == 0 && before <= width && last - before + strips.window <= 2 * width;
}
/// Whether there are tables of the strips of a plane, but for frames that are hardly wider than the filter.
bool has_tables(const Kernel& kernel, const PlanDesc& desc, const LargeTaps& taps, int p) {
  const PlaneLayout& plane = desc.layout.plane[p];
  const int width = kernel.pairs ? plane.component[luma_index(plane)].width / 2 : plane.component[0].width;
  const Strips& strips = kernel.of(plane.components);
  if (desc.border == Border::constant) return true;
  if (desc.border != Border::wrap) return adds_taps_well(taps) || (!strips.tiles && width % strips.piece_pixels == 0);
  return strips.tiles ? wraps_once(kernel, strips, width, desc.filter.centre_x()) : width % strips.piece_pixels == 0;
}

int steps_of(int height) {
  return ceil_div(height, step_rows);
}
/// When the last block is over that makes `steps` output steps, a multiprocessor taking one block after the other.
/// A block makes V for `delay` more, its warpgroups side by side; starting costs each about 3.
std::int64_t end_of(const Args& args, int steps, int groups, int delay, int multiprocessors) {
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> busy;
  std::int64_t end = 0;
  for (int p = 0; p < args.planes; ++p)
    for (int first = 0; first < steps_of(args.plane[p].height); first += steps)
      for (int x = 0; x < args.plane[p].strips; ++x) {
        std::int64_t begin = 0;
        if (static_cast<int>(busy.size()) == multiprocessors) begin = busy.top(), busy.pop();
        const int made = std::min(steps, steps_of(args.plane[p].height) - first);
        const std::int64_t over = begin + 2 * made + delay + 3 * groups;
        busy.push(over);
        end = std::max(end, over);
      }
  return end;
}
int best_steps(const Args& args, int groups, int delay, int multiprocessors) {
  int most = 1, best = 1;
  for (int p = 0; p < args.planes; ++p) most = std::max(most, steps_of(args.plane[p].height));
  std::int64_t least = 0;
  for (int steps = std::min(most, 64); steps >= 1; --steps) {
    const std::int64_t end = end_of(args, steps, groups, delay, multiprocessors);
    if (least == 0 || end < least) least = end, best = steps;
  }
  return best;
}

class WidePlan final : public Plan {
 public:
  /// `other`: of boxes and by a ring, a plan for the frames that this one does not serve.
  WidePlan(const Device& device, const PlanDesc& desc, const Kernel& kernel, const LargeTaps& taps,
           std::unique_ptr<Plan> other = nullptr)
      : shape_(desc.filter.shape()), kernel_(kernel), other_(std::move(other)) {
    args_.start = taps.beside, args_.whole = taps.whole;
    // Sums of taps are to be halves as well.
    double magnitude = 0;
    for (const double tap : taps.row) magnitude += std::abs(tap);
    const int scale = kernel.row == RowTaps::halves ? std::min(0, 14 - std::ilogb(magnitude)) : 0;
    args_.planes = desc.layout.planes;
    args_.centre_y = above_of(kernel, desc.filter);
    args_.gain = std::ldexp(taps.gain, -scale), args_.centre = std::ldexp(taps.centre, scale);
    if (kernel.pairs)
      set_pairs(args_.plane[0], desc, taps);
    else
      for (int p = 0; p < args_.planes; ++p) set_plane(args_.plane[p], desc, taps, p);
    const int steps = best_steps(args_, kernel.groups, kernel.chunks - 1, device.multiprocessors * kernel.resident);
    std::int64_t blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      plane.row_scale = static_cast<float>(taps.row_scale), plane.row_start = static_cast<float>(taps.row_start);
      plane.steps = steps;
      plane.first_block = static_cast<int>(checked_blocks(blocks));
      blocks += std::int64_t{plane.strips} * ceil_div(steps_of(plane.height), steps);
    }
    blocks_ = checked_blocks(kernel.strips[0].edges ? deal_edge_strips(args_, device.multiprocessors) : blocks);
    set_tables(device, desc, taps, scale);
    allow_shared_memory(kernel.kernel, kernel.memory);
    if (has_strips_ && !other_) aligned_.reserve(device, args_);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = tables_.send(stream)) return error;
    bool in_aligned = true, out_aligned = true;
    for (int p = 0; p < args_.planes; ++p) {
      bind(args_.plane[p], window.image[0]->plane[p], out.plane[p]);
      in_aligned &= aligned(window.image[0]->plane[p], 16);
      out_aligned &= aligned(out.plane[p], 16);
    }
    if (other_ && !(in_aligned && out_aligned)) return other_->enqueue(window, out, stream);
    if (const char* error = in_aligned ? nullptr : aligned_.take(args_, stream)) return error;
    if (!out_aligned) aligned_.set_out(args_, stream);
    for (int p = 0; p < args_.planes && kernel_.tile_row_bytes > 0; ++p) describe_rows(args_, kernel_, p);
    if (kernel_.ring && !args_.plane[0].described) return other_->enqueue(window, out, stream);
    if (kernel_.out_rows > 0 && !describe_samples(args_, kernel_)) return "the driver describes no tensors";
    launch_pdl(90, kernel_.kernel, blocks_, dim3(static_cast<unsigned>(128 * kernel_.groups)), stream, args_,
               static_cast<unsigned>(kernel_.memory));
    if (const char* error = launch_error()) return error;
    return out_aligned ? nullptr : aligned_.give(args_, out, stream);
  }
  /// Whether there are tables for all strips; else this plan serves nothing.
  bool served() const { return has_strips_; }
  std::unique_ptr<Plan> take_other() { return std::move(other_); }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + (args_.centre != 0 ? " with a centre tap" : "") +
           (kernel_.boxes() ? ", tensor cores, limbs, warpgroups" : ", tensor cores, half precision, warpgroups") +
           (kernel_.row == RowTaps::bytes ? ", rows of bytes" : "");
  }

 private:
  void set_plane(Plane& to, const PlanDesc& desc, const LargeTaps& taps, int p) const {
    const PlaneLayout& from = desc.layout.plane[p];
    set_size(to, desc, from.components, from.component[0].width, from.component[0].height);
    const PlaneMasks masks = plane_masks(from);
    to.copied = true;
    for (int c = 0; c < to.components; ++c) {
      to.level[c] = taps.level[p][c];
      to.ghost_byte[c] = static_cast<std::uint8_t>(masks.ghost >> 8 * c);
      to.copied &= !from.component[c].filtered;
    }
    for (int b = 0; b < 12; ++b)
      if (!from.component[b % to.components].filtered) to.passthrough[b / 4] |= 0xFFu << b % 4 * 8;
  }
  void set_size(Plane& to, const PlanDesc& desc, int components, int width, int height) const {
    const Strips& strips = kernel_.of(components);
    to.components = components, to.width = width, to.height = height, to.row_bytes = width * components;
    to.strips = ceil_div(to.width, strips.pixels);
    to.before = before_of(kernel_, strips, desc.filter.centre_x());
    const int last = to.width + to.before - strips.window;  // pixel of a strip whose window ends within the frame
    to.low_strips = (to.before + strips.pixels - 1) / strips.pixels;
    to.high_strip = std::max(to.low_strips, last < 0 ? 0 : last / strips.pixels + 1);
    to.wraps = desc.border == Border::wrap;
    to.rows = edge_axis(desc.border, to.height);
  }
  /// Of packed 4:2:2: pairs for pixels.
  void set_pairs(Plane& to, const PlanDesc& desc, const LargeTaps& taps) const {
    const PlaneLayout& from = desc.layout.plane[0];
    const int luma = luma_index(from), luma_at = from.component[luma].offset, width = from.component[luma].width;
    set_size(to, desc, 4, width / 2, from.component[luma].height);
    to.chroma_bytes = luma_at ? 0x6240 : 0x7351;
    to.luma_halves = kernel_.row != RowTaps::halves ? (luma_at ? 0x7531 : 0x6420) : luma_at ? 0x4341 : 0x4240;
    to.turn = luma_at ? 0x2301 : 0x3210;
    to.copied = true;
    to.passthrough[0] = 0;
    for (int c = 0; c < from.components; ++c) {
      const Component& component = from.component[c];
      PlaneLayout alone;
      alone.components = 1, alone.component[0] = component;
      const auto ghost = static_cast<std::uint8_t>(plane_masks(alone).ghost);
      for (int at = component.offset; at < 4; at += component.step) {
        to.ghost_byte[at] = ghost;
        to.level[luma_at ? at ^ 1 : at] = taps.level[0][c];
        if (!component.filtered) to.passthrough[0] |= 0xFFu << 8 * at;
      }
      to.copied &= !component.filtered;
    }
  }
  /// The column's taps, and of each plane those of its strips and a row of ghost cells.
  void set_tables(const Device& device, const PlanDesc& desc, const LargeTaps& taps, int scale) {
    Joined joined;
    const int blocks = column_blocks_of(kernel_.chunks), lead = args_.centre_y - desc.filter.centre_y();
    const std::size_t column =
        joined.add(kernel_.boxes() ? box_column_blocks(taps.column, blocks, limb_of(kernel_.chunks), lead)
                                   : column_blocks(taps.column, blocks, lead));
    std::size_t rows[max_planes], ghosts[max_planes];
    for (int p = 0; p < args_.planes; ++p) {
      Plane& plane = args_.plane[p];
      const Strips& strips = kernel_.of(plane.components);
      std::vector<std::uint8_t> ghost_row(static_cast<std::size_t>(strips.window * plane.components));
      for (std::size_t i = 0; i < ghost_row.size(); ++i)
        ghost_row[i] = plane.ghost_byte[i % static_cast<std::size_t>(plane.components)];
      if (p > 0 && is_like(args_.plane[p - 1], plane)) {
        rows[p] = rows[p - 1], ghosts[p] = ghosts[p - 1];
        continue;
      }
      StripTables tables(parts_of(plane, desc, taps, scale), kernel_.row != RowTaps::halves);
      tables.add_inner();
      for (int i = 0; has_strips_ && i * strips.pixels < plane.width; ++i)
        if (i < plane.low_strips || i >= plane.high_strip) has_strips_ = tables.add(i * strips.pixels);
      rows[p] = joined.add(tables.bytes());
      ghosts[p] = joined.add(ghost_row);
    }
    if (!has_strips_) return;
    tables_ = Table<std::byte>(device.tables, joined.bytes());
    args_.column_taps = array_at<uint4>(tables_, column);
    for (int p = 0; p < args_.planes; ++p) {
      args_.plane[p].row_taps = array_at<uint4>(tables_, rows[p]);
      args_.plane[p].ghost_row = array_at<std::uint8_t>(tables_, ghosts[p]);
    }
  }
  std::vector<StripPart> parts_of(const Plane& plane, const PlanDesc& desc, const LargeTaps& taps, int scale) const {
    StripPart part{kernel_.of(plane.components),
                   {desc.border,
                    plane.width,
                    plane.before,
                    plane.before - desc.filter.centre_x(),
                    taps.row,
                    std::ldexp(taps.row_start, scale),
                    adds_taps_well(taps),
                    {}}};
    for (double& tap : part.axis.taps) tap = std::ldexp(tap, scale);
    std::copy(plane.ghost_byte, plane.ghost_byte + 4, part.axis.ghost.begin());
    if (!kernel_.pairs) return {part};
    const std::size_t luma_at = plane.turn == 0x3210 ? 0 : 1;
    StripPart luma = part;
    luma.strips.components = 1, luma.strips.pixel_bytes = 2, luma.strips.run = 8;
    luma.strips.pixels *= 2, luma.strips.piece_pixels *= 2, luma.strips.window = step_rows * kernel_.chunks;
    luma.axis.width *= 2;
    luma.axis.ghost[0] = plane.ghost_byte[luma_at];
    part.strips.components = 2;
    part.axis.ghost[0] = plane.ghost_byte[1 - luma_at], part.axis.ghost[1] = plane.ghost_byte[3 - luma_at];
    return {luma, part};
  }
  /// Whether two planes have the same tables.
  static bool is_like(const Plane& a, const Plane& b) {
    return a.components == b.components && a.width == b.width &&
           std::equal(a.ghost_byte, a.ghost_byte + a.components, b.ghost_byte);
  }

  std::string shape_;
  Kernel kernel_;
  std::unique_ptr<Plan> other_;
  Args args_{};
  Table<std::byte> tables_;
  AlignedRows aligned_;
  bool has_strips_ = true;  ///< tables for all of them
  unsigned blocks_ = 0;
};

/// True where one fold leads from all that the taps reach into the frame.
bool folds_once(const PlanDesc& desc) {
  for (int p = 0; p < desc.layout.planes; ++p)
    for (int c = 0; c < desc.layout.plane[p].components; ++c) {
      const Component& component = desc.layout.plane[p].component[c];
      if (!edge_folds_once(component.width, desc.filter.reach_x()) ||
          !edge_folds_once(component.height, desc.filter.reach_y()))
        return false;
    }
  return true;
}

/// True where the planes are as the kernel finds them: packed 4:2:2 of whole pairs, any of one component each, one of
/// one and one of two, one alone.
bool has_its_planes(const FrameLayout& layout) {
  switch (plane_mix(layout)) {
    case PlaneMix::none:
      return lies_as_packed_422(layout) && layout.plane[0].component[luma_index(layout.plane[0])].width % 2 == 0;
    case PlaneMix::one:
      return true;
    case PlaneMix::one_and_two:
      return layout.planes == 2 && layout.plane[0].components == 1 && layout.plane[1].components == 2;
    case PlaneMix::three:
    case PlaneMix::four:
      return layout.planes == 1;
  }
  return false;
}

/// The plan by a kernel, or by a ring with that one for frames that a ring does not serve; `other` where the kernel has
/// no tables for all strips.
std::unique_ptr<Plan> make_plan(const Device& device, const PlanDesc& desc, const Kernel& kernel, const LargeTaps& taps,
                                std::unique_ptr<Plan> other) {
  auto plan = std::make_unique<WidePlan>(device, desc, kernel, taps, std::move(other));
  if (!plan->served()) return plan->take_other();
  if (kernel.ring) return plan;
  if (const Kernel ring = ring_kernel_for(device, desc, kernel.chunks, RowTaps::bytes);
      ring.kernel && kernel.row == RowTaps::halves)
    if (LargeTaps bytes; make_large_taps_of_bytes(desc, desc.filter.frame_factors().front(), bytes))
      return make_plan(device, desc, ring, bytes, std::move(plan));
  const Kernel ring = ring_kernel_for(device, desc, kernel.chunks, kernel.row);
  return ring.kernel ? make_plan(device, desc, ring, taps, std::move(plan)) : std::move(plan);
}

}  // namespace

bool serves_separable_wide(const Device& device, const PlanDesc& desc, const LargeTaps& taps) {
  constexpr int least_taps = 48;  // where strips and two passes are slower (one H100, 2026-11-26)
  const Filter& filter = desc.filter;
  if (device.capability != 90 || taps.numbers != LargeNumbers::halves || !has_its_planes(desc.layout) ||
      !folds_once(desc) || std::min(filter.width(), filter.height()) < least_taps)
    return false;
  const Kernel kernel = kernel_for(plane_mix(desc.layout), filter);
  if (!kernel.kernel || kernel.memory > device.shared_bytes) return false;
  for (int p = 0; p < desc.layout.planes; ++p)
    if (!has_tables(kernel, desc, taps, p)) return false;
  return true;
}

std::unique_ptr<Plan> make_separable_wide_box(const Device& device, const PlanDesc& desc, const BoxQuotient& quotient,
                                              std::unique_ptr<Plan> other) {
  if (device.capability != 90 || !has_its_planes(desc.layout) || !folds_once(desc)) return other;
  const Kernel kernel = box_kernel_for(device, desc, quotient.read_as_floats);
  if (!kernel.kernel || kernel.memory > device.shared_bytes) return other;
  LargeTaps taps;
  taps.column.assign(static_cast<std::size_t>(desc.filter.height()), 1);
  taps.row.assign(static_cast<std::size_t>(desc.filter.width()), 1);
  taps.numbers = LargeNumbers::limbs;
  taps.gain = quotient.gain, taps.whole = quotient.whole, taps.beside = quotient.start;
  return make_plan(device, desc, kernel, taps, std::move(other));
}

std::unique_ptr<Plan> make_separable_wide(const Device& device, const PlanDesc& desc, const LargeTaps& taps) {
  if (!serves_separable_wide(device, desc, taps)) return nullptr;
  return make_plan(device, desc, kernel_for(plane_mix(desc.layout), desc.filter), taps, nullptr);
}

}  // namespace convolve::cuda
