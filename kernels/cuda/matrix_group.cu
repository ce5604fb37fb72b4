// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix on compute capability 9.0: banded (Toeplitz) matrix products by warpgroups, 8-bit samples by 8-bit digits of
// the taps, over one frame or several.
//
// A block makes a tile of 128 bytes by some rows, a warpgroup 8 bands of rows of it, each of 8 strips of 16 bytes: 64
// windows, the rows of the left matrix, which are read where the image rows lie in shared memory (warpgroup.cuh). The
// right matrix holds the taps that lead from a window of 32 bytes (or two of them) to the 16 bytes of a strip, of all
// rows of the filter: 16 columns each, the last row first. An input row adds to each output row that it is in reach of
// by one product, with a stretch of the columns. Interleaved components need nothing but taps that are as far apart.
//
// Digits of a tap share their sums: those of the high digit are shifted before the low one's products. The columns of
// a strip are numbered so that a thread ends with four neighbouring bytes.
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <vector>

#include "cuda/edge.cuh"
#include "cuda/launch.hpp"
#include "cuda/matrix.cuh"
#include "cuda/matrix_group.hpp"
#include "cuda/warpgroup.cuh"

namespace convolve::cuda {
namespace {

constexpr int warpgroups = 2, threads = 128 * warpgroups;  ///< of a block
constexpr int bands = 8 * warpgroups;                      ///< of a tile
constexpr int band_rows = 8;
constexpr int step_rows = 4;  ///< of a band, made at a time: their sums are registers
constexpr int tile_rows = bands * band_rows, tile_bytes = 128;
constexpr int blocks_resident = 4;
constexpr int heights[] = {3, 5, 7, 9, 11, 15};  ///< of filters that there are kernels for
constexpr int most_windows = 2;                  ///< of 32 bytes
constexpr int most_frames = 8;
constexpr int most_memory = 113 * 1024;  ///< of a block, so that two are resident

constexpr int margin_of(int windows) {
  return 16 * windows - 8;  ///< bytes on either side of a strip that its windows reach
}
constexpr int pitch_of(int windows) {
  return tile_bytes + 2 * margin_of(windows);
}
/// Bytes of a tile's input rows of a frame, and of the taps' matrices of a frame.
constexpr int input_bytes(int height, int windows) {
  return (tile_rows + height - 1) * pitch_of(windows);
}
constexpr bool padded = true;
constexpr int padding = padded ? step_rows - 1 : 0;
constexpr int taps_bytes(int height, int windows) {
  return windows * (height + 2 * padding) * 512;
}

enum class GroupFinish : std::uint8_t {
  pack,     ///< the sum is the sample
  reading,  ///< sum + the bits of 2^23, read as a float, * gain + offset, which takes 2^23 * gain off again: one
            ///< product
  whole,    ///< sum * (gain + gain_low) + level
};

struct GroupPlane {
  std::uint8_t* out;
  std::ptrdiff_t out_stride;
  int width, height;  ///< bytes, rows
  int last_x;         ///< where the last tile of a row begins at the latest; < 0: where it comes to
  EdgeAxis across, down;
  unsigned first_block, tiles_x, reciprocal;  ///< reciprocal: 2^32 / tiles_x, rounded up
  std::uint32_t ghost, keep;                  ///< as in MatrixPlane
  std::uint8_t shift;                         ///< components: 1 << shift
  std::uint8_t windows;
  bool wide_in, wide_out;  ///< 8 bytes can be copied, 4 stored at a time
  bool copied;             ///< whole
  const uint4* taps;       ///< [digit][frame][window][row, last first][512 bytes]
  int start[4];            ///< of the sums of a word's bytes
  float level[4];          ///< added to the values of a word's bytes
};

struct GroupFrame {
  const std::uint8_t* data;
  std::ptrdiff_t stride;
};

struct GroupArgs {
  GroupPlane plane[max_planes];
  GroupFrame in[most_frames][max_planes];
  unsigned char tap_frame[most_frames];  ///< the filter's frame that each of `in` is multiplied by
  int frames, centre, planes, digits, depth;
  float gain, gain_low;
  float offset;
  GroupFinish finish;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__device__ __forceinline__ int thread_of_block() {
  return static_cast<int>(threadIdx.y * 128 + threadIdx.x);
}

template <int bytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from) {
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0],[%1],%2;" ::"r"(to), "l"(from), "n"(bytes) : "memory");
}

/// The input rows of a tile, as they lie in shared memory; x, y: its first byte and row in the plane.
template <int height, int windows>
struct Input {
  static constexpr int margin = margin_of(windows), pitch = pitch_of(windows), rows = tile_rows + height - 1;
  static constexpr int groups = pitch / 8, rows_at_once = threads / groups;

