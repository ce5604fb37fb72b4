// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// LargeTrial: a frame that no case is as large as, checked in places: one whose offsets need 64 bits, and ones of so
// many tiles that a GPU's blocks make several each. A new one is a row of the table in large.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "convolve/backend.hpp"
#include "layouts.hpp"
#include "memory.hpp"
#include "oracle.hpp"

namespace conformance {

struct LargeRow {
  LayoutRow layout;            ///< one plane
  int width, height, padding;  ///< padding: bytes behind a row
  int side;                    ///< of the filter
};

std::span<const LargeRow> large_frames();

class LargeTrial {
 public:
  explicit LargeTrial(const LargeRow& row);

  const convolve::PlanDesc& desc() const { return desc_; }
  std::string name() const;
  /// Empty, or what was wrong. Takes twice the frame's bytes of the backend's memory.
  std::string run(convolve::Backend& backend, Memory& memory, convolve::Algorithm algorithm) const;

 private:
  std::string compare(const std::vector<std::byte>& found, int x0, int y0) const;
  double load(const std::vector<std::byte>& bytes, int x, int y, int component) const;

  LargeRow row_;
  int components_, sample_bytes_;
  std::ptrdiff_t stride_;
  convolve::PlanDesc desc_;
  oracle::Kernel kernel_;
  std::vector<std::byte> input_;
};

}  // namespace conformance
