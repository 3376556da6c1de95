// Sums of a warpgroup, and how its threads hand them to another: four sums of a thread lie
// together, those of the next thread behind them, so that a warp reads and writes 16 bytes a lane.
#pragma once

#include <fictl/gemm/sm90/tile.cuh>

namespace fictl::gemm {

// kBlocks times 64 rows, all columns of the tile.
template <typename Tile>
using Sums = float[Tile::kBlocks][Tile::kY / 2];

// Floats of a thread.
template <typename Tile>
constexpr int kSumFloats = Tile::kBlocks * Tile::kY / 2;

// `to`: the thread's first place.
template <typename Tile>
__device__ void leave_sums(const Sums<Tile>& sums, float4* to) {
  const float* from = &sums[0][0];
#pragma unroll
  for (int i = 0; i < kSumFloats<Tile>; i += 4) {
    to[i / 4 * device::kWarpgroup] = {from[i], from[i + 1], from[i + 2], from[i + 3]};
  }
}

// `load`: reads four sums at an address.
template <typename Tile, typename Load>
__device__ void add_sums(Sums<Tile>& sums, const float4* from, Load load) {
  float* to = &sums[0][0];
#pragma unroll
  for (int i = 0; i < kSumFloats<Tile>; i += 4) {
    const float4 more = load(from + i / 4 * device::kWarpgroup);
    to[i] += more.x;
    to[i + 1] += more.y;
    to[i + 2] += more.z;
    to[i + 3] += more.w;
  }
}

}  // namespace fictl::gemm
