// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// conformance_areas [--backend=cpu|cuda] [--cases=N] [--seed=N]: a filter of random parts of a frame gives there what
// the filter of the whole frame gives, with every algorithm. On the CPU to the bit, by one thread and by several, and
// also through the views that CUDA filters parts by. On CUDA to the bit where the case is exact; else another kernel
// may serve the smaller view, and both are within one code value of the exact result. Filters of whole frames are
// compared with the oracle by the program "conformance".
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cases.hpp"
#include "open_backend.hpp"
#include "options.hpp"
#include "random.hpp"
#include "regions/area_merger.hpp"
#ifdef CONVOLVE_HAVE_CUDA
#include "cuda/views/areas.hpp"
#endif

namespace {

using namespace conformance;
using convolve::Component;
using convolve::PixelRect;

// In memory that ends where its planes do, and in the host's.
struct Frame {
  std::vector<std::vector<unsigned char>> bytes;
  convolve::Image image;
  std::vector<Block> blocks;

  Frame(const convolve::FrameLayout& layout, Memory& memory, Random& random) {
    const int multiple = random.chance(0.5) ? 64 : 1;  // words of a row: for vectors, or any
    const int size = bytes_per_sample(layout.type), value_bits = layout.bits + layout.shift;
    for (int p = 0; p < layout.planes; ++p) {
      int words = 0, height = 0;
      for (int c = 0; c < layout.plane[p].components; ++c) {
        const Component& k = layout.plane[p].component[c];
        words = std::max(words, k.offset + (k.width - 1) * k.step + 1);
        height = std::max(height, k.height);
      }
      words = (words + multiple - 1) / multiple * multiple;
      bytes.emplace_back(static_cast<std::size_t>(words) * size * height);
      for (unsigned char& byte : bytes.back()) byte = static_cast<unsigned char>(random.next());
      if (size == 2 && value_bits < 16)
        for (std::size_t i = 1; i < bytes.back().size(); i += 2) bytes.back()[i] &= (1 << (value_bits - 8)) - 1;
      blocks.emplace_back(memory, bytes[p].size());
      memory.upload(blocks[p].data(), std::as_bytes(std::span(bytes[p])));
      image.plane[p] = {blocks[p].data(), static_cast<std::ptrdiff_t>(words) * size};
    }
  }
  void fetch(Memory& memory) {
    for (std::size_t p = 0; p < bytes.size(); ++p)
      memory.download(std::as_writable_bytes(std::span(bytes[p])), blocks[p].data());
  }
  int sample(int plane, const Component& k, int x, int y, int size) const {
    const unsigned char* at =
        &bytes[plane][y * image.plane[plane].stride + (k.offset + static_cast<std::size_t>(x) * k.step) * size];
    return size == 1 ? at[0] : at[0] | at[1] << 8;
  }
};

std::vector<PixelRect> random_areas(int width, int height, Random& random) {
  const bool few = random.chance(0.5);
  std::vector<PixelRect> areas(few ? random.integer(1, 3) : random.integer(1, 12));
  for (PixelRect& area : areas) {
    area.left = random.integer(-3, width - 1);
    area.top = random.integer(-3, height - 1);
    area.right = area.left + random.integer(1, !few && random.chance(0.3) ? width : std::max(1, width / 5));
    area.bottom = area.top + random.integer(1, !few && random.chance(0.3) ? height : std::max(1, height / 5));
  }
  return areas;
}

bool covers(const PixelRect& area, int left, int top, int right, int bottom) {
  return area.left < right && area.right > left && area.top < bottom && area.bottom > top;
}

// Empty, or where the two differ within the areas. A sample covers as many pixels as its component is smaller.
// `to_the_bit`: else, what is not exact may be two code values apart.
std::string compare(const Case& c, bool to_the_bit, int width, int height, const std::vector<PixelRect>& areas,
                    const Frame& whole, const Frame& part) {
  const convolve::FrameLayout& layout = c.desc.layout;
  const auto step = [](int pixels, int samples) {
    int n = 1;
    while ((pixels + n - 1) / n > samples) n *= 2;
    return n;
  };
  const int size = bytes_per_sample(layout.type);
  for (int p = 0; p < layout.planes; ++p)
    for (int i = 0; i < layout.plane[p].components; ++i) {
      const Component& k = layout.plane[p].component[i];
      if (!k.filtered) continue;
      const bool exact = to_the_bit || is_exact(c, k);
      const int sx = step(width, k.width), sy = step(height, k.height);
      for (int y = 0; y < k.height; ++y)
        for (int x = 0; x < k.width; ++x) {
          if (std::none_of(areas.begin(), areas.end(), [&](const PixelRect& area) {
                return covers(area, x * sx, y * sy, (x + 1) * sx, (y + 1) * sy);
              }))
            continue;
          const int difference = whole.sample(p, k, x, y, size) - part.sample(p, k, x, y, size);
          const bool same = exact && (to_the_bit || !sees_fractional_ghost(c, k, x, y));
          if (std::abs(difference) > (same ? 0 : 2 << layout.shift))
            return "plane " + std::to_string(p) + " component " + std::to_string(i) + " x=" + std::to_string(x) +
                   " y=" + std::to_string(y) + ": off by " + std::to_string(difference);
        }
    }
  return {};
}

// A backend, and the memory of its frames.
struct Runner {
  convolve::Backend* backend;
  Memory* memory;
  bool to_the_bit;
  bool by_views = false;  ///< parts go through the views that CUDA has, whatever the backend

