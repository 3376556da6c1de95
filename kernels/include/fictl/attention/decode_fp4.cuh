// The products of decode.cuh with keys and values of four bits, by one warp.
//
// Keys: a lane has eight elements of a key in a word, four pairs for two products. Queries are in
// the order of the pairs. Values: a lane has four dims of each of two keys in a word, the pairs of
// four products, whose results are four adjacent dims. A word takes one factor, since its elements
// are of one block, or of the same block of two keys.
#pragma once

#include <fictl/attention/decode_stages.cuh>
#include <fictl/attention/fp4_operands.cuh>
#include <fictl/device/ldmatrix.cuh>
#include <fictl/device/mma.cuh>

namespace fictl::attention {

template <typename Shape>
constexpr int kFp4KeyGroups = Shape::kKeys / device::kMmaN;

// A lane's share of the scores of a tile's keys.
template <typename Shape>
using Fp4Scores = float[kFp4KeyGroups<Shape>][4];

// Adds the scores of even chunks to `even`, and of odd ones to `odd`: a product waits for the one
// that it is added to.
template <typename Shape>
__device__ void add_fp4_scores(Fp4Queries queries, Tile<Fp4x2, Shape::kKeyUnits> k,
                               const char* scales, Fp4Scores<Shape>& even, Fp4Scores<Shape>& odd,
                               int lane) {
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
    uint4 operands[kChunksAtOnce][2];
#pragma unroll
    for (int i = 0; i < kChunksAtOnce; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) operands[i][j] = queries.of((chunk + i) * 2 + j, lane);
    }
#pragma unroll
    for (int n = 0; n < kGroups; n += kGroupsAtOnce) {
      uint32_t eights[4];
      device::ldmatrix_x4(eights, place_in<Shape::kEven>(k, lane_offset, n * 8, chunk));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int group = n + i / kChunksAtOnce;
        const int own = i % kChunksAtOnce;
        const uint4& a = operands[own][0];
        const uint4& b = operands[own][1];
        const uint32_t first[4] = {a.x, a.y, a.z, a.w};
        const uint32_t second[4] = {b.x, b.y, b.z, b.w};
        uint32_t pairs[4];
        fp4_pairs(eights[i], held[group].of_half(chunk + own), pairs);
        float (&sum)[4] = (chunk + own) % 2 == 0 ? even[group] : odd[group];
        device::mma_m16n8k16<__half>(sum, first, pairs[0], pairs[1]);
        device::mma_m16n8k16<__half>(sum, second, pairs[2], pairs[3]);
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
  for (int n = 0; n < kFp4KeyGroups<Shape>; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (keys >> (n * 8 + lane % 4 * 2 + i % 2) & 1) scores[n][i] = nanf("");
    }
  }
}

// Makes the sums of a block of dims NaN that has a scale of no number.
template <typename Shape>
__device__ void spoil_fp4_values(float (&sums)[Shape::kValueColumns / device::kMmaN][4],
                                 const char* scales, int lane) {
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
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int byte = 2 * i + lane % 4 / 2;
      if ((blocks >> (8 * byte + 7) & 1) == 0) continue;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (float& value : sums[4 * (2 * word + i) + j]) value = nanf("");
      }
    }
  }
}

// Adds the values, multiplied by their weights.
template <typename Shape>
__device__ void add_fp4_values(float (&sums)[Shape::kValueColumns / device::kMmaN][4],
                               const Fp4Scores<Shape>& weights, Tile<Fp4x2, Shape::kValueUnits> v,
                               const char* scales, int lane) {
  using ValueTile = Tile<Fp4x2, Shape::kValueUnits>;
  const int lane_offset = ValueTile::offset(device::MmaA::row(lane), device::MmaA::chunk(lane));
#pragma unroll
  for (int n = 0; n < kFp4KeyGroups<Shape>; n += 2) {
    const auto& low = weights[n];
    const auto& high = weights[n + 1];
    const uint32_t a[4] = {
        device::packed<__half>(low[0], low[1]), device::packed<__half>(low[2], low[3]),
        device::packed<__half>(high[0], high[1]), device::packed<__half>(high[2], high[3])};
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
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int odd = lane / 16;
        uint32_t first[4], second[4];
        fp4_pairs(b[2 * i], held[0][0].of_both(held[0][1], chunk + i, odd), first);
        fp4_pairs(b[2 * i + 1], held[1][0].of_both(held[1][1], chunk + i, odd), second);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          device::mma_m16n8k16<__half>(sums[4 * (chunk + i) + j], a, first[j], second[j]);
        }
      }
    }
  }
  spoil_fp4_values<Shape>(sums, scales, lane);
}

}  // namespace fictl::attention
