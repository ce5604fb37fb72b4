// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// register: each thread keeps the sums of a patch of outputs in registers, and streams the rows that touch it from
// global memory: every input sample is loaded and converted once, then added into each output it belongs to. After
// Iandola et al., "Communication-Minimizing 2D Convolution in GPU Registers" (2013), who keep the window instead of
// the sums. No shared memory; coefficients ride in the kernel's parameters.
//
// Warps whose windows lie inside the frame load whole vectors; the others look up each row and each vector that
// reaches over the side.
#include <algorithm>
#include <cmath>

#include "cuda/backend.hpp"
#include "cuda/launch.hpp"
#include "cuda/register_samples.cuh"
#include "cuda/register_tuning.hpp"

namespace convolve::cuda {
namespace {

constexpr int most_coefficients = 448;  ///< parameters stay within 4 KB

struct RegisterPlane {
  int width, height;  ///< pixels
  int first_block, blocks_x, blocks_y;
  int components;
  bool vectors, out_vectors;  ///< addresses and strides allow a group of pixels at once
  unsigned filtered;          ///< a bit a component
  float zero[4], ghost[4];    ///< ghost: less zero
  float offset[4];            ///< the quantizer's offset and snap
};

struct RegisterArgs {
  PlaneView in[max_taps][max_planes];
  PlaneView out[max_planes];
  RegisterPlane plane[max_planes];
  int planes, centre_t, centre_y, shift;
  int height;          ///< of the filter
  int sums, combined;  ///< frames that have coefficients of their own; frames that are added up while they are loaded
  Border border;
  float gain, snap, max;
  float time[max_taps];           ///< weights of the combined frames
  float taps[most_coefficients];  ///< [frame][row][column], the columns padded to the class
};
static_assert(sizeof(RegisterArgs) <= 4096);

/// Kept out of line: it is long, and few threads need it.
__device__ __noinline__ int outside_index(Border border, int i, int n) {
  return border_index(border, i, n);
}

/// The samples that a thread's window holds in one row, as floats less their zero level.
template <class Sample, int C, int width>
struct Window1D {
  static constexpr int groups = register_groups(sizeof(Sample), C), reach = width / 2;
  static constexpr int halo = (reach + 3) / 4;  ///< groups either side
  static constexpr int all = groups + 2 * halo;
  static constexpr int pixels = 4 * groups + 2 * reach, samples = pixels * C;
  using Group = PixelGroup<Sample, C>;

  const RegisterArgs& args;
  const RegisterPlane& plane;
  const int x;  ///< this thread's first output pixel

  /// Pixel o of group `n` lies `at` samples into the window, where that is not negative nor past its end.
  static __device__ constexpr int at(int n, int o) { return (4 * (n - halo) + o + reach) * C; }

  __device__ void load_inside(Group (&raw)[all], const PlaneView& view, int y) const {
    const Sample* from = row_of<Sample>(view, y) + static_cast<std::ptrdiff_t>(x - 4 * halo) * C;
#pragma unroll
    for (int n = 0; n < all; ++n) raw[n].load(from + 4 * n * C);
  }
  __device__ void convert(float (&f)[samples], const Group (&raw)[all]) const {
#pragma unroll
    for (int n = 0; n < all; ++n)
#pragma unroll
      for (int o = 0; o < 4; ++o)
#pragma unroll
        for (int c = 0; c < C; ++c)
          if (at(n, o) >= 0 && at(n, o) < samples) f[at(n, o) + c] = raw[n].value(o * C + c, args.shift, plane.zero[c]);
  }
  /// Where this thread's window crosses a side: the columns that stand in for its own, or -1.
  __device__ void find_columns(int (&column)[pixels]) const {
#pragma unroll
    for (int k = 0; k < pixels; ++k) {
      column[k] = x - reach + k;
      if (static_cast<unsigned>(column[k]) >= plane.width)
        column[k] = outside_index(args.border, column[k], plane.width);
    }
  }
  /// Any row, any place; `whole`: columns of no interest, vectors may be loaded.
  __device__ void load_anywhere(float (&f)[samples], const PlaneView& view, int y, bool whole,
                                const int (&column)[pixels]) const {
    if (static_cast<unsigned>(y) >= plane.height) y = outside_index(args.border, y, plane.height);
    if (y < 0 || !view.data) {
#pragma unroll
      for (int i = 0; i < samples; ++i) f[i] = plane.ghost[i % C];
    } else if (whole) {
      Group raw[all];
      load_inside(raw, view, y);
      convert(f, raw);
    } else {
      const Sample* row = row_of<Sample>(view, y);
#pragma unroll
      for (int i = 0; i < samples; ++i) {
        const int from = column[i / C];
        f[i] = from < 0 ? plane.ghost[i % C]
                        : static_cast<float>(
                              one_value(__ldg(row + static_cast<std::ptrdiff_t>(from) * C + i % C), args.shift)) -
                              plane.zero[i % C];
      }
    }
  }
};

/// One thread's patch.
template <class Sample, int C, int width>
struct Patch {
  static constexpr int rows = register_rows(sizeof(Sample), C, width);
  using Window = Window1D<Sample, C, width>;
  static constexpr int samples = 4 * Window::groups * C;
  float sum[rows][samples];

