// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the tests of streams share: small frames, filters whose taps tell their frames apart, and the comparison of a
// whole tape with the oracle.
#pragma once

#include <string>
#include <vector>

#include "expected.hpp"

namespace element_test {

GstVideoInfo small();
std::string kernel_is(const oracle::Kernel& kernel);  ///< the property's assignment, with a space behind it
/// One tap a frame, each told from the others by its weight; one or two frames after the centre.
oracle::Kernel three();
oracle::Kernel five();

/// Pushes one buffer, which stays the caller's. Fails with the element's error where it is refused.
void push(Harness& harness, GstBuffer* buffer, const std::string& label);
void push_all(Harness& harness, const std::vector<Owned<GstBuffer>>& input, std::size_t from = 0,
              std::size_t to = SIZE_MAX);

/// Fails unless the outputs on the tape are `wanted`, in order, with the pts of `input`.
void check_tape(Harness& harness, const std::vector<Frame>& wanted, const std::vector<Owned<GstBuffer>>& input,
                const GstVideoInfo& info, const std::string& label);

/// What several streams one after the other give, each with borders in time of its own; `cuts` are the first frames
/// of all but the first.
std::vector<Frame> expected_of_parts(const Filtering& f, const std::vector<Owned<GstBuffer>>& input,
                                     const GstVideoInfo& info, const std::vector<std::size_t>& cuts);

}  // namespace element_test
