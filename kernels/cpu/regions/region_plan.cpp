// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/regions/region_plan.hpp"

#include <algorithm>

#include "convolve/plan.hpp"
#include "cpu/rows/gather_scatter.hpp"

namespace convolve::cpu {
namespace {

// Rows of the frame that a worker treats at a time.
constexpr int rows_a_task = 16;
// The pixels that a worker is worth waking for.
constexpr double pixels_a_worker = 60000;

}  // namespace

CpuRegionPlan::CpuRegionPlan(const RegionDesc& desc, const Threads& threads)
    : desc_(desc),
      format_{desc.layout.type, desc.layout.shift},
      weights_(desc.width, desc.height),
      owners_(desc.width, desc.height),
      threads_(threads) {
  if (desc.layout.type == SampleType::f32) throw PlanError("regions are of 8-bit and 16-bit samples");
  for (const ComponentGroup& group : make_component_groups(desc_.layout)) {
    Part part{.group = group, .sampling = sampling_of(*group.component[0], desc.width, desc.height)};
    parts_.push_back(part);
  }
  lines_.resize(std::max(1u, threads_.count));
  for (Lines& lines : lines_) {
    const auto width = static_cast<std::size_t>(desc.width), samples = width * max_components;
    lines.weights.resize(width);
    lines.own_weights.resize(width);
    lines.owners.resize(width);
    lines.spread.resize(samples);
    lines.values.resize(samples);
    lines.own_values.resize(samples);
    lines.sums.resize(samples);
    lines.gathered.resize(samples * 2);
    lines.blurred.above.resize(samples);
    lines.blurred.below.resize(samples);
    lines.blurred.at.resize(width);
  }
}

bool CpuRegionPlan::set_regions(std::span<const Region> regions, const RegionTreatment& treatment) {
  treatment_ = treatment;
  treatment_.cells = std::clamp(treatment.cells, 1, 64);
  for (Part& part : parts_) {
    part.any = false;
    for (int c = 0; c < part.group.components; ++c) {
      const Component* component = part.group.component[c];
      const PlaneLayout& plane = desc_.layout.plane[part.group.plane];
      const auto index = static_cast<std::size_t>(component - plane.component.data());
      part.treated[c] = component->filtered &&
                        (treatment.effect != RegionEffect::fill || treatment.fill[part.group.plane][index] >= 0);
      part.any |= part.treated[c];
    }
  }
  // A region whose feather alone reaches the frame has no means to give.
  weights_.set(regions, treatment.outside, treatment.feather, hides_by_means(treatment.effect));
  mapped_ = owners_.set(weights_, hides_by_means(treatment.effect), static_cast<unsigned>(lines_.size()));
  areas_.clear();
  for (const Layer& layer : weights_.layers()) areas_.push_back(layer.window);
  plan_tasks();
  return !row_tasks_.empty();
}

void CpuRegionPlan::plan_tasks() {
  const std::span<const Layer> layers = weights_.layers();
  grids_.clear();
  mean_tasks_.clear();
  row_tasks_.clear();
  double pixels = 0;
  for (const Layer& layer : layers)
    pixels += static_cast<double>(layer.window.right - layer.window.left) * (layer.window.bottom - layer.window.top);
  if (hides_by_means(treatment_.effect)) {
    if (means_.size() < layers.size() * parts_.size()) means_.resize(layers.size() * parts_.size());
    for (int l = 0; l < static_cast<int>(layers.size()); ++l) {
      const CellGrid& grid = grids_.emplace_back(layers[l].box, treatment_.cells, desc_.width, desc_.height);
      if (mapped_ && !owners_.owns(l)) continue;
      for (int p = 0; p < static_cast<int>(parts_.size()); ++p) {
        if (!parts_[p].any) continue;
        means(l, p).resize(grid, parts_[p].group.components, treatment_.effect == RegionEffect::blur);
        for (int row = 0; row < grid.y.count(); ++row) mean_tasks_.push_back({l, p, row});
      }
    }
  }
  for (int plane = 0; plane < desc_.layout.planes; ++plane) {
    int step = 0, height = 0;
    for (const Part& part : parts_)
      if (part.group.plane == plane && part.any) {
        step = part.sampling.step_y;
        height = std::max(height, part.sampling.height);
      }
    for (int y = 0; step > 0 && y < height; y += rows_a_task) {
      const int last = std::min(height, y + rows_a_task);
      if (std::any_of(layers.begin(), layers.end(), [&](const Layer& layer) {
            return layer.window.top < last * step && layer.window.bottom > y * step;
          }))
        row_tasks_.push_back({plane, y, last});
    }
  }
  workers_ = static_cast<unsigned>(std::clamp(pixels / pixels_a_worker, 1.0, static_cast<double>(lines_.size())));
  if (workers_ > 1 && !pool_) pool_ = threads_.pool(threads_.context, static_cast<unsigned>(lines_.size()));
  for (Lines& lines : lines_) {
    lines.task_layers.reserve(layers.size());
    lines.layers.reserve(layers.size());
    lines.members.reserve(layers.size());
  }
}

const char* CpuRegionPlan::apply(const Image& image, const Image* filtered, void*) noexcept {
  const Frame frame{image, filtered};
  run(static_cast<unsigned>(mean_tasks_.size()), frame, &CpuRegionPlan::take_means);
  if (hides_by_means(treatment_.effect))
    for (int l = 0; l < static_cast<int>(grids_.size()); ++l)
      for (int p = 0; p < static_cast<int>(parts_.size()); ++p)
        if (parts_[p].any && (!mapped_ || owners_.owns(l))) means(l, p).fill_empty(grids_[l]);
  run(static_cast<unsigned>(row_tasks_.size()), frame, &CpuRegionPlan::treat_rows);
  return nullptr;
}

void CpuRegionPlan::run(unsigned tasks, const Frame& frame, Body body) noexcept {
  struct Call {
    CpuRegionPlan* plan;
    const Frame& frame;
    Body body;
  } call{this, frame, body};
  const Pool::Task task = [](void* context, unsigned index, unsigned worker) noexcept {
    const Call& c = *static_cast<Call*>(context);
    (c.plan->*c.body)(index, c.plan->lines_[worker], c.frame);
  };
  if (tasks == 0) return;
  if (workers_ > 1)
    pool_->run(workers_, tasks, task, &call);
  else
    for (unsigned i = 0; i < tasks; ++i) task(&call, i, 0);
}

// The samples of a row as neighbours: where they lie, or gathered.
const void* CpuRegionPlan::gather(const Part& part, const Image& image, int y, int first, int last,
                                  Lines& lines) const noexcept {
  const ComponentGroup& g = part.group;
  const PlaneView& view = image.plane[g.plane];
  const int size = bytes_per_sample(format_.type), samples = (last - first) * g.components;
  const std::ptrdiff_t at = g.offset + static_cast<std::ptrdiff_t>(first) * g.components * g.stride;
  const auto* row = static_cast<const unsigned char*>(view.data) + y * view.stride + at * size;
  if (g.stride == 1) return row;
  convolve::cpu::gather(lines.gathered.data(), row, samples, g.stride, size);
  return lines.gathered.data();
}

// The samples of a part's rows that a window has pixels of.
RegionWeights::Span CpuRegionPlan::reach(const Part& part, const PixelRect& window) noexcept {
  const int step = part.sampling.step_x;
  return {window.left / step, (window.right + step - 1) / step};
}

// Those that a layer may have weights for.
RegionWeights::Span CpuRegionPlan::reach(const Part& part, int layer) const noexcept {
  return reach(part, weights_.layers()[layer].window);
}

void CpuRegionPlan::treat_rows(unsigned task, Lines& lines, const Frame& frame) noexcept {
  const RowTask& rows = row_tasks_[task];
  const std::span<const Layer> layers = weights_.layers();
  for (const Part& part : parts_) {
    if (part.group.plane != rows.plane || !part.any) continue;
    const int step = part.sampling.step_y;
    lines.blurred.means = nullptr;  // of the frame before
    if (mapped_) {
      const PixelRect& bounds = owners_.bounds();
      const int end = std::min({rows.last, part.sampling.height, (bounds.bottom + step - 1) / step});
      for (int y = std::max(rows.first, bounds.top / step); y < end; ++y) treat_mapped_row(part, y, lines, frame);
      continue;
    }
    lines.task_layers.clear();
    for (int l = 0; l < static_cast<int>(layers.size()); ++l)
      if (layers[l].window.top < rows.last * step && layers[l].window.bottom > rows.first * step)
        lines.task_layers.push_back(l);
    std::sort(lines.task_layers.begin(), lines.task_layers.end(),
              [&](int a, int b) { return std::pair(layers[a].window.left, a) < std::pair(layers[b].window.left, b); });
    const int last = std::min(rows.last, part.sampling.height);
    if (!side_by_side(part, lines.task_layers)) {
      lines.full = false;
      for (int y = rows.first; y < last; ++y) treat_row(part, y, lines, frame);
      continue;
    }
    // Layer by layer, so that what one of its rows is made of serves the next.
    for (const int l : lines.task_layers) {
      const PixelRect& window = layers[l].window;
      const RegionWeights::Span span = reach(part, l);
      lines.members.assign(1, l);
      lines.full = is_full(part, layers[l]);
      for (int y = std::max(rows.first, window.top / step); y < std::min(last, (window.bottom + step - 1) / step); ++y)
        treat_span(part, y, span.first, span.last, lines, frame);
    }
  }
}

// Whether no sample of a row can be of two of these layers, which are in order from left to right.
bool CpuRegionPlan::side_by_side(const Part& part, const std::vector<int>& layers) const noexcept {
  int end = 0;
  for (const int l : layers) {
    const RegionWeights::Span span = reach(part, l);
    if (span.first < end) return false;
    end = span.last;
  }
  return true;
}

// Finds the spans of the row that layers reach, those that overlap as one.
void CpuRegionPlan::treat_row(const Part& part, int y, Lines& lines, const Frame& frame) noexcept {
  const std::span<const Layer> layers = weights_.layers();
  const int step = part.sampling.step_y;
  lines.layers.clear();
  for (const int l : lines.task_layers)
    if (layers[l].window.top < (y + 1) * step && layers[l].window.bottom > y * step) lines.layers.push_back(l);
  for (std::size_t i = 0; i < lines.layers.size();) {
    auto [first, last] = reach(part, lines.layers[i]);
    lines.members.clear();
    for (; i < lines.layers.size(); ++i) {
      const RegionWeights::Span next = reach(part, lines.layers[i]);
      if (!lines.members.empty() && next.first >= last) break;
      last = std::max(last, next.last);
      lines.members.push_back(lines.layers[i]);
    }
    std::sort(lines.members.begin(), lines.members.end());
    treat_span(part, y, first, last, lines, frame);
  }
}

void CpuRegionPlan::treat_span(const Part& part, int y, int first, int last, Lines& lines,
                               const Frame& frame) noexcept {
  const std::span<const Layer> layers = weights_.layers();
  const int pixels = last - first;
  if (lines.full) {
    make_values(part, y, first, last, lines, frame);
    const ComponentGroup& g = part.group;
    const PlaneView& view = frame.image.plane[g.plane];
    auto* row = static_cast<unsigned char*>(view.data) + y * view.stride;
    store_values(row + (g.offset + static_cast<std::ptrdiff_t>(first) * g.components) * bytes_per_sample(format_.type),
                 lines.values.data(), format_, pixels * g.components);
    return;
  }
  if (lines.members.size() == 1) {
    weights_.row(layers[lines.members[0]], part.sampling, y, first, last, lines.weights.data());
  } else {
    std::fill_n(lines.weights.data(), pixels, std::uint16_t{0});
    std::fill_n(lines.owners.data(), pixels, -1);
    for (const int l : lines.members) {
      const auto [from, to] = reach(part, l);
      weights_.row(layers[l], part.sampling, y, from, to, lines.own_weights.data());
      take_larger(lines.weights.data() + (from - first), lines.owners.data() + (from - first), lines.own_weights.data(),
                  l, to - from);
    }
  }
  make_values(part, y, first, last, lines, frame);
  blend(part, y, first, last, lines.weights.data(), lines, frame);
}

// Whether all samples that a layer has have the full weight, and are treated and neighbours in memory.
bool CpuRegionPlan::is_full(const Part& part, const Layer& layer) const noexcept {
  const int n = part.group.components;
  return !layer.mapped && layer.box.shape == RegionShape::rectangle && weights_.feather() == 0 &&
         part.group.stride == 1 && std::all_of(part.treated, part.treated + n, [](bool treated) { return treated; });
}

// The same of all samples of a row, by the map, in runs that have values of one kind: those of means, of one layer.
void CpuRegionPlan::treat_mapped_row(const Part& part, int y, Lines& lines, const Frame& frame) noexcept {
  const auto [first, last] = reach(part, owners_.bounds());
  const bool by_means = hides_by_means(treatment_.effect);
  owners_.row(part.sampling, y, first, last, lines.weights.data(), lines.owners.data());
  for (int x = first; x < last;) {
    const std::uint16_t* weights = lines.weights.data() + (x - first);
    const std::int32_t* owners = lines.owners.data() + (x - first);
    int pixels = 0;
    while (x + pixels < last && weights[pixels] > 0 && (!by_means || owners[pixels] == owners[0])) ++pixels;
    if (pixels == 0) {
      ++x;
      continue;
    }
    if (by_means)
      make_values_of_layer(part, owners[0], y, x, x + pixels, lines, lines.values.data());
    else
      make_values(part, y, x, x + pixels, lines, frame);
    blend(part, y, x, x + pixels, weights, lines, frame);
    x += pixels;
  }
}

// Blends lines.values into samples of a row.
void CpuRegionPlan::blend(const Part& part, int y, int first, int last, const std::uint16_t* weights, Lines& lines,
                          const Frame& frame) noexcept {
  const ComponentGroup& g = part.group;
  const int pixels = last - first, n = g.components;
  spread_weights(lines.spread.data(), weights, n, part.treated, pixels);
  const PlaneView& view = frame.image.plane[g.plane];
  const int size = bytes_per_sample(format_.type);
  const std::ptrdiff_t at = g.offset + static_cast<std::ptrdiff_t>(first) * n * g.stride;
  unsigned char* row = static_cast<unsigned char*>(view.data) + y * view.stride + at * size;
  if (g.stride == 1) {
    blend_values(row, lines.values.data(), lines.spread.data(), format_, pixels * n);
    return;
  }
  convolve::cpu::gather(lines.gathered.data(), row, pixels * n, g.stride, size);
  blend_values(lines.gathered.data(), lines.values.data(), lines.spread.data(), format_, pixels * n);
  scatter(row, lines.gathered.data(), pixels * n, g.stride, size);
}

// The effect, before it is blended in.
void CpuRegionPlan::make_values(const Part& part, int y, int first, int last, Lines& lines,
                                const Frame& frame) noexcept {
  const int n = part.group.components, pixels = last - first;
  switch (treatment_.effect) {
    case RegionEffect::filter:
      load_values(lines.values.data(), gather(part, *frame.filtered, y, first, last, lines), format_, pixels * n);
      return;
    case RegionEffect::fill: {
      const Component* components = desc_.layout.plane[part.group.plane].component.data();
      for (int c = 0; c < n; ++c) {
        const int level = treatment_.fill[part.group.plane][part.group.component[c] - components];
        for (int x = 0; x < pixels; ++x) lines.values[x * n + c] = static_cast<std::uint16_t>(level);
      }
      return;
    }
    case RegionEffect::blur:
    case RegionEffect::pixelate:
      return make_values_of_means(part, y, first, lines);
  }
}

// Turns the means of cells into values, for each layer that has a sample here. Where there are several
// layers, a sample takes the value of its owner.
void CpuRegionPlan::make_values_of_means(const Part& part, int y, int first, Lines& lines) noexcept {
  const int n = part.group.components;
  for (const int l : lines.members) {
    const auto [from, to] = reach(part, l);
    const bool alone = lines.members.size() == 1;
    std::uint16_t* values = alone ? lines.values.data() : lines.own_values.data();
    make_values_of_layer(part, l, y, from, to, lines, values);
    if (!alone)
      take_owned(lines.values.data() + (from - first) * n, values, lines.owners.data() + (from - first), l, n,
                 to - from);
  }
}

void CpuRegionPlan::make_values_of_layer(const Part& part, int layer, int y, int first, int last, Lines& lines,
                                         std::uint16_t* values) noexcept {
  const CellMeans& cells = means(layer, static_cast<int>(&part - parts_.data()));
  if (treatment_.effect == RegionEffect::blur)
    blur_row(grids_[layer], cells, part.sampling, y, first, last, lines.blurred, values);
  else
    pixelate_row(grids_[layer], cells, part.sampling, y, first, last, values);
}

}  // namespace convolve::cpu