  /// Starts to copy what lies in groups of eight bytes in the frame, or above or below it.
  static __device__ __forceinline__ void start(std::uint8_t* memory, const GroupPlane& plane, const GroupFrame& from,
                                               int x, int y) {
    const int id = thread_of_block(), first = id / groups, at = x - margin + 8 * (id - first * groups);
    if (first >= rows_at_once || at < 0 || at + 8 > plane.width || !plane.wide_in) return;
    const int y0 = y - height / 2;
    std::uint8_t* own = memory + first * pitch + 8 * (id - first * groups);
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(own));
    if (y0 >= 0 && y0 + rows <= plane.height) {
      const std::uint8_t* in = from.data + (y0 + first) * from.stride + at;
      const std::ptrdiff_t step = rows_at_once * from.stride;
#pragma unroll
      for (int r = 0; r < rows; r += rows_at_once, in += step)
        if (r + rows_at_once <= rows || first < rows - r) copy_async<8>(to + r * pitch, in);
    } else {
      const uint2 ghost = {plane.ghost, plane.ghost};
#pragma unroll
      for (int r = 0; r < rows; r += rows_at_once) {
        if (r + rows_at_once > rows && first >= rows - r) break;
        const int row = min(y0 + first + r, plane.height + height / 2 - 1), stands = edge_index(plane.down, row);
        if (plane.down.ghost && stands != row)
          *reinterpret_cast<uint2*>(own + r * pitch) = ghost;
        else
          copy_async<8>(to + r * pitch, from.data + stands * from.stride + at);
      }
    }
  }

  /// The bytes that are in no such group.
  static __device__ __forceinline__ void start_rest(std::uint8_t* memory, const GroupPlane& plane,
                                                    const GroupFrame& from, int x, int y) {
    const int x0 = x - margin, y0 = y - height / 2, end = min(pitch, plane.width - x0 + margin);
    const int left = plane.wide_in && x0 < 0 ? margin : 0;
    const int right = plane.wide_in ? min((plane.width - x0) & ~7, end) : 0, columns = left + end - right;
    if (columns == 0) return;
#pragma unroll 4
    for (int i = thread_of_block(); i < rows * columns; i += threads) {
      const int r = i / columns, n = i - r * columns, column = n < left ? n : right + n - left;
      const int pixel = (x0 + column) >> plane.shift, stands_x = edge_index(plane.across, pixel);
      const int row = min(y0 + r, plane.height + height / 2 - 1), stands_y = edge_index(plane.down, row);
      const int component = (x0 + column) & ((1 << plane.shift) - 1);
      const bool ghost = plane.down.ghost && (stands_x != pixel || stands_y != row);
      memory[r * pitch + column] =
          ghost ? static_cast<std::uint8_t>(plane.ghost >> 8 * component)
                : __ldg(from.data + stands_y * from.stride + ((stands_x << plane.shift) + component));
    }
  }
};

/// Four bytes of a row, from their sums.
template <GroupFinish finish>
__device__ __forceinline__ std::uint32_t finished(const GroupArgs& args, const float (&level)[4], int a, int b, int c,
                                                  int d) {
  if constexpr (finish == GroupFinish::pack) {
    return pack(a, b, c, d);
  } else {
    const auto value = [&](int sum, int byte) {
      if constexpr (finish == GroupFinish::reading) return __fmaf_rn(__int_as_float(sum), args.gain, args.offset);
      const float whole = __int2float_rn(sum);
      return __fmaf_rn(whole, args.gain, __fmaf_rn(whole, args.gain_low, level[byte]));
    };
    return pack(value(a, 0), value(b, 1), value(c, 2), value(d, 3));
  }
}

