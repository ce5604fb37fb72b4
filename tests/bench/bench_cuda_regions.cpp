// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Effects on regions of frames in device memory: by effect, area of the frame and number of regions, beside copies of
// as large a frame. Both are graphs, replayed in turns; frames are treated in place. A row is named
// regions-cuda/<effect>/<layout>/<area>-<number of regions>[-<shape>].
//
//   us, copy_us, times_copy   as in the other rows. Lists too long for a kernel's parameters are sent once a graph.
//   launched_us               a frame's time where each has its regions set anew, a pixel off those of the frame
//                             before, and its work launched, as in a stream
//   enqueue_us                the streaming thread's part of that
//   whole_us                  of the effect filter: the filter of the whole frame alone, in turns with the others
//
// Frames of the effect filter are filtered into one scratch frame, as the element does, and blended from there.
#include <chrono>
#include <memory>
#include <string>

#include "bench.hpp"
#include "cuda_frames.hpp"
#include "region_rows.hpp"
#include "statistics.hpp"

namespace convolve::bench {
namespace {

std::vector<RegionRow> rows() {
  std::vector<RegionRow> rows;
  for (const int percent : {1, 10, 25, 50, 100})
    for (const int side : {1, 4, 16}) rows.push_back({"blur", RegionEffect::blur, "NV12", percent, side});
  for (const char* layout : {"GRAY8", "RGB", "RGBA", "P010", "YUY2"})
    rows.push_back({"blur", RegionEffect::blur, layout, 10, 1});
  for (const int side : {1, 4}) {
    rows.push_back({"pixelate", RegionEffect::pixelate, "NV12", 10, side});
    rows.push_back({"fill", RegionEffect::fill, "NV12", 10, side});
    rows.push_back({"blur", RegionEffect::blur, "NV12", 10, side, RegionShape::ellipse});
    rows.push_back({"blur", RegionEffect::blur, "NV12", 10, side, RegionShape::rectangle, 16});
    for (const int percent : {1, 10, 25, 50, 100}) {
      rows.push_back({"filter", RegionEffect::filter, "NV12", percent, side});
      rows.push_back({"filter-15x15", RegionEffect::filter, "NV12", percent, side});
    }
  }
  return rows;
}

/// The filter of a row: a sharpening 3x3, or a separable one of real taps.
PlanDesc filter_of(const RegionRow& row, const FrameLayout& layout) {
  const bool large = row.name != std::string("filter");
  PlanDesc desc;
  desc.layout = layout;
  for (const TapsRow& taps : tap_classes())
    if (taps.nick == std::string(large ? "separable-real" : "integer")) desc.filter = taps.make(1, large ? 15 : 3);
  return desc;
}

/// What all rows share.
struct Cuda {
  std::unique_ptr<Backend> backend;
  cudaStream_t stream = nullptr;
  std::size_t rotated_bytes = 0;
};

constexpr int frames_a_graph = 96;  // even: sums are cleared for the frame after the next

/// A row's plan, its regions, and its frames.
class Treatment {
 public:
  Treatment(Cuda& cuda, const RegionRow& row, const RegionDesc& desc)
      : stream_(cuda.stream),
        frames_(desc.layout, cuda.rotated_bytes),
        plan_(cuda.backend->make_region_plan(desc)),
        regions_(row.regions(desc.width, desc.height)),
        moved_(regions_),
        treatment_{.effect = row.effect, .feather = row.feather},
        scratch_(*frames_.window(0, 1).image[0]) {
    if (row.effect == RegionEffect::filter) filter_ = cuda.backend->make_plan(filter_of(row, desc.layout));
    for (Region& region : moved_) ++region.left, ++region.right;
    for (auto& plane : treatment_.fill) plane.fill(16);
  }

