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
// Traffic: 4 bytes an element and part, from L2. A thread has 16 loads of 16 bytes in flight, since
// up to 49 parts are one block's (a request on the whole of an H200): 200 KiB.
#pragma once

#include <fictl/attention/merge.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/device/copy.cuh>

namespace fictl::attention {

constexpr int kLastPartLoads = 16;  // parts in flight, a thread

template <typename Config>
__device__ unsigned* arrivals_of(const Problem<Config>& problem, const Item& item, int kv_head) {
  return problem.arrivals + int64_t{item.merge} * problem.kv_heads + kv_head;
}

// Asks for what the end of a part reads, at its beginning: the tile's merge and its counter.
template <typename Config>
__device__ void prefetch_end_of_part(const Problem<Config>& problem, const Item& item,
                                     int kv_head) {
  if (problem.arrivals == nullptr || item.partial < 0 || threadIdx.x != 0) return;
  device::prefetch_l2(problem.merges + item.merge);
  device::prefetch_l2(arrivals_of(problem, item, kv_head));
}

// Merges the tile of an item whose part this block has stored, if no other part of it is missing.
// Called by the whole block, of kThreads threads.
template <int kThreads, typename Config>
__device__ void merge_if_last(const Problem<Config>& problem, const Item& item, int kv_head) {
  if (problem.arrivals == nullptr || item.partial < 0) return;
  const Merge merge = problem.merges[item.merge];
  __syncthreads();
  bool is_last = false;
  if (threadIdx.x == 0) {
    __threadfence();
    const auto others = static_cast<unsigned>(merge.parts - 1);
    is_last = atomicInc(arrivals_of(problem, item, kv_head), others) == others;
    __threadfence();
  }
  if (!__syncthreads_or(is_last)) return;
  constexpr int kLanes = Config::kHeadDim / MergedPart::kOf;
  for (int i = static_cast<int>(threadIdx.x); i < merge.rows * kLanes; i += kThreads) {
    const int row = i / kLanes;
    const int dim = i % kLanes * MergedPart::kOf;
    const MergedPart merged =
        merge_some<kLastPartLoads>(problem, merge, kv_head, row, dim, /*first=*/0, /*step=*/1);
    store_merged(problem, merge, kv_head, row, dim, merged);
  }
}

}  // namespace fictl::attention
