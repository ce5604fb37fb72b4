// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A window of frames as the kernels see it: kernel arguments, and the small functions that load, convert, quantize
// and store one sample.
//
// Arguments travel in the kernel's parameters, which are constant memory of that launch alone: two plans in one
// context never see each other's coefficients, and nothing is copied on the side. Strides count bytes, sizes and
// steps samples. A component's tiles are consecutive blocks of one launch for all planes: see find_component().
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "convolve/arithmetic.hpp"
#include "convolve/border.hpp"
#include "convolve/plan.hpp"
#include "cuda/common/epilogue.cuh"
#include "cuda/common/limits.hpp"

namespace convolve::cuda {

inline constexpr int max_frame_components = max_planes * max_components;

/// One component of one plane, and the run of tiles that covers it.
struct ComponentArgs {
  std::uint8_t plane, offset, step, filtered;
  int width, height;
  int first_tile, tiles_x;
  float zero;
  double ghost;  ///< level of ghost cells less `zero`
  Quantizer quantizer;
};

struct FrameArgs {
  PlaneView in[max_taps][max_planes];  ///< oldest first; null data: a frame of ghost cells
  PlaneView out[max_planes];
  ComponentArgs component[max_frame_components];
  std::int16_t components, shift;
  std::int16_t depth, height, width;  ///< of the filter
  std::int16_t centre_t, centre_y, centre_x;
  Border border;
};

/// Coefficients [time][row][column].
template <class Sum, int capacity>
struct Taps {
  Sum value[capacity];
};

/// What a launch's parameters hold where the filter rides with them.
template <class Sum, int capacity>
struct FilterArgs {
  FrameArgs frame;
  Taps<Sum, capacity> taps;
};

inline constexpr int few_taps = max_taps * max_taps;                    ///< 2D, and small 3D: parameters within 4 KB
inline constexpr int max_filter_taps = max_taps * max_taps * max_taps;  ///< needs large kernel parameters
static_assert(sizeof(FilterArgs<double, few_taps>) <= 4096);
static_assert(sizeof(FilterArgs<double, max_filter_taps>) <= 32764);

#ifdef __CUDACC__

/// The component that this block works on, and its tile's place in it, in tiles.
struct TileId {
  int component, x, y;
};

__device__ __forceinline__ TileId find_component(const FrameArgs& frame, int tile) {
  int c = 0;
  while (c + 1 < frame.components && tile >= frame.component[c + 1].first_tile) ++c;
  const int index = tile - frame.component[c].first_tile;
  const int y = index / frame.component[c].tiles_x;
  return {c, index - y * frame.component[c].tiles_x, y};
}

/// border_index() with the folding, long and rare, out of line.
static __device__ __noinline__ int folded_index(Border mode, int i, int n) {
  return border_index(mode, i, n);
}
__device__ __forceinline__ int index_at(Border mode, int i, int n) {
  return static_cast<unsigned>(i) < static_cast<unsigned>(n) ? i : folded_index(mode, i, n);
}

template <class Sample>
__device__ __forceinline__ Sample* sample_at(const PlaneView& plane, const ComponentArgs& component, int x, int y) {
  return reinterpret_cast<Sample*>(static_cast<char*>(plane.data) + y * plane.stride) + component.offset +
         static_cast<std::ptrdiff_t>(x) * component.step;
}

/// A stored sample as what the coefficients multiply: its value less the zero level.
template <class Sum, class Sample>
__device__ __forceinline__ Sum from_sample(Sample sample, int shift, float zero) {
  if constexpr (std::is_floating_point_v<Sample>)
    return static_cast<Sum>(sample) - static_cast<Sum>(zero);
  else
    return static_cast<Sum>(sample >> shift) - static_cast<Sum>(zero);
}

/// One row of one component of one frame of the window, read with its border mode in x.
template <class Sample, class Sum>
struct Row {
  const Sample* samples;  ///< null: all ghost cells
  const ComponentArgs& component;
  const Border border;
  const int shift;

  __device__ __forceinline__ Sum ghost() const { return static_cast<Sum>(component.ghost); }
  /// 0 <= x < width, and the row is no ghost.
  __device__ __forceinline__ Sum inside(int x) const {
    return from_sample<Sum>(__ldg(samples + static_cast<std::ptrdiff_t>(x) * component.step), shift, component.zero);
  }
  /// Any position.
  __device__ __forceinline__ Sum at(int x) const {
    if (samples == nullptr) return ghost();
    x = index_at(border, x, component.width);
    return x < 0 ? ghost() : inside(x);
  }
};

/// Row y, any y, of a component in frame t of the window.
template <class Sum, class Sample>
__device__ __forceinline__ Row<Sample, Sum> row_at(const FrameArgs& frame, const ComponentArgs& component, int t,
                                                   int y) {
  const PlaneView& plane = frame.in[t][component.plane];
  y = index_at(frame.border, y, component.height);
  const bool ghost = y < 0 || plane.data == nullptr;
  return {ghost ? nullptr : sample_at<const Sample>(plane, component, 0, y), component, frame.border, frame.shift};
}

/// One component of one frame of the window, read with its border mode in x and y.
template <class Sample, class Sum>
struct Source {
  const PlaneView plane;
  const ComponentArgs& component;
  const Border border;
  const int shift;

  __device__ Source(const FrameArgs& frame, const ComponentArgs& component, int t)
      : plane(frame.in[t][component.plane]), component(component), border(frame.border), shift(frame.shift) {}

  __device__ bool is_ghost() const { return plane.data == nullptr; }
  __device__ Sum ghost() const { return static_cast<Sum>(component.ghost); }
  /// (x, y) lies in the frame, which is not a ghost.
  __device__ Sum inside(int x, int y) const {
    return from_sample<Sum>(__ldg(sample_at<const Sample>(plane, component, x, y)), shift, component.zero);
  }
  /// Any position of any frame.
  __device__ Sum at(int x, int y) const {
    x = index_at(border, x, component.width);
    y = index_at(border, y, component.height);
    return x < 0 || y < 0 || is_ghost() ? ghost() : inside(x, y);
  }
};

/// Writes the sample that a sum comes to.
template <class Sample, class Sum>
__device__ __forceinline__ void store_sum(const FrameArgs& frame, const ComponentArgs& component, int x, int y,
                                          Sum sum) {
  *sample_at<Sample>(frame.out[component.plane], component, x, y) =
      quantize<Sample>(sum, component.quantizer, frame.shift);
}

/// Copies one sample of a component that is not filtered, padding bits and all.
template <class Sample>
__device__ __forceinline__ void copy_sample(const FrameArgs& frame, const ComponentArgs& component, int x, int y) {
  *sample_at<Sample>(frame.out[component.plane], component, x, y) =
      *sample_at<const Sample>(frame.in[frame.centre_t][component.plane], component, x, y);
}

#endif

}  // namespace convolve::cuda
