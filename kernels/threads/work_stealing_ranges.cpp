// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "threads/work_stealing_ranges.hpp"

#include <algorithm>

namespace convolve {
namespace {

std::uint64_t pack(WorkStealingRanges::Range range) {
  return static_cast<std::uint64_t>(range.first) << 32 | static_cast<std::uint32_t>(range.last);
}

WorkStealingRanges::Range unpack(std::uint64_t word) {
  return {static_cast<int>(word >> 32), static_cast<int>(word & 0xffffffffU)};
}

int size(WorkStealingRanges::Range range) {
  return range.last - range.first;
}

}  // namespace

WorkStealingRanges::WorkStealingRanges(unsigned count) : count_(count), slots_(std::make_unique<Slot[]>(count)) {}

// Relaxed throughout: the words say who does what, and carry no results.
void WorkStealingRanges::deal(unsigned owner, Range units) noexcept {
  slots_[owner].left.store(pack(units), std::memory_order_relaxed);
}

WorkStealingRanges::Range WorkStealingRanges::take(unsigned owner, int divisor) noexcept {
  std::atomic<std::uint64_t>& left = slots_[owner].left;
  std::uint64_t word = left.load(std::memory_order_relaxed);
  while (true) {
    const Range all = unpack(word);
    if (all.empty()) return {};
    const Range front{all.first, all.first + std::max(1, size(all) / divisor)};
    if (left.compare_exchange_weak(word, pack({front.last, all.last}), std::memory_order_relaxed)) return front;
  }
}

bool WorkStealingRanges::steal(unsigned owner, int least) noexcept {
  while (true) {
    std::atomic<std::uint64_t>* victim = nullptr;
    std::uint64_t word = 0;
    Range largest;
    for (unsigned i = 0; i < count_; ++i) {
      const std::uint64_t seen = slots_[i].left.load(std::memory_order_relaxed);
      if (const Range range = unpack(seen); size(range) > size(largest)) {
        victim = &slots_[i].left;
        word = seen;
        largest = range;
      }
    }
    const int half = size(largest) / 2;
    if (half < std::max(1, least)) return false;
    const int kept = largest.last - half;
    if (victim->compare_exchange_strong(word, pack({largest.first, kept}), std::memory_order_relaxed)) {
      deal(owner, {kept, largest.last});
      return true;
    }
  }
}

}  // namespace convolve
