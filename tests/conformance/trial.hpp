// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Trial: a case with its input drawn and the oracle's answer at hand, to be run on any backend.
#pragma once

#include <string>
#include <vector>

#include "cases.hpp"
#include "convolve/backend.hpp"
#include "memory.hpp"

namespace conformance {

/// One plane as bytes, and where the rows lie in them.
struct PlaneBytes {
  std::vector<std::byte> bytes;
  std::ptrdiff_t first = 0;  ///< offset of row 0
  std::ptrdiff_t stride = 0;
};

using ImageBytes = std::vector<PlaneBytes>;

/// The case outlives its trial, and the trial its runs.
class Trial {
 public:
  explicit Trial(const Case& c);

  /// Runs an algorithm twice through one plan, and on CUDA once more behind a late writer of the input. Empty, or
  /// what is wrong with the first sample that is.
  std::string run(convolve::Backend& backend, Memory& memory, convolve::Algorithm algorithm) const;
  /// Empty where the plan is refused with a message that names an algorithm which serves the case.
  std::string run_refused(convolve::Backend& backend, convolve::Algorithm algorithm) const;
  /// Two cases at once: their plans take turns, each on a stream of its own, and neither may see the other's filter.
  static std::string run_both(const Trial& a, const Trial& b, convolve::Backend& backend, Memory& memory,
                              convolve::Algorithm algorithm);

  const Case& the_case() const { return case_; }

 private:
  class Run;
  std::string compare(ImageBytes found) const;
  double tolerance(const convolve::Component& component) const;

  const Case& case_;
  std::vector<ImageBytes> input_;  ///< one an image of the window
  ImageBytes poisoned_;            ///< the output before, with guard bytes on both sides
  /// [plane][component]: what the oracle says, or the stored words of a copied component.
  std::vector<std::vector<oracle::Plane>> expected_;
};

}  // namespace conformance