  __device__ void clear() {
#pragma unroll
    for (int j = 0; j < rows; ++j)
#pragma unroll
      for (int i = 0; i < samples; ++i) sum[j][i] = 0;
  }
  /// Adds a row of the window, times a row of coefficients, to row j.
  __device__ void add(int j, const float* taps, const float (&f)[Window::samples]) {
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const float tap = taps[k];
#pragma unroll
      for (int i = 0; i < samples; ++i) sum[j][i] = fmaf(tap, f[i + k * C], sum[j][i]);
    }
  }
};

/// A row of every combined frame, weighed and added up, for windows inside the frame: several loads at once.
template <class Sample, int C, int width>
__device__ __forceinline__ void combine_inside(float (&f)[Window1D<Sample, C, width>::samples],
                                               const Window1D<Sample, C, width>& window, const RegisterArgs& args,
                                               int p, int y) {
  using Window = Window1D<Sample, C, width>;
  constexpr int batch = register_batch(sizeof(Sample), C);
#pragma unroll
  for (int i = 0; i < Window::samples; ++i) f[i] = 0;
#pragma unroll 1
  for (int t = 0; t < args.combined; t += batch) {
    typename Window::Group raw[batch][Window::all];
#pragma unroll
    for (int k = 0; k < batch; ++k)
      if (t + k < args.combined) window.load_inside(raw[k], args.in[t + k][p], y);
#pragma unroll
    for (int k = 0; k < batch; ++k)
      if (t + k < args.combined) {
        float g[Window::samples];
        window.convert(g, raw[k]);
        const float weight = args.time[t + k];
#pragma unroll
        for (int i = 0; i < Window::samples; ++i) f[i] = fmaf(weight, g[i], f[i]);
      }
  }
}

/// Any number of filter rows and frames, any place.
template <class Sample, int C, int width>
__device__ __forceinline__ void stream_rows(Patch<Sample, C, width>& patch, const Window1D<Sample, C, width>& window,
                                            const RegisterArgs& args, int p, int top, bool inside) {
  using Window = Window1D<Sample, C, width>;
  constexpr int rows = Patch<Sample, C, width>::rows;
  const int last = args.height + rows - 1, start = top - args.centre_y;
  const bool simple = inside && args.combined == 1;
  bool whole = true;
  int column[Window::pixels];
  typename Window::Group next[Window::all];
  if (simple) {
    window.load_inside(next, args.in[0][p], start);
  } else if (!inside) {
    whole = window.plane.vectors && window.x >= 4 * Window::halo &&
            window.x + 4 * (Window::groups + Window::halo) <= window.plane.width;
    if (!whole) window.find_columns(column);
  }
  const float* taps = args.taps;
#pragma unroll 1
  for (int t = 0; t < args.sums; ++t, taps += args.height * width)
#pragma unroll 1
    for (int i = 0; i < last; ++i) {
      float f[Window::samples];
      if (simple) {
        window.convert(f, next);
        if (i + 1 < last)
          window.load_inside(next, args.in[t][p], start + i + 1);
        else if (t + 1 < args.sums)
          window.load_inside(next, args.in[t + 1][p], start);
      } else if (inside) {
        combine_inside<Sample, C, width>(f, window, args, p, start + i);
      } else {
        window.load_anywhere(f, args.in[t][p], start + i, whole, column);
        if (args.combined > 1) {
#pragma unroll
          for (int k = 0; k < Window::samples; ++k) f[k] *= args.time[0];
#pragma unroll 1
          for (int c = 1; c < args.combined; ++c) {
            float g[Window::samples];
            window.load_anywhere(g, args.in[c][p], start + i, whole, column);
#pragma unroll
            for (int k = 0; k < Window::samples; ++k) f[k] = fmaf(args.time[c], g[k], f[k]);
          }
        }
      }
#pragma unroll
      for (int j = 0; j < rows; ++j)
        if (i >= j && i - j < args.height) patch.add(j, taps + (i - j) * width, f);
    }
}

/// One frame, as many filter rows as columns, all of it unrolled.
template <class Sample, int C, int width>
__device__ __forceinline__ void stream_unrolled(Patch<Sample, C, width>& patch,
                                                const Window1D<Sample, C, width>& window, const RegisterArgs& args,
                                                int p, int top) {
  constexpr int rows = Patch<Sample, C, width>::rows;
#pragma unroll
  for (int i = 0; i < width + rows - 1; ++i) {
    using Window = Window1D<Sample, C, width>;
    typename Window::Group raw[Window::all];
    float f[Window::samples];
    window.load_inside(raw, args.in[0][p], top - width / 2 + i);
    window.convert(f, raw);
#pragma unroll
    for (int j = 0; j < rows; ++j)
      if (i >= j && i - j < width) patch.add(j, args.taps + (i - j) * width, f);
  }
}

/// The place of block `i` of a grid whose edges come first: they take the longest, and the rest hides them.
__device__ __forceinline__ int2 perimeter_first(int i, int columns, int rows) {
  if (columns < 3 || rows < 3) return {i % columns, i / columns};
  if (i < columns) return {i, 0};
  if (i < 2 * columns) return {i - columns, rows - 1};
  i -= 2 * columns;
  if (i < 2 * (rows - 2)) return {(i & 1) * (columns - 1), 1 + (i >> 1)};
  i -= 2 * (rows - 2);
  return {1 + i % (columns - 2), 1 + i / (columns - 2)};
}

template <class Sample, int C, int width>
__device__ __forceinline__ void filter_patch(const RegisterArgs& args, int p) {
  using Own = Patch<Sample, C, width>;
  using Window = Window1D<Sample, C, width>;
  using Group = typename Window::Group;
  constexpr int span = 4 * Window::groups;
  const RegisterPlane& plane = args.plane[p];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int2 block = perimeter_first(blockIdx.x - plane.first_block, plane.blocks_x, plane.blocks_y);
  const int warp_x = block.x * 32 * span, x = warp_x + lane * span;
  const int top = (block.y * register_warps + warp) * Own::rows;
  if (x >= plane.width || top >= plane.height) return;
  // The same for all lanes of a warp.
  const bool inside = plane.vectors && warp_x >= 4 * Window::halo &&
                      warp_x + 32 * span + 4 * Window::halo <= plane.width && top >= args.centre_y &&
                      top - args.centre_y + args.height + Own::rows - 1 <= plane.height;
  const Window window{args, plane, x};
  Own patch;
  patch.clear();
  bool done = false;
  if constexpr (register_unrolls(sizeof(Sample), C, width))
    if (inside && args.height == width && args.sums == 1 && args.combined == 1) {
      stream_unrolled<Sample, C, width>(patch, window, args, p, top);
      done = true;
    }
  if (!done) stream_rows<Sample, C, width>(patch, window, args, p, top, inside);

  const PlaneView& out = args.out[p];
  const PlaneView& centre = args.in[args.centre_t][p];
#pragma unroll
  for (int j = 0; j < Own::rows; ++j) {
    if (top + j >= plane.height) break;
#pragma unroll
    for (int n = 0; n < Window::groups; ++n) {
      const int left = x + 4 * n;
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(left) * C;
      Sample* to = row_of<Sample>(out, top + j) + at;
      const Sample* from = row_of<Sample>(centre, top + j) + at;
      Group group;
#pragma unroll
      for (int i = 0; i < 4 * C; ++i) {
        const float sum = patch.sum[j][4 * C * n + i];
        if constexpr (std::is_floating_point_v<Sample>)
          group.put(i, sum + plane.offset[i % C]);
        else
          group.put(i, __fadd_rn(__fmaf_rn(sum, args.gain, plane.offset[i % C]), -args.snap), args.max, args.shift);
      }
      const bool vectors = plane.vectors && plane.out_vectors && left + 4 <= plane.width;
      if (plane.filtered + 1 != 1u << C) {
        Group raw;
        if (plane.vectors && left + 4 <= plane.width)
          raw.load(from);
        else
          for (int i = 0; i < min(4, plane.width - left) * C; ++i) raw.put_one(i, from[i]);
#pragma unroll
        for (int i = 0; i < 4 * C; ++i)
          if (!(plane.filtered >> (i % C) & 1)) group.take(i, raw);
      }
      if (vectors) {
        group.store(to);
      } else {
#pragma unroll
        for (int i = 0; i < 4 * C; ++i)
          if (left + i / C < plane.width) to[i] = group.one(i);
      }
    }
  }
}

/// `components`: the sum of the numbers of components that the frame's planes have, each counted once; but 5 stands
/// for three components.
template <class Sample, int components, int width>
__global__ void __launch_bounds__(32 * register_warps, register_blocks(sizeof(Sample), components, width))
    register_kernel(const __grid_constant__ RegisterArgs args) {
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  if constexpr (components == 1) {
    filter_patch<Sample, 1, width>(args, p);
  } else if constexpr (components == 3) {
    if (args.plane[p].components == 1)
      filter_patch<Sample, 1, width>(args, p);
    else
      filter_patch<Sample, 2, width>(args, p);
  } else {
    filter_patch<Sample, components == 5 ? 3 : 4, width>(args, p);
  }
}

using Launch = void (*)(const RegisterArgs& args, int blocks, cudaStream_t stream);

template <class Sample, int components, int width>
void launch(const RegisterArgs& args, int blocks, cudaStream_t stream) {
  register_kernel<Sample, components, width><<<blocks, 32 * register_warps, 0, stream>>>(args);
}

/// The kernels of a layout, by width class.
using LaunchRow = std::array<Launch, register_classes.size()>;
template <class Sample, int components>
constexpr LaunchRow launches{
    launch<Sample, components, register_classes[0]>, launch<Sample, components, register_classes[1]>,
    launch<Sample, components, register_classes[2]>, launch<Sample, components, register_classes[3]>};

struct KernelRow {
  SampleType type;
  unsigned counts;  ///< a bit for each number of components that a plane may have
  const LaunchRow* launch;
};
constexpr KernelRow kernels[]{
    {SampleType::u8, 1 << 1, &launches<std::uint8_t, 1>},
    {SampleType::u8, 1 << 1 | 1 << 2, &launches<std::uint8_t, 3>},
    {SampleType::u8, 1 << 3, &launches<std::uint8_t, 5>},
    {SampleType::u8, 1 << 4, &launches<std::uint8_t, 4>},
    {SampleType::u16, 1 << 1, &launches<std::uint16_t, 1>},
    {SampleType::u16, 1 << 1 | 1 << 2, &launches<std::uint16_t, 3>},
    {SampleType::u16, 1 << 4, &launches<std::uint16_t, 4>},
    {SampleType::f32, 1 << 1, &launches<float, 1>},
};

const KernelRow* kernels_for(const FrameLayout& layout) {
  unsigned counts = 0;
  for (int p = 0; p < layout.planes; ++p) {
    if (!layout.plane[p].uniform()) return nullptr;
    counts |= 1u << layout.plane[p].components;
  }
  for (const KernelRow& row : kernels)
    if (row.type == layout.type && (counts & ~row.counts) == 0) return &row;
  return nullptr;
}

/// How a filter is given to the kernel: padded to a width class, and to as many rows where those are unrolled.
struct Padded {
  std::size_t index;  ///< into register_classes
  int width, height, centre_y;
  int sums, combined;
  int coefficients() const { return sums * height * width; }
};

Padded pad(const Filter& filter) {
  const int reach_x = std::max(filter.centre_x(), filter.width() - 1 - filter.centre_x());
  const int reach_y = std::max(filter.centre_y(), filter.height() - 1 - filter.centre_y());
  Padded padded{};
  while (register_classes[padded.index] < 2 * reach_x + 1) ++padded.index;
  padded.width = register_classes[padded.index];
  const bool factors = !filter.time_factor().empty();
  padded.sums = factors ? 1 : filter.depth();
  padded.combined = factors ? filter.depth() : 1;
  const bool unrolled = filter.depth() == 1 && padded.width <= register_unrolled && 2 * reach_y + 1 <= padded.width;
  padded.height = unrolled ? padded.width : filter.height();
  padded.centre_y = unrolled ? padded.width / 2 : filter.centre_y();
  return padded;
}

class RegisterPlan final : public Plan {
 public:
  RegisterPlan(const PlanDesc& desc, const Arithmetic& arithmetic)
      : shape_(desc.filter.shape()), depth_(desc.filter.depth()), padded_(pad(desc.filter)) {
    const FrameLayout& layout = desc.layout;
    launch_ = (*kernels_for(layout)->launch)[padded_.index];
    args_.planes = layout.planes;
    args_.centre_t = desc.filter.centre_t();
    args_.centre_y = padded_.centre_y;
    args_.shift = layout.type == SampleType::f32 ? 0 : layout.shift;
    args_.height = padded_.height;
    args_.sums = padded_.sums;
    args_.combined = padded_.combined;
    args_.border = desc.border;
    set_coefficients(desc.filter, arithmetic);
    std::int64_t blocks = 0;
    for (int p = 0; p < layout.planes; ++p) {
      set_plane(args_.plane[p], layout, layout.plane[p], arithmetic);
      RegisterPlane& plane = args_.plane[p];
      const int bytes = bytes_per_sample(layout.type);
      const int tile_width = 32 * 4 * register_groups(bytes, plane.components);
      const int tile_height = register_warps * register_rows(bytes, plane.components, padded_.width);
      plane.first_block = static_cast<int>(blocks);
      plane.blocks_x = (plane.width - 1) / tile_width + 1;
      plane.blocks_y = (plane.height - 1) / tile_height + 1;
      blocks += std::int64_t{plane.blocks_x} * plane.blocks_y;
      if (blocks > (1LL << 30)) throw PlanError("the frame is too large for one launch");
      group_bytes_[p] = 4 * plane.components * bytes;
    }
    blocks_ = static_cast<int>(blocks);
  }

