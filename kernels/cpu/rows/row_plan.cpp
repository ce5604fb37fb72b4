// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/rows/row_plan.hpp"

#include <algorithm>
#include <utility>

#include "convolve/arithmetic.hpp"
#include "cpu/simd/targets.hpp"

namespace convolve::cpu {
namespace {

// Samples: a strip is no narrower, however many rows its ring has.
constexpr int least_strip = 512;
// Bytes: rows that lie a multiple of this apart, as those of frames of 2048 and 4096 columns do, compete for the same
// sets of the first level cache. They are copied into a ring of another pitch, where others are read in place.
constexpr int colliding_pitch = 2048;
// A thread is woken for this much work at least: samples x Engine::cost.
constexpr double least_work = 2e6;
// A thread takes this part of what it was dealt and has not begun: others may steal the rest. Where a ring is filled
// for each piece that is taken, pieces are larger, and a unit is so many times what is staged around it.
constexpr int usual_divisor = 8, whole_rows_divisor = 2, whole_rows_unit = 2;

std::size_t take(std::size_t& bytes, std::size_t size) {
  const std::size_t at = bytes;
  bytes += whole_lines(size);
  return at;
}

}  // namespace

RowPlan::RowPlan(const PlanDesc& desc, EngineMaker make_engine, const Threads& threads)
    : desc_(desc), sample_size_(bytes_per_sample(desc.layout.type)) {
  description_ = std::string(nick(desc_.algorithm)) + " " +
                 (desc_.bank.empty() ? desc_.filter.shape() : desc_.bank.describe()) + ", " + simd_target();
  bool named = false;
  for (const ComponentGroup& group : make_component_groups(desc_.layout)) {
    Part part;
    part.group = group;
    std::size_t bytes = 0;
    if (group.any_filtered()) {
      part.engine = make_engine(desc_, choose_arithmetic(desc_, group), group);
      plan_part(part, bytes);
      if (!std::exchange(named, true)) {
        description_ += std::string(", ") + part.engine.name;
        if (!part.engine.staging.weights.empty()) description_ += ", frames combined first";
      }
    }
    worker_bytes_ = std::max(worker_bytes_, bytes);
    parts_.push_back(std::move(part));
  }
  plan_tasks(threads);
  description_ += ", " + std::to_string(workers_) + (workers_ == 1 ? " thread" : " threads");
  memory_ = std::make_unique<unsigned char[]>(workers_ * worker_bytes_ + 64);
}

void RowPlan::plan_part(Part& part, std::size_t& bytes) {
  const ComponentGroup& g = part.group;
  const Engine& e = part.engine;
  const bool combined = !e.staging.weights.empty();
  part.copies = !g.all_filtered();
  part.terms = e.terms;
  part.frames = combined ? part.terms : desc_.filter.depth() * part.terms;
  part.ring_rows = e.kernel.height + e.block_rows - 1;
  if (e.paired_rows) part.ring_rows = (part.ring_rows + 1) / 2 * 2;
  const int halo = desc_.filter.width() - 1;
  const int pixel_bytes = part.frames * part.ring_rows * g.components * e.element_size;
  const int step = e.block_samples;
  const int widest = std::max({least_strip / g.components, e.ring_bytes / pixel_bytes, step}) / step * step;
  const int strips = (g.width + widest - 1) / widest;
  part.strip = std::min(g.width, ((g.width + strips - 1) / strips + step - 1) / step * step);

  const std::size_t elements = static_cast<std::size_t>(part.strip + halo) * g.components + row_slack;
  // Rows mostly lie as far apart as they are long. Those of filters of one row are read once.
  const bool collide = static_cast<std::ptrdiff_t>(g.width) * g.components * sample_size_ % colliding_pitch == 0;
  part.in_place = e.reads_past >= 0 && g.stride == 1 && !(collide && e.kernel.height > 1);
  part.staged_pixels = part.in_place ? std::min(part.strip, 2 * in_place_step + e.reads_past) : part.strip;
  const std::size_t staged = static_cast<std::size_t>(part.staged_pixels + halo) * g.components + row_slack;
  // Off multiples of 4 KiB, where the rows of a column would compete for the same cache sets.
  part.pitch = whole_lines(staged * e.element_size) + 64;
  if (part.pitch % 4096 == 0) part.pitch += 64;
  part.state_size = whole_lines(staged * e.state_element_size);
  part.ring_size = part.pitch * part.ring_rows * part.frames + part.state_size;
  part.ring = take(bytes, part.ring_size * (part.in_place ? 2 : 1));
  part.rows = take(bytes, sizeof(void*) * part.ring_rows * part.frames);
  const int line_element_size = e.row_passes.empty() ? 0 : e.row_passes.front().line_element_size;
  if (line_element_size) part.line = take(bytes, elements * line_element_size + 64);
  const std::size_t staged_frames = combined ? e.staging.weights.size() : 1;
  part.line_pitch = whole_lines(elements * sample_size_);
  if (g.stride != 1) {
    part.raw = take(bytes, staged_frames * part.line_pitch);
    part.out = take(bytes, e.block_rows * part.line_pitch);
    if (e.reads_centre) part.centre = take(bytes, e.block_rows * part.line_pitch);
  }
  for (std::size_t i = 0; i < part.passthrough.size(); ++i)
    part.passthrough[i] = g.component[i / sample_size_ % g.components]->filtered ? 0 : 255;
  part.edge = take(bytes, staged_frames * (halo + 1) * g.components * sample_size_);
  part.scratch = take(bytes, e.scratch_bytes);

  for (int i = 0; i < halo; ++i) {
    const int before = i - desc_.filter.centre_x();
    part.beside.push_back(border_index(desc_.border, before < 0 ? before : g.width + before, g.width));
  }

  const void* none[max_depth] = {};
  const int n = (part.strip + halo) * g.components;
  part.ghost_line.resize(elements * std::max(e.element_size, line_element_size));
  e.staging.run(e.staging, none, part.ghost_line.data(), n);
  part.ghost_rows.assign(std::max<std::size_t>(1, e.row_passes.size()), part.ghost_line);
  for (std::size_t i = 0; i < e.row_passes.size() && !e.paired_rows; ++i)
    e.row_passes[i].run(e.row_passes[i], part.ghost_line.data(), part.ghost_rows[i].data(), part.strip * g.components);
}

// In the units of Engine::cost.
double RowPlan::work(const Part& part) {
  return static_cast<double>(part.group.samples()) * part.group.height * part.engine.cost;
}

void RowPlan::plan_tasks(const Threads& threads) {
  double total = 0;
  for (const Part& part : parts_) total += work(part);
  workers_ = static_cast<unsigned>(std::clamp(total / least_work, 1.0, static_cast<double>(threads.count)));
  divisor_ = workers_ > 1 ? usual_divisor : 1;
  int units = 0;
  for (const Part *first = parts_.data(), *last, *end = first + parts_.size(); first != end; first = last) {
    int height = 0, block = 1;
    bool same_height = true;
    for (last = first; last != end && last->group.plane == first->group.plane; ++last) {
      height = std::max(height, last->group.height);
      block = std::max(block, last->engine.block_rows);
      same_height &= last->group.height == first->group.height;
    }
    const bool shared = last - first > 1;
    Task task{.begin = first, .end = last, .height = height, .rows = block, .first_unit = units};
    task.whole_rows = shared || !first->engine.kernel.run;
    if (shared) {
      task.rows = same_height ? whole_rows_unit * (desc_.filter.height() + block) / block * block : height;
      if (workers_ > 1) divisor_ = whole_rows_divisor;
    }
    task.strip_units = (height + task.rows - 1) / task.rows;
    const int strips = task.whole_rows ? 1 : (first->group.width + first->strip - 1) / first->strip;
    task.last_unit = units += strips * task.strip_units;
    least_stolen_ = std::max(least_stolen_, (desc_.filter.height() + task.rows - 1) / task.rows);
    tasks_.push_back(task);
  }
  workers_ = std::min(workers_, static_cast<unsigned>(units));
  deal(total);
  if (workers_ > 1) pool_ = threads.pool(threads.context, workers_);
}

// To each worker, units that cost alike.
void RowPlan::deal(double total_work) {
  ranges_ = std::make_unique<WorkStealingRanges>(2 * workers_);
  double done = 0;
  int first = 0, unit = 0;
  for (const Task& task : tasks_) {
    double of_task = 0;
    for (const Part* part = task.begin; part != task.end; ++part) of_task += work(*part);
    for (; unit < task.last_unit; ++unit) {
      const auto dealt = static_cast<unsigned>(dealt_.size()) + 1;
      if (dealt < workers_ && done * workers_ >= total_work * dealt)
        dealt_.push_back({std::exchange(first, unit), unit});
      done += of_task / (task.last_unit - task.first_unit);
    }
  }
  dealt_.push_back({first, unit});
  dealt_.resize(workers_);
}

unsigned char* RowPlan::memory_of(unsigned worker) const noexcept {
  const std::size_t start = whole_lines(reinterpret_cast<std::uintptr_t>(memory_.get()));
  return reinterpret_cast<unsigned char*>(start) + worker * worker_bytes_;
}

const char* RowPlan::enqueue(const Window& window, const Image& out, void*) noexcept {
  struct Call {
    const RowPlan* plan;
    Frame frame;
  } call{this, {&window, &out}};
  const Pool::Task task = [](void* context, unsigned index, unsigned worker) noexcept {
    const Call& c = *static_cast<Call*>(context);
    c.plan->run(index, c.frame, c.plan->memory_of(worker));
  };
  for (unsigned i = 0; i < workers_; ++i) ranges_->deal(i, dealt_[i]);
  if (pool_)
    pool_->run(workers_, 2 * workers_, task, &call);
  else
    task(&call, 0, 0);
  return nullptr;
}

// WorkStealingRanges are begun in order: by the time that one is which starts empty, all others have takers.
void RowPlan::run(unsigned owner, const Frame& frame, unsigned char* memory) const noexcept {
  do {
    Walk walk;
    for (WorkStealingRanges::Range units; !(units = ranges_->take(owner, divisor_)).empty();)
      run(units, frame, memory, walk);
  } while (owner >= workers_ && ranges_->steal(owner, least_stolen_));
}

void RowPlan::run(WorkStealingRanges::Range units, const Frame& frame, unsigned char* memory,
                  Walk& walk) const noexcept {
  const Task* task = tasks_.data();
  for (int unit = units.first, next; unit < units.last; walk.next_unit = unit = next) {
    while (unit >= task->last_unit) ++task;
    const int strip = (unit - task->first_unit) / task->strip_units;
    const int at = (unit - task->first_unit) % task->strip_units;
    next = std::min(units.last, unit - at + task->strip_units);
    const int first = at * task->rows, last = std::min((at + next - unit) * task->rows, task->height);
    if (!task->whole_rows) {
      const Part& part = *task->begin;
      if (at == 0 || unit != walk.next_unit) walk = begin({&part, first, task->height}, strip * part.strip, memory);
      filter(first, last, frame, memory, walk);
      continue;
    }
    for (const Part* part = task->begin; part != task->end; ++part) {
      const RowRange range{part, first, std::min(last, part->group.height)};
      if (part->engine.kernel.run)
        filter(range, frame, memory);
      else
        copy(range, frame);
    }
  }
}

}  // namespace convolve::cpu
