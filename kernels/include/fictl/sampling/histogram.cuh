// Histograms of a row's values by the leading bits of their keys, and the bin where a cut falls.
//
// A key is a value's bits, made so that larger values have larger keys; 0 is the key of values that
// do not count. A level looks at the keys of a range by 11 of their bits. Beside how many keys a
// bin has it may have how far they are above its first one, all together: as a bin lies between two
// powers of two, its values are a line over their keys, and those two integers say what they add up
// to. Integers, because they are the same in whatever order threads add them.
#pragma once

#include <limits.h>
#include <math.h>
#include <string.h>

#include <fictl/device/cluster.cuh>
#include <fictl/device/reduce.cuh>

namespace fictl::sampling {

constexpr int kBins = 2048;
constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / device::kWarpSize;

__host__ __device__ inline float value_of(uint32_t key) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(key);
#else
  float value;
  memcpy(&value, &key, sizeof(value));
  return value;
#endif
}

__device__ inline uint32_t bits_of(float value) { return __float_as_uint(value); }

// The keys from `low` to `high`, seen by bins of 2^shift of them.
struct Level {
  uint32_t low;
  uint32_t high;
  uint32_t origin;  // of bin 0, a multiple of 2^shift
  int shift;

  // The finest level of these keys that the number of bins allows.
  __device__ static Level of(uint32_t low, uint32_t high) {
    int shift = 0;
    while ((high >> shift) - (low >> shift) >= kBins) ++shift;
    return {low, high, low >> shift << shift, shift};
  }

  // Tells whether the level has a key, by one comparison: what is below `low` wraps around.
  __device__ bool has(uint32_t key) const { return key - low <= high - low; }
  __device__ int bin(uint32_t key) const {
    const uint32_t bin = (key - origin) >> shift;
    return bin < kBins ? bin : kBins - 1;
  }
  __device__ uint32_t first(int bin) const {
    return origin + (static_cast<uint32_t>(bin) << shift);
  }

  // The number of bits that offsets in its bins lose, so that those of `size` keys fit 32 bits.
  __device__ int dropped(int size) const {
    int bits = 0;
    while ((static_cast<int64_t>(size) << (shift - bits)) > (int64_t{1} << 32)) ++bits;
    return bits;
  }

  __device__ Level within(int bin) const {
    const uint32_t from = first(bin);
    return of(from > low ? from : low, bin == kBins - 1 ? high : min(high, first(bin + 1) - 1));
  }
};

// The goal: the fewest largest values that are `count` many or add up to `mass`.
struct Goal {
  int count = INT_MAX;
  float mass = INFINITY;

  __device__ bool reached(int kept, float kept_mass) const {
    return kept > 0 && (kept >= count || kept_mass >= mass);
  }
};

// The bin of a level where a goal is reached, and what is above it.
struct Cut {
  int bin;  // -1 where the level does not reach it
  int in_bin;
  int above;
  float mass_above;
};

struct alignas(16) Bins {
  uint32_t count[kBins];
  uint32_t offset[kBins];

  __device__ void clear() {
    for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) count[bin] = offset[bin] = 0;
  }

  // Adds the bins of the cluster's blocks to the first one's. Called by that, once; the others do
  // not change theirs meanwhile.
  __device__ void pull() {
    constexpr int kVec = 2;
    const int blocks = device::Cluster::size();
    if (blocks == 1) return;
    for (int bin = threadIdx.x * kVec; bin < kBins; bin += blockDim.x * kVec) {
      // Why all loads first: each takes a third of a microsecond.
      uint2 counts[device::kMostBlocksOfCluster];
      uint2 offsets[device::kMostBlocksOfCluster];
#pragma unroll
      for (int rank = 0; rank < device::kMostBlocksOfCluster; ++rank) {
        counts[rank] = offsets[rank] = {0, 0};
        if (rank >= blocks) continue;
        const Bins* other = device::Cluster::at(this, rank);
        counts[rank] = *reinterpret_cast<const uint2*>(other->count + bin);
        offsets[rank] = *reinterpret_cast<const uint2*>(other->offset + bin);
      }
#pragma unroll
      for (int rank = 1; rank < device::kMostBlocksOfCluster; ++rank) {
        counts[0].x += counts[rank].x;
        counts[0].y += counts[rank].y;
        offsets[0].x += offsets[rank].x;
        offsets[0].y += offsets[rank].y;
      }
      *reinterpret_cast<uint2*>(count + bin) = counts[0];
      *reinterpret_cast<uint2*>(offset + bin) = offsets[0];
    }
    __syncthreads();
  }
};

// Adds keys of a level to bins, with their offsets if `kOffsets`.
template <bool kOffsets>
class BinAdder {
 public:
  // `dropped`: how many bits offsets lose, so that those of a row fit 32 bits.
  __device__ BinAdder(Bins& bins, const Level& level, int dropped)
      : bins_(bins), level_(level), dropped_(dropped) {}