  const char* enqueue(const convolve::Window& window, const Image& out, void* stream) noexcept override {
    for (int p = 0; p < args_.planes; ++p) {
      bool vectors = true;
      for (int t = 0; t < depth_; ++t) {
        args_.in[t][p] = window.image[t] ? window.image[t]->plane[p] : PlaneView{};
        vectors = vectors && aligned(args_.in[t][p], group_bytes_[p]);
        // Kernels for windows inside the frame know no ghost frames.
        vectors = vectors && window.image[t];
      }
      args_.out[p] = out.plane[p];
      args_.plane[p].vectors = vectors;
      args_.plane[p].out_vectors = aligned(out.plane[p], group_bytes_[p]);
    }
    launch_(args_, blocks_, static_cast<cudaStream_t>(stream));
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::register_; }
  std::string describe() const override {
    return "register " + shape_ + ", as " + std::to_string(padded_.height) + "x" + std::to_string(padded_.width) +
           (padded_.combined > 1 ? ", frames combined while loading" : "");
  }

 private:
  static bool aligned(const PlaneView& view, int group_bytes) {
    const int bytes = group_bytes % 3 == 0 ? 4 : std::min(group_bytes, 16);
    return (reinterpret_cast<std::uintptr_t>(view.data) | static_cast<std::uintptr_t>(view.stride)) % bytes == 0;
  }

