// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// conformance_regions [--backend=cpu|cuda] [--cases=N] [--seed=N]: random regions x effects x shapes x feathers x
// layouts against the oracle, to the bit; that what is hidden leaves no trace outside of its region; and larger frames,
// where several threads, or the GPU, are held against one thread of the CPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "convolve/backend.hpp"
#include "layouts.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "oracle_regions.hpp"
#include "random.hpp"
#include "region_frame.hpp"

namespace {

using namespace conformance;
using convolve::Component;
using convolve::FrameLayout;
using convolve::SampleType;

struct Case {
  std::string name;
  const LayoutRow* row = nullptr;
  int width = 0, height = 0;
  FrameLayout layout;
  std::vector<oracle::Box> boxes;
  oracle::Treatment treatment;
  convolve::RegionTreatment asked;
};

oracle::Box random_box(int width, int height, Random& random) {
  oracle::Box box;
  const auto whole = [&](double low, double high) { return std::nearbyint(random.real(low, high)); };
  box.x = whole(-0.3 * width - 2, 1.1 * width);
  box.y = whole(-0.3 * height - 2, 1.1 * height);
  box.w = whole(1, 0.8 * width + 2);
  box.h = whole(1, 0.8 * height + 2);
  if (random.chance(0.1)) box.w = 1;
  if (random.chance(0.1)) box.h = 1;
  if (random.chance(0.2)) box.x += random.real(-1, 1), box.w += random.real(0, 1);
  if (random.chance(0.05)) box.w = random.chance(0.5) ? 0 : -box.w;
  if (random.chance(0.05)) {
    constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              1e300,
                              -1e300,
                              -2147483648.0,
                              4294967295.0,
                              1e7,
                              -1e7};
    double* of[] = {&box.x, &box.y, &box.w, &box.h};
    *random.pick(of) = random.pick(odd);
  }
  if (random.chance(0.05)) box.x = -3e9, box.y = -1e9, box.w = 7e9, box.h = 2.1e9;
  box.ellipse = random.chance(0.4);
  if (random.chance(0.2)) {
    box.mask_width = random.integer(1, 9);
    box.mask_height = random.integer(1, 7);
    for (int i = 0; i < box.mask_width * box.mask_height; ++i)
      box.mask.push_back(random.chance(0.5) ? static_cast<std::uint8_t>(random.integer(1, 255)) : 0);
  }
  return box;
}

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case c;
  do c.row = &random.pick(layouts());
  while (c.row->type == SampleType::f32);
  c.width = random.chance(0.2) ? random.integer(1, 4) : random.integer(5, 45);
  c.height = random.chance(0.2) ? random.integer(1, 4) : random.integer(5, 33);
  c.layout = make_layout(*c.row, c.width, c.height, {0, 0});
  const int count = random.chance(0.1) ? 0 : random.chance(0.5) ? 1 : random.integer(2, 6);
  for (int i = 0; i < count; ++i) c.boxes.push_back(random_box(c.width, c.height, random));
  c.treatment.effect = static_cast<oracle::Effect>(random.integer(0, 3));
  c.treatment.outside = random.chance(0.3);
  c.treatment.feather = random.chance(0.5) ? 0 : random.chance(0.05) ? 256 : random.integer(1, 12);
  if (c.treatment.feather == 256) c.width = c.height = 7, c.layout = make_layout(*c.row, 7, 7, {0, 0});
  c.treatment.cells = random.chance(0.5) ? random.integer(1, 8) : random.integer(1, 64);
  c.treatment.grow = random.chance(0.6) ? 0 : random.chance(0.5) ? random.integer(-2, 4) * 0.25 : random.real(-0.5, 4);
  constexpr convolve::RegionEffect effects[] = {convolve::RegionEffect::filter, convolve::RegionEffect::blur,
                                                convolve::RegionEffect::pixelate, convolve::RegionEffect::fill};
  c.asked.effect = effects[static_cast<int>(c.treatment.effect)];
  c.asked.outside = c.treatment.outside;
  c.asked.feather = c.treatment.feather;
  c.asked.cells = c.treatment.cells;
  for (auto& plane : c.asked.fill)
    for (int& level : plane) level = random.integer(0, c.layout.max_value());
  constexpr const char* names[] = {"filter", "blur", "pixelate", "fill"};
  char text[256];
  std::snprintf(text, sizeof text, "seed %llx: %s %dx%d, %s%s, feather %d, %d cells, grow %g",
                static_cast<unsigned long long>(seed), c.row->name, c.width, c.height,
                names[static_cast<int>(c.treatment.effect)], c.treatment.outside ? " outside" : "", c.treatment.feather,
                c.treatment.cells, c.treatment.grow);
  c.name = text;
  for (const oracle::Box& box : c.boxes) {
    std::snprintf(text, sizeof text, "\n    %g,%g %gx%g%s", box.x, box.y, box.w, box.h,
                  box.mask_width ? " mask"
                  : box.ellipse  ? " ellipse"
                                 : "");
    c.name += text;
  }
  return c;
}