  std::unique_ptr<convolve::Plan> make_plan(const convolve::PlanDesc& desc) const {
    auto plan = backend->make_plan(desc);
#ifdef CONVOLVE_HAVE_CUDA
    if (by_views)
      return convolve::cuda::make_area_plan(
          std::move(plan), desc, [this](const convolve::PlanDesc& part) { return backend->make_plan(part); });
#endif
    return plan;
  }
};

std::string run(const Case& c, const Runner& runner, Random& random) {
  const convolve::PlanDesc& desc = c.desc;
  Memory& memory = *runner.memory;
  int width = 0, height = 0;
  for (int p = 0; p < desc.layout.planes; ++p)
    for (int k = 0; k < desc.layout.plane[p].components; ++k) {
      width = std::max(width, desc.layout.plane[p].component[k].width);
      height = std::max(height, desc.layout.plane[p].component[k].height);
    }
  std::vector<Frame> inputs;
  for (int t = 0; t < desc.filter.depth(); ++t) inputs.emplace_back(desc.layout, memory, random);
  convolve::Window window;
  window.depth = desc.filter.depth();
  for (int t = 0; t < window.depth; ++t)
    if (!(c.ghosts >> t & 1)) window.image[t] = &inputs[t].image;
  Frame whole(desc.layout, memory, random), part(desc.layout, memory, random);
  const auto plan = runner.make_plan(desc);
  if (const char* fault = plan->enqueue(window, whole.image, memory.stream(0))) return fault;
  for (int turn = 0; turn < 2; ++turn) {
    const std::vector<PixelRect> areas = random_areas(width, height, random);
    if (const char* fault = plan->enqueue_areas(window, part.image, areas, memory.stream(0))) return fault;
    if (const std::string failure = memory.synchronize(); !failure.empty()) throw std::runtime_error(failure);
    whole.fetch(memory);
    part.fetch(memory);
    const std::string wrong = compare(c, runner.to_the_bit, width, height, areas, whole, part);
    if (!wrong.empty()) return plan->describe() + ", " + std::to_string(areas.size()) + " areas: " + wrong;
  }
  return {};
}

// What comes of merging covers all that went in, and nothing twice.
std::string merge(Random& random) {
  const int width = random.integer(1, 300), height = random.integer(1, 200);
  std::vector<PixelRect> areas = random_areas(width, height, random);
  if (random.chance(0.3)) areas.push_back({-2000000000, -2000000000, 2000000000, 2000000000});
  convolve::AreaMerger merger;
  std::vector<int> times(static_cast<std::size_t>(width) * height);
  for (const PixelRect& r : merger.merge(areas, width, height)) {
    if (r.left < 0 || r.top < 0 || r.right > width || r.bottom > height) return "merged areas leave the frame";
    for (int y = r.top; y < r.bottom; ++y)
      for (int x = r.left; x < r.right; ++x) ++times[static_cast<std::size_t>(y) * width + x];
  }
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int found = times[static_cast<std::size_t>(y) * width + x];
      if (found > 1) return "merged areas overlap";
      const bool asked = std::any_of(areas.begin(), areas.end(),
                                     [&](const PixelRect& area) { return covers(area, x, y, x + 1, y + 1); });
      if (asked && found == 0) return "merged areas leave something out";
    }
  return {};
}

