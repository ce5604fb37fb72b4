// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// LargeTrial: a frame that no case is as large as, checked in places: one whose offsets need 64 bits, and ones of so
// many tiles that a GPU's blocks make several each, or go on from one strip of the frame with the next. A new one is a
// row of a table in large.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convolve/backend.hpp"
#include "layouts.hpp"
#include "memory.hpp"
#include "oracle.hpp"

namespace conformance {

/// What the taps are: of full rank, or column times row, which sum up to 1.
enum class LargeTaps { full_rank, integer, real, box };

struct LargeRow {
  LayoutRow layout;            ///< one plane
  int width, height, padding;  ///< padding: bytes behind a row
  int side;                    ///< of the filter
  LargeTaps taps = LargeTaps::full_rank;
};

std::vector<LargeRow> large_frames();
std::string name_of(const LargeRow& row);

class LargeTrial {
 public:
  explicit LargeTrial(const LargeRow& row);

  const convolve::PlanDesc& desc() const { return desc_; }
  /// Empty, or what was wrong. Takes twice the frame's bytes of the backend's memory.
  std::string run(convolve::Backend& backend, Memory& memory, convolve::Algorithm algorithm) const;

 private:
  void make_full_rank();
  void make_factored();
  std::string check(const std::vector<std::byte>& found) const;
  std::string check_factored(const std::vector<std::byte>& found) const;
  std::string compare(const std::vector<std::byte>& found, int x0, int y0) const;
  std::string compare_factored(const std::vector<std::byte>& found, int x0, int y0, int component) const;
  double load(const std::vector<std::byte>& bytes, int x, int y, int component) const;

  LargeRow of_;
  int sample_bytes_;
  std::ptrdiff_t stride_;
  convolve::PlanDesc desc_;
  oracle::Kernel kernel_;             ///< of full rank
  std::vector<double> column_, row_;  ///< of those that factor; whole numbers over divisor_, or real ones
  std::int64_t divisor_ = 0;          ///< 0: real ones
  std::vector<std::byte> input_;
};

}  // namespace conformance