  bool filters() const { return filter_ != nullptr; }
  const char* fault() const { return fault_; }
  void set_regions() { plan_->set_regions(regions_, treatment_); }
  void treat() {
    for (int i = 0; i < frames_a_graph; ++i) treat(i);
  }
  void filter_whole() {
    for (int i = 0; i < frames_a_graph && filter_ && !fault_; ++i)
      fault_ = filter_->enqueue(frames_.window(i, 1), frames_.out(i), stream_);
  }
  void copy() {
    for (int i = 0; i < frames_a_graph; ++i) frames_.copy(i, stream_);
  }
  /// A frame's time of the streaming thread, and of all.
  void launch(double& thread_us, double& all_us) {
    const auto before = std::chrono::steady_clock::now();
    const auto us = [&] {
      const auto passed = std::chrono::steady_clock::now() - before;
      return std::chrono::duration<double, std::micro>(passed).count() / frames_a_graph;
    };
    for (int i = 0; i < frames_a_graph && !fault_; ++i) {
      plan_->set_regions(i % 2 ? moved_ : regions_, treatment_);
      treat(i);
    }
    thread_us = us();
    CHECK(cudaStreamSynchronize(stream_));
    all_us = us();
  }

 private:
  void treat(int i) {
    const Image& frame = frames_.out(i);
    Window window{.depth = 1};
    window.image[0] = &frame;
    if (filter_ && !fault_) fault_ = filter_->enqueue_areas(window, scratch_, plan_->areas(), stream_);
    if (!fault_) fault_ = plan_->apply(frame, &scratch_, stream_);
  }

  cudaStream_t stream_;
  DeviceFrames frames_;
  std::unique_ptr<RegionPlan> plan_;
  std::unique_ptr<Plan> filter_;
  std::vector<Region> regions_, moved_;
  RegionTreatment treatment_;
  Image scratch_;
  const char* fault_ = nullptr;
};

void run(benchmark::State& state, Cuda& cuda, const RegionRow& row, const RegionDesc& desc) {
  if (!cuda.backend) {
    cuda.backend = make_cuda_backend();
    CHECK(cudaStreamCreateWithFlags(&cuda.stream, cudaStreamNonBlocking));
  }
  Treatment treatment(cuda, row, desc);
  std::vector<double> us, copy_us, whole_us, host_us(7), launched_us(7);
  for (std::size_t i = 0; i < host_us.size(); ++i) treatment.launch(host_us[i], launched_us[i]);
  treatment.set_regions();
  Graph treated(cuda.stream, [&] { treatment.treat(); });
  Graph copies(cuda.stream, [&] { treatment.copy(); });
  Graph whole(cuda.stream, [&] { treatment.filter_whole(); });
  if (treatment.fault()) {
    state.SkipWithError(treatment.fault());
    return;
  }
  for (Graph* graph : {&treated, &copies, &whole}) graph->replay_us();
  for ([[maybe_unused]] auto iteration : state) {
    us.push_back(treated.replay_us() / frames_a_graph);
    copy_us.push_back(copies.replay_us() / frames_a_graph);
    whole_us.push_back(whole.replay_us() / frames_a_graph);
    state.SetIterationTime(us.back() * 1e-6);
  }
  state.counters["us"] = median(us);
  state.counters["copy_us"] = median(copy_us);
  state.counters["times_copy"] = median(us) / median(copy_us);
  if (treatment.filters()) state.counters["whole_us"] = median(whole_us);
  state.counters["enqueue_us"] = median(host_us);
  state.counters["launched_us"] = median(launched_us);
  char label[96];
  std::snprintf(label, sizeof label, "copy %.2f us; launched %.2f us, %.2f of them the streaming thread's",
                median(copy_us), median(launched_us), median(host_us));
  state.SetLabel(label);
}

}  // namespace

void register_cuda_regions(const Options& options, std::size_t rotated_bytes) {
  auto cuda = std::make_shared<Cuda>();
  cuda->rotated_bytes = rotated_bytes;
  register_rows(
      "regions-cuda", rows(), options,
      [cuda](benchmark::State& state, const RegionRow& row, const RegionDesc& desc) { run(state, *cuda, row, desc); });
}

}  // namespace convolve::bench
