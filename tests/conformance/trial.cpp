// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trial.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "initialized.hpp"
#include "resident.hpp"

namespace conformance {
namespace {

using convolve::Component;
using convolve::FrameLayout;
using convolve::PlaneLayout;
using convolve::SampleType;

constexpr std::ptrdiff_t guard = 192;  // bytes on each side of an output plane; a multiple of every alignment asked

std::ptrdiff_t row_bytes(const FrameLayout& layout, const PlaneLayout& plane) {
  std::ptrdiff_t samples = 0;
  for (int c = 0; c < plane.components; ++c) {
    const Component& k = plane.component[c];
    samples = std::max<std::ptrdiff_t>(samples, k.offset + static_cast<std::ptrdiff_t>(k.width - 1) * k.step + 1);
  }
  return samples * bytes_per_sample(layout.type);
}

int rows(const PlaneLayout& plane) {
  int rows = 0;
  for (int c = 0; c < plane.components; ++c) rows = std::max(rows, plane.component[c].height);
  return rows;
}

// Lays a plane out and fills it, padding included, with random bytes.
PlaneBytes place(const FrameLayout& layout, const PlaneLayout& plane, Placement placement, std::ptrdiff_t margin,
                 Random& random) {
  const std::ptrdiff_t sample = bytes_per_sample(layout.type), row = row_bytes(layout, plane);
  std::ptrdiff_t stride = row, begin = 0;
  switch (placement) {
    case Placement::tight:
    case Placement::bottom_up:
      break;
    case Placement::aligned:
      stride = (row + 255) / 256 * 256;
      break;
    case Placement::odd_stride:
      stride = row + sample * (1 + 2 * random.integer(0, 20));
      break;
    case Placement::shifted:
    case Placement::bottom_up_shifted:
      stride = row + sample * random.integer(0, 9);
      begin = sample * random.integer(1, 15);
      break;
  }
  const int height = rows(plane);
  PlaneBytes p;
  p.bytes.resize(margin + begin + stride * (height - 1) + row + margin);
  for (std::byte& b : p.bytes) b = static_cast<std::byte>(random.next());
  const bool bottom_up = placement == Placement::bottom_up || placement == Placement::bottom_up_shifted;
  p.first = margin + begin + (bottom_up ? stride * (height - 1) : 0);
  p.stride = bottom_up ? -stride : stride;
  return p;
}

// The bytes of one sample.
std::byte* at(const FrameLayout& layout, PlaneBytes& plane, const Component& k, int x, int y) {
  return plane.bytes.data() + plane.first + y * plane.stride +
         (k.offset + static_cast<std::ptrdiff_t>(x) * k.step) * bytes_per_sample(layout.type);
}

double load(SampleType type, const std::byte* from) {
  std::uint16_t word;
  float real;
  switch (type) {
    case SampleType::u8:
      return static_cast<double>(*from);
    case SampleType::u16:
      std::memcpy(&word, from, sizeof word);
      return word;
    case SampleType::f32:
      std::memcpy(&real, from, sizeof real);
      return real;
  }
  return 0;
}

void store(SampleType type, std::byte* to, double value) {
  const auto word = static_cast<std::uint16_t>(value);
  const auto real = static_cast<float>(value);
  if (type == SampleType::u8)
    *to = static_cast<std::byte>(word);
  else if (type == SampleType::u16)
    std::memcpy(to, &word, sizeof word);
  else
    std::memcpy(to, &real, sizeof real);
}

// Whether a sample of Content::matched is full: copies of the filter's extent lie side by side from (0, 0) on, and
// every other one is turned round.
bool is_full(const oracle::Kernel& kernel, int t, int x, int y) {
  const int i = (t * kernel.height + y % kernel.height) * kernel.width + x % kernel.width;
  const bool positive = kernel.divisor > 0 ? kernel.integers[static_cast<std::size_t>(i)] > 0
                                           : kernel.taps[static_cast<std::size_t>(i)] > 0;
  return positive == ((x / kernel.width + y / kernel.height) % 2 == 0);
}

double draw_value(const Case& c, double full, int t, int x, int y, Random& random) {
  const bool real = c.desc.layout.type == SampleType::f32;
  double value = 0;
  switch (c.content) {
    case Content::noise:
      value = random.real(0, full + 1);
      break;
    case Content::near_zero:
      value = random.real(0, 3);
      break;
    case Content::near_full:
      value = full + 1 - random.real(0, 3);
      break;
    case Content::extremes:
      value = random.chance(0.5) ? full : 0;
      break;
    case Content::ramp:
      value = std::fmod((x + 3.0 * y) * full / 97 + random.real(0, full / 32), full + 1);
      break;
    case Content::matched:
      value = is_full(c.bank.empty() ? c.kernel : c.bank.front(), t, x, y) ? full : 0;
      break;
  }
  value = std::clamp(real ? value : std::floor(value), 0.0, full);
  return real ? value / 256 : value;
}

}  // namespace

Trial::Trial(const Case& c) : case_(c) {
  Random random(c.seed ^ 0x5eed);
  const FrameLayout& layout = c.desc.layout;
  const bool real = layout.type == SampleType::f32;
  const double full = real ? 256 : std::ldexp(1.0, layout.bits) - 1;
  const int depth = c.kernel.depth;

  // values[t][plane][component], as the oracle takes them.
  std::vector<std::vector<std::vector<oracle::Plane>>> values(depth);
  for (int t = 0; t < depth; ++t) {
    input_.emplace_back();
    for (int p = 0; p < layout.planes; ++p) {
      const PlaneLayout& plane = layout.plane[p];
      // Images of a window need not lie alike; where they do, as in half of the cases, other kernels may take them.
      const int moved = c.seed % 2 == 0 ? t : 0;
      const auto placement = static_cast<Placement>((static_cast<int>(c.in) + moved) % std::size(placement_names));
      PlaneBytes& bytes = input_.back().emplace_back(place(layout, plane, placement, 0, random));
      values[t].emplace_back();
      for (int i = 0; i < plane.components; ++i) {
        const Component& k = plane.component[i];
        oracle::Plane& dense = values[t].back().emplace_back();
        dense.width = k.width;
        dense.height = k.height;
        for (int y = 0; y < k.height; ++y)
          for (int x = 0; x < k.width; ++x) {
            double value = draw_value(c, full, t, x, y, random);
            // The bits below the value are another's litter, to be left out of account.
            double word = value;
            if (!real) word = value * (1 << layout.shift) + random.integer(0, (1 << layout.shift) - 1);
            store(layout.type, at(layout, bytes, k, x, y), word);
            if (real) value = static_cast<float>(value);
            dense.samples.push_back(k.filtered || real ? value : word);
          }
      }
    }
  }

  for (int p = 0; p < layout.planes; ++p) {
    expected_.emplace_back();
    poisoned_.push_back(place(layout, layout.plane[p], c.out, guard, random));
    for (int i = 0; i < layout.plane[p].components; ++i) {
      const Component& k = layout.plane[p].component[i];
      if (!k.filtered) {
        expected_[p].push_back(values[c.kernel.centre_t][p][i]);
        continue;
      }
      std::vector<const oracle::Plane*> window;
      for (int t = 0; t < depth; ++t) window.push_back(c.ghosts >> t & 1 ? nullptr : &values[t][p][i]);
      const oracle::Levels levels{real ? 0 : layout.bits, k.zero, k.bias, k.ghost};
      expected_[p].push_back(c.bank.empty() ? oracle::filter(c.kernel, window, c.edge, levels)
                                            : oracle::filter_bank(c.bank, c.combination, *window[0], c.edge, levels));
    }
  }
}

double Trial::tolerance(const Component& component) const {
  if (!component.filtered || case_.exact) return 0;
  if (case_.desc.layout.type != SampleType::f32) return 1;
  // Each of n multiply-adds in single precision rounds a sum of at most this magnitude.
  double magnitude = 0;
  const oracle::Kernel& kernel = case_.kernel;
  for (const double tap : kernel.taps) magnitude += std::abs(tap);
  for (const std::int64_t n : kernel.integers) magnitude += std::abs(static_cast<double>(n)) / kernel.divisor;
  const double taps = kernel.depth * kernel.height * kernel.width;
  const double combined = case_.bank.empty() ? 0 : static_cast<double>(case_.bank.size()) + 3;
  return ((taps + 2 + combined) * magnitude + 4) * 0x1p-24;
}

std::string Trial::compare(ImageBytes found) const {
  const FrameLayout& layout = case_.desc.layout;
  const double word = layout.type == SampleType::f32 ? 1 : 1 << layout.shift;
  ImageBytes rest = poisoned_;
  char text[256];
  for (int p = 0; p < layout.planes; ++p) {
    for (int i = 0; i < layout.plane[p].components; ++i) {
      const Component& k = layout.plane[p].component[i];
      const double usual = tolerance(k), unit = k.filtered ? word : 1;
      const bool exact = k.filtered && is_exact(case_, k);
      std::size_t index = 0;
      for (int y = 0; y < k.height; ++y)
        for (int x = 0; x < k.width; ++x) {
          const double allowed = exact && !sees_fractional_ghost(case_, k, x, y) ? 0 : usual;
          std::byte* sample = at(layout, found[p], k, x, y);
          const double value = load(layout.type, sample) / unit, expected = expected_[p][i].samples[index++];
          const bool padding = layout.type != SampleType::f32 && value != std::floor(value);
          if (!(std::abs(value - expected) <= allowed) || padding) {
            std::snprintf(text, sizeof text, "plane %d component %d at x=%d y=%d: expected %.9g, found %.9g%s%s", p, i,
                          x, y, expected, value, allowed > 0 && !padding ? ", too far apart" : "",
                          padding ? ", with bits below the value" : "");
            return text;
          }
          std::memcpy(at(layout, rest[p], k, x, y), sample, bytes_per_sample(layout.type));
        }
    }
    const auto [left, right] = std::mismatch(rest[p].bytes.begin(), rest[p].bytes.end(), found[p].bytes.begin());
    if (left != rest[p].bytes.end()) {
      std::snprintf(text, sizeof text,
                    "plane %d: a byte outside of the image was written, %td bytes from row 0 (stride %td)", p,
                    left - rest[p].bytes.begin() - rest[p].first, rest[p].stride);
      return text;
    }
  }
  return {};
}

// A plan with its frames in the backend's memory.
class Trial::Run {
 public:
  /// Throws PlanError.
  Run(const Trial& trial, convolve::Backend& backend, Memory& memory, convolve::Algorithm algorithm)
      : trial_(trial), memory_(memory), output_(memory, trial.poisoned_) {
    convolve::PlanDesc desc = trial.case_.desc;
    desc.algorithm = algorithm;
    plan_ = backend.make_plan(desc);
    if (!convolve::is_free_choice(algorithm) && plan_->algorithm() != algorithm)
      throw convolve::PlanError(std::string("asked for this algorithm, got ") + nick(plan_->algorithm()));
    for (const ImageBytes& bytes : trial.input_) inputs_.emplace_back(memory, bytes);
    window_.depth = trial.case_.kernel.depth;
    for (int t = 0; t < window_.depth; ++t)
      window_.image[t] = trial.case_.ghosts >> t & 1 ? nullptr : &inputs_[t].image;
    if (!looks_for_unknown) return;
    output_.forget_all(trial.poisoned_);
    for (std::size_t t = 0; t < inputs_.size(); ++t) {
      inputs_[t].forget_all(trial.input_[t]);
      inputs_[t].remember_samples(trial.case_.desc.layout);
    }
  }

