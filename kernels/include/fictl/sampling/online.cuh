// The sum of exp(x) over a row in one pass: tile by tile, as the sum of exp(x - max) with the
// tile's maximum, which cannot overflow.
//
// A sum of exponentials of other maxima is scaled to it. That is done once a tile, and in an order
// that depends on the row's size alone.
#pragma once

#include <float.h>
#include <math.h>

#include <fictl/device/cluster.cuh>
#include <fictl/device/functions.cuh>
#include <fictl/sampling/tiles.cuh>

namespace fictl::sampling {

// Represents sum * exp(max).
struct alignas(8) ExpSum {
  float max;
  float sum;
};

// Below the largest of numbers that may all be -inf. Why: a difference from -inf is NaN.
constexpr float kLeastMax = -FLT_MAX;

// exp(x - max), of which all are 0 that are below the least normal number.
__device__ inline float exp_below(float x, float max) {
  constexpr float kLog2E = 1.44269504f;
  return device::fast_exp2((x - max) * kLog2E);
}

__device__ inline float warp_max(float x) {
#pragma unroll
  for (int lane = 1; lane < device::kWarpSize; lane *= 2) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, lane));
  }
  return x;
}

// The sum of a tile, in every lane. A NaN, and a +inf, make the sum NaN.
__device__ inline ExpSum exp_sum(const LaneTile& lane) {
  float max = kLeastMax;
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) max = fmaxf(max, lane.x[i]);
  max = warp_max(max);
  LaneTile powers;
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) powers.x[i] = exp_below(lane.x[i], max);
  return {max, tile_sum(powers)};
}

__device__ inline float max_of(const ExpSum* sums, int count) {
  float max = kLeastMax;
  for (int i = threadIdx.x % device::kWarpSize; i < count; i += device::kWarpSize) {
    max = fmaxf(max, sums[i].max);
  }
  return warp_max(max);
}

// The sum of all tiles, in every lane.
__device__ inline ExpSum exp_sum_of(const ExpSum* sums, int count) {
  const float max = max_of(sums, count);
  float sum = 0.0f;
  for (int i = threadIdx.x % device::kWarpSize; i < count; i += device::kWarpSize) {
    sum += sums[i].sum * exp_below(sums[i].max, max);
  }
  return {max, device::warp_sum(sum)};
}

// Every step-th tile of a row from the first on, one after the other. The next is being loaded when
// one is taken. All by whole warps.
template <typename T>
class TilesAhead {
 public:
  __device__ TilesAhead(const TiledRow<T>& row, int first, int step)
      : row_(row), tile_(first), step_(step), end_(row.tiles()) {
    if (left()) ahead_ = row_.load_packed(tile_, -INFINITY);
  }

  __device__ bool left() const { return tile_ < end_; }

  // The tile that is taken next.
  __device__ int tile() const { return tile_; }

  __device__ PackedTile<T> take() {
    const PackedTile<T> taken = ahead_;
    tile_ += step_;
    if (left()) ahead_ = row_.load_packed(tile_, -INFINITY);
    return taken;
  }

 private:
  TiledRow<T> row_;
  int tile_;
  int step_;
  int end_;
  PackedTile<T> ahead_;
};

// The warps of a cluster, which take a row's tiles in turn.
struct ClusterWarps {
  __device__ static int warps_a_block() { return blockDim.x / device::kWarpSize; }
  __device__ static int count() { return device::Cluster::size() * warps_a_block(); }
  __device__ static int own() {
    return device::Cluster::rank() * warps_a_block() + threadIdx.x / device::kWarpSize;
  }
};

constexpr int kMostWarps = 16;  // of a block

// The distribution of a row's tiles.
struct RowShares {
  int blocks;  // of a cluster
  int warps;   // of a block

  int threads() const { return warps * device::kWarpSize; }
  int rounds(int tiles) const { return static_cast<int>(device::ceil_div(tiles, blocks * warps)); }
};

// By how many rows there are; `room` is how many tiles a block should have at most. Blocks of 16
// warps, of which an SM has two, are as fast as larger ones where the GPU is full, and more
// clusters of 8 run at a time: 16 of 32 warps a block would take turns, because a cluster stays
// within a GPC. On an H200, softmax of 1, 16, 32, 64 rows of 128256 takes 6.0, 9.6, 14.1, 22.4 us
// so, and 6.5, 14.4, 20.4, 22.6 with 32 warps and as many blocks as there are SMs.
template <auto kernel>
RowShares row_shares(int64_t rows, int tiles, int sm_count, int room) {
  constexpr int kLeastTiles = 4;  // of a block
  RowShares shares{1, kMostWarps};
  const bool has_clusters = device::has_pdl<kernel>();  // Code for sm_90 or newer has both.
  if (has_clusters && rows * 16 <= sm_count) {
    shares = {8, kMostWarps};
  } else if (has_clusters && rows * 4 <= sm_count) {
    shares = {8, kMostWarps / 2};
  } else if (has_clusters && (rows * 2 <= sm_count || tiles > room)) {
    shares = {2, kMostWarps};
  }
  while (shares.blocks > 1 && tiles < kLeastTiles * shares.blocks) shares.blocks /= 2;
  const int wanted = static_cast<int>(device::ceil_div(tiles, shares.blocks));
  if (wanted < shares.warps) shares.warps = wanted;
  return shares;
}

inline int tiles_of(int size) { return static_cast<int>(device::ceil_div(size, kTile)); }

}  // namespace fictl::sampling
