// The products of a warpgroup of prefill: scores of queries and keys, and sums of values by
// weights.
//
//   clear()                      sums = 0
//   issue_scores(q, k)           S = Q K^T
//   pack()                       P = S, which are weights by then
//   rescale(factors)             O *= factors, by which these weights are smaller
//   issue_sums(v)                O += P V, with what follows once it is complete:
//   settle()
//
// The tensor cores' own sums of 8-bit products are of one stage, and added in fp32: they keep 13
// bits below the largest number, too few for long contexts
// (docs/attention.md).
#pragma once

#include <fictl/attention/sm90/softmax.cuh>
#include <fictl/attention/sm90/tile.cuh>
#include <fictl/device/convert.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/hopper/wgmma.cuh>
#include <fictl/device/mma.cuh>

namespace fictl::attention::sm90 {

template <typename Tile>
struct Scores {
  using Q = typename Tile::Q;

  float scores[Tile::kKeys / 2];

  __device__ __forceinline__ void issue_scores(device::TileDescriptor q, device::TileDescriptor k) {
    constexpr int kSteps = Tile::kDim * static_cast<int>(sizeof(Q)) / 32;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      constexpr int kInPanel = Tile::kRow / 32;
      const int panel = step / kInPanel, within = step % kInPanel * 32;
      device::wgmma<Q>(scores, q.advance(panel * Tile::kQueryPanel + within),
                       k.advance(panel * Tile::KeyLayout::kPanelBytes + within), step > 0);
    }
    device::wgmma_commit();
  }

  __device__ __forceinline__ void pin_scores() { device::pin(scores); }
};

// Keeps the compiler from moving accesses to operands across this place: they are read until the
// product is complete.
template <int kSteps>
__device__ __forceinline__ void pin_weights(uint32_t (&weights)[kSteps][4]) {
#pragma unroll
  for (auto& step : weights) {
#pragma unroll
    for (uint32_t& word : step) asm volatile("" : "+r"(word)::"memory");
  }
}

// Products of 16 bits: weights are as the sums of scores are, in their order.
template <typename Tile, bool kFp8 = Tile::kFp8>
struct Products : Scores<Tile> {
  using Q = typename Tile::Q;
  static constexpr int kWeightBits = 0;

  float sums[Tile::kValueDim / 2];
  uint32_t weights[Tile::kKeys / 16][4];

  __device__ static device::TileDescriptor values_at(const void* stage) {
    using Layout = typename Tile::ValueLayout;
    return device::descriptor::make(stage, device::Swizzle::k128, Layout::kPanelBytes,
                                    Layout::kGroupBytes);
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (float& sum : sums) sum = 0.0f;
  }

  __device__ __forceinline__ void pack() {
#pragma unroll
    for (int i = 0; i < Tile::kKeys / 4; ++i) {
      weights[i / 4][i % 4] = device::packed<Q>(this->scores[2 * i], this->scores[2 * i + 1]);
    }
  }

  __device__ __forceinline__ void issue_sums(device::TileDescriptor v) {
#pragma unroll
    for (int step = 0; step < Tile::kKeys / 16; ++step) {
      device::wgmma<Q, device::Major::kMN>(sums, weights[step],
                                           v.advance(step * 2 * Tile::ValueLayout::kGroupBytes));
    }
    device::wgmma_commit();
  }

  __device__ __forceinline__ void pin_sums() {
    device::pin(sums);
    pin_weights(weights);
  }

  __device__ __forceinline__ void settle() {}
  // By the whole warp.
  __device__ __forceinline__ void rescale(const Factors& factors) {
    if (!__any_sync(~0u, factors[0] != 1.0f || factors[1] != 1.0f)) return;
#pragma unroll
    for (int i = 0; i < Tile::kValueDim / 2; ++i) sums[i] *= factors[i / 2 % 2];
  }
};

// Products of 8 bits: weights are e4m3, which has more bits than e5m2, up to 2^8. Which key and
// which dim of the values they meet is in transpose_bytes.cuh.
template <typename Tile>
struct Products<Tile, true> : Scores<Tile> {
  using Weight = __nv_fp8_e4m3;
  static constexpr int kWeightBits = 8;
  static constexpr int kSums = Tile::kValueDim / 2;
  static_assert(Tile::kKeys == 64 || Tile::kKeys == 128, "keys are one panel of the values");

  float sums[kSums];
  float stage_sums[kSums];
  uint32_t weights[Tile::kKeys / 32][4];
  Factors factors;  // of the sums before the stage's

  __device__ static device::TileDescriptor values_at(const void* stage) {
    constexpr auto kSwizzle = Tile::kKeys == 64 ? device::Swizzle::k64 : device::Swizzle::k128;
    return device::k_major_tile<kSwizzle>(stage);
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (float& sum : sums) sum = 0.0f;
  }

  // A word has what a thread has of a row and of two neighbouring blocks of eight keys.
  __device__ __forceinline__ void pack() {
#pragma unroll
    for (int i = 0; i < Tile::kKeys / 8; ++i) {
      const float* first = &this->scores[i / 4 * 16 + i % 4 / 2 * 8 + i % 2 * 2];
      const float four[4] = {first[0], first[1], first[4], first[5]};
      weights[i / 4][i % 4] = device::from_float<Weight>(four).bits();
    }
  }

  __device__ __forceinline__ void issue_sums(device::TileDescriptor v) {
#pragma unroll
    for (int step = 0; step < Tile::kKeys / 32; ++step) {
      device::wgmma<Weight, device::Major::kK, typename Tile::Q>(stage_sums, weights[step],
                                                                 v.advance(step * 32), step > 0);
    }
    device::wgmma_commit();
  }

  __device__ __forceinline__ void pin_sums() {
    device::pin(stage_sums);
    pin_weights(weights);
  }

  __device__ __forceinline__ void settle() {
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] = fmaf(sums[i], factors[i / 2 % 2], stage_sums[i]);
  }
  __device__ __forceinline__ void rescale(const Factors& next) {
    factors[0] = next[0];
    factors[1] = next[1];
  }
};

}  // namespace fictl::attention::sm90
