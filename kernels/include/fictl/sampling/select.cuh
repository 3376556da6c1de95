// The largest values of a row up to a goal (a count, a mass), by two reads of it.
//
// Algorithm: radix selection. The first read makes a histogram of the keys' leading bits; the bin
// where the goal is reached has the least key that is kept. The second one collects the keys of
// that bin in shared memory, where two more levels find the key. Where a bin has more of them than
// there is room for, as when many values are equal, the levels read the row instead. Ties are kept
// together: what is kept are the values from a threshold upwards.
//
// Traffic: the row is read from memory once, and once or twice again from L2, which holds some
// sixty rows of 128 K floats. Rejection sampling and bisection, the usual ways, read it up to eight
// times more, and how often depends on the data.
//
// Tiling: the blocks of a cluster share a row, tile by tile; as many blocks as leave no SM without
// one. Histograms and candidates are the first block's, the others add to them through distributed
// shared memory. 1024 threads have 64 KB in flight on an SM, which covers the latency of HBM.
//
// All that crosses threads is integers, or sums made in a fixed order: the result is the same bit
// by bit, however many blocks share a row.
#pragma once

#include <fictl/device/profiler.cuh>
#include <fictl/sampling/histogram.cuh>
#include <fictl/sampling/tiles.cuh>

namespace fictl::sampling {

constexpr int kCandidates = 8192;

// Keys of probabilities and other weights: values not above 0, and NaN, have none.
struct WeightKey {
  static constexpr float kNothing = 0.0f;

  __device__ static uint32_t of(float x) { return x > 0.0f ? bits_of(x) : 0; }

  // 32 bins between two powers of two, from 2^-47 to 2^17. What is below adds up to nothing.
  __device__ static Level first() { return {80u << 23, 0x7f800000u, 80u << 23, 18}; }
};

// Keys of numbers of either sign. NaN has none; -inf has one.
struct NumberKey {
  static constexpr float kNothing = NAN;

  __device__ static uint32_t of(float x) {
    const uint32_t bits = bits_of(x + 0.0f);  // Why: -0 is no other number than 0.
    const uint32_t key = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
    return x == x ? key : 0;
  }

  __device__ static Level first() { return {1u, 0xffffffffu, 0u, 21}; }
};

// The smallest key that is kept, and the sum of the kept values.
struct Kept {
  uint32_t threshold;
  float total;
};

struct SelectStorage {
  Bins coarse;  // of the first level
  Bins fine;    // of the others; then of the tiles, each of which is a bin
  float sums[kMostTiles];
  uint32_t keys[kCandidates];
  int tiles[kCandidates];
  int candidates;
  CutStorage finder;
  Cut cut;
  uint32_t threshold;
  float total;
  Kept kept;
};

// A row shared by the blocks of a cluster, of kThreads each. Every method is called by all of them.
// Goals have a mass only if `kByMass`.
template <typename T, typename Key, bool kByMass>
class RowSelect {
 public:
  __device__ RowSelect(const TiledRow<T>& row, SelectStorage& storage,
                       device::Profiler& fictl_profiler)
      : row_(row),
        storage_(storage),
        first_(*device::Cluster::at(&storage, 0)),
        finder_(storage.finder),
        fictl_profiler(fictl_profiler) {
    storage_.coarse.clear();
    if (threadIdx.x == 0) storage_.candidates = 0;
  }

  // The first read.
  __device__ void count() {
    device::Cluster::sync();
    histogram(storage_.coarse, Key::first());
  }

  // Selects what to keep for the goal, for kept() and draw(). With `weigh` the same read computes
  // the sums of what is kept, tile by tile.
  __device__ void select(const Goal& goal, bool weigh) {
    Level level = Key::first();
    Bins* bins = &storage_.coarse;
    Cut cut{-1, 0, 0, 0.0f};
    Level next = level;
#pragma unroll 1
    while (true) {
      cut = find(*bins, level, goal, cut);
      if (cut.bin < 0) {
        if (bins == &storage_.fine || level.low <= 1) break;
        next = Level::of(1, level.low - 1);
      } else {
        if (level.shift == 0) break;
        next = level.within(cut.bin);
        if (fits(next, cut.in_bin)) break;
      }
      level = next;
      bins = &storage_.fine;
      bins->clear();
      device::Cluster::sync();
      histogram(*bins, level);
    }
    if (cut.bin >= 0 && level.shift > 0) {
      collect(next, weigh);
      if (device::Cluster::rank() == 0) finish(next, goal, cut, weigh);
    } else {
      // Where the sums of finer bins fall short of what coarser ones promised, all is kept.
      keep_from(cut.bin < 0 ? level.low : level.first(cut.bin), weigh);
    }
  }