template <int height, int windows>
__device__ __forceinline__ void make_tile(const GroupArgs& args, const GroupPlane& plane, unsigned p, int x, int y,
                                          std::uint8_t* memory) {
  using In = Input<height, windows>;
  constexpr int in_bytes = input_bytes(height, windows), frame_taps = taps_bytes(height, windows);
  std::uint8_t* taps = memory + args.frames * in_bytes;
  const int digit_taps = args.depth * frame_taps, all_taps = args.digits * digit_taps / 16;
  const auto to_taps = static_cast<unsigned>(__cvta_generic_to_shared(taps));
  for (int i = thread_of_block(); i < all_taps; i += threads) copy_async<16>(to_taps + 16 * i, plane.taps + i);
  wait_for_stream();
  const bool rest = !plane.wide_in || x == 0 || x + tile_bytes + In::margin > plane.width;
#pragma unroll 1
  for (int f = 0; f < args.frames; ++f) {
    In::start(memory + f * in_bytes, plane, args.in[f][p], x, y);
    if (rest) In::start_rest(memory + f * in_bytes, plane, args.in[f][p], x, y);
  }
  const int start[4] = {plane.start[0], plane.start[1], plane.start[2], plane.start[3]};
  const float level[4] = {plane.level[0], plane.level[1], plane.level[2], plane.level[3]};
  // The same in all lanes, as the compiler cannot know of threadIdx.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) >> 5, 0);
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.y), 0);
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::uint64_t left =
      describe_matrix(static_cast<unsigned>(__cvta_generic_to_shared(memory)) + group * 8 * band_rows * In::pitch, 16,
                      band_rows * In::pitch);
  const std::uint64_t right = describe_matrix(to_taps, 128, 256);
  const int first_row = (8 * group + 2 * warp) * band_rows, at = 4 * lane;  // of a warp's two bands, of a lane's bytes
  std::uint8_t* out[2];
#pragma unroll
  for (int half = 0; half < 2; ++half)
    out[half] = plane.out + (y + first_row + half * band_rows) * plane.out_stride + x + at;
  const bool inner = plane.wide_out && !plane.keep && x + tile_bytes <= plane.width && y + tile_rows <= plane.height;
  publish_to_products();
  __syncthreads();

#pragma unroll 1
  for (int s = 0; s < band_rows; s += step_rows) {
    int sum[8 * step_rows];
#pragma unroll
    for (int i = 0; i < 8 * step_rows; ++i) sum[i] = args.digits == 1 ? start[2 * (i >> 2 & 1) + (i & 1)] : 0;
#pragma unroll 1
    for (int d = 0; d < args.digits; ++d) {
      if (d > 0) {
#pragma unroll
        for (int i = 0; i < 8 * step_rows; ++i) sum[i] = sum[i] * 256 + start[2 * (i >> 2 & 1) + (i & 1)];
      }
#pragma unroll 1
      for (int f = 0; f < args.frames; ++f) {
        begin_products(sum);
        const std::uint64_t rows = moved(left, f * in_bytes + s * In::pitch);
        const std::uint64_t columns = moved(right, d * digit_taps + args.tap_frame[f] * frame_taps);
#pragma unroll
        for (int w = 0; w < windows; ++w)
#pragma unroll
          for (int r = 0; r < step_rows + height - 1; ++r) {
            // Output rows first to last take input row r, the first by the lowest row of the filter.
            const int first = r < height ? 0 : r - height + 1, last = r < step_rows ? r : step_rows - 1;
            if (padded)
              multiply_add<4>(sum, moved(rows, r * In::pitch + 32 * w),
                              moved(columns, (w * (height + 2 * padding) + padding + height - 1 - r) * 512));
            else
              multiply_add(last - first + 1, sum + 8 * first, moved(rows, r * In::pitch + 32 * w),
                           moved(columns, (w * height + height - 1 - (r - first)) * 512));
          }
        end_products(sum);
      }
    }
    const auto store = [&]<bool inner>(std::bool_constant<inner>, const auto& finish) {
#pragma unroll
      for (int r = 0; r < step_rows; ++r)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int* of = sum + 8 * r + 2 * half;
          std::uint32_t word = finish(of[0], of[1], of[4], of[5]);
          if (inner) {
            *reinterpret_cast<std::uint32_t*>(out[half]) = word;
          } else {
            const int row = first_row + half * band_rows + s + r;
            const std::uint8_t* own =
                memory + args.centre * in_bytes + (row + height / 2) * In::pitch + In::margin + at;
            word = (word & ~plane.keep) | (*reinterpret_cast<const std::uint32_t*>(own) & plane.keep);
            if (plane.wide_out) {
              if (y + row < plane.height && x + at < plane.width) *reinterpret_cast<std::uint32_t*>(out[half]) = word;
            } else {
#pragma unroll
              for (int b = 0; b < 4; ++b)
                if (y + row < plane.height && x + at + b < plane.width)
                  out[half][b] = static_cast<std::uint8_t>(word >> 8 * b);
            }
          }
          out[half] += plane.out_stride;
        }
    };
    const auto finish_by = [&](auto is_inner) {
      if (args.finish == GroupFinish::reading)
        store(is_inner,
              [&](int a, int b, int c, int d) { return finished<GroupFinish::reading>(args, level, a, b, c, d); });
      else if (args.finish == GroupFinish::pack)
        store(is_inner,
              [&](int a, int b, int c, int d) { return finished<GroupFinish::pack>(args, level, a, b, c, d); });
      else
        store(is_inner,
              [&](int a, int b, int c, int d) { return finished<GroupFinish::whole>(args, level, a, b, c, d); });
    };
    if (inner)
      finish_by(std::true_type{});
    else
      finish_by(std::false_type{});
  }
}

