// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CUDA has the border modes a second time, as linear functions and byte permutes: that they are those of
// border_index().
#include "cuda/common/border_map.cuh"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace convolve;
using cuda::EdgeAxis;

// What edge_index() computes on the device.
int index_of(const EdgeAxis& axis, int i) {
  if (i >= 0 && i < axis.length) return i;
  return i < 0 ? axis.low_scale * i + axis.low_offset : axis.high_scale * i + axis.high_offset;
}

TEST(BorderMap, AnAxisIsThatOfBorderIndex) {
  for (const BorderRow& row : borders)
    for (int n = 1; n <= 40; ++n) {
      const EdgeAxis axis = cuda::edge_axis(row.value, n);
      ASSERT_EQ(axis.length, n);
      for (int radius = 1; cuda::edge_folds_once(n, radius); ++radius)
        for (const int i : {-radius, n - 1 + radius}) {
          const int wanted = border_index(row.value, i, n), found = index_of(axis, i);
          EXPECT_EQ(axis.ghost, wanted < 0) << row.nick << " i=" << i << " n=" << n;
          if (wanted >= 0) {
            EXPECT_EQ(found, wanted) << row.nick << " i=" << i << " n=" << n;
          }
          EXPECT_TRUE(found >= 0 && found < n) << row.nick << " i=" << i << " n=" << n;  // ghosts, too, are read there
        }
    }
}

// Bytes of a group of four samples, each its own index, as __byte_perm() takes them from two groups.
int permuted(std::uint32_t selector, int first, int last, int byte) {
  const int chosen = static_cast<int>(selector >> 4 * byte & 7);
  return chosen < 4 ? first + chosen : last + chosen - 4;
}

TEST(BorderMap, SelectorsBuildGroupsOfFourOutsideTheAxis) {
  for (const BorderRow& row : borders)
    for (int n = 8; n <= 40; n += 4) {
      const EdgeAxis axis = cuda::edge_axis(row.value, n);
      if (axis.ghost) continue;
      for (int i = 4 - n; i < 2 * n - 4; i += 4) {
        if (i >= 0 && i < n) continue;
        const int first = index_of(axis, i) & ~3, last = index_of(axis, i + 3) & ~3;
        for (int byte = 0; byte < 4; ++byte)
          EXPECT_EQ(permuted(i < 0 ? axis.low_selector : axis.high_selector, first, last, byte),
                    border_index(row.value, i + byte, n))
              << row.nick << " group " << i << " byte " << byte << " n=" << n;
      }
    }
}

}  // namespace
