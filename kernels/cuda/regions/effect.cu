// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The effect, blended into the frame by weight. Blur and pixelate are one: the value between four means, where pixelate
// stands on one of them.
//
//      m00 ----- across ----- m10      upper = m00 + across * (m10 - m00), once a lane and row of cells
//       |           |          |       lower = m01 + across * (m11 - m01), likewise
//      down ----- value        |       value = upper + down * (lower - upper), once a sample
//       |                      |
//      m01 ------------------ m11
//
// The means, and how exact all of this is: tile_means.cuh.
#include "cuda/regions/tile_means.cuh"

namespace convolve::cuda {
namespace {

/// round((in * (256 - weight) + effect * weight) / 256), ties to even.
__device__ __forceinline__ int blended(int in, int effect, int weight) {
  const int sum = in * (256 - weight) + effect * weight;
  return (sum + 127 + (sum >> 8 & 1)) >> 8;
}

// --- Samples ---------------------------------------------------------------------------------------------------------

/// The weights of a word's samples in a row: bits of those that are all of the effect, and of those that are some of
/// it.
template <class Sample>
struct Weights {
  unsigned full = 0, partial = 0;
  std::uint64_t all = 0;  ///< 16 bits each

  __device__ int of(int j) const { return static_cast<int>(all >> 16 * j & 0xffff); }
};

template <class Sample>
__device__ __forceinline__ Weights<Sample> weigh(const RegionArgs& args, const RegionTile& tile,
                                                 const OtherLayers& others, const Lines<Sample>& lines,
                                                 const Word<Sample>& word, const RowSpan& core, int y) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  Weights<Sample> weights;
  if (others.count == 0 && tile.layer.kind != static_cast<std::uint8_t>(LayerKind::map)) {
    weights.full = word.within(core);
    if (args.feather == 0 || weights.full == word.there) return weights;
    weights.full = 0;
  }
#pragma unroll 1
  for (int j = 0; j < word_samples<Sample>; ++j) {
    if (!(word.there >> j & 1)) continue;
    const int weight =
        weight_won(args, tile, others, covered_by(args, tile, lines, lane * word_samples<Sample> + j, y));
    weights.all |= static_cast<std::uint64_t>(weight) << 16 * j;
    weights.full |= (weight == 256 ? 1u : 0u) << j;
    weights.partial |= (weight > 0 && weight < 256 ? 1u : 0u) << j;
  }
  return weights;
}

/// Writes a word's samples, as they lie in memory.
template <class Sample>
__device__ __forceinline__ void store_samples(Sample* to, unsigned samples, unsigned held, bool whole) {
  if (whole && held == (1u << word_samples<Sample>)-1) {
    *reinterpret_cast<unsigned*>(to) = samples;
    return;
  }
#pragma unroll
  for (int j = 0; j < word_samples<Sample>; ++j)
    if (held >> j & 1) to[j] = static_cast<Sample>(samples >> j * sample_bits<Sample>);
}

__device__ __forceinline__ const RegionSlot& slot_of(const RegionPart& part, int sample) {
  return part.slot[sample - quotient(sample, part.by_period) * part.period];
}

/// Treats the tile's samples, whatever their weights and the effect are.
template <class Sample>
__device__ __noinline__ void treat_any(const RegionArgs& args, const RegionTile& tile, const OtherLayers& others,
                                       const Lines<Sample>& lines, const TileMeans<Sample>& means) {
  constexpr int n = word_samples<Sample>, bits = sample_bits<Sample>;
  const RegionPart& part = args.part[tile.part];
  const TileCells<Sample> cells(part, lines);
  const bool by_means = hides_by_means(args.effect), filters = args.effect == RegionEffect::filter;
  const PlaneView frame = args.frame[part.plane], filtered = args.filtered[part.plane];
  const Word<Sample> word(args, tile, lines);
  const bool whole = word.in_row && in_words(frame), filtered_whole = word.in_row && in_words(filtered);
  const int lane = static_cast<int>(threadIdx.x) % warp_size, warp = static_cast<int>(threadIdx.x) / warp_size;
  const int rows = (1 << tile.layer.tile_y) / warps, first = warp * rows;
  const unsigned litter = ~0u / ((1u << bits) - 1) * ((1u << args.shift) - 1);
  int left[n], right[n];  // means of the first row of cells
  double across[n], upper[n], lower[n];
  unsigned fill = 0;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    left[j] = by_means ? word.line[j].first - cells.x * cells.components : 0;
    right[j] = by_means ? word.line[j].second - cells.x * cells.components : 0;
    across[j] = by_means ? means.exact_weight[lane * n + j] : 0;
    upper[j] = lower[j] = 0;
    if (args.effect == RegionEffect::fill)
      fill |= static_cast<unsigned>(slot_of(part, word.at + j).fill << args.shift) << j * bits;
  }
  int last_first = -1, last_second = -1;  // rows of cells that `upper` and `lower` are of
#pragma unroll 1
  for (int k = first; k < first + rows && tile.y + k < tile.bottom; ++k) {
    const int y = tile.y + k;
    const Line& line = lines.row(k);
    const Weights<Sample> weights = weigh(args, tile, others, lines, word, lines.core[k], y);
    const unsigned wanted = weights.full | weights.partial;
    if (wanted == 0) continue;
    Sample* to = row_of<Sample>(frame, y) + word.at;
    unsigned samples = fill;
    if (filters) samples = load_samples(row_of<const Sample>(filtered, y) + word.at, wanted, filtered_whole) & ~litter;
    if (by_means) {
      const int words = cells.columns * cells.components;
      if (line.first != last_first || line.second != last_second) {
        last_first = line.first;
        last_second = line.second;
        const int above = (last_first - cells.y) * words, below = (last_second - cells.y) * words;
#pragma unroll
        for (int j = 0; j < n; ++j) {
          upper[j] = interpolate(means.exact[above + left[j]], means.exact[above + right[j]], across[j]);
          lower[j] = interpolate(means.exact[below + left[j]], means.exact[below + right[j]], across[j]);
        }
      }
      const double down = means.exact_weight[Lines<Sample>::rows + k];
      samples = 0;
#pragma unroll
      for (int j = 0; j < n; ++j)
        samples |= static_cast<unsigned>(rounded(interpolate(upper[j], lower[j], down))) << j * bits;
      samples <<= args.shift;
    }
    if (weights.partial) {
      const unsigned in = load_samples<Sample>(to, weights.partial, false);
#pragma unroll
      for (int j = 0; j < n; ++j) {
        constexpr unsigned mask = (1u << bits) - 1;
        if (!(weights.partial >> j & 1)) continue;
        const int code = blended(static_cast<int>((in >> j * bits & mask) >> args.shift),
                                 static_cast<int>((samples >> j * bits & mask) >> args.shift), weights.of(j));
        samples = (samples & ~(mask << j * bits)) | static_cast<unsigned>(code << args.shift) << j * bits;
      }
    }
    store_samples(to, samples, wanted, whole);
  }
}