  __device__ void keep_from(uint32_t threshold, bool weigh) {
    if (weigh) sum_from(threshold);
    if (device::Cluster::rank() == 0 && threadIdx.x == 0) storage_.threshold = threshold;
    __syncthreads();
  }

  // The sum of what is kept, of the first block, after select() with `weigh`. Called by a warp.
  __device__ float total() const { return total_of(weights(), row_.tiles()); }

  // The same in all threads of the first block; nothing in other blocks.
  __device__ float total_of_first() {
    if (device::Cluster::rank() != 0) return 0.0f;
    if (threadIdx.x < device::kWarpSize) {
      const float sum = total();
      if (threadIdx.x == 0) storage_.total = sum;
    }
    __syncthreads();
    return storage_.total;
  }

  // The threshold and, with `weigh`, the total, to all threads of all blocks.
  __device__ Kept kept(bool weigh) {
    if (weigh) total_of_first();
    if (device::Cluster::rank() == 0 && threadIdx.x < device::Cluster::size()) {
      SelectStorage* other = device::Cluster::at(&storage_, threadIdx.x);
      other->kept = {storage_.threshold, weigh ? storage_.total : 0.0f};
    }
    device::Cluster::sync();
    return storage_.kept;
  }

  // Draws one of the kept values, by a uniform number in (0, 1]; -1 where nothing is kept. Called
  // by a warp of the first block, after select() with `weigh`.
  __device__ int draw(float uniform) const {
    FICTL_SCOPE("draw");
    const Place place = place_at(weights(), row_.tiles(), uniform);
    if (place.at < 0) return -1;
    LaneTile lane = row_.load(place.at, Key::kNothing);
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      if (Key::of(lane.x[i]) < storage_.threshold) lane.x[i] = 0.0f;
    }
    return place.at * kTile + place_in_tile(lane, place.remaining);
  }

  template <typename Each>
  __device__ void each_tile(Each each) const {
    const int warp = device::Cluster::rank() * kWarps + threadIdx.x / device::kWarpSize;
    const int warps = device::Cluster::size() * kWarps;
    for (int tile = warp; tile < row_.tiles(); tile += warps) {
      each(tile, row_.load(tile, Key::kNothing));
    }
  }

 private:
  // True if the candidates fit, and their values are linear in their keys.
  __device__ static bool fits(const Level& range, int count) {
    constexpr int kMantissa = 23;
    return count <= kCandidates && range.low >> kMantissa == range.high >> kMantissa;
  }

  // The kept sum of a tile: all that is above the candidates' bin, and the candidates, whose values
  // are linear in their keys.
  struct Weights {
    const SelectStorage& storage;
    uint32_t first;  // key of the candidates' bin

    __device__ float operator()(int tile) const {
      const uint32_t count = storage.fine.count[tile];
      if (count == 0) return storage.sums[tile];
      return storage.sums[tile] + mass_of(first, count, storage.fine.offset[tile], 0);
    }
  };

  __device__ Weights weights() const { return {storage_, candidates_from_}; }

  __device__ void histogram(Bins& bins, const Level& level) {
    FICTL_SCOPE("histogram");
    BinAdder<kByMass> adder(bins, level, level.dropped(row_.size));
    each_tile([&](int, const LaneTile& lane) {
      uint32_t keys[kLaneValues];
#pragma unroll
      for (int i = 0; i < kLaneValues; ++i) keys[i] = Key::of(lane.x[i]);
      adder.add(keys);
    });
    device::Cluster::sync();
    if (device::Cluster::rank() == 0) bins.pull();
  }

  // Finds the cut, beyond what is above the last one. The first block does it for all.
  __device__ Cut find(Bins& bins, const Level& level, const Goal& goal, const Cut& last) {
    FICTL_SCOPE("find");
    if (device::Cluster::rank() == 0) {
      finder_.find(bins, level, level.dropped(row_.size), goal, last, &storage_.cut,
                   device::Cluster::size());
    }
    device::Cluster::sync();
    return storage_.cut;
  }

