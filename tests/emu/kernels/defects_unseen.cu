// What check mode does not see. One that it finds moves to another file, and its row on the page.
#include <cooperative_groups.h>

#include "defects.cuh"

KERNEL(unwritten_global_memory) {
  if (!BUG) y[threadIdx.x] = 0.0f;
  y[threadIdx.x] += x[threadIdx.x];
}
DEFECT(unwritten_global_memory, 1, 32, 0)

KERNEL(unwritten_register) {
  float value;
  if (!BUG || threadIdx.x % 2 == 0) value = x[threadIdx.x];
  y[threadIdx.x] = value;
}
DEFECT(unwritten_register, 1, 32, 0)

KERNEL(local_array_by_a_pointer) {
  float values[8] = {}, more[8] = {};
  float* at = values;
  asm volatile("" : "+l"(at));
  at[BUG ? 8 : 7] = x[threadIdx.x];
  y[threadIdx.x] = values[7] + more[0] * 0.0f;
}
DEFECT(local_array_by_a_pointer, 1, 32, 0)

KERNEL(output_that_nobody_writes) {
  if (!BUG || threadIdx.x != 5) y[threadIdx.x] = x[threadIdx.x];
}
DEFECT(output_that_nobody_writes, 1, 32, 0)

// The scope of an atomic is taken for the widest.
KERNEL(atomic_of_the_block_alone) {
  if (BUG) {
    atomicAdd_block(flags, 1);
  } else {
    atomicAdd(flags, 1);
  }
}
DEFECT(atomic_of_the_block_alone, 4, 32, 0)

KERNEL(index_that_wraps_into_the_tensor) {
  const unsigned row = threadIdx.x == 1 ? 1u << 16 : 0;
  const unsigned long long at = BUG ? row * (1u << 16) : row & 1;
  y[threadIdx.x] = x[at];
}
DEFECT(index_that_wraps_into_the_tensor, 1, 32, 0)

// Two volatile accesses of different blocks count as flags.
KERNEL(volatile_between_blocks) {
  volatile float* out = y;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = x[blockIdx.x];
    out[8 + blockIdx.x] = out[BUG ? (blockIdx.x + 1) % 2 : blockIdx.x];
  }
}
DEFECT(volatile_between_blocks, 2, 32, 0)

// Lanes that read the same place again and again look like lanes that wait.
KERNEL(volatile_broadcast_in_a_loop) {
  __shared__ volatile float value;
  if (threadIdx.x == 0) value = 0.0f;
  __syncwarp();
  float sum = 0.0f;
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x == 0) value = round + 1.0f;
    if (!BUG) __syncwarp();
    sum += value;
    if (!BUG) __syncwarp();
  }
  y[threadIdx.x] = sum;
}
DEFECT(volatile_broadcast_in_a_loop, 1, 32, 0)

// Only kernels that follow one another on a stream.
__global__ void fill(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void use(float* y) { y[32 + threadIdx.x] = y[threadIdx.x]; }

extern "C" int two_streams(int bug, const float* x, float* y, int*, int) {
  cudaStream_t one, two;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  fill<<<1, 32, 0, one>>>(x, y);
  if (!bug) cudaStreamSynchronize(one);
  use<<<1, 32, 0, two>>>(y);
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  return cudaGetLastError();
}

// A value that __ldg() may have from before it was written.
KERNEL(read_only_cache_of_what_is_written) {
  y[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const float* other = &y[31 - threadIdx.x];
  y[32 + threadIdx.x] = BUG ? __ldg(other) : *other;
}
DEFECT(read_only_cache_of_what_is_written, 1, 32, 0)

// A barrier over all blocks that only holds if all of them run at once.
KERNEL(barrier_of_blocks_that_may_not_run) {
  if (threadIdx.x == 0) {
    atomicAdd(flags, 1);
    while (BUG && atomicAdd(flags, 0) % static_cast<int>(gridDim.x) != 0) continue;
  }
  y[threadIdx.x] = 1.0f;
}
DEFECT(barrier_of_blocks_that_may_not_run, 200, 32, 0)

KERNEL(grid_that_is_too_small) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
extern "C" int grid_that_is_too_small(int bug, const float* x, float* y, int* flags, int n) {
  grid_that_is_too_small_kernel<true><<<bug ? n / 40 : (n + 31) / 32, 32>>>(x, y, flags, n);
  return cudaGetLastError();
}

// By the base that all parts have in common, it cannot be told which one is meant.
KERNEL(raw_division) {
  extern __shared__ __align__(16) char shared[];
  float* values = reinterpret_cast<float*>(shared);
  float* sums = values + 64;
  sums[threadIdx.x] = 0.0f;
  __syncthreads();
  values[BUG ? threadIdx.x + 1 : threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = (threadIdx.x > 0 ? values[threadIdx.x] : 0.0f) + sums[threadIdx.x];
}
DEFECT(raw_division, 1, 64, 512)

// What lanes at the end of a group read beyond it, nobody uses, mostly.
KERNEL(nonsense_at_the_end_of_a_group) {
  const unsigned mask = 0x0000ffff;
  if (threadIdx.x < 16) {
    const float right = __shfl_down_sync(mask, x[threadIdx.x], 1);
    y[threadIdx.x] = BUG || threadIdx.x < 15 ? right : 0.0f;
  }
}
DEFECT(nonsense_at_the_end_of_a_group, 1, 32, 0)