/// A tile of a plane that has nothing to filter.
__device__ __forceinline__ void copy_tile(const GroupPlane& plane, const GroupFrame& from, int x, int y) {
  const int end = min(tile_rows, plane.height - y);
  x += static_cast<int>(threadIdx.x);
  if (x >= plane.width) return;
  for (int r = static_cast<int>(threadIdx.y); r < end; r += warpgroups)
    plane.out[(y + r) * plane.out_stride + x] = __ldg(from.data + (y + r) * from.stride + x);
}

#endif

/// `most`: the most windows of a plane.
template <int height, int most>
__global__ void __launch_bounds__(threads, blocks_resident) group_kernel(const __grid_constant__ GroupArgs args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(128) std::uint8_t memory[];
  unsigned p = 0;
  while (p + 1 < static_cast<unsigned>(args.planes) && blockIdx.x >= args.plane[p + 1].first_block) ++p;
  const GroupPlane& plane = args.plane[p];
  const unsigned tile = blockIdx.x - plane.first_block;
  const unsigned row = plane.tiles_x == 1 ? tile : __umulhi(tile, plane.reciprocal);
  // The last tiles of a row or column move back over what their neighbours make too, where the plane is large enough.
  int x = static_cast<int>(tile - row * plane.tiles_x) * tile_bytes, y = static_cast<int>(row) * tile_rows;
  if (plane.last_x >= 0) x = min(x, plane.last_x);
  y = min(y, max(plane.height - tile_rows, 0));
  if (plane.copied) {
    wait_for_stream();
    copy_tile(plane, args.in[args.centre][p], x, y);
  } else if (most == 1 || plane.windows == 1) {
    make_tile<height, 1>(args, plane, p, x, y, memory);
  } else {
    make_tile<height, most>(args, plane, p, x, y, memory);
  }
#endif
}

template <int height>
auto kernel_for(int windows) {
  return windows == 1 ? group_kernel<height, 1> : group_kernel<height, 2>;
}

auto kernel_for(int height, int windows) {
  return height == 3    ? kernel_for<3>(windows)
         : height == 5  ? kernel_for<5>(windows)
         : height == 7  ? kernel_for<7>(windows)
         : height == 9  ? kernel_for<9>(windows)
         : height == 11 ? kernel_for<11>(windows)
                        : kernel_for<15>(windows);
}

/// Rows that a kernel takes for this filter, its centre in the middle; 0: none does.
int height_for(const Filter& f) {
  const int least = 2 * std::max(f.centre_y(), f.height() - 1 - f.centre_y()) + 1;
  for (const int height : heights)
    if (height >= least) return height;
  return 0;
}

