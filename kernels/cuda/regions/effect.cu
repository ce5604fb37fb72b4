// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The effect, blended into the frame by weight. Blur and pixelate are one: the value between four means, where pixelate
// stands on one of them.
//
//      m00 ----- across ----- m10      upper = m00 + across * (m10 - m00), once a thread and row of cells
//       |           |          |       lower = m01 + across * (m11 - m01), likewise
//      down ----- value        |       value = upper + down * (lower - upper), once a sample
//       |                      |
//      m01 ------------------ m11
//
// The sum of `value` and 1.5 * 2^22 + 0.5 is a multiple of 2^-30: what the arithmetic has moved off a tie by less than
// half of that is a tie again. Its low 30 bits are the fraction, and those above the value rounded half up.
#include "cuda/regions/tile.cuh"

namespace convolve::cuda {
namespace {

constexpr int warp_size = 32, warps = region_threads / warp_size;

/// Where a line of pixels lies between the cells' centres: from the first of two neighbouring cells, and how far on to
/// the second.
struct Between {
  double weight;
  int first, second;
};

/// In cells that the layer keeps.
__device__ __forceinline__ Between between(const CellAxis& axis, int pixel, bool blurred) {
  int first = axis.cell(pixel), second = first;
  double weight = 0;
  if (blurred) {
    const std::int64_t middle = axis.middle(pixel);
    if (first > 0 && middle < axis.centre(first)) --first;
    second = min(first + 1, axis.count() - 1);
    const std::int64_t from = axis.centre(first);
    if (second > first && middle > from)
      weight = static_cast<double>(middle - from) / static_cast<double>(axis.centre(second) - from);
  }
  return {weight, first, second};
}

/// What a tile's samples are made from.
struct TileMeans {
  TileCells cells;
  Between line[tile_lines];                             ///< of pixels: columns, then rows
  double mean[max_tile_cells * max_region_components];  ///< [cell][component]
};

/// The words of a component's sum and of its part's number of samples, in a cell.
struct Words {
  int sum, samples;
};

__device__ __forceinline__ Words words_of(const RegionArgs& args, int component) {
  int p = 0;
  while (p + 1 < args.parts && component >= args.part[p + 1].first_component) ++p;
  const RegionPart& part = args.part[p];
  return {part.first_word + component - part.first_component, part.first_word + part.components};
}

/// A cell without samples takes the mean of the nearest that has some, the first of equally near ones: a warp looks at
/// rings of cells around it.
__device__ __noinline__ double nearest_mean(const RegionWord* sums, int words_of_a_cell, int columns, int rows, int x,
                                            int y, Words words) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  unsigned nearest = ~0u;  // squared distance, then number: both within 13 bits
  for (int ring = 1; ring < max(rows, columns) && (nearest == ~0u || ring * ring <= static_cast<int>(nearest >> 13));
       ++ring) {
    unsigned found = nearest;
    const int side = 2 * ring + 1;
    for (int i = lane; i < 8 * ring; i += warp_size) {
      // The upper row, the lower row, then the two ends of each row between.
      const int between_rows = i - 2 * side;
      const int down = between_rows >= 0 ? between_rows / 2 + 1 - ring : i < side ? -ring : ring;
      const int across = between_rows >= 0 ? (between_rows % 2 ? ring : -ring) : i % side - ring;
      const int column = x + across, row = y + down;
      if (column < 0 || column >= columns || row < 0 || row >= rows) continue;
      const int cell = row * columns + column;
      if (sums[static_cast<std::ptrdiff_t>(cell) * words_of_a_cell + words.samples] == 0) continue;
      found = min(found, static_cast<unsigned>(across * across + down * down) << 13 | static_cast<unsigned>(cell));
    }
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2) found = min(found, __shfl_xor_sync(~0u, found, step));
    nearest = found;
  }
  if (nearest == ~0u) return 0;
  const RegionWord* cell = sums + static_cast<std::ptrdiff_t>(nearest & 8191) * words_of_a_cell;
  return static_cast<double>(cell[words.sum]) / static_cast<double>(cell[words.samples]);
}

