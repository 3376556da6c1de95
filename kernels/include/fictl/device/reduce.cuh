// Sums over the threads of a warp and of a block, which every thread receives.
//
// All lanes add the same pairs, so that the result is the same in every thread and every run.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

constexpr int kWarpSize = 32;
constexpr int kMaxThreads = 1024;

// Over `width` neighbouring lanes, a power of two. Called by the whole warp.
__device__ inline float warp_sum(float x, int width = kWarpSize) {
#pragma unroll
  for (int lane = width / 2; lane > 0; lane /= 2) x += __shfl_xor_sync(0xffffffff, x, lane);
  return x;
}

// Over a block of whole warps in one dimension. Called by all its threads, any number of times:
//   __shared__ BlockSum::Storage storage;
//   BlockSum block_sum(storage);
//   const float total = block_sum(x);
//
// One barrier a sum: every warp adds up the warps' partial sums itself. The next sum takes the
// other half of the storage, and a half is written again only after the barrier between, which no
// thread passes before it has read that half.
class BlockSum {
 public:
  struct Storage {
    float partials[2][kMaxThreads / kWarpSize];
  };

  __device__ explicit BlockSum(Storage& storage) : storage_(storage) {}

  __device__ float operator()(float x) {
    float* partials = storage_.partials[half_];
    half_ ^= 1;
    const int lane = threadIdx.x % kWarpSize;
    const int warps = blockDim.x / kWarpSize;
    x = warp_sum(x);
    if (lane == 0) partials[threadIdx.x / kWarpSize] = x;
    __syncthreads();
    return warp_sum(lane < warps ? partials[lane] : 0.0f);
  }

 private:
  Storage& storage_;
  int half_ = 0;
};

}  // namespace fictl::device
