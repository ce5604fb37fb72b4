// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// conformance_areas [--cases=N] [--seed=N]: a filter of random parts of a frame gives there what the filter of the
// whole frame gives, to the bit, with every CPU algorithm, by one thread and by several. Filters of whole frames are
// compared with the oracle by the program "conformance".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cases.hpp"
#include "convolve/backend.hpp"
#include "options.hpp"
#include "random.hpp"
#include "regions/area_merger.hpp"

namespace {

using namespace conformance;
using convolve::Component;
using convolve::PixelRect;

struct Frame {
  std::vector<std::vector<unsigned char>> bytes;
  convolve::Image image;

  Frame(const convolve::FrameLayout& layout, Random& random) {
    const int size = bytes_per_sample(layout.type), value_bits = layout.bits + layout.shift;
    for (int p = 0; p < layout.planes; ++p) {
      int words = 0, height = 0;
      for (int c = 0; c < layout.plane[p].components; ++c) {
        const Component& k = layout.plane[p].component[c];
        words = std::max(words, k.offset + (k.width - 1) * k.step + 1);
        height = std::max(height, k.height);
      }
      bytes.emplace_back(static_cast<std::size_t>(words) * size * height);
      for (unsigned char& byte : bytes.back()) byte = static_cast<unsigned char>(random.next());
      if (size == 2 && value_bits < 16)
        for (std::size_t i = 1; i < bytes.back().size(); i += 2) bytes.back()[i] &= (1 << (value_bits - 8)) - 1;
      image.plane[p] = {bytes[p].data(), static_cast<std::ptrdiff_t>(words) * size};
    }
  }
};

std::vector<PixelRect> random_areas(int width, int height, Random& random) {
  std::vector<PixelRect> areas(random.integer(1, 12));
  for (PixelRect& area : areas) {
    area.left = random.integer(-3, width - 1);
    area.top = random.integer(-3, height - 1);
    area.right = area.left + random.integer(1, random.chance(0.3) ? width : std::max(1, width / 5));
    area.bottom = area.top + random.integer(1, random.chance(0.3) ? height : std::max(1, height / 5));
  }
  return areas;
}

bool covers(const PixelRect& area, int left, int top, int right, int bottom) {
  return area.left < right && area.right > left && area.top < bottom && area.bottom > top;
}

// Empty, or where the two differ within the areas. A sample covers as many pixels as its component is smaller.
std::string compare(const convolve::FrameLayout& layout, int width, int height, const std::vector<PixelRect>& areas,
                    const Frame& whole, const Frame& part) {
  const auto step = [](int pixels, int samples) {
    int n = 1;
    while ((pixels + n - 1) / n > samples) n *= 2;
    return n;
  };
  const int size = bytes_per_sample(layout.type);
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c) {
      const Component& k = layout.plane[p].component[c];
      if (!k.filtered) continue;
      const int sx = step(width, k.width), sy = step(height, k.height);
      for (int y = 0; y < k.height; ++y)
        for (int x = 0; x < k.width; ++x) {
          if (std::none_of(areas.begin(), areas.end(), [&](const PixelRect& area) {
                return covers(area, x * sx, y * sy, (x + 1) * sx, (y + 1) * sy);
              }))
            continue;
          const std::size_t at =
              y * whole.image.plane[p].stride + (k.offset + static_cast<std::size_t>(x) * k.step) * size;
          if (!std::equal(&whole.bytes[p][at], &whole.bytes[p][at] + size, &part.bytes[p][at]))
            return "plane " + std::to_string(p) + " component " + std::to_string(c) + " x=" + std::to_string(x) +
                   " y=" + std::to_string(y);
        }
    }
  return {};
}

std::string run(const convolve::PlanDesc& desc, unsigned ghosts, convolve::Backend& backend, Random& random) {
  int width = 0, height = 0;
  for (int p = 0; p < desc.layout.planes; ++p)
    for (int c = 0; c < desc.layout.plane[p].components; ++c) {
      width = std::max(width, desc.layout.plane[p].component[c].width);
      height = std::max(height, desc.layout.plane[p].component[c].height);
    }
  std::vector<Frame> inputs;
  for (int t = 0; t < desc.filter.depth(); ++t) inputs.emplace_back(desc.layout, random);
  convolve::Window window;
  window.depth = desc.filter.depth();
  for (int t = 0; t < window.depth; ++t)
    if (!(ghosts >> t & 1)) window.image[t] = &inputs[t].image;
  Frame whole(desc.layout, random), part(desc.layout, random);
  const auto plan = backend.make_plan(desc);
  if (const char* fault = plan->enqueue(window, whole.image, nullptr)) return fault;
  for (int turn = 0; turn < 2; ++turn) {
    const std::vector<PixelRect> areas = random_areas(width, height, random);
    if (const char* fault = plan->enqueue_areas(window, part.image, areas, nullptr)) return fault;
    const std::string wrong = compare(desc.layout, width, height, areas, whole, part);
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

}  // namespace

int main(int argc, char** argv) {
  const auto options = random_options(argc, argv, {.cases = 1500, .seed = 20261123}, false);
  if (!options) return 2;
  const auto& [backend, cases, first] = *options;
  const auto one = convolve::make_cpu_backend(1), several = convolve::make_cpu_backend(4);
  int runs = 0, failures = 0;
  const auto report = [&](const std::string& name, const std::string& wrong) {
    ++runs;
    if (!wrong.empty() && ++failures <= 10) std::printf("FAILED: %s\n    %s\n", name.c_str(), wrong.c_str());
  };
  for (int i = 0; i < cases; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    Random random(seed);
    report("merge, seed " + std::to_string(seed), merge(random));
    const Case drawn = random_case(seed);
    // Layouts that no video has may not be subsampled by powers of two: there pixels have no samples of their own.
    if (drawn.desc.layout.type == convolve::SampleType::f32 || drawn.name.starts_with("any-layout")) continue;
    convolve::PlanDesc desc = drawn.desc;
    for (const convolve::Algorithm algorithm : one->algorithms()) {
      desc.algorithm = algorithm;
      if (one->serves(algorithm, desc)) report(drawn.name, run(desc, drawn.ghosts, *one, random));
    }
    // Large enough for several workers.
    if (i % 25 != 0) continue;
    desc.algorithm = convolve::Algorithm::automatic;
    desc.layout = make_layout(layouts()[i / 25 % layouts().size()], 1200, 700, {0, 0});
    if (desc.layout.type == convolve::SampleType::f32) continue;
    report(drawn.name + ", 1200x700", run(desc, drawn.ghosts, *several, random));
  }
  std::printf("%d runs, %d failed\n", runs, failures);
  return failures == 0 && runs > 0 ? 0 : 1;
}
