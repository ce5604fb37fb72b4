// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/fastest.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>

namespace convolve::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds time_a_plan{3};
constexpr std::size_t line = 64;

// Bytes of a row of each plane.
std::size_t stride_of(const FrameLayout& layout, int plane) {
  std::size_t samples = 0;
  for (int c = 0; c < layout.plane[plane].components; ++c) {
    const Component& component = layout.plane[plane].component[c];
    samples = std::max(
        samples, static_cast<std::size_t>(component.offset) +
                     (static_cast<std::size_t>(component.width) - 1) * static_cast<std::size_t>(component.step) + 1);
  }
  const std::size_t bytes = samples * static_cast<std::size_t>(bytes_per_sample(layout.type));
  return (bytes + line - 1) / line * line;
}

std::size_t rows_of(const FrameLayout& layout, int plane) {
  int rows = 0;
  for (int c = 0; c < layout.plane[plane].components; ++c)
    rows = std::max(rows, layout.plane[plane].component[c].height);
  return static_cast<std::size_t>(rows);
}

}  // namespace

FrameTimer::FrameTimer(const FrameLayout& layout, int depth) : depth_(depth) {
  std::size_t bytes = 0;
  for (int p = 0; p < layout.planes; ++p) bytes += stride_of(layout, p) * rows_of(layout, p);
  memory_ = std::shared_ptr<unsigned char[]>(new unsigned char[2 * bytes + line]);
  std::minstd_rand random(1);
  std::generate_n(memory_.get(), 2 * bytes, [&] { return static_cast<unsigned char>(random() >> 8); });
  auto at = reinterpret_cast<std::uintptr_t>(memory_.get());
  at = (at + line - 1) / line * line;
  for (Image* image : {&in_, &out_})
    for (int p = 0; p < layout.planes; ++p) {
      image->plane[p].data = reinterpret_cast<void*>(at);
      image->plane[p].stride = static_cast<std::ptrdiff_t>(stride_of(layout, p));
      at += stride_of(layout, p) * rows_of(layout, p);
    }
}

double FrameTimer::operator()(Plan& plan) const {
  Window window{.depth = depth_};
  std::fill_n(window.image, depth_, &in_);
  const auto frame = [&] {
    const Clock::time_point start = Clock::now();
    const char* fault = plan.enqueue(window, out_, nullptr);
    return fault ? std::numeric_limits<double>::infinity()
                 : std::chrono::duration<double>(Clock::now() - start).count();
  };
  frame();  // threads wake, memory is touched
  double least = frame();
  for (const Clock::time_point end = Clock::now() + time_a_plan; Clock::now() < end;) least = std::min(least, frame());
  return least;
}

}  // namespace convolve::cpu