  void set_coefficients(const Filter& filter, const Arithmetic& arithmetic) {
    const bool exact = arithmetic.accumulator == Accumulator::exact;
    const Filter space = padded_.combined > 1 ? filter.space_filter() : filter;
    for (int t = 0; t < padded_.combined; ++t)
      args_.time[t] = padded_.combined == 1 ? 1.f
                      : exact               ? static_cast<float>(filter.exact_time_factor()[t])
                                            : static_cast<float>(filter.time_factor()[t]);
    for (int t = 0; t < padded_.sums; ++t)
      for (int y = 0; y < filter.height(); ++y)
        for (int x = 0; x < filter.width(); ++x) {
          const std::size_t from = (static_cast<std::size_t>(t) * filter.height() + y) * filter.width() + x;
          const int row = y - filter.centre_y() + padded_.centre_y, column = x - filter.centre_x() + padded_.width / 2;
          args_.taps[(t * padded_.height + row) * padded_.width + column] =
              exact ? static_cast<float>(space.exact()->taps[from]) : static_cast<float>(space.taps()[from]);
        }
  }
  void set_plane(RegisterPlane& plane, const FrameLayout& layout, const PlaneLayout& from,
                 const Arithmetic& arithmetic) {
    plane.components = from.components;
    plane.width = from.component[0].width;
    plane.height = from.component[0].height;
    for (int c = 0; c < from.components; ++c) {
      const Component& component = from.component[c];
      const Quantizer q = make_quantizer(arithmetic, layout, component);
      plane.zero[c] = static_cast<float>(component.zero);
      plane.ghost[c] = static_cast<float>(component.ghost - component.zero);
      plane.offset[c] = q.offset + q.snap;
      plane.filtered |= static_cast<unsigned>(component.filtered) << c;
      args_.gain = q.gain;
      args_.snap = q.snap;
      args_.max = q.max;
    }
  }

