// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// WorkStealingRanges: units of work dealt out as ranges of neighbours, which idle workers steal from.
//
// A worker that goes on where it stopped need not set up again what its last unit left in place (the ring of rows that
// a filter reads), so the owner of a range takes from its front. An owner whose range is empty steals the back half of
// the largest range that is left, so that nobody waits long for a worker that was held up. Lock-free: a range is one
// word. Memory is allocated by the constructor alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace convolve {

class WorkStealingRanges {
 public:
  struct Range {
    int first = 0, last = 0;
    bool empty() const { return first == last; }
    bool operator==(const Range&) const = default;
  };

  explicit WorkStealingRanges(unsigned count);

  /// Not while anybody takes or steals.
  void deal(unsigned owner, Range units) noexcept;

  /// Takes the front of the owner's range: a `divisor`th of it and at least one unit, or an empty range if none is
  /// left. Called by that owner alone.
  Range take(unsigned owner, int divisor) noexcept;

  /// Fills the owner's range, which is empty, with the back half of the largest one. False if no half has `least`
  /// units. Called by that owner alone.
  bool steal(unsigned owner, int least) noexcept;

 private:
  // A cache line each. There is no ABA problem: owners take from the front and thieves from the back, so no pair of
  // bounds occurs twice, and comparing the word is enough.
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> left{0};
  };
  unsigned count_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace convolve
