// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/row_plan.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "convolve/arithmetic.hpp"
#include "cpu/lines.hpp"
#include "cpu/targets.hpp"

namespace convolve::cpu {
namespace {

// Samples: a strip is no narrower, however many rows its ring has.
constexpr int least_strip = 512;
// Pixels: columns that are read in place are a multiple, so that they end with a kernel's block.
constexpr int columns_step = 64;
// What a thread is worth waking for: samples x Engine::cost.
constexpr double least_work = 2e6;
// A thread takes this part of what it was dealt and has not begun: others may steal the rest. Where a ring is filled
// for each piece that is taken, pieces are larger, and a unit is so many times the rows that are staged around it.
constexpr int usual_divisor = 8, whole_rows_divisor = 2, least_band = 2;

std::size_t align(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

std::size_t take(std::size_t& bytes, std::size_t size) {
  const std::size_t at = bytes;
  bytes += align(size);
  return at;
}

const unsigned char* row_of(const PlaneView& view, int y) {
  return static_cast<const unsigned char*>(view.data) + y * view.stride;
}

unsigned char* row_of_output(const PlaneView& view, int y) {
  return static_cast<unsigned char*>(view.data) + y * view.stride;
}

}  // namespace

RowPlan::RowPlan(const PlanDesc& desc, const AlgorithmEntry& entry, const Threads& threads)
    : desc_(desc), sample_size_(bytes_per_sample(desc.layout.type)) {
  desc_.algorithm = entry.algorithm;
  description_ = std::string(nick(entry.algorithm)) + " " + desc_.filter.shape() + ", " + simd_target();
  const Arithmetic arithmetic = choose_arithmetic(desc_.filter, desc_.layout, desc_.border == Border::constant);
  bool named = false;
  for (const Group& group : make_groups(desc_.layout)) {
    Part part;
    part.group = group;
    std::size_t bytes = 0;
    if (group.any_filtered()) {
      part.engine = entry.make(desc_, arithmetic, group);
      plan_part(part, bytes);
      if (!std::exchange(named, true)) {
        description_ += std::string(", ") + part.engine.name;
        if (!part.engine.staging.weights.empty()) description_ += ", frames combined first";
      }
    }
    lane_bytes_ = std::max(lane_bytes_, bytes);
    parts_.push_back(std::move(part));
  }
  plan_tasks(threads);
  description_ += ", " + std::to_string(lanes_) + (lanes_ == 1 ? " thread" : " threads");
  memory_ = std::make_unique<unsigned char[]>(lanes_ * lane_bytes_ + 64);
}

void RowPlan::plan_part(Part& part, std::size_t& bytes) {
  const Group& g = part.group;
  const Engine& e = part.engine;
  const bool combined = !e.staging.weights.empty();
  part.copies = !g.all_filtered();
  part.terms = 1 + static_cast<int>(e.more_row_passes.size());
  part.frames = combined ? part.terms : desc_.filter.depth() * part.terms;
  assert(part.terms == 1 || combined || desc_.filter.depth() == 1);
  part.ring_rows = e.kernel.height + e.block_rows - 1;
  if (e.paired_rows) part.ring_rows = (part.ring_rows + 1) / 2 * 2;
  const int reach = desc_.filter.width() - 1;
  const int pixel_bytes = part.frames * part.ring_rows * g.components * e.element_size;
  const int step = e.block_samples;
  const int widest = std::max({least_strip / g.components, e.ring_bytes / pixel_bytes, step}) / step * step;
  const int strips = (g.width + widest - 1) / widest;
  part.strip = std::min(g.width, ((g.width + strips - 1) / strips + step - 1) / step * step);

  const std::size_t elements = static_cast<std::size_t>(part.strip + reach) * g.components + row_slack;
  part.in_place = e.reads_past >= 0 && g.stride == 1;
  part.staged_pixels = part.in_place ? std::min(part.strip, 2 * columns_step + e.reads_past) : part.strip;
  const std::size_t staged = static_cast<std::size_t>(part.staged_pixels + reach) * g.components + row_slack;
  // Off multiples of 4 KiB, where the rows of a column would compete for the same cache sets.
  part.pitch = align(staged * e.element_size) + 64;
  if (part.pitch % 4096 == 0) part.pitch += 64;
  part.ring_size = part.pitch * part.ring_rows * part.frames;
  part.ring = take(bytes, part.ring_size * (part.in_place ? 2 : 1));
  if (e.row_pass.run) part.line = take(bytes, elements * e.row_pass.line_element_size + 64);
  const std::size_t staged_frames = combined ? e.staging.weights.size() : 1;
  part.line_pitch = align(elements * sample_size_);
  if (g.stride != 1) {
    part.raw = take(bytes, staged_frames * part.line_pitch);
    part.out = take(bytes, e.block_rows * part.line_pitch);
  }
  for (std::size_t i = 0; i < part.keep.size(); ++i)
    part.keep[i] = g.component[i / sample_size_ % g.components]->filtered ? 0 : 255;
  part.edge = take(bytes, staged_frames * max_taps * g.components * sample_size_);
  part.scratch = take(bytes, e.scratch_bytes);

  const void* none[max_taps] = {};
  const int n = (part.strip + reach) * g.components;
  part.ghost_line.resize(elements * std::max(e.element_size, e.row_pass.line_element_size));
  e.staging.run(e.staging, none, part.ghost_line.data(), n);
  part.ghost_rows.assign(part.terms, part.ghost_line);
  if (e.row_pass.run && !e.paired_rows)
    for (int i = 0; i < part.terms; ++i) {
      const RowPass& pass = i == 0 ? e.row_pass : e.more_row_passes[i - 1];
      pass.run(pass, part.ghost_line.data(), part.ghost_rows[i].data(), part.strip * g.components);
    }
}

// In the units of Engine::cost.
double RowPlan::work(const Part& part, int rows) const {
  return static_cast<double>(part.group.samples()) * rows * part.engine.cost;
}

void RowPlan::plan_tasks(const Threads& threads) {
  double total = 0;
  for (const Part& part : parts_) total += work(part, part.group.height);
  lanes_ = static_cast<unsigned>(std::clamp(total / least_work, 1.0, static_cast<double>(threads.count)));
  divisor_ = lanes_ > 1 ? usual_divisor : 1;
  int units = 0;
  for (const Part *first = parts_.data(), *last, *end = first + parts_.size(); first != end; first = last) {
    int height = 0, block = 1;
    bool same_height = true;
    for (last = first; last != end && last->group.plane == first->group.plane; ++last) {
      height = std::max(height, last->group.height);
      block = std::max(block, last->engine.block_rows);
      same_height &= last->group.height == first->group.height;
    }
    Task task{first, last, height, block, 0, last - first > 1 || !first->engine.kernel.run, units, 0};
    if (last - first > 1) {
      if (lanes_ > 1) divisor_ = whole_rows_divisor;
      task.rows = same_height ? least_band * (desc_.filter.height() + block) / block * block : height;
    }
    task.strip_units = (height + task.rows - 1) / task.rows;
    const int strips = task.whole_rows ? 1 : (first->group.width + first->strip - 1) / first->strip;
    task.last_unit = units += strips * task.strip_units;
    least_stolen_ = std::max(least_stolen_, (desc_.filter.height() + task.rows - 1) / task.rows);
    tasks_.push_back(task);
  }
  lanes_ = std::min(lanes_, static_cast<unsigned>(units));
  deal(total);
  if (lanes_ > 1) pool_ = threads.pool(threads.context, lanes_);
}

// To each lane, units that cost alike.
void RowPlan::deal(double total_work) {
  shares_ = std::make_unique<Shares>(2 * lanes_);
  double done = 0;
  int first = 0, unit = 0;
  for (const Task& task : tasks_) {
    double of_task = 0;
    for (const Part* part = task.begin; part != task.end; ++part) of_task += work(*part, part->group.height);
    for (; unit < task.last_unit; ++unit) {
      const auto dealt = static_cast<unsigned>(dealt_.size()) + 1;
      if (dealt < lanes_ && done * lanes_ >= total_work * dealt) dealt_.push_back({std::exchange(first, unit), unit});
      done += of_task / (task.last_unit - task.first_unit);
    }
  }
  dealt_.push_back({first, unit});
  dealt_.resize(lanes_);
}

const char* RowPlan::enqueue(const Window& window, const Image& out, void*) noexcept {
  struct Call {
    const RowPlan* plan;
    Frame frame;
  } call{this, {&window, &out}};
  const Pool::Task task = [](void* context, unsigned index, unsigned lane) noexcept {
    const Call& c = *static_cast<Call*>(context);
    const std::size_t start = align(reinterpret_cast<std::uintptr_t>(c.plan->memory_.get()));
    c.plan->run(index, c.frame, reinterpret_cast<unsigned char*>(start) + lane * c.plan->lane_bytes_);
  };
  for (unsigned i = 0; i < lanes_; ++i) shares_->deal(i, dealt_[i]);
  if (pool_)
    pool_->run(lanes_, 2 * lanes_, task, &call);
  else
    task(&call, 0, 0);
  return nullptr;
}

// Shares are begun in order: by the time that one is which starts empty, all others have takers.
void RowPlan::run(unsigned share, const Frame& frame, unsigned char* memory) const noexcept {
  do {
    Walk walk;
    for (Shares::Range units; !(units = shares_->take(share, divisor_)).empty();) run(units, frame, memory, walk);
  } while (share >= lanes_ && shares_->steal(share, least_stolen_));
}

void RowPlan::run(Shares::Range units, const Frame& frame, unsigned char* memory, Walk& walk) const noexcept {
  const Task* task = tasks_.data();
  for (int unit = units.first, next; unit < units.last; walk.next_unit = unit = next) {
    while (unit >= task->last_unit) ++task;
    const int strip = (unit - task->first_unit) / task->strip_units;
    const int at = (unit - task->first_unit) % task->strip_units;
    next = std::min(units.last, unit - at + task->strip_units);
    const int first = at * task->rows, last = std::min((at + next - unit) * task->rows, task->height);
    if (!task->whole_rows) {
      const Part& part = *task->begin;
      if (at == 0 || unit != walk.next_unit) begin({&part, first, task->height}, strip * part.strip, memory, walk);
      filter(first, last, frame, memory, walk);
      continue;
    }
    for (const Part* part = task->begin; part != task->end; ++part) {
      const Band band{part, first, std::min(last, part->group.height)};
      if (part->engine.kernel.run)
        filter(band, frame, memory);
      else
        copy(band, frame);
    }
  }
}

// A group of which nothing is filtered.
void RowPlan::copy(const Band& band, const Frame& frame) const noexcept {
  const Group& g = band.part->group;
  const PlaneView& in = frame.window->image[desc_.filter.centre_t()]->plane[g.plane];
  for (int y = band.first; y < band.last; ++y) {
    unsigned char* to = row_of_output(frame.out->plane[g.plane], y) + g.offset * sample_size_;
    const unsigned char* from = row_of(in, y) + g.offset * sample_size_;
    if (g.stride == 1)
      std::memcpy(to, from, static_cast<std::size_t>(g.samples()) * sample_size_);
    else
      copy_samples(to, from, g.samples(), g.stride, sample_size_);
  }
}

// One source row of a strip, borders included, into `to`, a ring row for each term: of frame `frame_index`, or of all
// frames combined.
void RowPlan::stage(const Part& part, const Frame& frame, unsigned char* memory, int row, int x, int pixels,
                    int frame_index, unsigned char* const* to) const noexcept {
  const Group& g = part.group;
  const Staging& staging = part.engine.staging;
  const bool pass = part.engine.row_pass.run;
  const std::size_t element = pass ? part.engine.row_pass.line_element_size : part.engine.element_size;
  const int first_frame = staging.weights.empty() ? frame_index : 0;
  const int frames = staging.weights.empty() ? 1 : static_cast<int>(staging.weights.size());

  const unsigned char* source[max_taps];
  for (int t = 0; t < frames; ++t) {
    const Image* image = frame.window->image[first_frame + t];
    source[t] = image ? row_of(image->plane[g.plane], row) + g.offset * sample_size_ : nullptr;
  }

  // Pixels [begin, end) are asked for, of which [a, b) lie inside the frame.
  const int begin = x - desc_.filter.centre_x(), end = begin + pixels + desc_.filter.width() - 1;
  const int a = std::max(begin, 0), b = std::min(end, g.width);
  // The frame's own samples start on a cache line: vectors that straddle two are stored at half the speed.
  const std::size_t before = static_cast<std::size_t>(a - begin) * g.components * element;
  unsigned char* line = pass ? memory + part.line + (align(before) - before) : *to;
  const std::size_t sample_step = static_cast<std::size_t>(g.stride) * sample_size_;
  const std::size_t pixel_step = sample_step * g.components;

  const auto border = [&](int from, int until) {
    if (from >= until) return;
    unsigned char* at = line + static_cast<std::size_t>(from - begin) * g.components * element;
    const int n = (until - from) * g.components;
    if (desc_.border == Border::constant) {
      std::memcpy(at, part.ghost_line.data(), n * element);
      return;
    }
    const void* rows[max_taps];
    for (int t = 0; t < frames; ++t) {
      rows[t] = nullptr;
      if (!source[t]) continue;
      unsigned char* edge = memory + part.edge + static_cast<std::size_t>(t) * max_taps * g.components * sample_size_;
      rows[t] = edge;
      for (int i = from; i < until; ++i) {
        const unsigned char* pixel = source[t] + border_index(desc_.border, i, g.width) * pixel_step;
        for (int c = 0; c < g.components; ++c, edge += sample_size_)
          std::memcpy(edge, pixel + c * sample_step, sample_size_);
      }
    }
    staging.run(staging, rows, at, n);
  };

  if (part.in_place) {
    // Few samples as they are: no function of the engine is worth its call.
    const auto edge = [&](int from, int until) {
      for (int i = from; i < until; ++i)
        if (const int at = border_index(desc_.border, i, g.width); at >= 0)
          std::memcpy(line + (i - begin) * pixel_step, source[0] + at * pixel_step, pixel_step);
        else
          std::memcpy(line + (i - begin) * pixel_step, part.ghost_line.data(), pixel_step);
    };
    edge(begin, a);
    std::memcpy(line + (a - begin) * pixel_step, source[0] + a * pixel_step, (b - a) * pixel_step);
    edge(b, end);
    return;
  }
  border(begin, a);
  const void* rows[max_taps];
  for (int t = 0; t < frames; ++t) {
    rows[t] = nullptr;
    if (!source[t]) continue;
    rows[t] = source[t] + a * pixel_step;
    if (g.stride != 1) {
      unsigned char* raw = memory + part.raw + t * part.line_pitch;
      gather(raw, source[t] + a * pixel_step, (b - a) * g.components, g.stride, sample_size_);
      rows[t] = raw;
    }
  }
  staging.run(staging, rows, line + before, (b - a) * g.components);
  border(b, end);
  if (!pass) return;
  part.engine.row_pass.run(part.engine.row_pass, line, *to, pixels * g.components);
  for (const RowPass& more : part.engine.more_row_passes) more.run(more, line, *++to, pixels * g.components);
}

// What a kernel leaves to be done: samples back among those of other groups, and components that are copied.
void RowPlan::finish(const Part& part, const Frame& frame, const unsigned char* lines, int y, int rows, int x,
                     int pixels) const noexcept {
  const Group& g = part.group;
  if (g.stride == 1 && (!part.copies || part.engine.keeps)) return;
  const std::size_t start = (g.offset + static_cast<std::size_t>(x) * g.components * g.stride) * sample_size_;
  const PlaneView& in = frame.window->image[desc_.filter.centre_t()]->plane[g.plane];
  for (int i = 0; i < rows; ++i) {
    unsigned char* to = row_of_output(frame.out->plane[g.plane], y + i) + start;
    const unsigned char* from = row_of(in, y + i) + start;
    if (g.stride == 1) {
      blend(to, from, pixels * g.components * sample_size_, part.keep);
      continue;
    }
    scatter(to, lines + i * part.line_pitch, pixels * g.components, g.stride, sample_size_);
    if (!part.copies) continue;
    for (int c = 0; c < g.components; ++c)
      if (!g.component[c]->filtered)
        copy_samples(to + c * g.stride * sample_size_, from + c * g.stride * sample_size_, pixels,
                     g.components * g.stride, sample_size_);
  }
}

// What the block of rows after `y` will touch first.
Ahead RowPlan::ahead(const Part& part, const Frame& frame, int y, int x) const noexcept {
  const Group& g = part.group;
  const int step = g.stride * sample_size_;
  const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(x) * g.components * step;
  const int below = part.engine.kernel.height - 1 - desc_.filter.centre_y();
  const int rows = part.engine.ahead_rows;
  const auto fill = [&](const char** to, unsigned char* data, std::ptrdiff_t stride, int first) {
    for (int i = 0; i < rows; ++i)
      to[i] = reinterpret_cast<const char*>(data + std::min(first + i, g.height - 1) * stride + start);
  };
  Ahead ahead;
  ahead.step = step;
  ahead.inputs = rows;
  const int centre = desc_.filter.centre_t();
  const auto fill_in = [&](int to, const Image& image) {
    const PlaneView& in = image.plane[g.plane];
    fill(ahead.in + to, static_cast<unsigned char*>(in.data), in.stride, y + below);
  };
  fill_in(0, *frame.window->image[centre]);
  for (int t = 0; t < desc_.filter.depth(); ++t)
    if (const Image* image = frame.window->image[t]; image && t != centre) {
      fill_in(ahead.inputs, *image);
      ahead.inputs += rows;
    }
  const PlaneView& out = frame.out->plane[g.plane];
  fill(ahead.out, static_cast<unsigned char*>(out.data), out.stride, y);
  return ahead;
}

// A walk down `band`, in the columns of the strip at `x`.
void RowPlan::begin(const Band& band, int x, unsigned char* memory, Walk& walk) const noexcept {
  const Part& part = *band.part;
  const Group& g = part.group;
  walk.band = band;
  walk.count = 0;
  const auto columns = [&](Columns of) { walk.columns[walk.count++] = of; };
  const int end = std::min(x + part.strip, g.width), left = desc_.filter.centre_x();
  unsigned char* const ring = memory + part.ring;
  if (part.in_place) {
    const int first = x < left ? x + columns_step : x;
    const int beyond = (part.engine.reads_past + g.components - 1) / g.components;
    const int inside = (std::min(end, g.width + left - beyond) - first) / columns_step * columns_step;
    if (inside > 0) {
      if (first > x) columns({x, first - x, true, ring});
      columns({first, inside, false});
      if (first + inside < end) columns({first + inside, end - first - inside, true, ring + part.ring_size});
      return;
    }
  }
  columns({x, end - x, true, ring});
}

void RowPlan::filter(const Band& band, const Frame& frame, unsigned char* memory) const noexcept {
  for (int x = 0; x < band.part->group.width; x += band.part->strip) {
    Walk walk;
    begin(band, x, memory, walk);
    filter(band.first, band.last, frame, memory, walk);
  }
}

void RowPlan::filter(int first, int last, const Frame& frame, unsigned char* memory, Walk& walk) const noexcept {
  for (int y = first; y < last; y += walk.band.part->engine.block_rows)
    for (int i = 0; i < walk.count; ++i) filter(walk.band, frame, memory, y, walk.columns[i]);
}

// A block of rows, from `y` on.
void RowPlan::filter(const Band& band, const Frame& frame, unsigned char* memory, int y,
                     Columns& columns) const noexcept {
  const Part& part = *band.part;
  const Group& g = part.group;
  const Engine& e = part.engine;
  const int height = e.kernel.height, window_rows = part.ring_rows, x = columns.x, pixels = columns.pixels;
  const bool combined = !e.staging.weights.empty();
  assert(height == desc_.filter.height() && e.block_rows <= max_block_rows);

  // Rows count from the first that the band needs; row r, from `top` on, lies in slot r % ring_rows.
  const int needed = band.last - band.first + height - 1, top = y - band.first, first_slot = top % window_rows;
  const auto slot_of = [&](int r) {
    const int slot = first_slot + r - top;
    return slot < window_rows ? slot : slot - window_rows;
  };
  const auto source_row = [&](int r) {
    return border_index(desc_.border, band.first - desc_.filter.centre_y() + std::min(r, needed - 1), g.height);
  };
  int& staged = columns.rows_staged;
  for (; columns.staged && staged < std::min(top + window_rows, needed); ++staged) {
    const int row = source_row(staged);
    for (int t = 0; t < part.frames; t += part.terms) {
      unsigned char* slots[max_terms];
      for (int i = 0; i < part.terms; ++i) slots[i] = part.slot(columns.memory, t + i, slot_of(staged));
      if (row >= 0 && (combined || frame.window->image[t]))
        stage(part, frame, memory, row, x, pixels, t, slots);
      else if (e.paired_rows)
        e.row_pass.run(e.row_pass, part.ghost_line.data(), *slots, pixels * g.components);
    }
  }
  const void* rows[max_taps * (max_taps + max_block_rows)];
  for (int t = 0; t < part.frames; ++t) {
    const Image* image = frame.window->image[t / part.terms];
    const bool ghosts = !combined && !image;
    const unsigned char* begin = nullptr;  // of the frame's first row, where rows are read in place
    std::ptrdiff_t stride = 0;
    if (!columns.staged && image) {
      const PlaneView& in = image->plane[g.plane];
      stride = in.stride;
      begin = row_of(in, 0) +
              (g.offset + static_cast<std::ptrdiff_t>(x - desc_.filter.centre_x()) * g.components) * sample_size_;
    }
    for (int i = 0; i < window_rows; ++i) {
      const int row = source_row(top + i);
      const void*& to = rows[t * window_rows + i];
      if ((row < 0 || ghosts) && !e.paired_rows)
        to = part.ghost_rows[t % part.terms].data();
      else if (columns.staged)
        to = part.slot(columns.memory, t, slot_of(top + i));
      else
        to = begin + row * stride;
    }
  }
  void* out[max_block_rows] = {};
  const void* kept[max_block_rows] = {};
  const bool keeps = e.keeps && g.stride == 1 && part.copies;
  const int wanted = std::min(e.block_rows, band.last - y);
  const std::ptrdiff_t at = (g.offset + static_cast<std::ptrdiff_t>(x) * g.components) * sample_size_;
  for (int i = 0; i < wanted; ++i) {
    out[i] =
        g.stride == 1 ? row_of_output(frame.out->plane[g.plane], y + i) + at : memory + part.out + i * part.line_pitch;
    if (keeps) kept[i] = row_of(frame.window->image[desc_.filter.centre_t()]->plane[g.plane], y + i) + at;
  }
  const Block b{rows,
                window_rows,
                out,
                pixels * g.components,
                keeps ? kept : nullptr,
                memory + part.scratch,
                ahead(part, frame, y + e.block_rows, x)};
  e.kernel.run(e.kernel, b);
  finish(part, frame, memory + part.out, y, wanted, x, pixels);
}

}  // namespace convolve::cpu
