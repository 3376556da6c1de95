// Reductions over the threads of a warp or a block; every thread receives the result.
//
// All lanes combine the same pairs, so that the result is the same in every thread and every run.
#pragma once

#include <math.h>

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

constexpr int kWarpSize = 32;
constexpr int kMaxThreads = 1024;

// The operation of a reduction on two values, fp32 or fp64, and its neutral element.
struct Sum {
  static constexpr float kNone = 0.0f;

  template <typename Real>
  __device__ Real operator()(Real a, Real b) const {
    return a + b;
  }
};

// Why not fmax and fmin: they drop NaN, and the largest of a row with a NaN is NaN, as in torch.
struct Max {
  static constexpr float kNone = -INFINITY;

  template <typename Real>
  __device__ Real operator()(Real a, Real b) const {
    return a > b || a != a ? a : b;
  }
};

struct Min {
  static constexpr float kNone = INFINITY;

  template <typename Real>
  __device__ Real operator()(Real a, Real b) const {
    return a < b || a != a ? a : b;
  }
};

// Reduces over `width` adjacent lanes, a power of two: pairs of lanes first, then pairs of pairs.
// Called by the whole warp.
template <typename Op, typename Real>
__device__ Real warp_reduce(Op op, Real x, int width = kWarpSize) {
#pragma unroll
  for (int lane = 1; lane < width; lane *= 2) x = op(x, __shfl_xor_sync(0xffffffff, x, lane));
  return x;
}

__device__ inline float warp_sum(float x, int width = kWarpSize) {
  return warp_reduce(Sum(), x, width);
}

// The inclusive prefix sum over the lanes. Called by the whole warp.
template <typename N>
__device__ N warp_inclusive_sum(N x) {
  const int lane = threadIdx.x % kWarpSize;
#pragma unroll
  for (int step = 1; step < kWarpSize; step *= 2) {
    const N before = __shfl_up_sync(0xffffffff, x, step);
    if (lane >= step) x += before;
  }
  return x;
}

// The largest of a warp's integers, in every lane.
__device__ inline uint32_t warp_max(uint32_t x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffff, x);
#else
  return warp_reduce(Max(), x);
#endif
}

// The sum of a warp's integers, in every lane.
__device__ inline uint32_t warp_sum(uint32_t x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffff, x);
#else
  return warp_reduce(Sum(), x);
#endif
}

// Reduces over a one-dimensional block of whole warps. Called by all of its threads, any number of
// times, with any operation:
//   __shared__ BlockReduce<float>::Storage storage;
//   BlockReduce<float> over_block(storage);
//   const float most = over_block(Max(), x);
//   const float total = over_block(Sum(), exp(x - most));
//
// One barrier a reduction: every warp combines the warps' partial results itself. The next one
// takes the other half of the storage, and a half is written again only after the barrier between,
// which no thread passes before it has read that half.
template <typename Real>
class BlockReduce {
 public:
  struct Storage {
    Real partials[2][kMaxThreads / kWarpSize];
  };

  __device__ explicit BlockReduce(Storage& storage) : storage_(storage) {}

  template <typename Op>
  __device__ Real operator()(Op op, Real x) {
    Real* partials = storage_.partials[half_];
    half_ ^= 1;
    const int lane = threadIdx.x % kWarpSize;
    const int warps = blockDim.x / kWarpSize;
    x = warp_reduce(op, x);
    if (lane == 0) partials[threadIdx.x / kWarpSize] = x;
    __syncthreads();
    return warp_reduce(op, lane < warps ? partials[lane] : Real(Op::kNone));
  }

 private:
  Storage& storage_;
  int half_ = 0;
};

// The same for sums only: block_sum(x).
class BlockSum : public BlockReduce<float> {
 public:
  using BlockReduce::BlockReduce;

  __device__ float operator()(float x) { return BlockReduce::operator()(Sum(), x); }
};

}  // namespace fictl::device
