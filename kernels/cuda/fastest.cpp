// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/fastest.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

#include "convolve/fastest.hpp"
#include "cuda/choice.hpp"
#include "cuda/views/packed_422.hpp"
#include "cuda/views/triples.hpp"
#include "cuda/views/widened.hpp"

namespace convolve::cuda {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::size_t row_alignment = 256;
constexpr std::size_t cache = std::size_t{128} << 20;  // more than the second level cache of any GPU holds
constexpr double time_a_run = 0.5e-3;
constexpr int runs = 5, most_frames = 64;
constexpr const char* what = "memory to time algorithms with";

/// One plane of a frame in memory.
struct PlaneBytes {
  std::size_t offset = 0, stride = 0;
};

struct FrameBytes {
  PlaneBytes plane[max_planes];
  std::size_t size = 0;
};

FrameBytes bytes_of(const FrameLayout& layout) {
  FrameBytes frame;
  for (int p = 0; p < layout.planes; ++p) {
    std::size_t samples = 0, rows = 0;
    for (int c = 0; c < layout.plane[p].components; ++c) {
      const Component& k = layout.plane[p].component[c];
      samples = std::max(samples, static_cast<std::size_t>(k.offset) +
                                      (static_cast<std::size_t>(k.width) - 1) * static_cast<std::size_t>(k.step) + 1);
      rows = std::max(rows, static_cast<std::size_t>(k.height));
    }
    const std::size_t bytes = samples * static_cast<std::size_t>(bytes_per_sample(layout.type));
    const std::size_t stride = (bytes + row_alignment - 1) / row_alignment * row_alignment;
    frame.plane[p] = {frame.size, stride};
    frame.size += stride * rows;
  }
  return frame;
}

/// Random samples of the layout's own range.
std::vector<unsigned char> random_bytes(const FrameLayout& layout, std::size_t size) {
  std::vector<unsigned char> bytes((size + 7) / 8 * 8);
  const std::uint64_t sample = layout.type == SampleType::u8
                                   ? static_cast<unsigned>(layout.max_value()) << layout.shift
                                   : (static_cast<unsigned>(layout.max_value()) << layout.shift) & 0xffff;
  std::uint64_t mask = layout.type == SampleType::u8 ? sample * 0x0101010101010101 : sample * 0x0001000100010001;
  std::uint64_t bits = 0;
  if (layout.type == SampleType::f32) mask = 0x007fffff007fffff, bits = 0x3f8000003f800000;  // from 1 to 2
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;  // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z = ((z ^ (z >> 31)) & mask) | bits;
    std::memcpy(&bytes[i], &z, 8);
  }
  return bytes;
}

}  // namespace

FrameTimer::FrameTimer(const FrameLayout& layout, int depth) : depth_(depth), least_of_all_(never) {
  const FrameBytes frame = bytes_of(layout);
  const auto rotated = static_cast<int>(std::clamp<std::size_t>(cache / 2 / frame.size, 1, most_frames));
  inputs_ = std::max(rotated, depth);
  outputs_ = rotated;
  const auto frames = static_cast<std::size_t>(inputs_) + outputs_;
  memory_ = DeviceArray<unsigned char>(frames * frame.size);
  const std::vector<unsigned char> samples = random_bytes(layout, frame.size);
  try {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), what);
    for (cudaEvent_t* event : {&start_, &stop_}) check(cudaEventCreate(event), what);
    for (std::size_t i = 0; i < frames; ++i) {
      unsigned char* const first = memory_.get() + i * frame.size;
      check(i == 0 ? cudaMemcpyAsync(first, samples.data(), frame.size, cudaMemcpyHostToDevice, stream_)
                   : cudaMemcpyAsync(first, memory_.get(), frame.size, cudaMemcpyDeviceToDevice, stream_),
            what);
      Image image;
      for (int p = 0; p < layout.planes; ++p)
        image.plane[p] = {first + frame.plane[p].offset, static_cast<std::ptrdiff_t>(frame.plane[p].stride)};
      frames_.push_back(image);
    }
    check(cudaStreamSynchronize(stream_), what);
  } catch (...) {
    release();
    throw;
  }
}

