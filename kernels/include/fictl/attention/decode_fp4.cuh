// The products of decode.cuh with keys and values of four bits, by one warp.
//
// Keys: a lane has eight elements of a key in a word, four pairs for two products. Queries are in
// the order of the pairs. Values: a lane has four dims of each of two keys in a word, the pairs of
// four products, whose results are four adjacent dims. A word takes one factor, since its elements
// are of one block, or of the same block of two keys.
//
// Few rows: where at most 8 heads share keys, as in most models, tiles have 8 rows. Queries are the
// right operand of products, 8 columns, and 16 keys the left one; so are weights, which are
// transposed for it, and 16 dims. Conversions stay, all else is halved: products, sums, weights and
// their registers, so that queries stay in registers, too.
//
// Limit: not the memory, but the instructions. Of a word they are seven for bytes, four for pairs
// and four for factors, of 31 in all; half of them have half the rate of others. Measured on an
// H200, 64 requests of 8192 keys, 32 heads, 8 of the keys: 235 us, where 16 rows took 286, keys of
// 8 bits 264, and those of 4 bits of FlashInfer 672. A fourth block on an SM, with 128 registers a
// thread, takes 265.
#pragma once

#include <fictl/attention/decode_lanes.cuh>
#include <fictl/attention/decode_stages.cuh>
#include <fictl/attention/fp4_operands.cuh>
#include <fictl/device/ldmatrix.cuh>
#include <fictl/device/mma.cuh>

namespace fictl::attention {

template <typename Shape>
constexpr int kFp4KeyGroups = Shape::kKeys / device::kMmaN;

// A lane's share of the scores of a tile's keys.
template <typename Shape>
using Fp4Scores = float[Shape::kScores][4];

// A lane's share of the sums of a tile's rows.
template <typename Shape>
using Fp4Sums = float[Shape::kSums][4];

// Adds the scores of even chunks to `even`, and of odd ones to `odd`: a product waits for the one
// that it is added to. `queries(product, a)` gives those of a product.
template <typename Shape, typename Queries>
__device__ void add_fp4_scores(Queries queries, Tile<Fp4x2, Shape::kKeyUnits> k, const char* scales,
                               Fp4Scores<Shape>& even, Fp4Scores<Shape>& odd, int lane) {
  using KeyTile = Tile<Fp4x2, Shape::kKeyUnits>;
  constexpr int kGroups = kFp4KeyGroups<Shape>;
  // Four groups of keys of a chunk are loaded at once, or two of two.
  constexpr int kChunksAtOnce = kGroups % 4 == 0 ? 1 : 2;
  constexpr int kGroupsAtOnce = 4 / kChunksAtOnce;
  const int lane_offset = kChunksAtOnce == 1
                              ? KeyTile::offset(lane, 0)
                              : KeyTile::offset(device::MmaB::row(lane), device::MmaB::chunk(lane));
  Fp4Scales<Shape::kDim> held[kGroups];
#pragma unroll
  for (int n = 0; n < kGroups; ++n) held[n].load_half(scales, n * 8 + lane / 4, lane % 4 / 2);
#pragma unroll
  for (int chunk = 0; chunk < KeyTile::kChunks; chunk += kChunksAtOnce) {
    uint32_t operands[kChunksAtOnce][2][Shape::kQueryWords];
#pragma unroll
    for (int i = 0; i < kChunksAtOnce; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) queries((chunk + i) * 2 + j, operands[i][j]);
    }
#pragma unroll
    for (int n = 0; n < kGroups; n += kGroupsAtOnce) {
      uint32_t eights[4];
      device::ldmatrix_x4(eights, place_in<Shape::kEven>(k, lane_offset, n * 8, chunk));
      uint32_t pairs[4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int group = n + i / kChunksAtOnce;
        const int own = chunk + i % kChunksAtOnce;
        const uint32_t two = held[group].of_half(own / 4 * 4 + own % 2);
        fp4_pairs(eights[i], twice(two, own % 4 / 2), pairs[i]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int group = n + i / kChunksAtOnce;
        const int own = i % kChunksAtOnce;
        const auto& a = operands[own][0];
        const auto& b = operands[own][1];
        auto& sums = (chunk + own) % 2 == 0 ? even : odd;
        if constexpr (!Shape::kFewRows) {
          device::mma_m16n8k16<__half>(sums[group], a, pairs[i][0], pairs[i][1]);
          device::mma_m16n8k16<__half>(sums[group], b, pairs[i][2], pairs[i][3]);
        } else if (group % 2 == 0) {
          const auto& low = pairs[i];
          const auto& high = pairs[i + kChunksAtOnce];
          const uint32_t first[4] = {low[0], high[0], low[1], high[1]};
          const uint32_t second[4] = {low[2], high[2], low[3], high[3]};
          device::mma_m16n8k16<__half>(sums[group / 2], first, a[0], a[1]);
          device::mma_m16n8k16<__half>(sums[group / 2], second, b[0], b[1]);
        }
      }
    }
  }
}

// Makes scores of keys NaN that have a scale of no number. Each lane looks at one key.
template <typename Shape>
__device__ void spoil_fp4_scores(Fp4Scores<Shape>& scores, const char* scales, int lane) {
  Fp4Scales<Shape::kDim> own;
  own.load(scales, lane % Shape::kKeys);
  const uint32_t keys = __ballot_sync(0xffffffff, own.is_special());
  if (keys == 0) return;
#pragma unroll
  for (int n = 0; n < Shape::kScores; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (keys >> DecodeLanes<Shape>::key(lane, n, i) & 1) scores[n][i] = nanf("");
    }
  }
}