  void poison() {
    output_.upload(memory_, trial_.poisoned_);
    if (looks_for_unknown) output_.forget_all(trial_.poisoned_);
  }
  std::string enqueue(int stream) {
    const char* error = plan_->enqueue(window_, output_.image, memory_.stream(stream));
    return error ? std::string("enqueue: ") + error : "";
  }
  // Enqueues behind a writer of the input that is late, and waits until all is done. The frame before has other
  // samples, so that the plan's own memory holds what is wrong as well, should that be read too early.
  std::string enqueue_behind_writer() {
    static_assert(most_late_copies >= std::size_t{convolve::max_depth} * convolve::max_planes);
    std::vector<Resident> sources;
    std::vector<LateCopy> copies;
    for (std::size_t t = 0; t < inputs_.size(); ++t) {
      ImageBytes stale = trial_.input_[t];
      sources.emplace_back(memory_, stale);
      for (std::size_t p = 0; p < stale.size(); ++p) {
        for (std::byte& b : stale[p].bytes) b = ~b;
        copies.push_back({inputs_[t].blocks[p].data(), sources[t].blocks[p].data(), stale[p].bytes.size()});
      }
      inputs_[t].upload(memory_, stale);
    }
    std::string wrong = enqueue(0);
    synchronize();
    if (!wrong.empty()) return wrong;
    poison();
    memory_.copy_late(copies);
    wrong = enqueue(0);
    synchronize();
    return wrong;
  }
  // A CUDA context is lost with its first fault: nothing after it would mean anything.
  void synchronize() {
    const std::string fault = memory_.synchronize();
    if (fault.empty()) return;
    std::printf("FAILED: %s\n    %s\n    plan: %s\n", fault.c_str(), trial_.case_.name.c_str(),
                plan_->describe().c_str());
    std::fflush(stdout);
    std::_Exit(1);
  }
  std::string check_output() {
    if (looks_for_unknown && !output_.all_samples_known(trial_.case_.desc.layout))
      return "a sample hangs on memory that nobody wrote";
    return trial_.compare(output_.download(memory_, trial_.poisoned_));
  }
  std::string check_input() {
    for (std::size_t t = 0; t < inputs_.size(); ++t) {
      const ImageBytes& before = trial_.input_[t];
      const ImageBytes after = inputs_[t].download(memory_, before);
      for (std::size_t p = 0; p < after.size(); ++p)
        if (after[p].bytes != before[p].bytes) return "the input was written";
    }
    return {};
  }
  std::string described(const std::string& wrong) const {
    return wrong.empty() ? wrong : wrong + "\n    plan: " + plan_->describe();
  }