oracle::Sampling sampling(const Case& c, const Component& k) {
  oracle::Sampling s{c.width, c.height, 1, 1};
  while ((c.width + s.step_x - 1) / s.step_x > k.width) s.step_x *= 2;
  while ((c.height + s.step_y - 1) / s.step_y > k.height) s.step_y *= 2;
  return s;
}

/// A backend, and where its frames live.
struct Runner {
  std::unique_ptr<Memory> memory;
  std::unique_ptr<convolve::Backend> backend;
};

Runner host_runner(unsigned threads) {
  return {host_memory(), convolve::make_cpu_backend(threads)};
}

// A copy of a frame in a backend's memory, in blocks that end where its planes do.
class Placed {
 public:
  Placed(Memory& memory, RegionFrame& frame) : memory_(memory), frame_(frame), image_(frame.image()) {
    blocks_.reserve(frame.bytes.size());
    for (std::size_t p = 0; p < frame.bytes.size(); ++p) {
      blocks_.emplace_back(memory, frame.bytes[p].size());
      memory.upload(blocks_[p].data(), std::as_bytes(std::span(frame.bytes[p])));
      image_.plane[p].data = blocks_[p].data();
    }
  }
  const convolve::Image& image() const { return image_; }
  void fetch() {
    for (std::size_t p = 0; p < blocks_.size(); ++p)
      memory_.download(std::as_writable_bytes(std::span(frame_.bytes[p])), blocks_[p].data());
  }

 private:
  Memory& memory_;
  RegionFrame& frame_;
  convolve::Image image_;
  std::vector<Block> blocks_;
};

class Treated {
 public:
  Treated(const Case& c, Runner& runner)
      : memory_(*runner.memory), plan_(runner.backend->make_region_plan({c.layout, c.width, c.height})) {
    masks_.reserve(c.boxes.size());
    for (const oracle::Box& box : c.boxes) {
      const auto shape = box.mask_width ? convolve::RegionShape::mask
                         : box.ellipse  ? convolve::RegionShape::ellipse
                                        : convolve::RegionShape::rectangle;
      regions_.push_back(convolve::make_region(box.x, box.y, box.w, box.h, c.treatment.grow, shape));
      masks_.push_back({box.mask_width, box.mask_height, box.mask});
      if (box.mask_width) regions_.back().mask = &masks_.back();
    }
    // Regions of another frame leave nothing behind.
    const convolve::Region all = convolve::make_region(0, 0, c.width, c.height, 0, convolve::RegionShape::ellipse);
    plan_->set_regions(std::span(&all, 1), {.effect = convolve::RegionEffect::blur, .feather = 3, .cells = 64});
    treats_ = plan_->set_regions(regions_, c.asked);
  }
  bool treats() const { return treats_; }
  /// The regions of a next frame, which are the same; the one between has other masks in the same places.
  void set_again(const Case& c) {
    const auto invert = [&] {
      for (convolve::RegionMask& mask : masks_)
        for (std::uint8_t& held : mask.held) held = held ? 0 : 255;
    };
    invert();
    plan_->set_regions(regions_, c.asked);
    invert();
    plan_->set_regions(regions_, c.asked);
    treats_ = plan_->set_regions(regions_, c.asked);
  }
  std::string apply(RegionFrame& frame, RegionFrame& filtered) {
    Placed in_place(memory_, frame);
    const Placed other(memory_, filtered);
    const char* fault = plan_->apply(in_place.image(), &other.image(), memory_.stream(1));
    const std::string failure = memory_.synchronize();
    if (fault) return fault;
    if (!failure.empty()) throw std::runtime_error(failure);  // the device is of no use any more
    in_place.fetch();
    return "";
  }
  bool in_areas(const oracle::Sampling& s, int x, int y) const {
    for (const convolve::PixelRect& a : plan_->areas())
      if (a.left < (x + 1) * s.step_x && a.right > x * s.step_x && a.top < (y + 1) * s.step_y &&
          a.bottom > y * s.step_y)
        return true;
    return false;
  }