/// Computes again, exactly, the samples of a lane's rows that `unknown` has bits of, those of the first row lowest.
template <class Sample>
__device__ __noinline__ void treat_exactly(const RegionArgs& args, const RegionTile& tile, const Lines<Sample>& lines,
                                           const TileMeans<Sample>& means, int first_row, unsigned unknown) {
  constexpr int n = word_samples<Sample>;
  const RegionPart& part = args.part[tile.part];
  const PlaneView frame = args.frame[part.plane];
  const int none = lines.first_cell(0) * part.components, row_means = lines.cells(0) * part.components;
#pragma unroll 1
  for (; unknown; unknown &= unknown - 1) {
    const int bit = __ffs(static_cast<int>(unknown)) - 1, row = first_row + bit / n;
    const int column = static_cast<int>(threadIdx.x) % warp_size * n + bit % n;
    const int left = lines.of[column].first - none, right = lines.of[column].second - none;
    const auto across = [&](int row_of_cells) {
      const double* from = means.exact + (row_of_cells - lines.first_cell(1)) * row_means;
      return interpolate(from[left], from[right], means.exact_weight[column]);
    };
    const double value = interpolate(across(lines.row(row).first), across(lines.row(row).second),
                                     means.exact_weight[Lines<Sample>::rows + row]);
    row_of<Sample>(frame, tile.y + row)[tile.x + column] = static_cast<Sample>(rounded(value) << args.shift);
  }
}

