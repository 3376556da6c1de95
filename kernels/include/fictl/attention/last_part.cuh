// Merges of split tiles without a second kernel: the block that ends the last of a tile's parts
// merges all of them.
//
// Algorithm: a counter for each tile and head of the keys counts the parts that are in memory. It
// wraps around at their number, so it is zero again after every run, and a CUDA graph needs no
// kernel that clears it. Which block comes last differs from run to run; the order of the sum does
// not: part 0 first, whoever adds them up. So repeats are equal to the bit.
//
// Memory: the barrier orders all stores of the block before the fence of its first thread, and that
// fence before the count. Whoever counts last sees all others', by its own fence; the barrier after
// it is for the other threads. They load past L1, which may hold lines of earlier merges.
//
// Traffic: 4 bytes an element and part, from L2: up to 49 parts are one block's, 200 KiB, where a
// request has the whole of an H200. So that a thread has up to 32 loads of 16 bytes in flight, they
// go to shared memory, to a place that no other thread reads. In registers they would make those of
// the loop over the keys spill.
#pragma once

#include <fictl/attention/head_shape.cuh>
#include <fictl/attention/merge.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/device/copy.cuh>
#include <fictl/device/reduce.cuh>

namespace fictl::attention {

template <typename Config>
__device__ unsigned* arrivals_of(const Problem<Config>& problem, const Item& item, int kv_head) {
  return problem.arrivals + int64_t{item.chain.merge} * problem.kv_heads + kv_head;
}

// Asks for what the end of a part reads, at its beginning: the tile's merge and its counter.
template <typename Config>
__device__ void prefetch_end_of_part(const Problem<Config>& problem, const Item& item,
                                     int kv_head) {
  if (problem.arrivals == nullptr || item.partial < 0 || threadIdx.x != 0) return;
  device::prefetch_l2(problem.merges + item.chain.merge);
  device::prefetch_l2(arrivals_of(problem, item, kv_head));
}

// Whether this block's part of a tile is the last to be in memory: the same for all its threads.
template <typename Config>
__device__ bool is_last_part(const Problem<Config>& problem, const Item& item, int kv_head,
                             int parts) {
  __syncthreads();
  bool is_last = false;
  if (threadIdx.x == 0) {
    __threadfence();
    const auto others = static_cast<unsigned>(parts - 1);
    is_last = atomicInc(arrivals_of(problem, item, kv_head), others) == others;
    __threadfence();
  }
  return __syncthreads_or(is_last) != 0;
}

// Shared memory of a block, kLoads chunks of 16 bytes for each of kThreads threads.
template <int kThreads, int kLoads>
struct PartStaging {
  char* start;

  __device__ MergedPart::Sums* chunk(int load) const {
    return reinterpret_cast<MergedPart::Sums*>(start) + load * kThreads +
           static_cast<int>(threadIdx.x);
  }
};

// Merges all parts of a tile's row in their order: four contiguous elements. Called by whole warps,
// kLoads adjacent lanes of which have the same row and share its sums: a lane loads those of every
// kLoads-th part.
template <int kThreads, int kLoads, typename Config>
__device__ MergedPart merge_in_order(const Problem<Config>& problem, const Merge& merge,
                                     int kv_head, int row, int dim,
                                     PartStaging<kThreads, kLoads> staging) {
  static_assert(device::kWarpSize % kLoads == 0, "lanes of a warp meet");
  const int lane = static_cast<int>(threadIdx.x) % kLoads;
  MergedPart merged;
  for (int first = 0; first < merge.parts; first += kLoads) {
    const int count = min(merge.parts - first, kLoads);
    const int64_t start =
        (int64_t{merge.partial} + first * merge.rows + row) * problem.kv_heads + kv_head;
    const int64_t step = int64_t{merge.rows} * problem.kv_heads;
    for (int i = 0; i < count; ++i) {
      const int64_t from = start + i * step;
      device::copy_async(staging.chunk(i), problem.partial_out + from * kValueDimOf<Config> + dim);
    }
    device::copy_commit();
    const float lse = lane < count ? __ldcg(problem.partial_lse + start + lane * step) : 0.0f;
    device::copy_wait<0>();
    for (int i = 0; i < count; ++i) {
      merged.add(*staging.chunk(i), __shfl_sync(0xffffffff, lse, i, kLoads));
    }
  }
  return merged;
}

// Merges the tile of an item whose part this block has stored, if no other part of it is missing.
// Called by the whole block; nobody uses the staging then.
template <int kThreads, int kLoads, typename Config>
__device__ void merge_if_last(const Problem<Config>& problem, const Item& item, int kv_head,
                              PartStaging<kThreads, kLoads> staging) {
  if (problem.arrivals == nullptr || item.partial < 0) return;
  const Merge merge = problem.merges[item.chain.merge];
  if (!is_last_part(problem, item, kv_head, merge.parts)) return;
  constexpr int kFours = kValueDimOf<Config> / MergedPart::kOf;
  constexpr int kLanes = rounded_up(kFours, kLoads);  // of a row
  for (int start = 0; start < merge.rows * kLanes; start += kThreads) {
    const int i = start + static_cast<int>(threadIdx.x);
    const int row = min(i / kLanes, merge.rows - 1);
    const int dim = min(i % kLanes, kFours - 1) * MergedPart::kOf;
    const MergedPart merged = merge_in_order(problem, merge, kv_head, row, dim, staging);
    const bool is_own = i < merge.rows * kLanes && i % kLanes < kFours;
    if (is_own) store_merged(problem, merge, kv_head, row, dim, merged);
  }
}

}  // namespace fictl::attention