  std::string shape_;
  int depth_;
  Padded padded_;
  RegisterArgs args_{};
  int group_bytes_[max_planes] = {};
  int blocks_ = 0;
  Launch launch_ = nullptr;
};

bool serves(const Device&, const PlanDesc& desc, std::string& why) {
  const FrameLayout& layout = desc.layout;
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, layout, desc.border == Border::constant);
  bool wide = arithmetic.accumulator == Accumulator::double_;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c)
      if (layout.plane[p].component[c].filtered)
        wide = wide || make_quantizer(arithmetic, layout, layout.plane[p].component[c]).wide;
  if (layout.type == SampleType::u8 && (layout.bits != 8 || layout.shift != 0))
    why = "bytes of fewer than 8 bits";
  else if (!kernels_for(layout))
    why = "a layout with components at uneven steps, or so many of this sample type";
  else if (wide)
    why = "a filter whose sums need double precision";
  else if (pad(desc.filter).coefficients() > most_coefficients)
    why = "a filter of " + desc.filter.shape() + " taps that is no product of time and space";
  else
    return true;
  return false;
}

std::unique_ptr<Plan> make(const Device&, const PlanDesc& desc) {
  return std::make_unique<RegisterPlan>(desc,
                                        choose_arithmetic(desc.filter, desc.layout, desc.border == Border::constant));
}

}  // namespace

const Entry register_{Algorithm::register_, serves, make};

}  // namespace convolve::cuda