FrameTimer::~FrameTimer() {
  release();
}

void FrameTimer::release() noexcept {
  if (stream_) cudaStreamSynchronize(stream_);
  for (cudaEvent_t event : {start_, stop_})
    if (event) cudaEventDestroy(event);
  if (stream_) cudaStreamDestroy(stream_);
  cudaGetLastError();
}

// Seconds a frame, over so many.
double FrameTimer::run(Plan& plan, int frames) {
  bool good = cudaEventRecord(start_, stream_) == cudaSuccess;
  for (int i = 0; i < frames && good; ++i, ++next_) {
    Window window{.depth = depth_};
    for (int t = 0; t < depth_; ++t) window.image[t] = &frames_[(next_ + t) % inputs_];
    good = !plan.enqueue(window, frames_[inputs_ + next_ % outputs_], stream_);
  }
  good = good && cudaEventRecord(stop_, stream_) == cudaSuccess;
  // Also where it failed: the plan may go then.
  good = cudaStreamSynchronize(stream_) == cudaSuccess && good;
  float milliseconds = 0;
  good = good && cudaEventElapsedTime(&milliseconds, start_, stop_) == cudaSuccess;
  cudaGetLastError();
  return good ? static_cast<double>(milliseconds) * 1e-3 / frames : never;
}

double FrameTimer::operator()(Plan& plan) {
  next_ = 0;
  run(plan, 1);  // code is loaded, tables are sent
  double least = run(plan, 2);
  // One that is far behind is not run for longer than it takes to see that.
  if (std::isfinite(least) && least < 4 * least_of_all_) {
    const int frames = std::clamp(static_cast<int>(time_a_run / std::max(least, 1e-6)), 1, most_frames);
    for (int i = 0; i < runs; ++i) least = std::min(least, run(plan, frames));
  }
  least_of_all_ = std::min(least_of_all_, least);
  return least;
}

std::string timing_text(Algorithm algorithm, double seconds) {
  std::ostringstream text;
  text << nick(algorithm) << ' ' << std::fixed << std::setprecision(1) << seconds * 1e6 << " us";
  return text.str();
}

std::vector<Algorithm> fastest_candidates(std::span<const Algorithm> algorithms, const PlanDesc& desc) {
  std::vector<Algorithm> candidates(algorithms.begin(), algorithms.end());
  if (is_packed_422(desc.layout) || is_triple(desc) || as_widened(desc)) candidates.push_back(Algorithm::automatic);
  return candidates;
}

std::string text_of_case(const PlanDesc& desc, std::span<const Algorithm> candidates) {
  int device = 0;
  check(cudaGetDevice(&device), what);
  const Filter& filter = desc.filter;
  const Case kind = case_of(desc);
  const bool exact = filter.exact().has_value();
  // Taps of one limb and of two are different work.
  const bool small =
      exact && std::ranges::all_of(filter.exact()->taps, [](int tap) { return tap >= -128 && tap < 128; });
  std::ostringstream text;
  text << "cuda " << device << ' ' << text_of(desc.layout) << " border " << static_cast<int>(desc.border) << ' '
       << filter.shape() << " about " << filter.centre_t() << ',' << filter.centre_y() << ',' << filter.centre_x()
       << " rank " << kind.rank << (combines_frames(filter) ? " over time" : "")
       << (filter.frame_factors().empty() ? "" : " factors") << " sums " << static_cast<int>(kind.accumulator)
       << (exact ? " integers" : "") << (small ? " of 8 bits" : "")
       << (exact && filter.exact()->divisor == 1 ? " whole" : "") << " candidates " << candidates.size();
  return text.str();
}

}  // namespace convolve::cuda
