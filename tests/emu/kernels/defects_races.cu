// Accesses that nothing orders, in warps, in blocks and between blocks.
#include "defects.cuh"

__device__ inline float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

KERNEL(read_before_the_barrier) {
  __shared__ float partial[8];
  const float sum = warp_sum(x[threadIdx.x]);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  if (!BUG) __syncthreads();
  if (threadIdx.x < 32) {
    const float total = warp_sum(threadIdx.x < 8 ? partial[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) y[blockIdx.x] = total;
  }
}
DEFECT(read_before_the_barrier, 2, 256, 0)

// The second round overwrites what the first may still be read.
KERNEL(reuse_before_the_barrier) {
  __shared__ float tile[128];
  float sum = 0.0f;
  for (int round = 0; round < 3; ++round) {
    tile[threadIdx.x] = x[round * 128 + threadIdx.x];
    __syncthreads();
    sum += tile[127 - threadIdx.x];
    if (!BUG) __syncthreads();
  }
  y[threadIdx.x] = sum;
}
DEFECT(reuse_before_the_barrier, 1, 128, 0)

KERNEL(two_writers) {
  __shared__ float tile[64];
  if (BUG) {
    tile[threadIdx.x % 64] = x[threadIdx.x];
  } else if (threadIdx.x < 64) {
    tile[threadIdx.x] = x[threadIdx.x];
  }
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x % 64];
}
DEFECT(two_writers, 1, 128, 0)

KERNEL(half_precision_neighbours) {
  __shared__ __half tile[128];
  const int mine = threadIdx.x, other = BUG ? mine ^ 33 : mine;
  tile[mine] = __float2half(x[mine]);
  y[mine] = __half2float(tile[other]);
}
DEFECT(half_precision_neighbours, 1, 128, 0)

// A transpose that stays in the warp.
KERNEL(missing_syncwarp) {
  __shared__ float tile[4][33];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  tile[warp][lane] = x[threadIdx.x];
  if (!BUG) __syncwarp();
  y[threadIdx.x] = tile[warp][31 - lane];
}
DEFECT(missing_syncwarp, 1, 128, 0)

KERNEL(shuffle_as_a_fence) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  const float left = __shfl_up_sync(~0u, x[threadIdx.x], 1);
  if (!BUG) __syncwarp();
  y[threadIdx.x] = tile[(threadIdx.x + 1) % 32] + left;
}
DEFECT(shuffle_as_a_fence, 1, 32, 0)

// Half a warp synchronises, the other half reads.
KERNEL(syncwarp_of_half_a_warp) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncwarp(BUG ? (threadIdx.x < 16 ? 0x0000FFFFu : 0xFFFF0000u) : ~0u);
  y[threadIdx.x] = tile[31 - threadIdx.x];
}
DEFECT(syncwarp_of_half_a_warp, 1, 32, 0)

// Through global memory, which needs the barrier as much.
KERNEL(global_memory_within_a_block) {
  y[threadIdx.x] = x[threadIdx.x] * 2.0f;
  if (!BUG) __syncthreads();
  y[128 + threadIdx.x] = y[127 - threadIdx.x];
}
DEFECT(global_memory_within_a_block, 1, 128, 0)

KERNEL(blocks_write_the_same) {
  const int i = threadIdx.x + (BUG ? 0 : blockIdx.x * 128);
  y[i] = x[threadIdx.x] * (blockIdx.x + 1.0f);
}
DEFECT(blocks_write_the_same, 4, 128, 0)

// The last block to finish adds up what the others have left.
KERNEL(missing_threadfence) {
  __shared__ bool last;
  const float sum = warp_sum(x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    y[blockIdx.x] = sum;
    if (!BUG) __threadfence();
    last = atomicAdd(flags, 1) == static_cast<int>(gridDim.x) - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0.0f;
    for (unsigned block = 0; block < gridDim.x; ++block) total += y[block];
    y[gridDim.x] = total;
  }
}
DEFECT(missing_threadfence, 4, 32, 0)

KERNEL(fence_of_too_small_a_scope) {
  if (threadIdx.x == 0) {
    y[blockIdx.x] = x[blockIdx.x];
    if (BUG) {
      __threadfence_block();
    } else {
      __threadfence();
    }
    if (atomicAdd(flags, 1) == static_cast<int>(gridDim.x) - 1) y[8] = y[0] + y[1];
  }
}
DEFECT(fence_of_too_small_a_scope, 2, 32, 0)

KERNEL(lock_without_fence) {
  if (threadIdx.x == 0) {
    while (atomicCAS(flags, 0, 1) != 0) continue;
    y[0] += x[blockIdx.x];
    if (!BUG) __threadfence();
    atomicExch(flags, 0);
  }
}
DEFECT(lock_without_fence, 4, 32, 0)

KERNEL(atomic_and_plain) {
  if (BUG && threadIdx.x % 32 == 1) {
    y[0] += x[threadIdx.x];
  } else {
    atomicAdd(y, x[threadIdx.x]);
  }
}
DEFECT(atomic_and_plain, 1, 64, 0)

// Two warps write, two read; each pair has its half of the barrier.
KERNEL(arrive_before_the_write) {
  __shared__ float tile[64];
  if (threadIdx.x < 64) {
    if (BUG) ptx::barrier_arrive(1, 128);
    tile[threadIdx.x] = x[threadIdx.x];
    if (!BUG) ptx::barrier_arrive(1, 128);
  } else {
    ptx::barrier_sync(1, 128);
    y[threadIdx.x - 64] = tile[127 - threadIdx.x];
  }
}
DEFECT(arrive_before_the_write, 1, 128, 0)

// The named barrier is of the writers only.
KERNEL(named_barrier_of_others) {
  __shared__ float tile[64];
  if (threadIdx.x < 64) tile[threadIdx.x] = x[threadIdx.x];
  if (BUG) {
    if (threadIdx.x < 64) ptx::barrier_sync(2, 64);
  } else {
    ptx::barrier_sync(2, 128);
  }
  y[threadIdx.x] = tile[threadIdx.x % 64];
}
DEFECT(named_barrier_of_others, 1, 128, 0)

__device__ int total;

// Variables of the module are watched as tensors are.
KERNEL(variable_of_the_module) {
  if (BUG) {
    total += threadIdx.x;
  } else {
    atomicAdd(&total, threadIdx.x);
  }
}
DEFECT(variable_of_the_module, 2, 32, 0)

#define RACE y[threadIdx.x % 2] += x[threadIdx.x];
#define EIGHT(what) what what what what what what what what

// More places that race than anybody wants to read about.
KERNEL(very_many_races) {
  if (BUG) {
    EIGHT(EIGHT(RACE))
  } else {
    y[threadIdx.x] += x[threadIdx.x];
  }
}
DEFECT(very_many_races, 1, 32, 0)