 private:
  Memory& memory_;
  std::unique_ptr<convolve::RegionPlan> plan_;
  std::vector<convolve::Region> regions_;
  std::vector<convolve::RegionMask> masks_;
  bool treats_ = false;
};

// Empty, or what is wrong.
std::string compare(const Case& c, const Treated& treated, RegionFrame& before, RegionFrame& filtered,
                    RegionFrame& found) {
  RegionFrame rest = before;
  char text[160];
  for (int p = 0; p < c.layout.planes; ++p)
    for (int k = 0; k < c.layout.plane[p].components; ++k) {
      const Component& component = c.layout.plane[p].component[k];
      const oracle::Sampling s = sampling(c, component);
      const oracle::Plane in = before.values(p, k), other = filtered.values(p, k);
      oracle::Weights weights;
      oracle::Plane wanted = in;
      if (component.filtered) {
        weights = oracle::weights(c.boxes, c.treatment, s);
        wanted = oracle::treat(c.boxes, c.treatment, s, in, &other, c.asked.fill[p][k]);
      }
      for (int y = 0; y < component.height; ++y)
        for (int x = 0; x < component.width; ++x) {
          const std::size_t i = static_cast<std::size_t>(y) * component.width + x;
          const int weight = component.filtered ? weights.weight[i] : 0;
          const int want =
              weight == 0 ? before.word(p, k, x, y) : static_cast<int>(wanted.samples[i]) << c.layout.shift;
          if (found.word(p, k, x, y) != want) {
            std::snprintf(text, sizeof text, "plane %d component %d at x=%d y=%d, weight %d: expected %d, found %d", p,
                          k, x, y, weight, want, found.word(p, k, x, y));
            return text;
          }
          if (weight > 0 && (!treated.treats() || !treated.in_areas(s, x, y))) return "a weight outside of all areas";
          rest.set(p, k, x, y, want);
        }
    }
  return rest.bytes == found.bytes ? "" : "a byte that is no sample's was written";
}

// Changes pixels that are hidden, and looks for a trace of them where nothing is hidden.
std::string leaks(const Case& c, Treated& treated, RegionFrame& before, RegionFrame& filtered, RegionFrame& found,
                  Random& random) {
  RegionFrame other = before;
  std::vector<std::vector<oracle::Weights>> weights(c.layout.planes);
  for (int p = 0; p < c.layout.planes; ++p)
    for (int k = 0; k < c.layout.plane[p].components; ++k)
      weights[p].push_back(oracle::weights(c.boxes, c.treatment, sampling(c, c.layout.plane[p].component[k])));
  const auto weight = [&](int p, int k, int x, int y) {
    return weights[p][k].weight[static_cast<std::size_t>(y) * c.layout.plane[p].component[k].width + x];
  };
  const int all = (1 << (c.layout.bits + c.layout.shift)) - 1;
  other.for_each([&](int p, int k, int x, int y) {
    if (weight(p, k, x, y) == 256) other.set(p, k, x, y, static_cast<int>(random.next()) & all);
  });
  treated.apply(other, filtered);
  std::string wrong;
  other.for_each([&](int p, int k, int x, int y) {
    if (weight(p, k, x, y) == 0 && other.word(p, k, x, y) != found.word(p, k, x, y))
      wrong = "hidden pixels show outside";
  });
  return wrong;
}

