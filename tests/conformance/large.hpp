// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// LargeTrial: a frame whose offsets need 64 bits, checked in places. Takes 4 GiB of the backend's memory, and as much
// of the host's again.
#pragma once

#include <string>
#include <vector>

#include "convolve/backend.hpp"
#include "memory.hpp"
#include "oracle.hpp"

namespace conformance {

class LargeTrial {
 public:
  LargeTrial();

  const convolve::PlanDesc& desc() const { return desc_; }
  std::string name() const;
  std::string run(convolve::Backend& backend, Memory& memory, convolve::Algorithm algorithm) const;

 private:
  std::string compare(const std::vector<std::byte>& found, int x0, int y0) const;

  convolve::PlanDesc desc_;
  oracle::Kernel kernel_;
  std::vector<std::byte> input_;
};

}  // namespace conformance
