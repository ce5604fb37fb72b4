// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// conformance_regions [--backend=cpu|cuda] [--cases=N] [--seed=N]: random regions x effects x shapes x feathers x
// layouts against the oracle, to the bit; that what is hidden leaves no trace outside of its region; and larger frames,
// where several threads, or the GPU, are held against one thread of the CPU.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "open_backend.hpp"
#include "options.hpp"
#include "oracle_regions.hpp"
#include "random.hpp"
#include "region_cases.hpp"
#include "region_frame.hpp"

namespace {

using namespace conformance;
using convolve::Component;

oracle::Sampling sampling(const RegionCase& c, const Component& k) {
  oracle::Sampling s{c.width, c.height, 1, 1};
  while ((c.width + s.step_x - 1) / s.step_x > k.width) s.step_x *= 2;
  while ((c.height + s.step_y - 1) / s.step_y > k.height) s.step_y *= 2;
  return s;
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
  Treated(const RegionCase& c, OpenBackend& runner)
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
  void set_again(const RegionCase& c) {
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
std::string compare(const RegionCase& c, const Treated& treated, RegionFrame& before, RegionFrame& filtered,
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
std::string leaks(const RegionCase& c, Treated& treated, RegionFrame& before, RegionFrame& filtered, RegionFrame& found,
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

std::string run(const RegionCase& c, OpenBackend& runner, std::uint64_t seed) {
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

// The same as by one thread of the CPU.
std::string run_large(const RegionCase& c, std::uint64_t seed, OpenBackend& one, OpenBackend& other) {
  Random random(~seed);
  const RegionFrame before(c.layout, random, random.chance(0.5) ? 16 : 1);
  RegionFrame filtered(c.layout, random), a = before, b = before;
  Treated by_one(c, one), by_other(c, other);
  by_one.apply(a, filtered);
  for (int turn = 0; turn < 2; ++turn) {
    b = before;
    if (std::string fault = by_other.apply(b, filtered); !fault.empty()) return fault;
    if (a.bytes != b.bytes) return "differs from one thread of the CPU";
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = random_options(argc, argv, {.backend = "cpu", .cases = 4000, .seed = 20260101}, true);
  if (!options) return 2;
  const std::string& backend = options->backend;
  const int cases = options->cases;
  OpenBackend runner;
  try {
    runner = backend == "cpu" ? open_cpu(1) : open_cuda();
  } catch (const std::exception& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  OpenBackend one = open_cpu(1);
  OpenBackend several = backend == "cpu" ? open_cpu(4) : OpenBackend{};
  int failures = 0;
  const auto report = [&](const std::string& wrong) {
    if (!wrong.empty() && ++failures <= 10) std::printf("FAILED: %s\n", wrong.c_str());
  };
  try {
    for (int i = 0; i < cases; ++i) {
      const std::uint64_t seed = options->case_seed(i);
      const RegionCase c = random_region_case(seed);
      const std::string wrong = run(c, runner, seed);
      report(wrong.empty() ? wrong : c.name + "\n    " + wrong);
    }
    const int crowded = std::max(cases / 20, 10);
    for (int i = 0; i < crowded; ++i) {
      const std::uint64_t seed = options->case_seed(i);
      const RegionCase c = crowded_region_case(seed);
      const std::string wrong = run(c, runner, seed);
      report(wrong.empty() ? wrong : c.name + "\n    crowded: " + wrong);
    }
    const int large = std::clamp(cases / 10, 4, 40), apart = std::max(cases / 10, 40);
    for (int i = 0; i < large + apart; ++i) {
      // From number 0 on of either kind, so that --cases=1 runs the case of a printed seed as both.
      const std::uint64_t seed = options->case_seed(i < large ? i : i - large);
      const RegionCase c = i < large ? large_region_case(seed) : apart_region_case(seed);
      const std::string wrong = run_large(c, seed, one, backend == "cpu" ? several : runner);
      report(wrong.empty()
                 ? wrong
                 : c.name + ", of " + std::to_string(c.width) + "x" + std::to_string(c.height) + "\n    " + wrong);
    }
    std::printf("%s: %d cases, %d failed\n", backend.c_str(), cases + crowded + large + apart, failures);
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
