// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a RowPlan filters parts of a frame: areas that do not overlap, in pieces that are worth a worker's while. Each
// piece fills its own ring of rows, so that pieces are no lower than they have to be.
#include <algorithm>
#include <new>

#include "cpu/rows/row_plan.hpp"

namespace convolve::cpu {
namespace {

// In the units of Engine::cost, as what a whole frame's worker is worth waking for.
constexpr double least_work = 2e6;
constexpr int pieces_a_worker = 4;

struct Interval {
  int first, last;
};

// The samples of a component that may cover the pixels of an interval. Subsampling is by 1, 2 or 4, and a field may
// lack a component's last row: where more than one factor fits, the samples of all of them.
Interval samples_of(int first, int last, int pixels, int samples) {
  Interval found{samples, 0};
  for (const int step : {1, 2, 4, 8}) {
    const int missing = (pixels + step - 1) / step - samples;
    if (missing != 0 && missing != 1) continue;
    found.first = std::min(found.first, first / step);
    found.last = std::max(found.last, (last + step - 1) / step);
  }
  if (found.first >= found.last) return {0, samples};  // no video has such sizes: all of it
  return {std::min(found.first, samples - 1), std::min(found.last, samples)};
}

}  // namespace

void RowPlan::list_areas(std::span<const PixelRect> areas) {
  int width = 0, height = 0;
  for (const Part& part : parts_) {
    width = std::max(width, part.group.width);
    height = std::max(height, part.group.height);
  }
  const std::span<const PixelRect> merged = merger_.merge(areas, width, height);
  area_ranges_.clear();
  area_ends_.clear();
  const auto range_of = [&](const Part& part, const PixelRect& area) {
    const Interval rows = samples_of(area.top, area.bottom, height, part.group.height);
    const Interval columns = samples_of(area.left, area.right, width, part.group.width);
    return RowRange{&part, rows.first, rows.last, columns.first, columns.last};
  };
  double total = 0;
  for (const PixelRect& area : merged)
    for (const Part& part : parts_) total += work(range_of(part, area));
  area_workers_ = static_cast<unsigned>(std::clamp(total / least_work, 1.0, static_cast<double>(workers_)));
  const double piece = area_workers_ > 1 ? total / (area_workers_ * pieces_a_worker) : total;
  for (const PixelRect& area : merged)
    for (const Task& task : tasks_) {
      plane_ranges_.clear();
      for (const Part* part = task.begin; part != task.end; ++part)
        if (const RowRange range = range_of(*part, area); work(range) > 0) plane_ranges_.push_back(range);
      list_pieces(piece);
    }
}

// In the units of Engine::cost.
double RowPlan::work(const RowRange& range) {
  const Part& part = *range.part;
  if (!part.engine.kernel.run || range.first >= range.last || range.left >= range.right) return 0;
  const int halo = part.engine.kernel.height - 1;
  return static_cast<double>(range.last - range.first + halo) * (range.right - range.left) * part.group.components *
         part.engine.cost;
}

// Cuts what an area has of one plane, `plane_ranges_`, into pieces of about so much work. A piece has all groups of the
// plane: what scatters the samples of one group touches those of others.
void RowPlan::list_pieces(double piece) {
  if (plane_ranges_.empty()) return;
  const RowRange& all = plane_ranges_.front();
  double total = 0;
  bool same_rows = true;
  int least = 1;
  for (const RowRange& range : plane_ranges_) {
    total += work(range);
    same_rows &= range.first == all.first && range.last == all.last;
    least = std::max(least, 2 * (range.part->engine.kernel.height + range.part->engine.block_rows));
  }
  const int pieces = same_rows ? std::max(1, static_cast<int>(total / std::max(piece, 1.0))) : 1;
  const int height = all.last - all.first, rows = std::max((height + pieces - 1) / pieces, least);
  for (int y = 0; y<height; y += pieces> 1 ? rows : height) {
    for (RowRange range : plane_ranges_) {
      if (pieces > 1) range.last = std::min(all.last, all.first + y + rows);
      if (pieces > 1) range.first = all.first + y;
      area_ranges_.push_back(range);
    }
    area_ends_.push_back(area_ranges_.size());
  }
}

const char* RowPlan::enqueue_areas(const Window& window, const Image& out, std::span<const PixelRect> areas,
                                   void*) noexcept {
  try {
    list_areas(areas);
  } catch (const std::bad_alloc&) {
    return "there is no memory for the list of the regions' areas";
  }
  struct Call {
    const RowPlan* plan;
    Frame frame;
  } call{this, {&window, &out}};
  const Pool::Task task = [](void* context, unsigned index, unsigned worker) noexcept {
    const Call& c = *static_cast<Call*>(context);
    const std::size_t first = index > 0 ? c.plan->area_ends_[index - 1] : 0;
    for (std::size_t i = first; i < c.plan->area_ends_[index]; ++i)
      c.plan->filter(c.plan->area_ranges_[i], c.frame, c.plan->memory_of(worker));
  };
  const auto tasks = static_cast<unsigned>(area_ends_.size());
  if (area_workers_ > 1 && pool_)
    pool_->run(area_workers_, tasks, task, &call);
  else
    for (unsigned i = 0; i < tasks; ++i) task(&call, i, 0);
  return nullptr;
}

}  // namespace convolve::cpu