/// Windows that a kernel takes for the pixels of a plane.
int windows_for(const Filter& f, int components) {
  const int reach = std::max(f.centre_x(), f.width() - 1 - f.centre_x()) * components;
  return (reach + 8 + 15) / 16;
}

/// The taps' matrices of a plane, as GroupPlane::taps.
std::vector<std::uint8_t> right_matrices(const Filter& filter, const MatrixTaps& taps, int height, int windows,
                                         int components) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(taps.digits * filter.depth() * taps_bytes(height, windows)));
  for (int d = 0; d < taps.digits; ++d)
    for (int frame = 0; frame < filter.depth(); ++frame)
      for (int w = 0; w < windows; ++w)
        for (int last = height - 1 + padding; last >= -padding; --last)
          for (int i = 0; i < 512; ++i) {  // blocks: which columns, then which half of the window
            const int n = (i >> 8) * 8 + (i >> 4 & 7), k = 32 * w + (i >> 7 & 1) * 16 + (i & 15);
            const int to = 4 * (n >> 1 & 3) + 2 * (n >> 3) + (n & 1), off = k - margin_of(windows) - to;
            const int row = last - height / 2 + filter.centre_y();
            const int column = (off - (off % components + components) % components) / components + filter.centre_x();
            const bool inside =
                off % components == 0 && row >= 0 && row < filter.height() && column >= 0 && column < filter.width();
            const int tap = (frame * filter.height() + row) * filter.width() + column;
            bytes.push_back(inside ? static_cast<std::uint8_t>(taps.digit(d, static_cast<std::size_t>(tap))) : 0);
          }
  return bytes;
}