/// Treats the tile's samples where all weights are full or none, by means or by a colour.
template <class Sample>
__device__ __forceinline__ void treat_plainly(const RegionArgs& args, const RegionTile& tile,
                                              const Lines<Sample>& lines, const TileCells<Sample>& cells,
                                              TileMeans<Sample>& means) {
  using Value = decltype(means.mean(0));
  constexpr int n = word_samples<Sample>, bits = sample_bits<Sample>;
  static_assert(n * max_tile_rows / warps <= 32);
  const RegionPart& part = args.part[tile.part];
  const bool by_means = hides_by_means(args.effect);
  const PlaneView frame = args.frame[part.plane];
  const Word<Sample> word(args, tile, lines);
  const bool whole = word.in_row && in_words(frame);
  const int lane = static_cast<int>(threadIdx.x) % warp_size, warp = static_cast<int>(threadIdx.x) / warp_size;
  const int rows = (1 << tile.layer.tile_y) / warps, first = warp * rows;
  const int row_means = cells.columns * cells.components, none = cells.x * cells.components;
  Value across[n], upper[n], lower[n];
  unsigned samples = 0, unknown = 0;
  if (by_means) {
#pragma unroll
    for (int j = 0; j < n; ++j) across[j] = means.weight(lane * n + j);
  } else {
#pragma unroll
    for (int j = 0; j < n; ++j)
      samples |= static_cast<unsigned>(slot_of(part, word.at + j).fill << args.shift) << j * bits;
  }
  int last_first = -1, last_second = -1;  // rows of cells that `upper` and `lower` are of
#pragma unroll 1
  for (int k = first; k < first + rows && tile.y + k < tile.bottom; ++k) {
    const unsigned wanted = word.within(lines.core[k]);
    if (by_means) {
      const Line& line = lines.row(k);
      if (line.first != last_first || line.second != last_second) {
        last_first = line.first;
        last_second = line.second;
        const int above = (last_first - cells.y) * row_means - none, below = (last_second - cells.y) * row_means - none;
#pragma unroll
        for (int j = 0; j < n; ++j) {
          const int left = word.line[j].first, right = word.line[j].second;
          upper[j] = interpolate(means.mean(above + left), means.mean(above + right), across[j]);
          lower[j] = interpolate(means.mean(below + left), means.mean(below + right), across[j]);
        }
      }
      const Value down = means.weight(Lines<Sample>::rows + k);
      samples = 0;
      unsigned known[n];
#pragma unroll
      for (int j = 0; j < n; ++j) samples |= code_of(interpolate(upper[j], lower[j], down), known[j]) << j * bits;
      samples <<= args.shift;
      if (sizeof(Sample) == 1 && min(min(known[0], known[1]), min(known[n - 2], known[n - 1])) == 0)
#pragma unroll
        for (int j = 0; j < n; ++j) unknown |= (known[j] == 0 ? wanted & 1u << j : 0) << (k - first) * n;
    }
    if (wanted) store_samples(row_of<Sample>(frame, tile.y + k) + word.at, samples, wanted, whole);
  }
  if (unknown) treat_exactly(args, tile, lines, means, first, unknown);
}

template <class Sample, class Int>
__global__ void __launch_bounds__(region_threads, 3) effect_kernel(const __grid_constant__ RegionArgs args) {
  __shared__ std::uint64_t tile_memory[(sizeof(RegionTile) + 7) / 8];
  __shared__ Lines<Sample> lines;
  __shared__ TileMeans<Sample> means;
  __shared__ OtherLayers others;
  const bool blurred = args.effect == RegionEffect::blur, by_means = hides_by_means(args.effect);
  const int id = static_cast<int>(threadIdx.x);
  RegionTile& tile = *reinterpret_cast<RegionTile*>(tile_memory);
  find_tile<Sample>(args, tile);
  if (id == 0) others.count = 0;
  __syncthreads();
  set_lines<Int>(args, tile, lines, [&](const BasicCellAxis<Int>& axis, int pixel, int i, int component) {
    if (!by_means) return;
    const Between found = between(axis, pixel, blurred);
    // Columns have the places of their means in a row of cells.
    const bool is_column = i < Lines<Sample>::rows;
    const int components = is_column ? args.part[tile.part].components : 1;
    if (!is_column || component == no_component) component = 0;
    lines.of[i].first = found.first * components + component;
    lines.of[i].second = found.second * components + component;
    means.set_weight(i, found.weight);
  });
  if (args.layers > 1) find_others(args, tile, others);
  __syncthreads();
  const TileCells<Sample> cells(args.part[tile.part], lines);
  if (by_means) count_samples<Int>(args, tile, cells, means);
  pdl_wait();
#pragma unroll 1
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * region_threads + static_cast<unsigned>(id);
       i < args.stale_words; i += static_cast<std::uint64_t>(gridDim.x) * region_threads)
    args.stale[i] = 0;
  if (by_means) load_means(args, tile, cells, means);
  __syncthreads();
  if (others.count == 0 && args.feather == 0 && args.effect != RegionEffect::filter &&
      tile.layer.kind != static_cast<std::uint8_t>(LayerKind::map))
    treat_plainly(args, tile, lines, cells, means);
  else
    treat_any(args, tile, others, lines, means);
}

}  // namespace

void launch_effect(int capability, SampleType type, unsigned tiles, const RegionArgs& args, void* stream) noexcept {
  const auto kernel =
      type == SampleType::u8
          ? (args.wide ? effect_kernel<std::uint8_t, std::int64_t> : effect_kernel<std::uint8_t, int>)
          : (args.wide ? effect_kernel<std::uint16_t, std::int64_t> : effect_kernel<std::uint16_t, int>);
  launch_pdl(capability, kernel, tiles, dim3(region_threads), stream, args);
}

}  // namespace convolve::cuda
