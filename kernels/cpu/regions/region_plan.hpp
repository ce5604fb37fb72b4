// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CpuRegionPlan: effects on regions, in two rounds over the pool's workers. The first takes the means of all cells, a
// row of cells of one region at a time. The second, which begins when no mean is still to be taken, blends the effect
// into rows of the frame: only in the spans that regions reach, so that the cost follows their area. Where many regions
// lie on top of each other, so that it would be many times the frame's, a map tells the region of each pixel instead.
#pragma once

#include <memory>
#include <vector>

#include "convolve/component_group.hpp"
#include "convolve/region.hpp"
#include "cpu/regions/cells.hpp"
#include "cpu/regions/owner_map.hpp"
#include "cpu/regions/samples.hpp"
#include "cpu/rows/row_plan.hpp"
#include "regions/weights.hpp"

namespace convolve::cpu {

class CpuRegionPlan final : public RegionPlan {
 public:
  CpuRegionPlan(const RegionDesc& desc, const Threads& threads);

  bool set_regions(std::span<const Region> regions, const RegionTreatment& treatment) override;
  std::span<const PixelRect> areas() const override { return areas_; }
  const char* apply(const Image& frame, const Image* filtered, void* stream) noexcept override;

 private:
  /// Components that lie side by side, and whether each is treated.
  struct Part {
    ComponentGroup group;
    Sampling sampling;
    bool treated[max_components] = {};
    bool any = false;
  };
  struct MeanTask {
    int layer, part, cell_row;
  };
  struct RowTask {
    int plane, first, last;  ///< rows of the plane
  };
  /// A worker's lines, each of a row of the widest part.
  struct Lines {
    std::vector<std::uint16_t> weights, own_weights, spread, values, own_values;
    std::vector<std::int32_t> owners;
    std::vector<std::uint32_t> sums;
    std::vector<unsigned char> gathered;
    std::vector<int> task_layers;  ///< that a task's rows meet, from left to right
    std::vector<int> layers, members;
    bool full = false;  ///< the one member's samples need no weights, see is_full()
    BlurredCells blurred;
  };
  struct Frame {
    const Image& image;
    const Image* filtered;
  };
  using Body = void (CpuRegionPlan::*)(unsigned task, Lines& lines, const Frame& frame) noexcept;

  void plan_tasks();
  void run(unsigned tasks, const Frame& frame, Body body) noexcept;
  void take_means(unsigned task, Lines& lines, const Frame& frame) noexcept;
  struct CellSums;
  void sum_rows(const MeanTask& at, int top, int bottom, CellSums& cells, Lines& lines,
                const Frame& frame) const noexcept;
  void sum_columns_of(const MeanTask& at, int top, int bottom, CellSums& cells, Lines& lines,
                      const Frame& frame) const noexcept;
  void treat_rows(unsigned task, Lines& lines, const Frame& frame) noexcept;
  void treat_row(const Part& part, int y, Lines& lines, const Frame& frame) noexcept;
  void treat_span(const Part& part, int y, int first, int last, Lines& lines, const Frame& frame) noexcept;
  void treat_mapped_row(const Part& part, int y, Lines& lines, const Frame& frame) noexcept;
  void make_values(const Part& part, int y, int first, int last, Lines& lines, const Frame& frame) noexcept;
  void make_values_of_means(const Part& part, int y, int first, Lines& lines) noexcept;
  void make_values_of_layer(const Part& part, int layer, int y, int first, int last, Lines& lines,
                            std::uint16_t* values) noexcept;
  void blend(const Part& part, int y, int first, int last, const std::uint16_t* weights, Lines& lines,
             const Frame& frame) noexcept;
  bool is_full(const Part& part, const Layer& layer) const noexcept;
  bool side_by_side(const Part& part, const std::vector<int>& layers) const noexcept;
  static RegionWeights::Span reach(const Part& part, const PixelRect& window) noexcept;
  RegionWeights::Span reach(const Part& part, int layer) const noexcept;
  CellMeans& means(int layer, int part) { return means_[static_cast<std::size_t>(layer) * parts_.size() + part]; }
  const void* gather(const Part& part, const Image& image, int y, int first, int last, Lines& lines) const noexcept;

  RegionDesc desc_;
  SampleFormat format_;
  std::vector<Part> parts_;
  RegionTreatment treatment_;
  RegionWeights weights_;
  OwnerMap owners_;
  bool mapped_ = false;  ///< owners_ is of this frame's layers
  std::vector<PixelRect> areas_;
  std::vector<CellGrid> grids_;   ///< of each layer
  std::vector<CellMeans> means_;  ///< of each layer, and of each of its parts
  std::vector<MeanTask> mean_tasks_;
  std::vector<RowTask> row_tasks_;
  Threads threads_;
  unsigned workers_ = 1;  ///< that the frame at hand is worth
  std::shared_ptr<Pool> pool_;
  std::vector<Lines> lines_;  ///< of each worker
};

}  // namespace convolve::cpu