// Makes the sums of a block of dims NaN that has a scale of no number.
template <typename Shape>
__device__ void spoil_fp4_values(Fp4Sums<Shape>& sums, const char* scales, int lane) {
  using ValueTile = Tile<Fp4x2, Shape::kValueUnits>;
  Fp4Scales<Shape::kValues> own;
  own.load(scales, lane % Shape::kKeys);
  if (!__any_sync(0xffffffff, own.is_special())) return;
#pragma unroll
  for (int word = 0; word < Fp4Scales<Shape::kValues>::kWords; ++word) {
    uint32_t blocks = own.special(word);
#pragma unroll
    for (int lanes = device::kWarpSize / 2; lanes > 0; lanes /= 2) {
      blocks |= __shfl_xor_sync(0xffffffff, blocks, lanes);
    }
    constexpr int kOfChunk = Shape::kSums / ValueTile::kChunks;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int byte = 2 * i + (Shape::kFewRows ? lane / 16 : lane % 4 / 2);
      if ((blocks >> (8 * byte + 7) & 1) == 0) continue;
#pragma unroll
      for (int j = 0; j < kOfChunk; ++j) {
#pragma unroll
        for (float& value : sums[kOfChunk * (2 * word + i) + j]) value = nanf("");
      }
    }
  }
}

// Adds the values, multiplied by their weights.
template <typename Shape>
__device__ void add_fp4_values(Fp4Sums<Shape>& sums, const Fp4Scores<Shape>& weights,
                               Tile<Fp4x2, Shape::kValueUnits> v, const char* scales, int lane) {
  using ValueTile = Tile<Fp4x2, Shape::kValueUnits>;
  const int lane_offset = ValueTile::offset(device::MmaA::row(lane), device::MmaA::chunk(lane));
#pragma unroll
  for (int n = 0; n < kFp4KeyGroups<Shape>; n += 2) {
    uint32_t a[Shape::kQueryWords];
    if constexpr (Shape::kFewRows) {
      const auto& own = weights[n / 2];
      a[0] = device::transposed(device::packed<__half>(own[0], own[1]));
      a[1] = device::transposed(device::packed<__half>(own[2], own[3]));
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const auto& own = weights[n + i / 2];
        a[i] = device::packed<__half>(own[i % 2 * 2], own[i % 2 * 2 + 1]);
      }
    }
    Fp4Scales<Shape::kValues> held[2][2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int key = 0; key < 2; ++key) {
        held[i][key].load(scales, (n + i) * 8 + lane % 4 * 2 + key);
      }
    }
#pragma unroll
    for (int chunk = 0; chunk < ValueTile::kChunks; chunk += 2) {
      uint32_t b[4];
      device::ldmatrix_x4_trans(b, place_in<Shape::kEven>(v, lane_offset, n * 8, chunk));
      uint32_t both[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) both[i] = held[i][0].of_both(held[i][1], chunk / 2, lane / 16);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        uint32_t first[4], second[4];
        fp4_pairs(fp4_of_two_rows(b[2 * i]), fp4_factors<__half>(both[0] >> (8 * i) & 0x00ff00ffu),
                  first);
        fp4_pairs(fp4_of_two_rows(b[2 * i + 1]),
                  fp4_factors<__half>(both[1] >> (8 * i) & 0x00ff00ffu), second);
        if constexpr (Shape::kFewRows) {
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            const uint32_t dims[4] = {first[2 * j], first[2 * j + 1], second[2 * j],
                                      second[2 * j + 1]};
            device::mma_m16n8k16<__half>(sums[2 * (chunk + i) + j], dims, a[0], a[1]);
          }
        } else {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            device::mma_m16n8k16<__half>(sums[4 * (chunk + i) + j], a, first[j], second[j]);
          }
        }
      }
    }
  }
  spoil_fp4_values<Shape>(sums, scales, lane);
}

}  // namespace fictl::attention