  // The keys of a range, and where they are, to the first block; of those above, the tiles' sums.
  __device__ void collect(const Level& range, bool weigh) {
    FICTL_SCOPE("collect");
    each_tile([&](int tile, LaneTile lane) {
      uint32_t found = 0;  // bit i: the i-th value
#pragma unroll
      for (int i = 0; i < kLaneValues; ++i) {
        const uint32_t key = Key::of(lane.x[i]);
        if (range.has(key)) found |= 1u << i;
      }
      put_candidates(tile, lane, found);
      if (!weigh) return;
#pragma unroll
      for (int i = 0; i < kLaneValues; ++i) {
        if (Key::of(lane.x[i]) <= range.high) lane.x[i] = 0.0f;
      }
      put_sum(tile, lane);
    });
    device::Cluster::sync();
  }

  // One request for room a warp: all warps of the cluster ask at the same place.
  __device__ void put_candidates(int tile, const LaneTile& lane, uint32_t found) {
    constexpr unsigned kAll = 0xffffffff;
    if (__ballot_sync(kAll, found != 0) == 0) return;
    const int count = __popc(found);
    const int until = device::warp_inclusive_sum(count);
    int at = 0;
    if (threadIdx.x % device::kWarpSize == device::kWarpSize - 1) {
      at = atomicAdd(&first_.candidates, until);
    }
    at = __shfl_sync(kAll, at, device::kWarpSize - 1) + until - count;
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      if ((found >> i & 1) == 0) continue;
      first_.keys[at] = Key::of(lane.x[i]);
      first_.tiles[at++] = tile;
    }
  }

  __device__ void put_sum(int tile, const LaneTile& lane) {
    const float sum = tile_sum(lane);
    if (threadIdx.x % device::kWarpSize == 0) first_.sums[tile] = sum;
  }

  __device__ void sum_from(uint32_t threshold) {
    FICTL_SCOPE("sum");
    storage_.fine.clear();
    each_tile([&](int tile, LaneTile lane) {
#pragma unroll
      for (int i = 0; i < kLaneValues; ++i) {
        if (Key::of(lane.x[i]) < threshold) lane.x[i] = 0.0f;
      }
      put_sum(tile, lane);
    });
    device::Cluster::sync();
  }

  // The first block: the threshold among the candidates, which it then adds to their tiles.
  __device__ void finish(Level level, const Goal& goal, Cut cut, bool weigh) {
    FICTL_SCOPE("finish");
    const uint32_t from = level.low;
    while (true) {
      const int dropped = level.dropped(storage_.candidates);
      storage_.fine.clear();
      __syncthreads();
      BinAdder<kByMass> adder(storage_.fine, level, dropped);
      for (int i = threadIdx.x; i < storage_.candidates; i += kThreads) {
        const uint32_t key[1] = {storage_.keys[i]};
        adder.add(key);
      }
      __syncthreads();
      finder_.find(storage_.fine, level, dropped, goal, cut, &storage_.cut, 1);
      __syncthreads();
      cut = storage_.cut;
      if (cut.bin < 0 || level.shift == 0) break;
      level = level.within(cut.bin);
    }
    const uint32_t threshold = cut.bin < 0 ? level.low : level.first(cut.bin);
    candidates_from_ = from;
    storage_.fine.clear();
    __syncthreads();
    for (int i = threadIdx.x; weigh && i < storage_.candidates; i += kThreads) {
      if (storage_.keys[i] < threshold) continue;
      atomicAdd(&storage_.fine.count[storage_.tiles[i]], 1);
      atomicAdd(&storage_.fine.offset[storage_.tiles[i]], storage_.keys[i] - from);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      storage_.threshold = threshold;
      storage_.candidates = 0;
    }
    __syncthreads();
  }

  const TiledRow<T> row_;
  SelectStorage& storage_;
  SelectStorage& first_;
  CutFinder<kByMass> finder_;
  uint32_t candidates_from_ = 0;
  device::Profiler& fictl_profiler;  // by the name that events take
};

// A launch of clusters that share rows by RowSelect.
template <auto kernel>
device::LaunchConfig select_config(int64_t rows, int64_t size, int sm_count, cudaStream_t stream,
                                   bool pdl) {
  constexpr int64_t kLeast = 4096;  // elements a block
  const int blocks = device::blocks_a_row<kernel>(rows, size, kLeast, sm_count);
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(rows * blocks));
  config.block = dim3(kThreads);
  config.cluster = dim3(blocks);
  config.stream = stream;
  config.shared_bytes = sizeof(SelectStorage);
  config.pdl = pdl;
  return config;
}

}  // namespace fictl::sampling
