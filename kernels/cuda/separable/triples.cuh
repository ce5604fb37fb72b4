// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable on the tensor cores, for bytes of three components in turn, as RGB has them; all filtered alike.
//
// The column pass of tensor.cuh does not ask which component a byte is of. The row pass takes V from the right here,
// H' = R' V', with a tap at every third byte:
//
//   of a row, bytes     R G B R G B R G B ...      a lane has V of bytes 4 t to 4 t + 3 of 16, in two registers: every
//   taps of a G           a . . b . . c            second byte. Of four neighbours there, at most two meet taps: R is
//   registers           o . o . o . o .            2:4 sparse as it stands, in each row and whatever the filter
//
// Of exact taps whose V half precision does not hold, V is two limbs of 8 bits: four neighbouring bytes of each are a
// word of the lane, of which as many meet taps, and one sparse product takes all that a set reaches. V starts 2^15
// higher than elsewhere, so that both limbs are unsigned.
//
// A set is 16 bytes of 16 rows, in the middle of four blocks of V: filters reach 21 bytes, and so it begins 8 bytes
// before a block. A lane ends with a pair of neighbouring bytes of two rows, which stmatrix stores transposed; the
// order of pairs is that of the blocks, as ldmatrix hands them out: first those of the later block.
#pragma once

#include "cuda/separable/tensor_input.cuh"
#include "cuda/separable/tensor_passes.cuh"

namespace convolve::cuda::tensor {

/// The places of a plane's fragments of three components, in uint4, behind the column's matrix and those of the row,
/// two of halves and one of bytes: which columns of each sparse matrix are there, and what V and H start at.
struct TripleFragments {
  int chosen, start;

  static constexpr TripleFragments of(Epilogue epilogue) {
    return in_halves(epilogue) ? TripleFragments{96, 120} : TripleFragments{64, 72};
  }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// The two passes of a set with their matrices' fragments of one lane.
template <Epilogue epilogue>
struct TripleProducts;

template <Epilogue epilogue>
requires(in_halves(epilogue)) struct TripleProducts<epilogue> {
  using Columns = Products<epilogue, 1>;
  using Block = typename Columns::Half;  ///< V of 16 bytes
  Columns pass;
  std::uint32_t row[2][4], where[2];
  float from[4];

  __device__ void prepare(const TensorPlane& plane, int lane) {
    constexpr TripleFragments at = TripleFragments::of(epilogue);
    const auto chosen = reinterpret_cast<const std::uint32_t*>(plane.fragments + at.chosen) + lane;
    load_fragment(pass.column, plane, 0, lane);
    pass.where = __ldg(chosen);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      load_fragment(row[i], plane, 1 + i, lane);
      where[i] = __ldg(chosen + 32 * (1 + i));
    }
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(plane.fragments + at.start));
    pass.start[0] = v.x, pass.start[1] = v.y;
    const float4 f = __ldg(reinterpret_cast<const float4*>(plane.fragments + at.start + 1));
    from[0] = f.x, from[1] = f.y, from[2] = f.z, from[3] = f.w;
  }
  __device__ void columns(Block& to, const Blocks<1>& rows) const {
    to = pass.columns(rows);
  }
  /// A lane's pair of bytes of rows 8 k + 2 t and the next: the first byte of both rows, then the second.
  __device__ void rows(float (&code)[4], const Block& a, const Block& b, const Block& c, const Block& d, int k,
                       const TensorArgs& args) const {
    const std::uint32_t left[4] = {a.v[0][k], a.v[0][2 + k], b.v[0][k], b.v[0][2 + k]};
    const std::uint32_t right[4] = {c.v[0][k], c.v[0][2 + k], d.v[0][k], d.v[0][2 + k]};
    float sum[4];
    ptx::mma_f16_sparse(sum, row[0], left, from, where[0]);
    ptx::mma_f16_sparse(code, row[1], right, sum, where[1]);
    if (epilogue == Epilogue::scaled)
#pragma unroll
      for (float& v : code) v = __fmul_rn(v, args.gain);
  }
};