  // Adds the keys that a thread has at once. If all are in one bin they are added together: in a
  // row of equal values all threads would otherwise wait for one another at a single bin.
  template <int N>
  __device__ void add(const uint32_t (&keys)[N]) {
    bool alike = N > 1 && level_.has(keys[0]);
#pragma unroll
    for (int i = 1; i < N; ++i) {
      alike &= level_.has(keys[i]) && level_.bin(keys[i]) == level_.bin(keys[0]);
    }
    if (alike) {
      uint32_t offsets = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) offsets += offset(keys[i]);
      const int bin = level_.bin(keys[0]);
      atomicAdd(&bins_.count[bin], N);
      if constexpr (kOffsets) atomicAdd(&bins_.offset[bin], offsets);
      return;
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (!level_.has(keys[i])) continue;
      const int bin = level_.bin(keys[i]);
      atomicAdd(&bins_.count[bin], 1);
      if constexpr (kOffsets) atomicAdd(&bins_.offset[bin], offset(keys[i]));
    }
  }

 private:
  // Above the first key of the bin.
  __device__ uint32_t offset(uint32_t key) const {
    return ((key - level_.origin) & ((1u << level_.shift) - 1)) >> dropped_;
  }

  Bins& bins_;
  const Level level_;
  const int dropped_;
};

// The sum, as values, of `count` keys of a bin whose first possible key is `first`. `offset` is the
// sum of their offsets, each without its lowest `dropped` bits.
__device__ inline float mass_of(uint32_t first, uint32_t count, uint32_t offset, int dropped) {
  const float step = value_of(first + 1) - value_of(first);
  const float unit = static_cast<float>(1u << dropped);
  const float lost = 0.5f * (unit - 1.0f);  // on average
  return static_cast<float>(count) * (value_of(first) + step * lost) +
         step * unit * static_cast<float>(offset);
}

struct CutStorage {
  int counts[kWarps];
  float masses[kWarps];
  int winner;  // the bin, counted from the last
};

// Finds cuts, by a block of kThreads; by mass only if `kByMass`.
template <bool kByMass>
class CutFinder {
 public:
  __device__ explicit CutFinder(CutStorage& storage) : storage_(storage) {}

  // Finds the cut among the keys in `bins`, before which all that is above the last cut counts.
  // Writes it to the `cut` of the cluster's first `blocks` blocks. Called by a whole block; `bins`
  // is complete, and no other thread changes it. The caller waits for the cut.
  __device__ void find(const Bins& bins, const Level& level, int dropped, const Goal& goal,
                       const Cut& last, Cut* cut, int blocks) {
    int in_bin[kShare];
    float its[kShare];
    int count = 0;
    float mass = 0.0f;
#pragma unroll
    for (int i = 0; i < kShare; ++i) {
      const int bin = bin_of(i);
      in_bin[i] = static_cast<int>(bins.count[bin]);
      its[i] = 0.0f;
      if constexpr (kByMass) {
        its[i] = mass_of(level.first(bin), bins.count[bin], bins.offset[bin], dropped);
      }
      count += in_bin[i];
      mass += its[i];
    }
    if (threadIdx.x == 0) storage_.winner = kBins;
    Cut mine{-1, 0, count, mass};
    sum_of_those_before(mine.above, mine.mass_above);
    mine.above += last.above;
    mine.mass_above += last.mass_above;
#pragma unroll
    for (int i = 0; i < kShare; ++i) {
      if (mine.bin >= 0) continue;
      if (in_bin[i] > 0 && goal.reached(mine.above + in_bin[i], mine.mass_above + its[i])) {
        mine.bin = bin_of(i);
        mine.in_bin = in_bin[i];
      } else {
        mine.above += in_bin[i];
        mine.mass_above += its[i];
      }
    }
    // Why the first of several: threads round their sums differently, and more than one may find
    // it.
    if (mine.bin >= 0) atomicMin(&storage_.winner, kBins - 1 - mine.bin);
    __syncthreads();
    const int winner = storage_.winner;
    const bool told_by_last = winner == kBins && threadIdx.x == kThreads - 1;
    if (told_by_last || (mine.bin >= 0 && kBins - 1 - mine.bin == winner)) {
      for (int rank = 0; rank < blocks; ++rank) *device::Cluster::at(cut, rank) = mine;
    }
  }

 private:
  static constexpr int kShare = kBins / kThreads;

  // The i-th bin of this thread, from the last bin downwards.
  __device__ static int bin_of(int i) {
    return kBins - 1 - (static_cast<int>(threadIdx.x) * kShare + i);
  }

  // The sums over the threads before this one.
  __device__ void sum_of_those_before(int& count, float& mass) {
    constexpr unsigned kAll = 0xffffffff;
    const int lane = threadIdx.x % device::kWarpSize;
    const int warp = threadIdx.x / device::kWarpSize;
    const int own_count = count;
    const float own_mass = mass;
    count = device::warp_inclusive_sum(count);
    if constexpr (kByMass) mass = device::warp_inclusive_sum(mass);
    if (lane == device::kWarpSize - 1) {
      storage_.counts[warp] = count;
      storage_.masses[warp] = mass;
    }
    __syncthreads();
    int before = lane < warp ? storage_.counts[lane] : 0;
    float mass_before = lane < warp ? storage_.masses[lane] : 0.0f;
#pragma unroll
    for (int step = 1; step < kWarps; step *= 2) {
      before += __shfl_xor_sync(kAll, before, step);
      if constexpr (kByMass) mass_before += __shfl_xor_sync(kAll, mass_before, step);
    }
    count += before - own_count;
    mass = mass_before + (mass - own_mass);
  }

  CutStorage& storage_;
};

}  // namespace fictl::sampling
