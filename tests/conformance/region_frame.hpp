// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RegionFrame: a frame that regions.cpp treats, with its own way to each sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "convolve/backend.hpp"
#include "oracle_regions.hpp"
#include "random.hpp"

namespace conformance {

inline int words_in_row(const convolve::PlaneLayout& plane) {
  int words = 0;
  for (int c = 0; c < plane.components; ++c)
    words = std::max(words, plane.component[c].offset + (plane.component[c].width - 1) * plane.component[c].step + 1);
  return words;
}

/// A frame in memory: its words, plane after plane, with a few words of litter between the rows.
struct RegionFrame {
  convolve::FrameLayout layout;
  std::vector<std::vector<unsigned char>> bytes;
  std::vector<int> stride;  ///< words

  /// `multiple`: bytes, of which a row's stride is a whole number.
  RegionFrame(const convolve::FrameLayout& of, Random& random, int multiple = 1) : layout(of) {
    for (int p = 0; p < layout.planes; ++p) {
      const convolve::PlaneLayout& plane = layout.plane[p];
      int height = 0;
      for (int c = 0; c < plane.components; ++c) height = std::max(height, plane.component[c].height);
      const int words = std::max(multiple / bytes_per_sample(layout.type), 1);
      stride.push_back((words_in_row(plane) + random.integer(0, 5) + words - 1) / words * words);
      bytes.emplace_back(static_cast<std::size_t>(stride[p]) * height * bytes_per_sample(layout.type));
      for (unsigned char& byte : bytes.back()) byte = static_cast<unsigned char>(random.next());
    }
    // Bits above a sample's value are 0; those below are litter.
    for_each([&](int p, int c, int x, int y) {
      set(p, c, x, y, word(p, c, x, y) & ((1 << (layout.bits + layout.shift)) - 1));
    });
  }

  unsigned char* at(int p, int c, int x, int y) {
    const convolve::Component& k = layout.plane[p].component[c];
    return bytes[p].data() +
           (static_cast<std::ptrdiff_t>(y) * stride[p] + k.offset + x * k.step) * bytes_per_sample(layout.type);
  }
  int word(int p, int c, int x, int y) {
    const unsigned char* from = at(p, c, x, y);
    return layout.type == convolve::SampleType::u8 ? from[0] : from[0] | from[1] << 8;
  }
  void set(int p, int c, int x, int y, int word) {
    unsigned char* to = at(p, c, x, y);
    to[0] = static_cast<unsigned char>(word);
    if (layout.type != convolve::SampleType::u8) to[1] = static_cast<unsigned char>(word >> 8);
  }
  template <class Visit>
  void for_each(Visit&& visit) {
    for (int p = 0; p < layout.planes; ++p)
      for (int c = 0; c < layout.plane[p].components; ++c)
        for (int y = 0; y < layout.plane[p].component[c].height; ++y)
          for (int x = 0; x < layout.plane[p].component[c].width; ++x) visit(p, c, x, y);
  }
  oracle::Plane values(int p, int c) {
    const convolve::Component& k = layout.plane[p].component[c];
    oracle::Plane plane{k.width, k.height, {}};
    for (int y = 0; y < k.height; ++y)
      for (int x = 0; x < k.width; ++x) plane.samples.push_back(word(p, c, x, y) >> layout.shift);
    return plane;
  }
  convolve::Image image() {
    convolve::Image image;
    for (int p = 0; p < layout.planes; ++p)
      image.plane[p] = {bytes[p].data(), static_cast<std::ptrdiff_t>(stride[p]) * bytes_per_sample(layout.type)};
    return image;
  }
};

}  // namespace conformance