/// Products of bytes: each takes all four blocks, of one limb of V.
template <Epilogue epilogue>
struct TripleProducts {
  using Columns = Products<epilogue, 1>;
  /// V of 16 bytes: a lane's four of rows g and g + 8.
  struct Block {
    std::uint32_t low[2], high[2];
  };
  Columns pass;
  uint4 row;
  std::uint32_t where;

  __device__ void prepare(const TensorPlane& plane, int lane) {
    constexpr TripleFragments at = TripleFragments::of(epilogue);
    load_fragment(pass.column, plane, 0, lane);
    row = __ldg(plane.fragments + 32 + lane);
    where = __ldg(reinterpret_cast<const std::uint32_t*>(plane.fragments + at.chosen) + lane);
    const int4 s = __ldg(reinterpret_cast<const int4*>(plane.fragments + at.start));
    pass.start[0] = s.x, pass.start[1] = s.y, pass.start[2] = s.z, pass.start[3] = s.w;
    const int4 f = __ldg(reinterpret_cast<const int4*>(plane.fragments + at.start + 1));
    pass.from[0] = f.x, pass.offset[0] = __int_as_float(f.y);
  }
  __device__ void columns(Block& to, const Blocks<1>& rows) const {
    const auto fresh = pass.columns(rows);
    const auto& v = fresh.v[0];
#pragma unroll
    for (int k = 0; k < 2; ++k)
      Columns::limbs(to.low[k], to.high[k], v[0][2 * k], v[1][2 * k], v[0][2 * k + 1], v[1][2 * k + 1]);
  }
  /// Makes the samples' codes, as rows() of halves does.
  __device__ void rows(float (&code)[4], const Block& a, const Block& b, const Block& c, const Block& d, int k,
                       const TensorArgs& args) const {
    const std::uint32_t high[4] = {a.high[k], b.high[k], c.high[k], d.high[k]};
    const std::uint32_t low[4] = {a.low[k], b.low[k], c.low[k], d.low[k]};
    int sum[4] = {};
    ptx::mma_s8_u8_sparse(sum, row, high, where);
#pragma unroll
    for (int& s : sum) s = s * 256 + pass.from[0];
    ptx::mma_s8_u8_sparse(sum, row, low, where);
#pragma unroll
    for (int i = 0; i < 4; ++i) code[i] = pass.value_of(sum[i], 0, args);
  }
};

/// A warp's output on its way through shared memory, 128 bytes of 16 rows at a time, and the set that lies across their
/// end. Each set is 16 bytes: first its later half, then the earlier one.
struct TripleOutlet {
  static constexpr int sets = 8, bytes = 16 * sets, pitch = bytes + 16, size = 16 * pitch;
  static constexpr int chunks = TripleTile::bytes / bytes, rows = 32 / sets;
  static_assert(chunks * bytes == TripleTile::bytes);
};

