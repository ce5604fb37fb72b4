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
#include <chrono>
#include <memory>
#include <span>
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
    rows.push_back({"filter", RegionEffect::filter, "NV12", 10, side});
    rows.push_back({"blur", RegionEffect::blur, "NV12", 10, side, RegionShape::ellipse});
    rows.push_back({"blur", RegionEffect::blur, "NV12", 10, side, RegionShape::rectangle, 16});
  }
  return rows;
}

/// What all rows share.
struct Cuda {
  std::unique_ptr<Backend> backend;
  cudaStream_t stream = nullptr;
  std::size_t rotated_bytes = 0;
};

void run(benchmark::State& state, Cuda& cuda, const RegionRow& row, const RegionDesc& desc) {
  if (!cuda.backend) {
    cuda.backend = make_cuda_backend();
    CHECK(cudaStreamCreateWithFlags(&cuda.stream, cudaStreamNonBlocking));
  }
  const DeviceFrames frames(desc.layout, cuda.rotated_bytes);
  const std::unique_ptr<RegionPlan> plan = cuda.backend->make_region_plan(desc);
  const std::vector<Region> regions = row.regions(desc.width, desc.height);
  std::vector<Region> moved = regions;
  for (Region& region : moved) ++region.left, ++region.right;
  RegionTreatment treatment{.effect = row.effect, .feather = row.feather};
  for (auto& plane : treatment.fill) plane.fill(16);
  const char* fault = nullptr;
  const auto apply = [&](int n) {
    for (int i = 0; i < n && !fault; ++i) fault = plan->apply(frames.out(i), frames.window(i, 1).image[0], cuda.stream);
  };
  // The time of the streaming thread, and of all.
  const auto launched = [&](int n, double& thread_us, double& all_us) {
    const auto before = std::chrono::steady_clock::now();
    const auto us = [&] {
      return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before).count() / n;
    };
    for (int i = 0; i < n && !fault; ++i) {
      plan->set_regions(i % 2 ? moved : regions, treatment);
      fault = plan->apply(frames.out(i), frames.window(i, 1).image[0], cuda.stream);
    }
    thread_us = us();
    CHECK(cudaStreamSynchronize(cuda.stream));
    all_us = us();
  };
  constexpr int frames_a_graph = 96;  // even: sums are cleared for the frame after the next
  std::vector<double> us, copy_us, host_us(7), launched_us(7);
  for (std::size_t i = 0; i < host_us.size(); ++i) launched(frames_a_graph, host_us[i], launched_us[i]);
  plan->set_regions(regions, treatment);
  Graph treated(cuda.stream, [&] { apply(frames_a_graph); });
  Graph copies(cuda.stream, [&] {
    for (int i = 0; i < frames_a_graph; ++i) frames.copy(i, cuda.stream);
  });
  if (fault) {
    state.SkipWithError(fault);
    return;
  }
  treated.replay_us();
  copies.replay_us();
  for ([[maybe_unused]] auto iteration : state) {
    us.push_back(treated.replay_us() / frames_a_graph);
    copy_us.push_back(copies.replay_us() / frames_a_graph);
    state.SetIterationTime(us.back() * 1e-6);
  }
  state.counters["us"] = median(us);
  state.counters["copy_us"] = median(copy_us);
  state.counters["times_copy"] = median(us) / median(copy_us);
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
  for (const RegionRow& row : rows())
    for (const LayoutRow& layout : layouts()) {
      if (row.layout != std::string(layout.name)) continue;
      const RegionDesc desc{layout.make(options.width, options.height), options.width, options.height};
      benchmark::RegisterBenchmark(row.name_of("regions-cuda").c_str(),
                                   [cuda, row, desc](benchmark::State& state) { run(state, *cuda, row, desc); })
          ->UseManualTime()
          ->Iterations(options.iterations);
    }
}

}  // namespace convolve::bench