/// Fills `mean`. To be called by all threads; complete after the next barrier.
__device__ __forceinline__ void load_means(const RegionArgs& args, const RegionLayer& layer, TileMeans& means) {
  const RegionWord* sums = args.sums + layer.sums;
  const int id = static_cast<int>(threadIdx.x), count = means.cells.count() * args.components;
  const auto place = [&](int i, int& x, int& y) {
    const int cell = i / args.components, row = cell / means.cells.columns;
    x = means.cells.x + cell - row * means.cells.columns;
    y = means.cells.y + row;
    return words_of(args, i - cell * args.components);
  };
  int x, y;
#pragma unroll 1
  for (int i = id; i < count; i += region_threads) {
    const Words words = place(i, x, y);
    const RegionWord* cell = sums + (static_cast<std::ptrdiff_t>(y) * layer.x.count() + x) * args.words;
    const RegionWord samples = cell[words.samples];
    means.mean[i] = samples == 0 ? -1 : static_cast<double>(cell[words.sum]) / static_cast<double>(samples);
  }
  __syncthreads();
#pragma unroll 1
  for (int i = id / warp_size; i < count; i += warps) {
    if (means.mean[i] >= 0) continue;
    const Words words = place(i, x, y);
    const double mean = nearest_mean(sums, args.words, layer.x.count(), layer.y.count(), x, y, words);
    __syncwarp();
    if (id % warp_size == 0) means.mean[i] = mean;
  }
}

/// To nearest, ties to even, of a value from 0 to 65535.
__device__ __forceinline__ int rounded(double value) {
  const double shifted = value + (0x1.8p22 + 0.5);
  const unsigned low = static_cast<unsigned>(__double2loint(shifted));
  const unsigned code = __funnelshift_l(low, static_cast<unsigned>(__double2hiint(shifted)), 2) & 0xffff;
  return static_cast<int>((low & 0x3fffffff) == 0 ? code & ~1u : code);
}

/// round((in * (256 - weight) + effect * weight) / 256), ties to even.
__device__ __forceinline__ int blended(int in, int effect, int weight) {
  const int sum = in * (256 - weight) + effect * weight;
  return (sum + 127 + (sum >> 8 & 1)) >> 8;
}

constexpr int rows_at_once = 4;  // whose samples a thread has under way

/// The weights of a thread's samples, as bits: all of the effect, or some of it.
struct RowWeights {
  unsigned full = 0, partial = 0;
};

/// `weights`: where those of partial rows go, [row][thread].
__device__ __forceinline__ RowWeights weigh(const RegionArgs& args, const RegionTile& tile, const OtherLayers& others,
                                            const RegionPart& part, const ThreadSamples& s, std::uint16_t* weights) {
  RowWeights found;
  if (tile.layer.kind == static_cast<std::uint8_t>(LayerKind::rectangle) && args.feather == 0 && others.count == 0) {
    found.full = rows_in_box(tile.layer.box, part, s);
    return found;
  }
#pragma unroll 1
  for (int k = 0; k < s.rows; ++k) {
    const int weight = s.holds(k) ? weight_won(args, tile, others, covered_by(args, part, s.x, s.y + k)) : 0;
    found.full |= (weight == 256 ? 1u : 0u) << k;
    found.partial |= (weight > 0 && weight < 256 ? 1u : 0u) << k;
    weights[k * region_threads] = static_cast<std::uint16_t>(weight);
  }
  return found;
}

