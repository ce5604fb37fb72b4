// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a RowPlan goes down the rows of a strip: what is staged into the ring, what the kernel reads, what it leaves.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "cpu/rows/gather_scatter.hpp"
#include "cpu/rows/row_plan.hpp"
#include "cpu/rows/row_window.hpp"

namespace convolve::cpu {
namespace {

const unsigned char* row_of(const PlaneView& view, int y) {
  return static_cast<const unsigned char*>(view.data) + y * view.stride;
}

unsigned char* row_of_output(const PlaneView& view, int y) {
  return static_cast<unsigned char*>(view.data) + y * view.stride;
}

}  // namespace

// Copies a group of which nothing is filtered.
void RowPlan::copy(const RowRange& range, const Frame& frame) const noexcept {
  const ComponentGroup& g = range.part->group;
  const PlaneView& in = frame.window->image[desc_.filter.centre_t()]->plane[g.plane];
  for (int y = range.first; y < range.last; ++y) {
    unsigned char* to = row_of_output(frame.out->plane[g.plane], y) + g.offset * sample_size_;
    const unsigned char* from = row_of(in, y) + g.offset * sample_size_;
    if (g.stride == 1)
      std::memcpy(to, from, static_cast<std::size_t>(g.samples()) * sample_size_);
    else
      copy_samples(to, from, g.samples(), g.stride, sample_size_);
  }
}

// Which pixels a row of some columns has.
void RowPlan::place(const Part& part, int x, int pixels, SourceRow& source) const noexcept {
  const ComponentGroup& g = part.group;
  const bool pass = !part.engine.row_passes.empty();
  source.begin = x - desc_.filter.centre_x();
  source.end = source.begin + pixels + desc_.filter.width() - 1;
  source.first = std::max(source.begin, 0);
  source.last = std::min(source.end, g.width);
  source.pixel_step = static_cast<std::size_t>(g.stride) * sample_size_ * g.components;
  source.staged_step =
      (pass ? part.engine.row_passes.front().line_element_size : part.engine.element_size) * g.components;
}

// Stages one source row of a strip, borders included, into `to`, a ring row for each term: of frame `frame_index`, or
// of all frames combined.
void RowPlan::stage(const Part& part, const Frame& frame, unsigned char* memory, int row, int x, int pixels,
                    int frame_index, unsigned char* const* to) const noexcept {
  const ComponentGroup& g = part.group;
  const Staging& staging = part.engine.staging;
  const std::vector<RowPass>& passes = part.engine.row_passes;
  const bool pass = !passes.empty(), combined = !staging.weights.empty();
  SourceRow source;
  source.frames = combined ? static_cast<int>(staging.weights.size()) : 1;
  for (int t = 0; t < source.frames; ++t) {
    const Image* image = frame.window->image[(combined ? 0 : frame_index) + t];
    source.row[t] = image ? row_of(image->plane[g.plane], row) + g.offset * sample_size_ : nullptr;
  }
  place(part, x, pixels, source);
  // The frame's own samples start on a cache line: vectors that straddle two are stored at half the speed.
  const std::size_t before = static_cast<std::size_t>(source.first - source.begin) * source.staged_step;
  source.line = pass ? memory + part.line + (whole_lines(before) - before) : *to;

  stage_border(part, source, memory, source.begin, source.first);
  stage_inside(part, source, memory);
  stage_border(part, source, memory, source.last, source.end);
  if (!pass) return;
  for (int i = 0; i < part.terms; ++i) {
    const RowPass& each = passes[(frame_index * part.terms + i) % passes.size()];
    each.run(each, source.line, to[i], pixels * g.components);
  }
}

// Where the pixels at position `at` outside of a row and after it come from.
const int* RowPlan::beside(const Part& part, int at) const noexcept {
  return &part.beside[desc_.filter.centre_x() + (at < 0 ? at : at - part.group.width)];
}

// Stages the pixels [from, until) outside the frame.
void RowPlan::stage_border(const Part& part, const SourceRow& source, unsigned char* memory, int from,
                           int until) const noexcept {
  if (from >= until) return;
  const ComponentGroup& g = part.group;
  unsigned char* at = source.line + static_cast<std::size_t>(from - source.begin) * source.staged_step;
  if (has_ghost_cells(desc_.border)) {
    std::memcpy(at, part.ghost_line.data(), (until - from) * source.staged_step);
    return;
  }
  const void* rows[max_depth];
  for (int t = 0; t < source.frames; ++t) {
    rows[t] = nullptr;
    if (!source.row[t]) continue;
    unsigned char* edge =
        memory + part.edge + static_cast<std::size_t>(t) * desc_.filter.width() * g.components * sample_size_;
    pick_pixels(edge, source.row[t], beside(part, from), until - from, g, sample_size_);
    rows[t] = edge;
  }
  const Staging& staging = part.engine.staging;
  staging.run(staging, rows, at, (until - from) * g.components);
}

// Stages the pixels inside the frame.
void RowPlan::stage_inside(const Part& part, const SourceRow& source, unsigned char* memory) const noexcept {
  const ComponentGroup& g = part.group;
  const int samples = (source.last - source.first) * g.components;
  const void* rows[max_depth];
  for (int t = 0; t < source.frames; ++t) {
    rows[t] = nullptr;
    if (!source.row[t]) continue;
    rows[t] = source.row[t] + source.first * source.pixel_step;
    if (g.stride != 1) {
      unsigned char* raw = memory + part.raw + t * part.line_pitch;
      gather(raw, rows[t], samples, g.stride, sample_size_);
      rows[t] = raw;
    }
  }
  const Staging& staging = part.engine.staging;
  staging.run(staging, rows, source.line + (source.first - source.begin) * source.staged_step, samples);
}

// Finishes the rows that a kernel has made: puts samples back among those of other groups, and copies components that
// are not filtered.
void RowPlan::finish(const Part& part, const Frame& frame, const unsigned char* lines, int y, int rows, int x,
                     int pixels) const noexcept {
  const ComponentGroup& g = part.group;
  if (g.stride == 1 && (!part.copies || part.engine.copies_passthrough)) return;
  const std::size_t start = (g.offset + static_cast<std::size_t>(x) * g.components * g.stride) * sample_size_;
  const PlaneView& in = frame.window->image[desc_.filter.centre_t()]->plane[g.plane];
  for (int i = 0; i < rows; ++i) {
    unsigned char* to = row_of_output(frame.out->plane[g.plane], y + i) + start;
    const unsigned char* from = row_of(in, y + i) + start;
    if (g.stride == 1) {
      blend(to, from, pixels * g.components * sample_size_, part.passthrough);
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

// The input samples under the output of the block of rows from `y` on, side by side: in the frame, or gathered.
void RowPlan::find_centre(const Part& part, const Frame& frame, unsigned char* memory, int y, int wanted,
                          const Columns& columns, const void** found) const noexcept {
  const ComponentGroup& g = part.group;
  const PlaneView& in = frame.window->image[desc_.filter.centre_t()]->plane[g.plane];
  const std::size_t start = (g.offset + static_cast<std::size_t>(columns.x) * g.components * g.stride) * sample_size_;
  for (int i = 0; i < part.engine.block_rows; ++i) {
    if (i >= wanted) {
      found[i] = found[wanted - 1];
      continue;
    }
    found[i] = row_of(in, y + i) + start;
    if (g.stride == 1) continue;
    unsigned char* line = memory + part.centre + i * part.line_pitch;
    gather(line, found[i], columns.pixels * g.components, g.stride, sample_size_);
    found[i] = line;
  }
}

// The memory that the block of rows after `y` will touch first, to be asked for in advance.
Ahead RowPlan::ahead(const Part& part, const Frame& frame, int y, int x) const noexcept {
  const ComponentGroup& g = part.group;
  const int step = g.stride * sample_size_;
  const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(x) * g.components * step;
  const int below = part.engine.kernel.height - 1 - desc_.filter.centre_y();
  const int rows = part.engine.ahead_rows;
  const auto fill = [&](const char** to, unsigned char* data, std::ptrdiff_t stride, int first) {
    if (first + rows <= g.height) {
      const char* row = reinterpret_cast<const char*>(data + first * stride + start);
      for (int i = 0; i < rows; ++i, row += stride) to[i] = row;
      return;
    }
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

// A walk down `range`, in the columns of the strip at `x`.
RowPlan::Walk RowPlan::begin(const RowRange& range, int x, unsigned char* memory) const noexcept {
  const Part& part = *range.part;
  const ComponentGroup& g = part.group;
  Walk walk;
  walk.range = range;
  const auto columns = [&](Columns of) { walk.columns[walk.count++] = of; };
  const int end = std::min({x + part.strip, range.right, g.width}), left = desc_.filter.centre_x();
  unsigned char* const ring = memory + part.ring;
  if (part.in_place) {
    const int first = x < left ? x + in_place_step : x;
    const int beyond = (part.engine.reads_past + g.components - 1) / g.components;
    const int inside = (std::min(end, g.width + left - beyond) - first) / in_place_step * in_place_step;
    if (inside > 0) {
      if (first > x) columns({x, first - x, true, ring});
      columns({first, inside, false});
      if (first + inside < end) columns({first + inside, end - first - inside, true, ring + part.ring_size});
      return walk;
    }
  }
  columns({x, end - x, true, ring});
  return walk;
}

void RowPlan::filter(const RowRange& range, const Frame& frame, unsigned char* memory) const noexcept {
  for (int x = range.left; x < std::min(range.right, range.part->group.width); x += range.part->strip) {
    Walk walk = begin(range, x, memory);
    filter(range.first, range.last, frame, memory, walk);
  }
}

void RowPlan::filter(int first, int last, const Frame& frame, unsigned char* memory, Walk& walk) const noexcept {
  for (int y = first; y < last; y += walk.range.part->engine.block_rows) {
    const RowWindow window(desc_, *walk.range.part, walk.range, y);
    for (int i = 0; i < walk.count; ++i)
      if (walk.columns[i].staged) stage_rows(*walk.range.part, frame, memory, window, walk.columns[i]);
    for (int i = 0; i < walk.count; ++i) filter(walk.range, frame, memory, y, window, walk.columns[i]);
  }
}

// Stages what a window of rows lacks in the ring of `columns`.
void RowPlan::stage_rows(const Part& part, const Frame& frame, unsigned char* memory, const RowWindow& rows,
                         Columns& columns) const noexcept {
  const Engine& e = part.engine;
  const bool combined = !e.staging.weights.empty();
  int& staged = columns.rows_staged;
  if (part.in_place) return stage_ends(part, frame, rows, columns);
  for (; staged < std::min(rows.top + rows.count, rows.needed); ++staged) {
    const int row = rows.source(staged);
    for (int t = 0; t < part.frames; t += part.terms) {
      unsigned char* slots[max_terms];
      for (int i = 0; i < part.terms; ++i) slots[i] = part.slot(columns.memory, t + i, rows.slot(staged));
      const int frame_index = t / part.terms;
      if (row >= 0 && (combined || frame.window->image[frame_index]))
        stage(part, frame, memory, row, columns.x, columns.pixels, frame_index, slots);
      else if (e.paired_rows)
        e.row_passes.front().run(e.row_passes.front(), part.ghost_line.data(), *slots,
                                 columns.pixels * part.group.components);
    }
  }
}

// Where the rows of a window lie, of each frame: in the ring, in the frame, or as ghost cells.
void RowPlan::find_rows(const Part& part, const Frame& frame, const RowWindow& rows, const Columns& columns,
                        const void** found) const noexcept {
  const ComponentGroup& g = part.group;
  const Engine& e = part.engine;
  const bool combined = !e.staging.weights.empty();
  const std::ptrdiff_t first_sample =
      (g.offset + static_cast<std::ptrdiff_t>(columns.x - desc_.filter.centre_x()) * g.components) * sample_size_;
  for (int t = 0; t < part.frames; ++t) {
    const Image* image = frame.window->image[t / part.terms];
    const bool ghosts = !combined && !image;
    const PlaneView* in = image ? &image->plane[g.plane] : nullptr;
    if (in && !columns.staged && rows.inside()) {
      const unsigned char* row = row_of(*in, rows.source(rows.top)) + first_sample;
      for (int i = 0; i < rows.count; ++i, row += in->stride) found[t * rows.count + i] = row;
      continue;
    }
    if (in && part.in_place && columns.staged && rows.inside()) {
      const unsigned char* const first = part.slot(columns.memory, t, 0);
      const unsigned char* row = part.slot(columns.memory, t, rows.slot(rows.top));
      const unsigned char* const end = first + part.pitch * rows.count;
      for (int i = 0; i < rows.count; ++i, row = row + part.pitch == end ? first : row + part.pitch)
        found[t * rows.count + i] = row;
      continue;
    }
    for (int i = 0; i < rows.count; ++i) {
      // Of a column whose sums are kept, rows come in and leave at the ends alone.
      if (part.state_size && columns.started && i == e.block_rows) i = std::max(i, e.kernel.height - 1);
      const int row = rows.source(rows.top + i);
      const void*& to = found[t * rows.count + i];
      if ((row < 0 || ghosts) && !e.paired_rows)
        to = part.ghost_rows[t % part.ghost_rows.size()].data();
      else if (columns.staged)
        to = part.slot(columns.memory, t, rows.slot(rows.top + i));
      else
        to = row_of(*in, row) + first_sample;
    }
  }
}

// Filters a block of rows, from `y` on, that is staged.
void RowPlan::filter(const RowRange& range, const Frame& frame, unsigned char* memory, int y, const RowWindow& window,
                     Columns& columns) const noexcept {
  const Part& part = *range.part;
  const ComponentGroup& g = part.group;
  const Engine& e = part.engine;
  assert(e.kernel.height == desc_.filter.height() && e.block_rows <= max_block_rows);
  const auto rows = reinterpret_cast<const void**>(memory + part.rows);
  find_rows(part, frame, window, columns, rows);

  void* out[max_block_rows] = {};
  const void *passthrough[max_block_rows] = {}, *centre[max_block_rows];
  const bool copies_passthrough = e.copies_passthrough && g.stride == 1 && part.copies;
  const int wanted = std::min(e.block_rows, range.last - y);
  const std::ptrdiff_t at = (g.offset + static_cast<std::ptrdiff_t>(columns.x) * g.components) * sample_size_;
  for (int i = 0; i < wanted; ++i) {
    out[i] =
        g.stride == 1 ? row_of_output(frame.out->plane[g.plane], y + i) + at : memory + part.out + i * part.line_pitch;
    if (copies_passthrough)
      passthrough[i] = row_of(frame.window->image[desc_.filter.centre_t()]->plane[g.plane], y + i) + at;
  }
  if (e.reads_centre) find_centre(part, frame, memory, y, wanted, columns, centre);
  const Block b{rows,
                part.ring_rows,
                out,
                columns.pixels * g.components,
                copies_passthrough ? passthrough : nullptr,
                e.reads_centre ? centre : nullptr,
                memory + part.scratch,
                part.state_size ? columns.memory + part.ring_size - part.state_size : nullptr,
                !std::exchange(columns.started, true),
                ahead(part, frame, y + e.block_rows, columns.x)};
  e.kernel.run(e.kernel, b);
  finish(part, frame, memory + part.out, y, wanted, columns.x, columns.pixels);
}

}  // namespace convolve::cpu
