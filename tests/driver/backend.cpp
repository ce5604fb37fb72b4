// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A stand-in for the CUDA backend, for tests of the plugin on a machine without a GPU: it takes the place of
// kernels/cuda and asks the driver for what that asks for (a trial launch, memory for the filter, a launch a frame),
// but its "kernel" is a plan of the CPU backend that runs on the stand-in driver's memory when the stream comes to it.
#include "convolve/backend.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "cuda/common/table.hpp"
#include "standin.hpp"

namespace convolve {
namespace {

/// Launches one of the functions below as if it were a kernel.
cudaError_t launch(StandinKernel kernel, void* parameters, std::size_t bytes, void* stream) {
  static const auto driver = [] {
    void* library = dlopen("libcuda.so.1", RTLD_LAZY);
    return library ? reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(library, "cuLaunchKernel")) : nullptr;
  }();
  if (!driver) return cudaErrorInsufficientDriver;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  return static_cast<cudaError_t>(
      driver(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, static_cast<CUstream>(stream), nullptr, extra));
}

/// What a launch works with. Kernels of CUDA have all that they need in their parameters and in device memory, and so
/// may outlive their plan; this stays until the backend goes.
struct Body {
  std::unique_ptr<Plan> plan;
  FrameLayout layout;
  std::vector<double> taps;
};

/// Bodies that are still there, so that a launch that outlives its backend is found out.
struct Living {
  std::mutex mutex;
  std::set<const void*> bodies;
  static Living& get() {
    static auto* const living = new Living;
    return *living;
  }
};

/// Replaces the planes' device addresses; false where a sample lies beyond its block.
bool to_host(Image& image, const FrameLayout& layout, StandinReach reach, void* context) {
  for (int p = 0; p < layout.planes; ++p) {
    if (layout.plane[p].components == 0) continue;
    PlaneView& view = image.plane[p];
    std::int64_t samples = 0;
    int rows = 0;
    for (int c = 0; c < layout.plane[p].components; ++c) {
      const Component& component = layout.plane[p].component[c];
      samples = std::max<std::int64_t>(samples, component.offset + (component.width - 1) * component.step + 1);
      rows = std::max(rows, component.height);
    }
    const std::int64_t below = view.stride < 0 ? (rows - 1) * -view.stride : 0;
    const std::int64_t above = view.stride > 0 ? (rows - 1) * view.stride : 0;
    const auto first = reinterpret_cast<std::uint64_t>(view.data) - static_cast<std::uint64_t>(below);
    const auto bytes = static_cast<std::size_t>(below + above + samples * bytes_per_sample(layout.type));
    void* host = reach(context, first, bytes);
    if (!host) return false;
    view.data = static_cast<std::byte*>(host) + below;
  }
  return true;
}

class StandinPlan final : public Plan {
 public:
  StandinPlan(Body& body, const std::shared_ptr<cuda::TablePool>& tables, Algorithm algorithm)
      : body_(body), taps_(tables, body.taps), algorithm_(algorithm) {
    if (is_free_choice(algorithm_)) algorithm_ = Algorithm::cached_halo;
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = taps_.send(stream)) return error;
    Launch parameters;
    parameters.body = &body_;
    parameters.taps = taps_.get();
    parameters.depth = window.depth;
    for (int t = 0; t < window.depth; ++t) {
      parameters.present[t] = window.image[t] != nullptr;
      if (window.image[t]) parameters.image[t] = *window.image[t];
    }
    parameters.out = out;
    const cudaError_t error = launch(run, &parameters, sizeof parameters, stream);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
  }

  Algorithm algorithm() const override { return algorithm_; }
  std::string describe() const override { return "stand-in for CUDA: " + body_.plan->describe(); }

 private:
  struct Launch {
    Body* body = nullptr;
    const double* taps = nullptr;  ///< on the device
    int depth = 0;
    std::array<bool, max_depth> present{};
    std::array<Image, max_depth> image{};
    Image out;
  };