template <Epilogue epilogue>
__device__ __forceinline__ void filter_triples(const TensorArgs& args, const TensorPlane& plane, std::uint8_t* shared) {
  using In = Window<3, TripleTile::threads, false>;
  using Out = TripleOutlet;
  const int band = __shfl_sync(~0u, threadIdx.x >> 5, 0), lane = threadIdx.x & 31;
  const auto origin = [&](int tile) -> int2 {
    const int tile_y = plane.tiles_x == 1 ? tile : static_cast<int>(__umulhi(tile, plane.tiles_x_inverse));
    return {(tile - tile_y * plane.tiles_x) * TripleTile::bytes, tile_y * TensorTile::rows};
  };
  const int tile = blockIdx.x;
  const auto [x, top] = origin(tile);
  if (tile < args.wave) prefetch_tile<TripleTile::threads, TripleTile::bytes>(plane, x, top);
  TripleProducts<epilogue> products;
  products.prepare(plane, lane);
  const In in{args, plane, shared, x - margin_of(3), top, nullptr};
  const int y = top + 16 * band, lines = plane.height - y, row_bytes = plane.row_bytes;
  const std::ptrdiff_t stride = plane.out_stride;
  const bool wide = plane.out_wide;
  in.load();
  if (tile + args.wave < plane.tiles) {
    const int2 next = origin(tile + args.wave);
    prefetch_tile<TripleTile::threads, TripleTile::bytes>(plane, next.x, next.y);
  }
  if (lines <= 0) return;

  const int piece = lane % Out::sets, line = lane / Out::sets;  // of the output, this lane's
  int piece_x = x + 16 * piece;
  std::uint8_t* out = plane.out + (y + line) * stride + piece_x;
  std::uint8_t* const outlet = shared + In::bytes + block_bytes + band * Out::size;
  const std::uint32_t set_at = ptx::address_in_shared(outlet) + (lane & 15) * Out::pitch;
  const std::uint8_t* const piece_at = outlet + line * Out::pitch + 16 * piece;
  std::uint32_t blocks = settled(in.row(16 * band + TripleProducts<epilogue>::Columns::row_of(lane)));
  // For the tap at the centre: rows 0 to 7 and 8 to 15 of one block, then of the next.
  std::uint32_t samples_at = settled(in.row(16 * band + radius + (lane & 15))) + block_bytes * (1 + (lane >> 4));

  typename TripleProducts<epilogue>::Block v[4];
  Blocks<1> next;
  const auto take = [&](auto& to) {
    products.columns(to, next);
    blocks += block_bytes;
    next.load(blocks);
  };
  next.load(blocks);
#pragma unroll
  for (int i = 0; i < 3; ++i) take(v[i]);
  std::uint32_t words[2];
  /// The next set; `first`: which of v is the leftmost block.
  const auto step = [&](int first) {
    take(v[(first + 3) % 4]);
    std::uint32_t was[4];
    if (epilogue == Epilogue::centre_tap) ptx::load_matrices(was, samples_at);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      float code[4];
      products.rows(code, v[first % 4], v[(first + 1) % 4], v[(first + 2) % 4], v[(first + 3) % 4], k, args);
      if (epilogue == Epilogue::centre_tap) {
        const std::uint32_t pairs = lane < 16 ? was[2 + k] : was[k];
        constexpr int order[4] = {0, 2, 1, 3};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float sample = __uint_as_float(__byte_perm(pairs, 0x4B000000, 0x7440 | order[i])) - 8388608.f;
          code[i] = fmaf(args.centre, sample, code[i]);
        }
      }
      words[k] = pack_bytes(code[0], code[2], code[1], code[3]);
    }
    samples_at += block_bytes;
  };
  const auto leave = [&] {
#pragma unroll
    for (int n = 0; n < 16 / Out::rows; ++n) {
      const std::uint8_t* from = piece_at + n * Out::rows * Out::pitch;
      const uint2 low = *reinterpret_cast<const uint2*>(from), high = *reinterpret_cast<const uint2*>(from + 24);
      std::uint8_t* to = out + n * Out::rows * stride;
      if (line + n * Out::rows >= lines) continue;
      if (wide && piece_x + 16 <= row_bytes)
        *reinterpret_cast<uint4*>(to) = {low.x, low.y, high.x, high.y};
      else
#pragma unroll 1
        for (int e = 0; e < min(16, row_bytes - piece_x); ++e) to[e] = from[e < 8 ? e : 16 + e];
    }
    out += Out::bytes, piece_x += Out::bytes;
  };

  step(0);
  ptx::store_matrices(set_at, words);
#pragma unroll 1
  for (int chunk = 0; chunk < Out::chunks; ++chunk) {
#pragma unroll
    for (int s = 1; s <= Out::sets; ++s) {
      step(s);
      ptx::store_matrices(set_at + 16 * s, words);
    }
    __syncwarp();
    leave();
    __syncwarp();
    ptx::store_matrices(set_at, words);
  }
}

#endif

template <Epilogue epilogue>
__global__ void __launch_bounds__(TripleTile::threads, TripleTile::blocks)
    triples_kernel(const __grid_constant__ TensorArgs args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __shared__ alignas(16) std::uint8_t
      shared[Window<3, TripleTile::threads, false>::bytes + block_bytes + TripleTile::warps * TripleOutlet::size];
  filter_triples<epilogue>(args, args.plane[0], shared);
#endif
}

}  // namespace convolve::cuda::tensor
