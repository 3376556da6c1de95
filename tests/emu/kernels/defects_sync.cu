// Threads that do not meet where they must, or never end.
#include <cooperative_groups.h>

#include "defects.cuh"

KERNEL(divergent_barrier_across_warps) {
  __shared__ float tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  if (BUG && threadIdx.x < 64) {
    tile[threadIdx.x] *= 2.0f;
    __syncthreads();
  } else {
    tile[threadIdx.x] *= 3.0f;
    __syncthreads();
  }
  y[threadIdx.x] = tile[127 - threadIdx.x];
}
DEFECT(divergent_barrier_across_warps, 1, 128, 0)

KERNEL(divergent_barrier_in_a_warp) {
  if (BUG && threadIdx.x % 2 == 0) {
    y[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
  } else {
    y[threadIdx.x] = -x[threadIdx.x];
    __syncthreads();
  }
}
DEFECT(divergent_barrier_in_a_warp, 1, 32, 0)

KERNEL(barrier_of_two_counts) {
  __shared__ float tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  ptx::barrier_sync(1, BUG && threadIdx.x >= 64 ? 96 : 128);
  y[threadIdx.x] = tile[127 - threadIdx.x];
}
DEFECT(barrier_of_two_counts, 1, 128, 0)

// More threads are waited for than can come.
KERNEL(barrier_of_too_many) {
  if (threadIdx.x < 64) ptx::barrier_sync(1, BUG ? 96 : 64);
  y[threadIdx.x] = x[threadIdx.x];
}
DEFECT(barrier_of_too_many, 1, 128, 0)

// One warp leaves the loop early and goes on to a barrier that the others have not come to.
KERNEL(early_break) {
  __shared__ float tile[64];
  float sum = 0.0f;
  for (int round = 0; round < 3; ++round) {
    if (BUG && threadIdx.x >= 32 && round == 1) break;
    tile[threadIdx.x] = x[round * 64 + threadIdx.x];
    __syncthreads();
    sum += tile[63 - threadIdx.x];
    __syncthreads();
  }
  __syncthreads();
  y[threadIdx.x] = sum;
}
DEFECT(early_break, 1, 64, 0)

KERNEL(shuffle_without_half_of_the_warp) {
  float value = x[threadIdx.x];
  if (!BUG || threadIdx.x % 32 < 16) value += __shfl_down_sync(~0u, value, 8);
  __syncthreads();
  y[threadIdx.x] = value;
}
DEFECT(shuffle_without_half_of_the_warp, 1, 64, 0)

KERNEL(mask_without_the_caller) {
  const unsigned mask = BUG ? 0x0000FFFFu : ~0u;
  y[threadIdx.x] = __shfl_xor_sync(mask, x[threadIdx.x], 1);
}
DEFECT(mask_without_the_caller, 1, 32, 0)

KERNEL(endless_loop) {
  volatile int i = 0;
  while (BUG || i < 10) i = i + 1;
  y[threadIdx.x] = x[threadIdx.x] + i;
}
DEFECT(endless_loop, 1, 32, 0)

KERNEL(flag_that_nobody_sets) {
  if (!BUG && blockIdx.x == 0 && threadIdx.x == 0) atomicExch(flags, 1);
  if (threadIdx.x == 0) {
    while (atomicAdd(flags, 0) == 0) continue;
  }
  __syncthreads();
  y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x];
}
DEFECT(flag_that_nobody_sets, 2, 32, 0)

KERNEL(grid_sync_without_a_block) {
  if (BUG && blockIdx.x == 1) return;
  y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x];
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) y[128 + blockIdx.x] = y[(BUG ? 2 : (blockIdx.x + 1) % 4) * 32];
}

extern "C" int grid_sync_without_a_block(int bug, const float* x, float* y, int* flags, int n) {
  void* arguments[] = {&x, &y, &flags, &n};
  auto kernel =
      bug ? grid_sync_without_a_block_kernel<true> : grid_sync_without_a_block_kernel<false>;
  cudaLaunchCooperativeKernel(kernel, dim3(4), dim3(32), arguments, 0, nullptr);
  return cudaGetLastError();
}