/// Treats a part's samples of the tile, a component after the other. `weights`: as weigh() has them.
template <class Sample>
__device__ __forceinline__ void treat_part(const RegionArgs& args, const RegionTile& tile, const OtherLayers& others,
                                           const TileMeans& means, const RegionPart& part, std::uint16_t* weights) {
  const bool by_means = hides_by_means(args.effect);
  const bool filters = args.effect == RegionEffect::filter;
  const ThreadSamples s = samples_of(tile, part);
  const RowWeights weight = weigh(args, tile, others, part, s, weights);
  const unsigned wanted = weight.full | weight.partial;
  if (wanted == 0) return;
  const Between across = by_means ? means.line[(s.x << part.shift_x) - tile.rect.left] : Between{};
#pragma unroll 1
  for (int c = 0; c < part.components; ++c) {
    if (!(part.treated >> c & 1)) continue;
    const double* mean = means.mean + part.first_component + c;
    const auto mean_at = [&](int row, int column) {
      return mean[((row - means.cells.y) * means.cells.columns + (column - means.cells.x)) * args.components];
    };
    const std::ptrdiff_t stride = args.frame[part.plane].stride, filtered_stride = args.filtered[part.plane].stride;
    char* frame = reinterpret_cast<char*>(sample_of<Sample>(args.frame[part.plane], part, c, s.x, s.y));
    const char* filtered = reinterpret_cast<const char*>(
        filters ? sample_of<const Sample>(args.filtered[part.plane], part, c, s.x, s.y) : nullptr);
    int first = -1, second = -1;  // rows of cells that `upper` and `lower` are of
    double upper = 0, lower = 0;
#pragma unroll 1
    for (int batch = 0; batch < s.rows; batch += rows_at_once) {
      Sample in[rows_at_once] = {}, effect[rows_at_once] = {};
#pragma unroll
      for (int i = 0; i < rows_at_once; ++i) {
        const int k = batch + i;
        if (weight.partial >> k & 1) in[i] = *reinterpret_cast<const Sample*>(frame + k * stride);
        if (filters && (wanted >> k & 1)) effect[i] = *reinterpret_cast<const Sample*>(filtered + k * filtered_stride);
      }
#pragma unroll
      for (int i = 0; i < rows_at_once; ++i) {
        const int k = batch + i;
        if (!(wanted >> k & 1)) continue;
        int code = filters ? effect[i] >> args.shift : part.fill[c];
        if (by_means) {
          const Between down = means.line[max_tile_width + ((s.y + k) << part.shift_y) - tile.rect.top];
          if (down.first != first || down.second != second) {
            first = down.first;
            second = down.second;
            upper = mean_at(first, across.first);
            upper += across.weight * (mean_at(first, across.second) - upper);
            lower = mean_at(second, across.first);
            lower += across.weight * (mean_at(second, across.second) - lower);
          }
          code = rounded(upper + down.weight * (lower - upper));
        }
        if (weight.partial >> k & 1) code = blended(in[i] >> args.shift, code, weights[k * region_threads]);
        *reinterpret_cast<Sample*>(frame + k * stride) = static_cast<Sample>(code << args.shift);
      }
    }
  }
}

template <class Sample>
__global__ void __launch_bounds__(region_threads, 4) effect_kernel(const __grid_constant__ RegionArgs args) {
  __shared__ std::uint64_t tile_memory[(sizeof(RegionTile) + 7) / 8];
  __shared__ TileMeans means;
  __shared__ OtherLayers others;
  __shared__ std::uint16_t weights[max_thread_rows * region_threads];
  const bool blurred = args.effect == RegionEffect::blur, by_means = hides_by_means(args.effect);
  const int id = static_cast<int>(threadIdx.x);
  RegionTile& tile = *reinterpret_cast<RegionTile*>(tile_memory);
  find_tile(args, tile);
  if (id == 0) others.count = 0;
  __syncthreads();
  if (by_means)
    for_each_line(args, tile,
                  [&](const CellAxis& axis, int pixel, int line) { means.line[line] = between(axis, pixel, blurred); });
  __syncthreads();
  if (args.layers > 1) find_others(args, tile, others);
  if (by_means && id == 0) {
    const Between *columns = means.line, *rows = means.line + max_tile_width;
    means.cells.x = columns[0].first;
    means.cells.y = rows[0].first;
    means.cells.columns = columns[min(tile.rect.right, args.width) - 1 - tile.rect.left].second - means.cells.x + 1;
    means.cells.rows = rows[min(tile.rect.bottom, args.height) - 1 - tile.rect.top].second - means.cells.y + 1;
  }
  __syncthreads();
  pdl_wait();
#pragma unroll 1
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * region_threads + static_cast<unsigned>(id);
       i < args.stale_words; i += static_cast<std::uint64_t>(gridDim.x) * region_threads)
    args.stale[i] = 0;
  if (by_means) {
    load_means(args, tile.layer, means);
    __syncthreads();
  }
#pragma unroll 1
  for (int p = 0; p < args.parts; ++p) treat_part<Sample>(args, tile, others, means, args.part[p], weights + id);
}

}  // namespace

void launch_effect(int capability, SampleType type, unsigned tiles, const RegionArgs& args, void* stream) noexcept {
  launch_pdl(capability, type == SampleType::u8 ? effect_kernel<std::uint8_t> : effect_kernel<std::uint16_t>, tiles,
             dim3(region_threads), stream, args);
}

}  // namespace convolve::cuda
