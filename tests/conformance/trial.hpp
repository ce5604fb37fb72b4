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

/// One plane as bytes, and where the rows lie in them. Before `begin` and after `end` stand guard bytes that belong to
/// nobody (output only).
struct PlaneBytes {
  std::vector<std::byte> bytes;
  std::ptrdiff_t first = 0;  ///< offset of row 0
  std::ptrdiff_t stride = 0;
};

using ImageBytes = std::vector<PlaneBytes>;

class Trial {
 public:
  explicit Trial(const Case& c);

  /// Runs an algorithm twice through one plan, the second time from other addresses. Empty, or what is wrong with the
  /// first sample that is.
  std::string run(convolve::Backend& backend, Memory& memory, convolve::Algorithm algorithm) const;
  /// The plan refuses the algorithm, with a message that names one which serves the case.
  std::string run_refused(convolve::Backend& backend, convolve::Algorithm algorithm) const;

 private:
  std::string compare(const ImageBytes& poisoned, const ImageBytes& found) const;
  double tolerance(const convolve::Component& component) const;

  const Case& case_;
  std::vector<ImageBytes> input_;  ///< one an image of the window
  ImageBytes poisoned_;            ///< the output before
  /// [plane][component]: what the oracle says, or the stored words of a copied component.
  std::vector<std::vector<oracle::Plane>> expected_;
};

}  // namespace conformance
