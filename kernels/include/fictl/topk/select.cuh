// Finds the k-th largest key of the threads of a block, or of a cluster of blocks.
//
// Algorithm: the range that the key is in is cut into 2048 bins, the keys of each are counted, and
// the bin with the k-th is the next range: at most three times for keys of 32 bits. Counting ends
// as soon as the keys from a bin on are few enough, which is mostly after the first or second time.
// Why counts in shared memory, each block its own: atomics there are cheap, and a cluster needs one
// barrier a range, after which every block adds up the counts of all for itself.
#pragma once

#include <fictl/device/cluster.cuh>
#include <fictl/device/run_counter.cuh>
#include <fictl/device/scan.cuh>

namespace fictl::topk {

constexpr int kBinBits = 11;
constexpr int kBins = 1 << kBinBits;

struct Range {
  uint32_t least;
  uint32_t most;
};

// `above` keys are above `most`, and `count` from `least` to that, of which the k-th is one. Where
// counting went on to the end, these are all equal.
struct Selected {
  uint32_t least;
  uint32_t most;
  int above;
  int count;
};

class Select {
 public:
  struct alignas(8) Storage {
    int bins[2][kBins];
    int merged[kBins];
    device::BlockScanStorage<int> scan;
    int bin;
    int above;
    int count;
  };

  // Called by all threads of all `blocks`: those of the cluster, or one. Their number in a block is
  // a power of two, and in one of several kBins / 2. Nobody is to touch the storage any more.
  __device__ Select(Storage& storage, int blocks) : storage_(storage), blocks_(blocks) {
    clear(0);
    __syncthreads();
  }

  // each(visit) calls visit(key) with every key that the thread has; those outside the range do not
  // count. `wanted` is k, and at most `enough`, and as many as that are few enough. The lowest
  // `below` bits are the same in all keys. Where there are fewer keys than k, the count is 0.
  template <typename Each>
  __device__ Selected operator()(Each each, Range range, int wanted, int enough, int below = 0) {
    Selected result{range.least, range.most, 0, 0};
    while (true) {
      const int shift = shift_of(range);
      count(each, range, shift);
      find(wanted - result.above);
      if (storage_.bin < 0) return result;
      range = {range.least + (static_cast<uint32_t>(storage_.bin) << shift),
               end_of(range, storage_.bin, shift)};
      result.least = range.least;
      result.most = range.most;
      result.above += storage_.above;
      result.count = storage_.count;
      if (shift <= below || result.above + result.count <= enough) return result;
    }
  }

 private:
  __device__ static int shift_of(Range range) {
    const int bits = 32 - __clz(range.most - range.least);
    return bits > kBinBits ? bits - kBinBits : 0;
  }

  __device__ static uint32_t end_of(Range range, int bin, int shift) {
    const uint32_t within = (static_cast<uint32_t>(bin) << shift) + ((1u << shift) - 1);
    return within < range.most - range.least ? range.least + within : range.most;
  }

  __device__ void clear(int half) {
#pragma unroll 1
    for (int i = threadIdx.x; i < kBins; i += blockDim.x) storage_.bins[half][i] = 0;
  }

  template <typename Each>
  __device__ void count(Each each, Range range, int shift) {
    device::RunCounter counter(storage_.bins[half_]);
    const uint32_t width = range.most - range.least;
    each([&](uint32_t key) {
      const uint32_t within = key - range.least;
      if (within <= width) counter.add(static_cast<int>(within >> shift));
    });
    counter.flush();
  }

  // The bin with the key that `wanted` - 1 are above, and how many are above it and in it; -1 where
  // there are not so many. The other half of the bins is ready for the next range: nobody reads it
  // any more who has come to this barrier.
  __device__ void find(int wanted) {
    if (blocks_ > 1) {
      device::Cluster::sync();
    } else {
      __syncthreads();
    }
    const int* bins = merged();
    half_ ^= 1;
    clear(half_);
    if (threadIdx.x == 0) storage_.bin = -1;
    const int share = kBins / static_cast<int>(blockDim.x);
    const int first = kBins - (static_cast<int>(threadIdx.x) + 1) * share;
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < share; ++i) sum += bins[first + i];
    int before = device::BlockScan(storage_.scan, sum).before;
    const bool here = before < wanted && before + sum >= wanted;
    if (here) {
#pragma unroll 1
      for (int bin = first + share - 1;; --bin) {
        const int count = bins[bin];
        if (before + count >= wanted) {
          storage_.bin = bin;
          storage_.above = before;
          storage_.count = count;
          break;
        }
        before += count;
      }
    }
    __syncthreads();
  }

  // The counts of all blocks. A thread adds up, and so sees, the two bins that it looks at.
  __device__ const int* merged() {
    int* bins = storage_.bins[half_];
    if (blocks_ == 1) return bins;
    const int pair = kBins / 2 - 1 - static_cast<int>(threadIdx.x);
    int2 sum = make_int2(0, 0);
#pragma unroll
    for (int rank = 0; rank < device::kMostBlocksOfCluster; ++rank) {
      if (rank < blocks_) {
        const int2 x = reinterpret_cast<const int2*>(device::Cluster::at(bins, rank))[pair];
        sum.x += x.x;
        sum.y += x.y;
      }
    }
    reinterpret_cast<int2*>(storage_.merged)[pair] = sum;
    return storage_.merged;
  }

  Storage& storage_;
  int blocks_;
  int half_ = 0;
};

}  // namespace fictl::topk