 private:
  const Trial& trial_;
  Memory& memory_;
  std::unique_ptr<convolve::Plan> plan_;
  std::vector<Resident> inputs_;
  Resident output_;
  convolve::Window window_;
};

std::string Trial::run(convolve::Backend& backend, Memory& memory, convolve::Algorithm algorithm) const try {
  Run run(*this, backend, memory, algorithm);
  std::string wrong = run.enqueue(0);
  run.synchronize();
  if (wrong.empty()) wrong = run.check_output();
  if (wrong.empty()) wrong = run.check_input();
  if (wrong.empty()) {
    run.poison();
    wrong = run.enqueue(1);
    run.synchronize();
    if (wrong.empty()) wrong = run.check_output();
    if (!wrong.empty()) wrong = "second frame: " + wrong;
  }
  if (wrong.empty() && memory.stream(0)) {
    wrong = run.enqueue_behind_writer();
    if (wrong.empty()) wrong = run.check_output();
    if (!wrong.empty()) wrong = "behind a late writer: " + wrong;
  }
  return run.described(wrong);
} catch (const convolve::PlanError& error) {
  return "no plan: " + text_of(error);
}

std::string Trial::run_both(const Trial& a, const Trial& b, convolve::Backend& backend, Memory& memory,
                            convolve::Algorithm algorithm) try {
  Run first(a, backend, memory, algorithm), second(b, backend, memory, algorithm);
  std::string wrong;
  for (int turn = 0; turn < 6 && wrong.empty(); ++turn) {
    wrong = first.enqueue(0);
    if (wrong.empty()) wrong = second.enqueue(1);
  }
  first.synchronize();
  if (wrong.empty()) wrong = first.described(first.check_output());
  if (wrong.empty()) wrong = second.described(second.check_output());
  return wrong;
} catch (const convolve::PlanError& error) {
  return "no plan: " + text_of(error);
}

std::string Trial::run_refused(convolve::Backend& backend, convolve::Algorithm algorithm) const {
  convolve::PlanDesc desc = case_.desc;
  desc.algorithm = algorithm;
  try {
    backend.make_plan(desc);
  } catch (const convolve::PlanError& error) {
    const std::string message = text_of(error);
    for (const convolve::Algorithm other : backend.algorithms())
      if (backend.serves(other, case_.desc) && message.find(nick(other)) != std::string::npos) return {};
    return "the refusal names no algorithm that serves the case: " + message;
  }
  return "serves() says no, but a plan was made";
}

}  // namespace conformance