  static bool run(void* buffer, StandinReach reach, void* context) {
    Launch launch = *static_cast<Launch*>(buffer);
    {
      const std::lock_guard lock(Living::get().mutex);
      if (!Living::get().bodies.contains(launch.body)) return false;
    }
    // The filter's memory is there, and holds this filter: not what it was before its copy came, nor the next one.
    const std::vector<double>& taps = launch.body->taps;
    const void* held = reach(context, reinterpret_cast<std::uint64_t>(launch.taps), taps.size() * sizeof(double));
    if (!held || std::memcmp(held, taps.data(), taps.size() * sizeof(double)) != 0) return false;
    Window window;
    window.depth = launch.depth;
    for (int t = 0; t < launch.depth; ++t) {
      if (!launch.present[t]) continue;
      if (!to_host(launch.image[t], launch.body->layout, reach, context)) return false;
      window.image[t] = &launch.image[t];
    }
    if (!to_host(launch.out, launch.body->layout, reach, context)) return false;
    return launch.body->plan->enqueue(window, launch.out, nullptr) == nullptr;
  }

  Body& body_;
  cuda::Table<double> taps_;  ///< the memory that a CUDA plan has for its filter
  Algorithm algorithm_;
};

/// Treats regions: each frame's are kept, since the launch that reads them may run when the next ones are set.
class StandinRegionPlan final : public RegionPlan {
 public:
  StandinRegionPlan(Backend& cpu, const RegionDesc& desc) : cpu_(cpu), desc_(desc) {}
  ~StandinRegionPlan() override {
    const std::lock_guard lock(Living::get().mutex);
    for (const auto& frame : frames_) Living::get().bodies.erase(frame.get());
  }

  bool set_regions(std::span<const Region> regions, const RegionTreatment& treatment) override {
    frames_.push_back(cpu_.make_region_plan(desc_));
    const std::lock_guard lock(Living::get().mutex);
    Living::get().bodies.insert(frames_.back().get());
    return frames_.back()->set_regions(regions, treatment);
  }
  std::span<const PixelRect> areas() const override { return frames_.back()->areas(); }
  const char* apply(const Image& frame, const Image* filtered, void* stream) noexcept override {
    Launch parameters{frames_.back().get(), &desc_.layout, frame, filtered ? *filtered : Image{}};
    const cudaError_t error = launch(run, &parameters, sizeof parameters, stream);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
  }

 private:
  struct Launch {
    RegionPlan* plan;
    const FrameLayout* layout;
    Image frame, filtered;
  };

  static bool run(void* buffer, StandinReach reach, void* context) {
    Launch launch = *static_cast<Launch*>(buffer);
    {
      const std::lock_guard lock(Living::get().mutex);
      if (!Living::get().bodies.contains(launch.plan)) return false;
    }
    if (!to_host(launch.frame, *launch.layout, reach, context)) return false;
    if (launch.filtered.plane[0].data && !to_host(launch.filtered, *launch.layout, reach, context)) return false;
    return launch.plan->apply(launch.frame, &launch.filtered, nullptr) == nullptr;
  }

  Backend& cpu_;
  RegionDesc desc_;
  std::vector<std::unique_ptr<RegionPlan>> frames_;
};

/// Compares two frames with the CPU's loop when the stream comes to it, and writes to the host only then.
class StandinLumaDifference final : public LumaDifference {
 public:
  StandinLumaDifference(std::unique_ptr<LumaDifference> cpu, const LumaDesc& desc) : cpu_(std::move(cpu)) {
    layout_.type = desc.type;
    for (int i = 0; i < desc.terms; ++i) {
      const LumaTerm& term = desc.term[i];
      PlaneLayout& plane = layout_.plane[term.plane];
      plane.component[plane.components++] = {
          .offset = term.offset, .step = term.step, .width = desc.width, .height = desc.height};
      layout_.planes = std::max(layout_.planes, term.plane + 1);
    }
    const std::lock_guard lock(Living::get().mutex);
    Living::get().bodies.insert(this);
  }
  ~StandinLumaDifference() override {
    const std::lock_guard lock(Living::get().mutex);
    Living::get().bodies.erase(this);
  }

  const char* enqueue(const Image& a, const Image& b, void* stream) noexcept override {
    Launch parameters{this, a, b};
    const cudaError_t error = launch(run, &parameters, sizeof parameters, stream);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
  }
  std::uint64_t sum() const noexcept override { return sum_; }

 private:
  struct Launch {
    StandinLumaDifference* self;
    Image a, b;
  };

