// Correct kernels whose order is easily misread: nothing may be reported of them.
#include "defects.cuh"

#define CORRECT(name, grid, block, shared)                                \
  extern "C" int name(int, const float* x, float* y, int* flags, int n) { \
    name##_kernel<<<grid, block, shared>>>(x, y, flags, n);               \
    const cudaError_t launched = cudaGetLastError();                      \
    return launched != cudaSuccess ? launched : cudaDeviceSynchronize();  \
  }

#define CORRECT_KERNEL(name) \
  __global__ void name##_kernel(const float* x, float* y, int* flags, int n)

CORRECT_KERNEL(warp_aggregated_atomics) {
  if (x[threadIdx.x] > 0.0f) {
    const unsigned mask = __activemask();
    const int lane = threadIdx.x % 32, leader = __ffs(mask) - 1;
    int start = 0;
    if (lane == leader) start = atomicAdd(flags, __popc(mask));
    start = __shfl_sync(mask, start, leader);
    y[start + __popc(mask & ((1u << lane) - 1))] = x[threadIdx.x];
  }
}
CORRECT(warp_aggregated_atomics, 1, 128, 0)

CORRECT_KERNEL(histogram) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[i * 7 % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&flags[threadIdx.x], bins[threadIdx.x]);
}
CORRECT(histogram, 3, 96, 0)

CORRECT_KERNEL(block_reduction_in_a_loop) {
  __shared__ float partial[2][4];
  for (int round = 0; round < 4; ++round) {
    float sum = x[round * 128 + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
    // Two sets of partial sums need one barrier a round.
    if (threadIdx.x % 32 == 0) partial[round % 2][threadIdx.x / 32] = sum;
    __syncthreads();
    float total = 0.0f;
    for (int warp = 0; warp < 4; ++warp) total += partial[round % 2][warp];
    if (threadIdx.x == 0) y[round] = total;
  }
}
CORRECT(block_reduction_in_a_loop, 1, 128, 0)

CORRECT_KERNEL(block_scan) {
  extern __shared__ float values[];
  values[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    const float left = threadIdx.x >= step ? values[threadIdx.x - step] : 0.0f;
    __syncthreads();
    values[threadIdx.x] += left;
    __syncthreads();
  }
  y[threadIdx.x] = values[threadIdx.x];
}
CORRECT(block_scan, 1, 128, 128 * sizeof(float))

// Two stages, a whole block that copies, waits and meets in the usual order.
CORRECT_KERNEL(double_buffered_pipeline) {
  __shared__ __align__(16) float tile[2][128];
  auto load = [&](int round) {
    if (threadIdx.x < 32)
      ptx::copy_async(&tile[round % 2][threadIdx.x * 4], x + round * 128 + threadIdx.x * 4);
    ptx::commit();
  };
  float sum = 0.0f;
  load(0);
  for (int round = 0; round < 6; ++round) {
    ptx::wait<0>();
    __syncthreads();
    if (round + 1 < 6) load(round + 1);
    sum += tile[round % 2][127 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}
CORRECT(double_buffered_pipeline, 1, 128, 0)

CORRECT_KERNEL(spin_lock) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(flags, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    y[0] += x[threadIdx.x];
    y[1] = y[0];
    __threadfence();
    atomicExch(flags, 0);
  }
}
CORRECT(spin_lock, 3, 64, 0)

// Blocks take their turns in the order of their numbers: a whole block writes, one thread tells.
CORRECT_KERNEL(semaphore_between_blocks) {
  volatile int* turn = flags;
  if (threadIdx.x == 0) {
    while (*turn != static_cast<int>(blockIdx.x)) __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
  const float before = blockIdx.x == 0 ? x[threadIdx.x] : y[63 - threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = before + 1.0f;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *turn = blockIdx.x + 1;
}
CORRECT(semaphore_between_blocks, 6, 64, 0)

// A union of two uses, with barriers between them.
CORRECT_KERNEL(shared_memory_used_twice) {
  union Scratch {
    float values[64];
    int counts[64];
  };
  __shared__ Scratch scratch;
  for (int round = 0; round < 2; ++round) {
    scratch.values[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const float value = scratch.values[63 - threadIdx.x];
    __syncthreads();
    scratch.counts[threadIdx.x] = static_cast<int>(threadIdx.x) + round;
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = value + scratch.counts[(threadIdx.x + 1) % 64];
    __syncthreads();
  }
}
CORRECT(shared_memory_used_twice, 2, 64, 0)

// Every writer writes the same value: benign, and common in initialisation.
CORRECT_KERNEL(same_value_by_all) {
  __shared__ int any;
  any = 0;
  __syncthreads();
  if (x[threadIdx.x] > 0.0f) any = 1;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = any;
}
CORRECT(same_value_by_all, 1, 64, 0)

// One buffer that a producer warp fills and a consumer warp empties, over and over.
CORRECT_KERNEL(producer_and_consumer) {
  __shared__ float tile[32];
  constexpr int kFull = 1, kEmpty = 2;
  const int lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x < 32) {
      if (round > 0) ptx::barrier_sync(kEmpty, 64);
      tile[lane] = x[round * 32 + lane];
      ptx::barrier_arrive(kFull, 64);
    } else {
      ptx::barrier_sync(kFull, 64);
      sum += tile[31 - lane];
      if (round < 3) ptx::barrier_arrive(kEmpty, 64);
    }
  }
  if (threadIdx.x >= 32) y[lane] = sum;
}
CORRECT(producer_and_consumer, 1, 64, 0)

CORRECT_KERNEL(threads_that_return_early) {
  __shared__ float tile[64];
  if (threadIdx.x >= 40) return;
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[39 - threadIdx.x];
}
CORRECT(threads_that_return_early, 1, 64, 0)

// Each launch reads what the one before has written: launches of one stream follow one another.
__global__ void first_half(const float* x, float* y) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  y[i] = y[i + 64] + x[i];
}

__global__ void second_half(const float* x, float* y) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  y[127 - i] = y[i] + x[i];
}

extern "C" int two_launches_in_order(int, const float* x, float* y, int*, int) {
  first_half<<<2, 32>>>(x, y);
  second_half<<<2, 32>>>(x, y);
  return cudaDeviceSynchronize();
}

__device__ int tickets;
__constant__ float factors[4] = {1.0f, 2.0f, 3.0f, 4.0f};

// Variables of the module are no tensors and may be used.
CORRECT_KERNEL(variables_of_the_module) {
  if (threadIdx.x == 0) atomicAdd(&tickets, 1);
  y[threadIdx.x] = x[threadIdx.x] * factors[threadIdx.x % 4];
}
CORRECT(variables_of_the_module, 2, 1, 0)

// What the host does with its memory is not the checker's business.
extern "C" int work_of_the_host(int, const float* x, float* y, int* flags, int n) {
  block_scan_kernel<<<1, 128, 128 * sizeof(float)>>>(x, y, flags, n);
  float* own = new float[128];
  for (int i = 0; i < 128; ++i) own[i] = y[i] + x[i];
  flags[0] = own[127] > own[0];
  delete[] own;
  return cudaGetLastError();
}
