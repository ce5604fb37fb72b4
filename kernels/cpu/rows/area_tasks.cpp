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
  area_tasks_.clear();
  const auto range_of = [&](const Part& part, const PixelRect& area) {
    const Interval rows = samples_of(area.top, area.bottom, height, part.group.height);
    const Interval columns = samples_of(area.left, area.right, width, part.group.width);
    return RowRange{&part, rows.first, rows.last, columns.first, columns.last};
  };
  const auto work_of = [](const RowRange& r) {
    const int halo = r.part->engine.kernel.height - 1;
    return static_cast<double>(r.last - r.first + halo) * (r.right - r.left) * r.part->group.components *
           r.part->engine.cost;
  };
  double total = 0;
  for (const PixelRect& area : merged)
    for (const Part& part : parts_)
      if (part.engine.kernel.run) total += work_of(range_of(part, area));
  area_workers_ = static_cast<unsigned>(std::clamp(total / least_work, 1.0, static_cast<double>(workers_)));
  const double piece = area_workers_ > 1 ? total / (area_workers_ * pieces_a_worker) : total;
  for (const PixelRect& area : merged)
    for (const Part& part : parts_) {
      if (!part.engine.kernel.run) continue;
      RowRange range = range_of(part, area);
      if (range.first >= range.last || range.left >= range.right) continue;
      const int height_of = range.last - range.first, block = part.engine.block_rows;
      const int pieces = std::max(1, static_cast<int>(work_of(range) / std::max(piece, 1.0)));
      const int least = 2 * (part.engine.kernel.height + block);
      const int rows = std::max((height_of + pieces - 1) / pieces, least);
      for (int y = range.first; y < range.last; y += rows)
        area_tasks_.push_back({&part, y, std::min(range.last, y + rows), range.left, range.right});
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
    const std::size_t start = whole_lines(reinterpret_cast<std::uintptr_t>(c.plan->memory_.get()));
    c.plan->filter(c.plan->area_tasks_[index], c.frame,
                   reinterpret_cast<unsigned char*>(start) + worker * c.plan->worker_bytes_);
  };
  const auto tasks = static_cast<unsigned>(area_tasks_.size());
  if (area_workers_ > 1 && pool_)
    pool_->run(area_workers_, tasks, task, &call);
  else
    for (unsigned i = 0; i < tasks; ++i) task(&call, i, 0);
  return nullptr;
}

}  // namespace convolve::cpu