  static bool run(void* buffer, StandinReach reach, void* context) {
    Launch launch = *static_cast<Launch*>(buffer);
    {
      const std::lock_guard lock(Living::get().mutex);
      if (!Living::get().bodies.contains(launch.self)) return false;
    }
    StandinLumaDifference& self = *launch.self;
    for (Image* image : {&launch.a, &launch.b})
      if (!to_host(*image, self.layout_, reach, context)) return false;
    if (self.cpu_->enqueue(launch.a, launch.b, nullptr)) return false;
    self.sum_ = self.cpu_->sum();
    return true;
  }

  const std::unique_ptr<LumaDifference> cpu_;
  FrameLayout layout_;     ///< what of the frames is read
  std::uint64_t sum_ = 0;  ///< as page-locked memory holds it
};

constexpr std::array served{
    Algorithm::basic,       Algorithm::constant,  Algorithm::tiled,     Algorithm::cached_halo_seed,
    Algorithm::cached_halo, Algorithm::register_, Algorithm::separable, Algorithm::matrix};

class StandinBackend final : public Backend {
 public:
  StandinBackend() {
    cudaStream_t stream = nullptr;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) {
      error = launch([](void*, StandinReach, void*) { return true; }, nullptr, 0, stream);
      if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
      cudaStreamDestroy(stream);
    }
    if (error == cudaSuccess) return;
    cudaGetLastError();
    throw PlanError(std::string("a trial launch on the GPU failed: ") + cudaGetErrorString(error));
  }

  ~StandinBackend() override {
    const std::lock_guard lock(Living::get().mutex);
    for (const auto& body : bodies_) Living::get().bodies.erase(body.get());
  }

  const char* name() const override { return "cuda"; }
  MemoryKind memory() const override { return MemoryKind::device; }
  std::span<const Algorithm> algorithms() const override { return served; }
  bool serves(Algorithm algorithm, const PlanDesc& desc) const override {
    if (!desc.bank.empty()) return is_free_choice(algorithm) || algorithm == Algorithm::tiled;
    return is_free_choice(algorithm) || std::find(served.begin(), served.end(), algorithm) != served.end();
  }

  std::unique_ptr<Plan> make_plan(const PlanDesc& desc) override {
    validate(desc);
    if (!desc.bank.empty() && !serves(desc.algorithm, desc))
      throw PlanError(std::string("algorithm \"") + nick(desc.algorithm) +
                      "\" does not serve this case: it knows no banks of kernels; these do: auto, tiled");
    if (!serves(desc.algorithm, desc)) {
      std::string text = std::string("algorithm \"") + nick(desc.algorithm) + "\" is not one of the CUDA backend's; " +
                         "these do: auto";
      for (const Algorithm algorithm : served) text += std::string(", ") + nick(algorithm);
      throw PlanError(text);
    }
    PlanDesc on_cpu = desc;
    on_cpu.algorithm = Algorithm::automatic;
    Body& body =
        *bodies_.emplace_back(std::make_unique<Body>(Body{cpu_->make_plan(on_cpu), desc.layout, desc.filter.taps()}));
    {
      const std::lock_guard lock(Living::get().mutex);
      Living::get().bodies.insert(&body);
    }
    // Banks are what `tiled` serves.
    const bool has_bank = !desc.bank.empty();
    return std::make_unique<StandinPlan>(body, tables_, has_bank ? Algorithm::tiled : desc.algorithm);
  }
  std::unique_ptr<RegionPlan> make_region_plan(const RegionDesc& desc) override {
    if (getenv("CUDA_STANDIN_REFUSES_REGIONS")) throw PlanError("the stand-in was told to refuse regions");
    return std::make_unique<StandinRegionPlan>(*cpu_, desc);
  }
  std::unique_ptr<LumaDifference> make_luma_difference(const LumaDesc& desc) override {
    return std::make_unique<StandinLumaDifference>(cpu_->make_luma_difference(desc), desc);
  }

 private:
  std::unique_ptr<Backend> cpu_ = make_cpu_backend(1);
  std::shared_ptr<cuda::TablePool> tables_ = std::make_shared<cuda::TablePool>();
  std::vector<std::unique_ptr<Body>> bodies_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() {
  return std::make_unique<StandinBackend>();
}

}  // namespace convolve
