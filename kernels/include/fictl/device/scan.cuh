// Exclusive prefix sums over the threads of a block.
#pragma once

#include <fictl/device/reduce.cuh>

namespace fictl::device {

template <typename N>
struct BlockScanStorage {
  N warps[kMaxThreads / kWarpSize];
};

// Before this thread, and of all. Called by all threads of a block of one dimension, of whole
// warps; between two calls with one storage there is to be a barrier.
template <typename N>
struct BlockScan {
  N before;
  N total;

  __device__ BlockScan(BlockScanStorage<N>& storage, N x) {
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int warps = static_cast<int>(blockDim.x) / kWarpSize;
    const N until = warp_inclusive_sum(x);
    if (lane == kWarpSize - 1) storage.warps[warp] = until;
    __syncthreads();
    // Every warp adds up all of them. Why: a second barrier would cost more.
    const N sum = lane < warps ? storage.warps[lane] : N(0);
    const N sums = warp_inclusive_sum(sum);
    total = __shfl_sync(0xffffffff, sums, kWarpSize - 1);
    before = __shfl_sync(0xffffffff, sums - sum, warp) + until - x;
  }
};

}  // namespace fictl::device
