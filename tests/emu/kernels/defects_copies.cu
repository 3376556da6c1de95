// cp.async: memory that is read too early, or filled again too early.
#include "defects.cuh"

KERNEL(read_before_the_wait) {
  __shared__ __align__(16) float tile[256];
  if (threadIdx.x < 64) ptx::copy_async(&tile[threadIdx.x * 4], x + threadIdx.x * 4);
  ptx::commit();
  if (!BUG) ptx::wait<0>();
  __syncthreads();
  y[threadIdx.x] = tile[255 - threadIdx.x];
}
DEFECT(read_before_the_wait, 1, 256, 0)

KERNEL(wait_leaves_the_group_pending) {
  __shared__ __align__(16) float tile[2][64];
  for (int stage = 0; stage < 2; ++stage) {
    if (threadIdx.x < 16) {
      ptx::copy_async(&tile[stage][threadIdx.x * 4], x + stage * 64 + threadIdx.x * 4);
    }
    ptx::commit();
  }
  ptx::wait<BUG ? 1 : 0>();
  __syncthreads();
  y[threadIdx.x] = tile[0][threadIdx.x] + tile[1][threadIdx.x];
}
DEFECT(wait_leaves_the_group_pending, 1, 64, 0)

KERNEL(refill_before_the_barrier) {
  __shared__ __align__(16) float tile[2][256];
  auto load = [&](int stage, int round) {
    if (threadIdx.x < 64) {
      ptx::copy_async(&tile[stage][threadIdx.x * 4], x + round * 256 + threadIdx.x * 4);
    }
    ptx::commit();
  };
  float sum = 0.0f;
  load(0, 0);
  for (int round = 0; round < 4; ++round) {
    if (round + 1 < 4) {
      load((round + 1) % 2, round + 1);
      ptx::wait<1>();
    } else {
      ptx::wait<0>();
    }
    __syncthreads();
    sum += tile[round % 2][255 - threadIdx.x];
    if (!BUG) __syncthreads();
  }
  y[threadIdx.x] = sum;
}
DEFECT(refill_before_the_barrier, 1, 256, 0)

// Each thread waits for its own copies only.
KERNEL(wait_without_a_barrier) {
  __shared__ __align__(16) float tile[256];
  if (threadIdx.x < 64) ptx::copy_async(&tile[threadIdx.x * 4], x + threadIdx.x * 4);
  ptx::commit();
  ptx::wait<0>();
  if (!BUG) __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
DEFECT(wait_without_a_barrier, 1, 256, 0)
