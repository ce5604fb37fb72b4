// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sizes of planes: how many rows one has, the bytes of each, padding at its end left out, and the memory that all
// planes of a frame take.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "convolve/plane.hpp"

namespace convolve {

/// Bytes from the first sample of a row to its last one.
inline int row_bytes(const FrameLayout& layout, int plane) {
  int samples = 0;
  for (int c = 0; c < layout.plane[plane].components; ++c) {
    const Component& k = layout.plane[plane].component[c];
    samples = std::max(samples, k.offset + (k.width - 1) * k.step + 1);
  }
  return samples * bytes_per_sample(layout.type);
}

/// True where rows so many bytes apart, up or down, lie over each other, so that they can be read and not written.
inline bool rows_overlap(std::int64_t stride, const FrameLayout& layout, int plane) {
  return std::abs(stride) < row_bytes(layout, plane);
}

/// Rows of the component that has the most.
inline int rows(const FrameLayout& layout, int plane) {
  int max = 0;
  for (int c = 0; c < layout.plane[plane].components; ++c) max = std::max(max, layout.plane[plane].component[c].height);
  return max;
}

/// True where samples of two planes have bytes in common, be their rows one plane behind the other, in turn, or side by
/// side. Rows of neither lie over each other.
inline bool planes_overlap(const Image& image, const FrameLayout& layout, int p, int q) {
  const auto first = [&](int i) {
    const PlaneView& view = image.plane[i];
    const auto begin = reinterpret_cast<std::intptr_t>(view.data);
    return std::min<std::intptr_t>(begin, begin + (rows(layout, i) - 1) * view.stride);
  };
  const auto end = [&](int i) {
    return first(i) + (rows(layout, i) - 1) * std::abs(image.plane[i].stride) + row_bytes(layout, i);
  };
  if (end(p) <= first(q) || end(q) <= first(p)) return false;
  const std::intptr_t stride = std::abs(image.plane[p].stride);
  if (stride != std::abs(image.plane[q].stride) || stride == 0) return true;
  const std::intptr_t apart = ((first(q) - first(p)) % stride + stride) % stride;
  return apart < row_bytes(layout, p) || stride - apart < row_bytes(layout, q);
}

/// The planes of a frame, one behind the other in one piece of memory.
struct PackedPlanes {
  int planes = 0;
  std::array<std::size_t, max_planes> offset{};
  std::array<std::ptrdiff_t, max_planes> stride{};
  std::size_t bytes = 0;

  Image at(void* memory) const {
    Image image;
    for (int p = 0; p < planes; ++p) image.plane[p] = {static_cast<std::byte*>(memory) + offset[p], stride[p]};
    return image;
  }
};

/// Strides are multiples of `row_unit` bytes, and planes begin at multiples of `plane_unit` bytes.
inline PackedPlanes pack_planes(const FrameLayout& layout, int row_unit = 1, std::size_t plane_unit = 1) {
  PackedPlanes packed;
  packed.planes = layout.planes;
  for (int p = 0; p < layout.planes; ++p) {
    packed.offset[p] = packed.bytes;
    packed.stride[p] = (row_bytes(layout, p) + row_unit - 1) / row_unit * row_unit;
    const std::size_t bytes = static_cast<std::size_t>(packed.stride[p]) * static_cast<std::size_t>(rows(layout, p));
    packed.bytes += (bytes + plane_unit - 1) / plane_unit * plane_unit;
  }
  return packed;
}

/// Copies rows `first` to `last` - 1 of a plane in host memory.
inline void copy_rows(const PlaneView& from, const PlaneView& to, int bytes, int first, int last) {
  for (int y = first; y < last; ++y)
    std::memcpy(static_cast<std::byte*>(to.data) + y * to.stride,
                static_cast<const std::byte*>(from.data) + y * from.stride, static_cast<std::size_t>(bytes));
}

}  // namespace convolve
