// A row as tiles of adjacent elements, each summed by a warp, always in the same order: the sums,
// and what is drawn by them, are the same bit by bit however many warps and blocks share the row,
// and wherever it is in the batch.
//
// A warp reads a tile in parts: lane l has elements 4 l to 4 l + 3 of each, one vector. Where rows
// are not aligned to vectors the same elements are read one by one.
#pragma once

#include <fictl/device/element.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::sampling {

constexpr int kTileVec = 4;
constexpr int kTileParts = 4;
constexpr int kTile = kTileParts * kTileVec * device::kWarpSize;  // 512 elements
constexpr int kLaneValues = kTileParts * kTileVec;                // of a tile
constexpr int kMostTiles = 2048;                                  // in shared memory
constexpr int64_t kMostElements = int64_t{kMostTiles} * kTile;    // of a row

// The elements of a tile that a lane has, as fp32.
struct LaneTile {
  float x[kLaneValues];

  // The offset of the i-th value from the start of the tile.
  __device__ static int offset(int i) {
    return i / kTileVec * (device::kWarpSize * kTileVec) +
           threadIdx.x % device::kWarpSize * kTileVec + i % kTileVec;
  }
};

// A LaneTile in the row's own type, packed as in memory.
template <typename T>
struct PackedTile {
  device::Vec<T, kTileVec> parts[kTileParts];

  __device__ LaneTile unpacked() const {
    LaneTile lane;
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      lane.x[i] = device::Element<T>::to_float(parts[i / kTileVec].data[i % kTileVec]);
    }
    return lane;
  }
};

// A row of T; `aligned` if its elements are read by vectors.
template <typename T>
struct TiledRow {
  const T* data;
  int size;
  bool aligned;

  __device__ int tiles() const { return (size + kTile - 1) / kTile; }

  // Called by a whole warp. Elements beyond the row's end are `none`.
  __device__ PackedTile<T> load_packed(int tile, float none) const {
    PackedTile<T> packed;
    const int start = tile * kTile;
    const T* from = data + start;
    if (aligned && start + kTile <= size) {
#pragma unroll
      for (int i = 0; i < kTileParts; ++i) {
        packed.parts[i] = device::load_l2<kTileVec>(from + LaneTile::offset(i * kTileVec));
      }
      return packed;
    }
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      const int at = LaneTile::offset(i);
      packed.parts[i / kTileVec][i % kTileVec] =
          start + at < size ? from[at] : device::Element<T>::from_float(none);
    }
    return packed;
  }

  __device__ LaneTile load(int tile, float none) const {
    return load_packed(tile, none).unpacked();
  }
};

// The sum of all values of a tile, in every lane.
__device__ inline float tile_sum(const LaneTile& lane) {
  float sums[kTileParts];
#pragma unroll
  for (int part = 0; part < kTileParts; ++part) {
    const float* x = lane.x + part * kTileVec;
    sums[part] = (x[0] + x[1]) + (x[2] + x[3]);
  }
  return device::warp_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// A place in a row of weights, by its cumulative sum.
struct Place {
  int at;           // -1 where no weight is above 0
  float remaining;  // of what was looked for, beyond the weights before it
};

// The sum of `count` weights, in every lane. Called by a whole warp, as are all below.
template <typename Weight>
__device__ float total_of(Weight weight, int count) {
  const int lane = threadIdx.x % device::kWarpSize;
  const int share = (count + device::kWarpSize - 1) / device::kWarpSize;
  float sum = 0.0f;
  for (int i = 0; i < share; ++i) {
    if (lane * share + i < count) sum += weight(lane * share + i);
  }
  return __shfl_sync(0xffffffff, device::warp_inclusive_sum(sum), device::kWarpSize - 1);
}

// The first of `count` weights with which their cumulative sum is above a target, which `target_of`
// says by the sum of all; where rounding left none, the last that is above 0.
template <typename Weight, typename Target>
__device__ Place place_by(Weight weight, int count, Target target_of) {
  constexpr unsigned kAll = 0xffffffff;
  const int lane = threadIdx.x % device::kWarpSize;
  const int each = (count + device::kWarpSize - 1) / device::kWarpSize;
  float sum = 0.0f;
  int last = -1;
  for (int i = lane * each; i < (lane + 1) * each && i < count; ++i) {
    const float w = weight(i);
    sum += w;
    if (w > 0.0f) last = i;
  }
  const float until = device::warp_inclusive_sum(sum);
  const float target = target_of(__shfl_sync(kAll, until, device::kWarpSize - 1));
  const unsigned above = __ballot_sync(kAll, until > target && last >= 0);
  const unsigned any = __ballot_sync(kAll, last >= 0);
  if (any == 0) return {-1, 0.0f};
  const int winner = above != 0 ? __ffs(above) - 1 : 31 - __clz(any);
  // Within the winner's share. Why not until - sum: the same numbers, added up as they were.
  float before = __shfl_up_sync(kAll, until, 1);
  if (lane == 0) before = 0.0f;
  Place place{last, 0.0f};
  if (lane == winner) {
    place.remaining = target - before;
    float so_far = before;
    for (int i = lane * each; i <= last; ++i) {
      const float w = weight(i);
      if (w > 0.0f && so_far + w > target) {
        place = {i, target - so_far};
        break;
      }
      if (i == last) place = {last, target - so_far};
      so_far += w;
    }
  }
  place.at = __shfl_sync(kAll, place.at, winner);
  place.remaining = __shfl_sync(kAll, place.remaining, winner);
  return place;
}

template <typename Weight>
__device__ Place place_of(Weight weight, int count, float target) {
  return place_by(weight, count, [=](float) { return target; });
}

// Finds the place by a share of the sum.
template <typename Weight>
__device__ Place place_at(Weight weight, int count, float share) {
  return place_by(weight, count, [=](float total) { return share * total; });
}

// The same within a tile, whose values are the weights, in the order of the row: counted from the
// tile's start.
__device__ inline int place_in_tile(const LaneTile& lane_tile, float target) {
  constexpr unsigned kAll = 0xffffffff;
  float before_part = 0.0f;
  int found = -1;
  int last = -1;
#pragma unroll
  for (int part = 0; part < kTileParts; ++part) {
    const float* x = lane_tile.x + part * kTileVec;
    float until[kTileVec];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kTileVec; ++i) until[i] = sum += x[i];
    const float inclusive = device::warp_inclusive_sum(sum);
    float before = __shfl_up_sync(kAll, inclusive, 1);
    before = before_part + (threadIdx.x % device::kWarpSize == 0 ? 0.0f : before);
    int mine = -1;
    int my_last = -1;
#pragma unroll
    for (int i = kTileVec - 1; i >= 0; --i) {
      const int at = LaneTile::offset(part * kTileVec + i);
      if (x[i] > 0.0f && before + until[i] > target) mine = at;
      if (x[i] > 0.0f && my_last < 0) my_last = at;
    }
    const unsigned above = __ballot_sync(kAll, mine >= 0);
    const unsigned any = __ballot_sync(kAll, my_last >= 0);
    if (found < 0 && above != 0) found = __shfl_sync(kAll, mine, __ffs(above) - 1);
    if (any != 0) last = __shfl_sync(kAll, my_last, 31 - __clz(any));
    before_part += __shfl_sync(kAll, inclusive, device::kWarpSize - 1);
  }
  return found >= 0 ? found : last;
}

}  // namespace fictl::sampling