std::string run(const Case& c, Runner& runner, std::uint64_t seed) {
  Random random(~seed);
  RegionFrame before(c.layout, random), filtered(c.layout, random);
  RegionFrame found = before;
  Treated treated(c, runner);
  // Twice: nothing is left of the first frame.
  for (int turn = 0; turn < 2; ++turn) {
    found = before;
    if (turn > 0) treated.set_again(c);
    if (treated.treats())
      if (std::string fault = treated.apply(found, filtered); !fault.empty()) return fault;
    if (std::string wrong = compare(c, treated, before, filtered, found); !wrong.empty()) return wrong;
  }
  const bool means = c.treatment.effect == oracle::Effect::blur || c.treatment.effect == oracle::Effect::pixelate;
  return means && treated.treats() ? leaks(c, treated, before, filtered, found, random) : "";
}

// Large enough for several workers and many blocks: the same as by one thread.
std::string run_large(std::uint64_t seed, Runner& one, Runner& other) {
  Random random(seed);
  Case c = random_case(seed);
  c.width = 640;
  c.height = 360;
  c.layout = make_layout(*c.row, c.width, c.height, {0, 0});
  c.boxes.clear();
  for (int i = 0; i < 40; ++i) c.boxes.push_back(random_box(c.width, c.height, random));
  // Beyond what rides in a kernel's parameters, without spans and maps, and more than a block lists.
  if (seed % 2 == 0)
    for (oracle::Box& box : c.boxes) box.ellipse = false, box.mask_width = box.mask_height = 0;
  if (seed % 4 == 0)
    for (int i = 0; i < 100; ++i) c.boxes.push_back(c.boxes[static_cast<std::size_t>(i % 40)]);
  const RegionFrame before(c.layout, random);
  RegionFrame filtered(c.layout, random), a = before, b = before;
  Treated by_one(c, one), by_other(c, other);
  by_one.apply(a, filtered);
  if (std::string fault = by_other.apply(b, filtered); !fault.empty()) return c.name + "\n    " + fault;
  return a.bytes == b.bytes ? "" : c.name + "\n    differs from one thread of the CPU";
}

Runner runner_of(const std::string& backend) {
  if (backend == "cpu") return host_runner(1);
#ifdef CONVOLVE_HAVE_CUDA
  if (backend == "cuda") {
    std::unique_ptr<Memory> memory = cuda_memory();
    return {std::move(memory), convolve::make_cuda_backend()};
  }
#endif
  throw std::runtime_error("this build has no CUDA backend");
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = random_options(argc, argv, {.backend = "cpu", .cases = 4000, .seed = 20260101}, true);
  if (!options) return 2;
  const auto& [backend, cases, first] = *options;
  Runner runner;
  try {
    runner = runner_of(backend);
  } catch (const std::exception& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  Runner one = host_runner(1);
  Runner several = backend == "cpu" ? host_runner(4) : Runner{};
  int failures = 0;
  const auto report = [&](const std::string& wrong) {
    if (!wrong.empty() && ++failures <= 10) std::printf("FAILED: %s\n", wrong.c_str());
  };
  try {
    for (int i = 0; i < cases; ++i) {
      const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
      const Case c = random_case(seed);
      const std::string wrong = run(c, runner, seed);
      report(wrong.empty() ? wrong : c.name + "\n    " + wrong);
    }
    const int large = std::clamp(cases / 10, 4, 40);
    for (int i = 0; i < large; ++i)
      report(run_large(first + static_cast<std::uint64_t>(i), one, backend == "cpu" ? several : runner));
    std::printf("%s: %d cases, %d failed\n", backend.c_str(), cases + large, failures);
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
