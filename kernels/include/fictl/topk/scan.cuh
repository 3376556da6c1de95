// Sums over the threads before each one, of a warp and of a block, and the greatest of a warp.
#pragma once

#include <stdint.h>

#include <fictl/device/reduce.cuh>

namespace fictl::topk {

// Up to and with this lane. Called by whole warps.
__device__ inline int warp_inclusive_sum(int x) {
  const int lane = threadIdx.x % device::kWarpSize;
#pragma unroll
  for (int step = 1; step < device::kWarpSize; step *= 2) {
    const int before = __shfl_up_sync(0xffffffff, x, step);
    if (lane >= step) x += before;
  }
  return x;
}

// The greatest of a warp, in every lane.
__device__ inline uint32_t warp_max(uint32_t x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffff, x);
#else
#pragma unroll
  for (int lane = 1; lane < device::kWarpSize; lane *= 2) {
    const uint32_t other = __shfl_xor_sync(0xffffffff, x, lane);
    if (other > x) x = other;
  }
  return x;
#endif
}

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
    const int until = warp_inclusive_sum(x);
    if (lane == device::kWarpSize - 1) storage.warps[warp] = until;
    __syncthreads();
    // Every warp adds up all of them. Why: a second barrier would cost more.
    const int sum = lane < warps ? storage.warps[lane] : 0;
    const int sums = warp_inclusive_sum(sum);
    total = __shfl_sync(0xffffffff, sums, device::kWarpSize - 1);
    before = __shfl_sync(0xffffffff, sums - sum, warp) + until - x;
  }
};

}  // namespace fictl::topk