class GroupPlan final : public Plan {
 public:
  GroupPlan(const PlanDesc& desc, const MatrixTaps& taps)
      : shape_(desc.filter.shape()), centre_(desc.filter.centre_t()), taps_(taps) {
    const Filter& filter = desc.filter;
    const int height = height_for(filter);
    args_.planes = desc.layout.planes;
    args_.depth = filter.depth();
    args_.digits = taps.digits;
    args_.gain = taps.gain;
    args_.gain_low = taps.gain_low;
    args_.offset = -0x1p23f * taps.gain;
    args_.finish = taps.finish == MatrixFinish::pack      ? GroupFinish::pack
                   : taps.finish == MatrixFinish::reading ? GroupFinish::reading
                                                          : GroupFinish::whole;
    // What each frame of ghost cells of level 1 would add.
    const std::size_t area = taps.fixed.size() / static_cast<std::size_t>(args_.depth);
    for (std::size_t i = 0; i < taps.fixed.size(); ++i) frame_sum_[i / area] += taps.fixed[i];
    int most = 1;
    for (int p = 0; p < args_.planes; ++p) {
      add_plane(desc, p, height);
      most = std::max<int>(most, args_.plane[p].windows);
    }
    memory_ = static_cast<unsigned>(memory_of(args_.depth, taps.digits, height, most));
    kernel_ = kernel_for(height, most);
    // Of the kernel, whichever plan it serves.
    if (cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, most_memory) != cudaSuccess)
      throw PlanError(std::string("shared memory for the filter: ") + launch_error());
  }

  static std::size_t memory_of(int depth, int digits, int height, int windows) {
    return static_cast<std::size_t>(depth) *
           static_cast<std::size_t>(input_bytes(height, windows) + digits * taps_bytes(height, windows));
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    args_.frames = 0;
    int ghost_sum = 0;
    for (int t = 0; t < args_.depth; ++t) {
      if (const Image* image = window.image[t]) {
        if (t == centre_) args_.centre = args_.frames;
        for (int p = 0; p < args_.planes; ++p)
          args_.in[args_.frames][p] = {static_cast<const std::uint8_t*>(image->plane[p].data), image->plane[p].stride};
        args_.tap_frame[args_.frames++] = static_cast<unsigned char>(t);
      } else {
        ghost_sum += frame_sum_[t];
      }
    }
    unsigned blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      GroupPlane& plane = args_.plane[p];
      plane.out = static_cast<std::uint8_t*>(out.plane[p].data);
      plane.out_stride = out.plane[p].stride;
      for (int b = 0; b < 4; ++b) {
        const int c = b & ((1 << plane.shift) - 1), ghosts = ghost_sum * static_cast<int>(plane.ghost >> 8 * b & 255);
        plane.start[b] = taps_.start[p][c] + ghosts;
        plane.level[b] = taps_.level[p][c];
      }
      std::uintptr_t in_bits = 0;
      for (int f = 0; f < args_.frames; ++f)
        in_bits |=
            reinterpret_cast<std::uintptr_t>(args_.in[f][p].data) | static_cast<std::uintptr_t>(args_.in[f][p].stride);
      plane.wide_in = in_bits % 8 == 0;
      plane.wide_out =
          (reinterpret_cast<std::uintptr_t>(plane.out) | static_cast<std::uintptr_t>(plane.out_stride)) % 4 == 0 &&
          plane.width % 4 == 0;
      plane.last_x = plane.width % 8 == 0 ? plane.width - tile_bytes : -1;
      plane.first_block = blocks;
      blocks += plane.tiles_x * static_cast<unsigned>((plane.height - 1) / tile_rows + 1);
    }
    launch_early(90, kernel_, blocks, dim3(128, warpgroups), stream, args_, memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override {
    return "matrix " + shape_ + ", " + std::to_string(taps_.digits) + " digits, " + name(taps_.finish) + ", warpgroups";
  }

 private:
  void add_plane(const PlanDesc& desc, int p, int height) {
    const PlaneLayout& layout = desc.layout.plane[p];
    GroupPlane& plane = args_.plane[p];
    const int width = layout.component[0].width;
    plane.width = width * layout.components;
    plane.height = layout.component[0].height;
    plane.across = edge_axis(desc.border, width);
    plane.down = edge_axis(desc.border, plane.height);
    plane.shift = static_cast<std::uint8_t>(std::countr_zero(static_cast<unsigned>(layout.components)));
    const PlaneMasks masks = plane_masks(layout);
    plane.ghost = masks.ghost;
    plane.keep = masks.keep;
    plane.copied = masks.keep == ~0u;
    plane.windows = static_cast<std::uint8_t>(windows_for(desc.filter, layout.components));
    plane.tiles_x = static_cast<unsigned>((plane.width - 1) / tile_bytes + 1);
    plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.tiles_x - 1) / plane.tiles_x);
    const std::vector<std::uint8_t> bytes =
        right_matrices(desc.filter, taps_, height, plane.windows, layout.components);
    matrices_[p] = DeviceArray<std::uint8_t>(bytes);
    plane.taps = reinterpret_cast<const uint4*>(matrices_[p].get());
  }

  std::string shape_;
  int centre_;
  MatrixTaps taps_;
  int frame_sum_[max_taps] = {};
  DeviceArray<std::uint8_t> matrices_[max_planes];
  GroupArgs args_{};
  unsigned memory_ = 0;
  void (*kernel_)(GroupArgs) = nullptr;
};

}  // namespace

bool serves_matrix_group(const Device& device, const PlanDesc& desc) {
  const Filter& filter = desc.filter;
  const int height = height_for(filter);
  if (device.capability != 90 || desc.layout.bits != 8 || height == 0 || filter.depth() > 1) return false;
  MatrixTaps taps;
  std::string why;
  if (!make_matrix_taps(desc, MatrixReading::joined, taps, why)) return false;
  for (int p = 0; p < desc.layout.planes; ++p) {
    const PlaneLayout& plane = desc.layout.plane[p];
    const int windows = windows_for(filter, plane.components);
    if (windows > most_windows || plane.component[0].height <= height / 2 ||
        plane.component[0].width * plane.components <= margin_of(windows) + plane.components ||
        GroupPlan::memory_of(filter.depth(), taps.digits, height, windows) > most_memory)
      return false;
  }
  return true;
}

std::unique_ptr<Plan> make_matrix_group(const PlanDesc& desc) {
  MatrixTaps taps;
  std::string why;
  if (!make_matrix_taps(desc, MatrixReading::joined, taps, why)) throw PlanError("matrix: " + why);
  return std::make_unique<GroupPlan>(desc, taps);
}

}  // namespace convolve::cuda
