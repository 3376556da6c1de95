// Exclusive prefix sums over the threads of a block.
#pragma once

#include <fictl/device/reduce.cuh>

namespace fictl::topk {

struct BlockScanStorage {
  int warps[device::kMaxThreads / device::kWarpSize];
};

// Before this thread, and of all. Called by all threads of a block of one dimension, of whole
// warps; between two calls with one storage there is to be a barrier.
struct BlockScan {
  int before;
  int total;

  __device__ BlockScan(BlockScanStorage& storage, int x) {
    const int lane = threadIdx.x % device::kWarpSize;
    const int warp = threadIdx.x / device::kWarpSize;
    const int warps = static_cast<int>(blockDim.x) / device::kWarpSize;
    const int until = device::warp_inclusive_sum(x);
    if (lane == device::kWarpSize - 1) storage.warps[warp] = until;
    __syncthreads();
    // Every warp adds up all of them. Why: a second barrier would cost more.
    const int sum = lane < warps ? storage.warps[lane] : 0;
    const int sums = device::warp_inclusive_sum(sum);
    total = __shfl_sync(0xffffffff, sums, device::kWarpSize - 1);
    before = __shfl_sync(0xffffffff, sums - sum, warp) + until - x;
  }
};

}  // namespace fictl::topk
