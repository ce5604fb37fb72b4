// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Shares: a row of units of work, dealt out so that each taker works through neighbours, and levelled when one has
// done.
//
// Work that goes on where it stopped need not set up again what its neighbour left in place (the ring of rows that a
// filter reads), so a share is taken from its front, by one taker. Who has none left steals the back half of the
// largest that is left: nobody waits long for one that was held up. Lock-free (each share is one word); allocates when
// made.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace convolve::cpu {

class Shares {
 public:
  struct Range {
    int first = 0, last = 0;
    bool empty() const { return first == last; }
    bool operator==(const Range&) const = default;
  };

  explicit Shares(unsigned count);

  /// Not while anybody takes or steals.
  void deal(unsigned share, Range units) noexcept;

  /// The front of `share`: a `divisor`th of it, at least one unit; empty if there is none. By the taker of `share`
  /// alone.
  Range take(unsigned share, int divisor) noexcept;

  /// Fills `share`, which is empty, with the back half of the largest; false if no half has `least` units. By the taker
  /// of `share` alone.
  bool steal(unsigned share, int least) noexcept;

 private:
  // A line of the cache each. A range that was seen never comes back, as its first unit is taken, not stolen: so a
  // comparison of words is enough.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> left{0};
  };
  unsigned count_;
  std::unique_ptr<Share[]> shares_;
};

}  // namespace convolve::cpu
