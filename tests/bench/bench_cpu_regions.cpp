// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Effects on regions of frames in system memory, one thread: by effect, area of the frame and number of regions.
// A row is named regions-cpu1/<effect>/<layout>/<area>-<number of regions>[-<shape>]; frames are treated in place, and
// all of a row's works take turns within each iteration, by the process's CPU time.
//
//   us, copy_us, times_copy   as in the other rows; each frame has its regions set anew
//   opencv_us, vs_opencv      of blur: OpenCV's GaussianBlur over the same regions, and its time over ours
//   whole_us, vs_whole        a separable filter of 15x15 over the whole frame, by the same backend, and its time over
//   ours
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench.hpp"
#include "host_frames.hpp"
#include "opencv_peers.hpp"
#include "region_rows.hpp"
#include "statistics.hpp"

namespace convolve::bench {
namespace {

std::vector<RegionRow> rows() {
  std::vector<RegionRow> rows;
  for (const int percent : {1, 10, 25, 50, 100})
    for (const int side : {1, 4, 16}) rows.push_back({"blur", RegionEffect::blur, "NV12", percent, side});
  for (const char* layout : {"GRAY8", "RGB"}) rows.push_back({"blur", RegionEffect::blur, layout, 10, 1});
  for (const int side : {1, 4}) {
    rows.push_back({"pixelate", RegionEffect::pixelate, "NV12", 10, side});
    rows.push_back({"fill", RegionEffect::fill, "NV12", 10, side});
    rows.push_back({"filter", RegionEffect::filter, "NV12", 10, side});
    rows.push_back({"blur", RegionEffect::blur, "NV12", 10, side, RegionShape::ellipse});
  }
  return rows;
}

PlanDesc whole_frame(const FrameLayout& layout) {
  PlanDesc desc;
  desc.layout = layout;
  for (const TapsRow& taps : tap_classes())
    if (taps.nick == std::string("separable-real")) desc.filter = taps.make(1, 15);
  return desc;
}

void run(benchmark::State& state, Backend& backend, const RegionRow& row, const RegionDesc& desc) {
  const HostFrames frames(desc.layout);
  const std::unique_ptr<RegionPlan> plan = backend.make_region_plan(desc);
  const std::unique_ptr<Plan> whole = backend.make_plan(whole_frame(desc.layout));
  const std::vector<Region> regions = row.regions(desc.width, desc.height);
  RegionTreatment treatment{.effect = row.effect, .feather = row.feather};
  for (auto& plane : treatment.fill) plane.fill(16);
  const std::function<void(const Image&)> peer =
      row.effect == RegionEffect::blur ? opencv_region_blur(desc, regions, treatment.cells) : nullptr;
  const char* fault = nullptr;
  const auto treat = [&](int i) {
    plan->set_regions(regions, treatment);
    if (row.effect == RegionEffect::filter)
      fault = whole->enqueue_areas(frames.window(i, 1), frames.out(i), plan->areas(), nullptr);
    if (!fault) fault = plan->apply(frames.in(i), &frames.out(i), nullptr);
  };
  const auto timed = [](const std::function<void()>& work) {
    const double start = clock_us(true);
    work();
    return clock_us(true) - start;
  };
  std::vector<double> us, copy_us, peer_us, whole_us;
  treat(0);
  int i = 1;
  for ([[maybe_unused]] auto iteration : state) {
    us.push_back(timed([&] { treat(i); }));
    copy_us.push_back(timed([&] { frames.copy(i + 1); }));
    if (peer) peer_us.push_back(timed([&] { peer(frames.in(i + 2)); }));
    whole_us.push_back(timed([&] {
      if (!fault) fault = whole->enqueue(frames.window(i + 3, 1), frames.out(i + 3), nullptr);
    }));
    state.SetIterationTime(us.back() * 1e-6);
    ++i;
  }
  if (fault) {
    state.SkipWithError(fault);
    return;
  }
  state.counters["us"] = median(us);
  state.counters["copy_us"] = median(copy_us);
  state.counters["times_copy"] = median(us) / median(copy_us);
  state.counters["whole_us"] = median(whole_us);
  state.counters["vs_whole"] = median(whole_us) / median(us);
  if (!peer) return;
  state.counters["opencv_us"] = median(peer_us);
  state.counters["vs_opencv"] = median(peer_us) / median(us);
}

}  // namespace

void register_cpu_regions(const Options& options) {
  const std::shared_ptr<Backend> backend = make_cpu_backend(1);
  register_rows("regions-cpu1", rows(), options,
                [backend](benchmark::State& state, const RegionRow& row, const RegionDesc& desc) {
                  run(state, *backend, row, desc);
                });
}

}  // namespace convolve::bench
