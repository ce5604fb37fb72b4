// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is measured: tables of layouts, tap classes and filter shapes, and their product.
//
// A case's name is "<layout>/<height>x<width>[x<depth>]/<taps>", such as "GRAY8/7x7/integer" or "NV12/3x3x5/real".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "convolve/plan.hpp"

namespace convolve::bench {

struct LayoutRow {
  const char* name;
  FrameLayout (*make)(int width, int height);
};
std::span<const LayoutRow> layouts();

/// A class of filters that are alike in cost. All but banks sum to 1; only the separable ones factor.
struct TapsRow {
  const char* nick;
  bool frames;                          ///< there are filters over several frames
  Filter (*make)(int depth, int side);  ///< null: a bank
  Bank (*make_bank)() = nullptr;        ///< of 3x3
};
std::span<const TapsRow> tap_classes();

struct Case {
  const LayoutRow* layout;
  const TapsRow* taps;
  int side, depth;

  std::string name() const;
  PlanDesc desc(int width, int height) const;
};
/// Every layout by every side by every tap class, the 3D ones, banks, and large sides of some layouts.
std::vector<Case> all_cases();

/// What a case must do at least, whatever the algorithm.
struct Work {
  double macs;   ///< multiply-adds of one output frame, none saved by factoring
  double bytes;  ///< each input frame of the window read once, the output written once
};
Work work_of(const PlanDesc& desc);

/// Memory of one frame: planes one after the other, rows at strides of a multiple of 256 bytes.
struct FrameShape {
  explicit FrameShape(const FrameLayout& layout);
  Image at(void* base) const;

  int planes;
  std::array<std::ptrdiff_t, max_planes> stride{}, offset{};
  std::size_t bytes = 0;
};

/// Random samples for a frame of so many bytes: f32 in [0, 256), else random bits as far as samples have them.
std::vector<unsigned char> random_frames(const FrameLayout& layout, std::size_t bytes);

}  // namespace convolve::bench