// The case with a frame of another size.
Case resized(const Case& c, int width, int height, Random& random) {
  Case other = c;
  const LayoutRow* row = nullptr;
  do row = &random.pick(layouts());
  while (row->type == convolve::SampleType::f32);
  other.desc.layout = make_layout(*row, width, height, {0, 0});
  other.name = c.name + ", as " + row->name + " of " + std::to_string(width) + "x" + std::to_string(height);
  return other;
}

// What all runners do.
struct Runners {
  std::vector<Runner> small, large;
  int runs = 0, failures = 0;

  void report(const std::string& name, const std::string& wrong) {
    ++runs;
    if (!wrong.empty() && ++failures <= 10) std::printf("FAILED: %s\n    %s\n", name.c_str(), wrong.c_str());
  }
  void run_case(std::uint64_t seed, int number) {
    Random random(seed);
    report("merge, seed " + std::to_string(seed), merge(random));
    const Case drawn = random_case(seed);
    // Layouts that no video has may not be subsampled by powers of two: there pixels have no samples of their own.
    if (drawn.desc.layout.type == convolve::SampleType::f32 || drawn.name.starts_with("any-layout")) return;
    for (const Runner& runner : small) {
      const bool views = runner.by_views || runner.backend->memory() == convolve::MemoryKind::device;
      Case c = views ? resized(drawn, random.integer(64, 500), random.integer(16, 200), random) : drawn;
      for (const convolve::Algorithm algorithm : runner.backend->algorithms()) {
        c.desc.algorithm = algorithm;
        if (runner.backend->serves(algorithm, c.desc)) report(c.name, run(c, runner, random));
      }
    }
    // Large enough for several workers, or for several views.
    if (number % 25 != 0) return;
    for (const Runner& runner : large) {
      const bool views = runner.by_views || runner.backend->memory() == convolve::MemoryKind::device;
      Case c = resized(drawn, views ? 2100 : 1200, views ? 1300 : 700, random);
      c.desc.algorithm = convolve::Algorithm::automatic;
      report(c.name, run(c, runner, random));
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = random_options(argc, argv, {.backend = "cpu", .cases = 1500, .seed = 20261123}, has_cuda);
  if (!options) return 2;
  const std::string& backend = options->backend;
  OpenBackend one, several, gpu;
  Runners runners;
  if (backend == "cpu") {
    one = open_cpu(1), several = open_cpu(4);
    runners.small = {{one.backend.get(), one.memory.get(), true}};
    runners.large = {{several.backend.get(), several.memory.get(), true}};
    if (has_cuda) {
      runners.small.push_back({one.backend.get(), one.memory.get(), true, true});
      runners.large.push_back({several.backend.get(), several.memory.get(), true, true});
    }
  } else {
    try {
      gpu = open_cuda();
    } catch (const std::exception& error) {
      std::printf("skipped: %s\n", error.what());
      return 77;
    }
    runners.small = runners.large = {{gpu.backend.get(), gpu.memory.get(), false}};
  }
  try {
    for (int i = 0; i < options->cases; ++i) runners.run_case(options->case_seed(i), i);
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  std::printf("%s: %d runs, %d failed\n", backend.c_str(), runners.runs, runners.failures);
  return runners.failures == 0 && runners.runs > 0 ? 0 : 1;
}
