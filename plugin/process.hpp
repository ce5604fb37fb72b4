// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Process: the plans for one format and one recipe, and the memory in which they run. Imports buffers as frames that
// the backend can read, and filters a window of them into an output buffer, done on return.
//
// Single-threaded: owned by the streaming thread, and by state changes while that does not run. Functions throw
// ElementError or PlanError; after a DeviceError only close() is of use.
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <vector>

#include "convolve/backend.hpp"
#include "fields.hpp"
#include "frame_memory.hpp"
#include "regions.hpp"
#include "settings.hpp"
#include "slabs.hpp"
#include "window.hpp"

namespace convolve {

class Process {
 public:
  explicit Process(GstElement* element) : element_(element) {}
  ~Process() { close(); }

  /// Plans are made anew by set_recipe().
  void open(std::unique_ptr<FrameMemory> memory);
  /// Frames that were imported are gone before.
  void close() noexcept;
  bool is_open() const { return memory_ != nullptr; }
  const Backend& backend() const { return memory_->backend(); }
  FrameMemory& memory() const { return *memory_; }

  /// Forgets the plans where the format differs from the last. `in_system_memory`: what the caps say of the frames.
  void set_format(const GstVideoInfo& info, bool in_system_memory);
  void clear_format() noexcept;
  bool has_format() const { return has_format_; }
  const GstVideoInfo& info() const { return info_; }

  /// Makes the plans that are not already there. `reversed`: frames come last first. False: what runs stays as it is,
  /// because the recipe asks for the same work. Where it throws, what was set before goes on.
  bool set_recipe(const std::shared_ptr<const Recipe>& recipe, bool reversed);
  /// Whether `backend` could make the plans of this recipe for the format that is set.
  bool can_be_served_by(Backend& backend, const std::shared_ptr<const Recipe>& recipe, bool reversed) noexcept;
  const std::shared_ptr<const Recipe>& recipe() const { return now_.recipe; }
  /// The filter as it meets frames in order of arrival.
  const Filter& filter() const { return *now_.filter; }
  /// True where each output would equal its input to the bit.
  bool changes_nothing() const { return changes_nothing_; }
  /// True where the effect is confined to regions.
  bool has_regions() const { return now_.regions != nullptr; }
  /// Takes the regions of the next output's frame, once for each frame in order. False: none of its samples is treated.
  bool update_regions(GstBuffer* frame);
  void forget_regions() { tracker_.forget(); }
  void hold_regions_anew() { tracker_.hold_anew(); }
  /// Whether the frame's buffer still has its samples, and may be its own output where none of them is treated.
  bool leaves_as_it_came(const HeldFrame& frame) const;
  /// The output of a frame with regions. In place where its memory can be written and no other output reads it; false:
  /// it is to be copied, with treat_copy().
  bool treat_in_place(FrameWindow& window);
  /// Copies the frame into `out` and treats it there; `regions` false: copies it as it is.
  void treat_copy(FrameWindow& window, GstBuffer* out, bool regions);

  /// Name of the algorithm that runs, or of the effect that takes its place.
  const char* algorithm() const;

  /// How a buffer of the stream is mapped.
  FrameMap::Format format_of(GstBuffer* buffer) const { return {info_, layout_, is_interlaced(buffer)}; }
  /// Whether upstream would run out of buffers if the window held this one's. Asked of each, as pools come and go and
  /// the window grows.
  bool pool_is_too_small(GstBuffer* buffer) const;
  /// Makes a frame of a buffer. `keep`: the frame will be held beyond its own output. Its upload to a GPU may still be
  /// under way; run() or finish_uploads() completes it.
  HeldFrame import_frame(BufferPtr buffer, bool keep);
  /// How much two neighbouring frames differ in luma, as a fraction of its range. Waits for the frames, and for what is
  /// queued before them.
  double luma_difference(HeldFrame& before, HeldFrame& after);
  /// Filters into `out`, whose memory comes from the pool that the allocation settled on.
  void run(FrameWindow& window, GstBuffer* out);
  /// Brings all frames to the device and lets go of upstream's buffers, where no output does so.
  void finish_uploads(FrameWindow& window) { memory_->finish_uploads(window.frames()); }

 private:
  static std::shared_ptr<const Filter> identity();
  static std::shared_ptr<const Filter> in_order_of_arrival(const std::shared_ptr<const Recipe>& recipe, bool reversed);

  enum Part { whole, top_field, bottom_field, parts };

  /// A filter made ready for the format.
  struct Prepared {
    std::shared_ptr<const Recipe> recipe;
    bool reversed = false;
    /// In order of the frames' arrival: the recipe's own, or that reversed in time for reverse playback.
    std::shared_ptr<const Filter> filter = identity();
    FrameLayout layout;                 ///< of the whole frame, with the recipe's levels
    Field field[2];                     ///< its fields, where some of its frames are interlaced
    std::unique_ptr<Plan> plan[parts];  ///< no bottom field's where the top one's serves, or where there is none
    std::vector<Slab> slabs;            ///< of frames that cross to a GPU and back, where cutting them is worth it
    std::vector<Plan*> slab_plan;       ///< of each slab
    std::vector<std::unique_ptr<Plan>> slab_plans;  ///< the plans themselves, of slabs of unlike heights
    std::unique_ptr<RegionPlan> regions;            ///< null where the whole frame is filtered
    RegionTreatment treatment;
  };

  void drop_plans() noexcept;
  Prepared prepare(Backend& backend, const std::shared_ptr<const Recipe>& recipe, bool reversed) const;
  std::unique_ptr<Plan> make_plan(Backend& backend, const Prepared& with, const FrameLayout& layout,
                                  bool announced) const;
  bool asks_for_the_same(const std::shared_ptr<const Recipe>& recipe, bool reversed) const;
  bool is_interlaced(GstBuffer* buffer) const;
  /// `areas` empty: the whole frame; else at least those parts of it.
  void enqueue(const Window& window, bool interlaced, const Image& out, std::span<const PixelRect> areas = {});
  void enqueue(Plan& plan, const Window& window, const Image& out, std::span<const PixelRect> areas = {});
  void apply_regions(FrameWindow& window, const Image& frame);
  void make_slabs(Backend& backend, Prepared& next) const;
  void enqueue_slab(const Slab& slab, const Window& window, const Image& out);

  GstElement* element_;
  std::unique_ptr<FrameMemory> memory_;

  bool has_format_ = false;
  bool in_system_memory_ = true;  ///< frames are not in CUDA memory
  GstVideoInfo info_{};
  FrameLayout layout_;  ///< of the whole frame

  Prepared now_;
  bool changes_nothing_ = false;
  std::unique_ptr<LumaDifference> luma_difference_;  ///< null until it is asked for
  RegionTracker tracker_;
  std::vector<PixelRect> field_areas_;  ///< areas in rows of a field
};

}  // namespace convolve
