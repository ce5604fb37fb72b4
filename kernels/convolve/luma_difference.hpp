// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// LumaDifference: how much two frames differ, which is how the ends of scenes are found. Sums are whole numbers, so
// that every backend gives the same one, in whatever order it sums.
#pragma once

#include <array>
#include <cstdint>

#include "convolve/plane.hpp"

namespace convolve {

/// A component that counts, and how much.
struct LumaTerm {
  int plane = 0;
  int offset = 0;  ///< samples from the start of a row to the component's first sample
  int step = 1;    ///< samples from one sample of the component to the next
  int weight = 1;
};

/// The luma of a frame: a weighted sum of one component, or of three of the same size.
struct LumaDesc {
  SampleType type = SampleType::u8;  ///< u8 or u16
  int shift = 0;                     ///< bits of a sample below its value
  int width = 0, height = 0;
  int terms = 0;                   ///< 1 or 3
  std::array<LumaTerm, 3> term{};  ///< weights of 32767 at most in all
};

class LumaDifference {
 public:
  virtual ~LumaDifference() = default;
  LumaDifference() = default;
  LumaDifference(const LumaDifference&) = delete;
  LumaDifference& operator=(const LumaDifference&) = delete;

  /// Sums the magnitudes of the two frames' differences in luma. CPU: done on return, `stream` is ignored. CUDA: queued
  /// on `stream` (a CUstream of the current context, the same one each time), and done once that was waited for. Never
  /// allocates. Null on success, else a static text that says what failed.
  [[nodiscard]] virtual const char* enqueue(const Image& a, const Image& b, void* stream) noexcept = 0;
  /// The sum that enqueue() was asked for last and that is done.
  virtual std::uint64_t sum() const noexcept = 0;
};

}  // namespace convolve
