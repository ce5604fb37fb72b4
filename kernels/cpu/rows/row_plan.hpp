// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RowPlan: runs an engine for each group of samples, over blocks of rows on the pool's threads.
//
// A plane is worked through in strips of columns, narrow enough for the ring of a strip to stay in the cache, and a
// thread goes down a strip as far as it can, so that a ring is filled once. All memory is taken when the plan is made.
// enqueue() is called by one thread at a time.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu/engine/engine.hpp"
#include "cpu/rows/gather_scatter.hpp"
#include "regions/area_merger.hpp"
#include "threads/pool.hpp"
#include "threads/work_stealing_ranges.hpp"

namespace convolve::cpu {

/// What a plan may run on: `pool` is asked for only where there is work for more than one thread.
struct Threads {
  unsigned count = 1;
  std::shared_ptr<Pool> (*pool)(void* context, unsigned workers) = nullptr;
  void* context = nullptr;
};

/// Up to whole lines of the cache.
constexpr std::size_t whole_lines(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

class RowPlan final : public Plan {
 public:
  RowPlan(const PlanDesc& desc, EngineMaker make_engine, const Threads& threads);

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override;
  const char* enqueue_areas(const Window& window, const Image& out, std::span<const PixelRect> areas,
                            void* stream) noexcept override;
  Algorithm algorithm() const override { return desc_.algorithm; }
  std::string describe() const override { return description_; }

 private:
  /// Pixels: columns that are read in place are a multiple, so that they end with a kernel's block.
  static constexpr int in_place_step = 64;
  /// A group, with where things lie in a thread's scratch memory, in bytes.
  struct Part {
    ComponentGroup group;
    Engine engine;
    int strip = 0;                          ///< pixels of a strip
    bool in_place = false;                  ///< frame rows are read where they lie, but for the ends
    bool copies = false;                    ///< some components stay as they were
    int staged_pixels = 0;                  ///< that a ring row holds, without the halo of the filter
    int ring_rows = 0;                      ///< of each frame
    int frames = 1;                         ///< that the ring holds apart
    int terms = 1;                          ///< ring rows, a "frame" each, that are made of one source row
    std::size_t pitch = 0, line_pitch = 0;  ///< of a ring row; of a line before the row pass
    std::size_t state_size = 0;             ///< of what the kernel keeps of some columns
    std::size_t ring_size = 0;              ///< of all ring rows of some columns, and of their state
    std::size_t ring = 0, rows = 0, line = 0, raw = 0, edge = 0, out = 0, centre = 0, scratch = 0;  ///< offsets
    /// Where the pixels beside a row come from: those before it, then those after it; -1: ghost cells.
    std::vector<int> beside;
    std::vector<unsigned char> ghost_line;
    std::vector<std::vector<unsigned char>> ghost_rows;  ///< of each row pass, or one
    unsigned char* slot(unsigned char* ring_memory, int frame, int row) const {
      const int first = engine.paired_rows ? row / 2 * 2 : row;
      return ring_memory + (static_cast<std::size_t>(frame) * ring_rows + first) * pitch + (row - first) * paired_bytes;
    }
    ByteMask passthrough{};  ///< of a uniform group: the components that are copied
  };
  /// The units of work of a plane, strip after strip: so many rows of a strip each. Where several groups share the
  /// plane, of all its strips and groups: what scatters the samples of one group touches those of others.
  struct Task {
    const Part *begin = nullptr, *end = nullptr;
    int height = 0;           ///< rows
    int rows = 0;             ///< of a unit
    bool whole_rows = false;  ///< a unit is of all strips and groups
    int strip_units = 0;      ///< units that a strip has
    int first_unit = 0, last_unit = 0;
  };
  struct RowRange {
    const Part* part;
    int first, last;  ///< rows
    /// Columns, as far as the group goes.
    int left = 0, right = std::numeric_limits<int>::max();
  };
  struct Frame {
    const Window* window;
    const Image* out;
  };
  /// Columns of a strip that are worked on alike.
  struct Columns {
    int x = 0, pixels = 0;
    bool staged = true;
    unsigned char* memory = nullptr;  ///< of their ring
    int rows_staged = 0;
    bool started = false;  ///< a block was filtered
  };
  /// How far a thread is in a strip.
  struct Walk {
    RowRange range{};  ///< from where it began, to the strip's end
    Columns columns[3];
    int count = 0;       ///< of columns
    int next_unit = -1;  ///< that goes on where the last one ended
  };

  struct RowWindow;
  struct SourceRow;

  void plan_part(Part& part, std::size_t& bytes);
  void plan_tasks(const Threads& threads);
  void deal(double total_work);
  static double work(const Part& part);
  void run(unsigned owner, const Frame& frame, unsigned char* memory) const noexcept;
  void run(WorkStealingRanges::Range units, const Frame& frame, unsigned char* memory, Walk& walk) const noexcept;
  void list_areas(std::span<const PixelRect> areas);
  void list_pieces(double piece);
  static double work(const RowRange& range);
  unsigned char* memory_of(unsigned worker) const noexcept;
  void copy(const RowRange& range, const Frame& frame) const noexcept;
  void filter(const RowRange& range, const Frame& frame, unsigned char* memory) const noexcept;
  void filter(int first, int last, const Frame& frame, unsigned char* memory, Walk& walk) const noexcept;
  Walk begin(const RowRange& range, int x, unsigned char* memory) const noexcept;
  void filter(const RowRange& range, const Frame& frame, unsigned char* memory, int y, const RowWindow& window,
              Columns& columns) const noexcept;
  void stage_rows(const Part& part, const Frame& frame, unsigned char* memory, const RowWindow& rows,
                  Columns& columns) const noexcept;
  void find_rows(const Part& part, const Frame& frame, const RowWindow& rows, const Columns& columns,
                 const void** found) const noexcept;
  void stage(const Part& part, const Frame& frame, unsigned char* memory, int row, int x, int pixels, int frame_index,
             unsigned char* const* to) const noexcept;
  const int* beside(const Part& part, int at) const noexcept;
  void place(const Part& part, int x, int pixels, SourceRow& source) const noexcept;
  void stage_ends(const Part& part, const Frame& frame, const RowWindow& rows, Columns& columns) const noexcept;
  void stage_border(const Part& part, const SourceRow& source, unsigned char* memory, int from,
                    int until) const noexcept;
  void stage_inside(const Part& part, const SourceRow& source, unsigned char* memory) const noexcept;
  void find_centre(const Part& part, const Frame& frame, unsigned char* memory, int y, int wanted,
                   const Columns& columns, const void** found) const noexcept;
  Ahead ahead(const Part& part, const Frame& frame, int y, int x) const noexcept;
  void finish(const Part& part, const Frame& frame, const unsigned char* lines, int y, int rows, int x,
              int pixels) const noexcept;

  PlanDesc desc_;  ///< with the algorithm that runs
  std::string description_;
  int sample_size_ = 1;
  std::vector<Part> parts_;
  std::vector<Task> tasks_;
  unsigned workers_ = 1;
  std::vector<WorkStealingRanges::Range> dealt_;  ///< units, to each thread
  std::unique_ptr<WorkStealingRanges> ranges_;    ///< two for each thread: what it was dealt, and what it steals
  int divisor_ = 1;                               ///< an owner takes this part of its range at a time
  int least_stolen_ = 1;                          ///< units
  std::shared_ptr<Pool> pool_;
  AreaMerger merger_;
  std::vector<RowRange> area_ranges_;   ///< of enqueue_areas(), piece after piece
  std::vector<std::size_t> area_ends_;  ///< where each piece ends in `area_ranges_`
  std::vector<RowRange> plane_ranges_;  ///< of one area and plane, while they are cut into pieces
  unsigned area_workers_ = 1;
  std::size_t worker_bytes_ = 0;
  std::unique_ptr<unsigned char[]> memory_;
};

}  // namespace convolve::cpu
