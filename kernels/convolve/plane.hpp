// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The geometry of a frame: planes of interleaved samples, and the components found in them.
//
// Sizes and steps count samples, strides count bytes. Layouts are fixed when a plan is made; pointers and strides
// come with every frame. Views own nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace convolve {

inline constexpr int max_planes = 4;
inline constexpr int max_components = 4;

/// How one sample is stored. f32 serves comparisons in the library and no video format.
enum class SampleType : std::uint8_t { u8, u16, f32 };

constexpr int bytes_per_sample(SampleType type) {
  return type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : 4;
}

/// One component (Y, U, V, R, G, B, A or padding) inside a plane: sample (x, y) lies `offset + x * step` samples
/// after the start of row y.
struct Component {
  int offset = 0;        ///< samples from the start of a row to the component's first sample
  int step = 1;          ///< samples from one sample of the component to the next
  int width = 0;         ///< samples in a row
  int height = 0;        ///< rows
  bool filtered = true;  ///< false: copied as it is
  double zero = 0;       ///< z, the zero level, in code values
  double bias = 0;       ///< bias * F, added last, in code values
  double ghost = 0;      ///< level of the ghost cells of Border::constant, in code values; need not be a whole number

  bool operator==(const Component&) const = default;
};

/// One plane: 1 to 4 interleaved components. Where `uniform()`, component c has offset c (in any order of roles) and
/// step `components`; YUY2 and UYVY are not uniform (luma step 2, chroma step 4).
struct PlaneLayout {
  int components = 0;
  std::array<Component, max_components> component{};

  bool uniform() const {
    for (int c = 0; c < components; ++c) {
      const Component& k = component[c];
      if (k.offset != c || k.step != components || k.width != component[0].width || k.height != component[0].height)
        return false;
    }
    return true;
  }
  bool operator==(const PlaneLayout&) const = default;
};

/// One frame. Every plane has the same sample type, depth and shift.
struct FrameLayout {
  SampleType type = SampleType::u8;
  int bits = 8;   ///< significant bits b of a sample (u8: 1..8, u16: 9..16; ignored for f32)
  int shift = 0;  ///< bits below the value: the stored word is value << shift (P010: 6), the bits below come out 0
  int planes = 0;
  std::array<PlaneLayout, max_planes> plane{};

  int max_value() const { return (1 << bits) - 1; }
  bool operator==(const FrameLayout&) const = default;
};

/// Where one plane of one frame lies. `stride` is signed: bottom-up images have a negative one. Backends accept
/// any address and any stride that is a multiple of the sample's size.
///
/// Backends write samples alone. What is beside an input's samples need not be readable, with one exception: where its
/// address and stride are both multiples of 16 bytes, the CUDA backend may read to the end of every vector of 16 bytes
/// that begins within a row, up to 15 bytes behind the last sample, of the row that is last in memory as of all others.
/// Results do not depend on what is there.
struct PlaneView {
  void* data = nullptr;
  std::ptrdiff_t stride = 0;
};

/// One frame's planes, in host or device memory as the backend asks.
struct Image {
  std::array<PlaneView, max_planes> plane{};
};

/// Pixels of a frame: left <= x < right, top <= y < bottom.
struct PixelRect {
  int left = 0, top = 0, right = 0, bottom = 0;
};

}  // namespace convolve
