// More of each kind: what kernels get wrong at their ends, in their pipelines and between blocks.
#include <cooperative_groups.h>
#include <cuda_bf16.h>

#include "defects.cuh"

// ---- indices ----

KERNEL(share_of_the_last_block) {
  const int share = (n + gridDim.x - 1) / gridDim.x;
  const int first = blockIdx.x * share;
  const int end = BUG || first + share < n ? first + share : n;
  for (int i = first + threadIdx.x; i < end; i += blockDim.x) y[i] = x[i];
}
DEFECT(share_of_the_last_block, 3, 32, 0)

KERNEL(unsigned_below_zero) {
  const unsigned left = threadIdx.x - (BUG || threadIdx.x > 0 ? 1u : 0u);
  y[threadIdx.x] = x[left];
}
DEFECT(unsigned_below_zero, 1, 32, 0)

KERNEL(index_over_31_bits) {
  const int pitch = 1 << 28;
  const int row = threadIdx.x == 9 ? n / 16 : 0;  // 8
  const auto at = BUG ? static_cast<int64_t>(row * pitch * 2 + row) : int64_t{row};
  y[threadIdx.x] = x[at];
  if (BUG && threadIdx.x == 3) y[0] = x[static_cast<int>(1u << 31 | threadIdx.x)];
}
DEFECT(index_over_31_bits, 1, 32, 0)

KERNEL(half_vector_misaligned) {
  const auto* pairs =
      reinterpret_cast<const __half2*>(reinterpret_cast<const __half*>(x) + (BUG ? 1 : 0));
  y[threadIdx.x] = __low2float(pairs[threadIdx.x]);
}
DEFECT(half_vector_misaligned, 1, 32, 0)

KERNEL(shared_vector_misaligned) {
  __shared__ __align__(16) float tile[68];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 4) tile[64 + threadIdx.x] = 0.0f;
  __syncthreads();
  const auto* pair = reinterpret_cast<const float2*>(&tile[(threadIdx.x & 31) * 2 + (BUG ? 1 : 0)]);
  y[threadIdx.x] = pair->x + pair->y;
}
DEFECT(shared_vector_misaligned, 1, 64, 0)

KERNEL(row_of_a_matrix_over_its_end) {
  __shared__ float tile[8][33];
  const int row = threadIdx.x / 32, column = threadIdx.x % 32;
  tile[row][column] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[row][column + (BUG ? n / 64 : 0)];
}
DEFECT(row_of_a_matrix_over_its_end, 1, 256, 0)

KERNEL(rows_and_columns_mixed_up) {
  __shared__ float tile[4][32];
  const int row = threadIdx.x / 32, column = threadIdx.x % 32;
  tile[row][column] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = BUG ? tile[column][row] : tile[row][31 - column];
}
DEFECT(rows_and_columns_mixed_up, 1, 128, 0)

struct Weights {
  float values[4];
};

template <bool BUG>
__global__ void array_of_a_parameter_kernel(const float* x, float* y, Weights weights, int n) {
  y[threadIdx.x] = x[threadIdx.x] * weights.values[threadIdx.x % (BUG ? n / 16 : 4)];
}
extern "C" int array_of_a_parameter(int bug, const float* x, float* y, int*, int n) {
  const Weights weights{{1.0f, 2.0f, 3.0f, 4.0f}};
  if (bug) {
    array_of_a_parameter_kernel<true><<<1, 32>>>(x, y, weights, n);
  } else {
    array_of_a_parameter_kernel<false><<<1, 32>>>(x, y, weights, n);
  }
  return cudaGetLastError();
}

__constant__ float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};

KERNEL(constant_over_its_end) {
  y[threadIdx.x] = x[threadIdx.x] * table[threadIdx.x % (BUG ? n / 16 : 4)];
}
DEFECT(constant_over_its_end, 1, 32, 0)

KERNEL(field_of_a_struct_over_its_end) {
  struct Storage {
    float sums[8];
    int counts[8];
  };
  __shared__ Storage storage;
  if (threadIdx.x < 8) storage.counts[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x < (BUG ? 9 : 8)) storage.sums[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 8) y[threadIdx.x] = storage.sums[threadIdx.x] + storage.counts[threadIdx.x];
}
DEFECT(field_of_a_struct_over_its_end, 1, 32, 0)

KERNEL(stencil_in_place) {
  const float sum = y[threadIdx.x] + (threadIdx.x > 0 ? y[threadIdx.x - 1] : 0.0f);
  if (!BUG) __syncthreads();
  y[threadIdx.x] = sum;
}
DEFECT(stencil_in_place, 1, 128, 0)

// ---- barriers ----

KERNEL(barrier_in_an_uneven_loop) {
  __shared__ float tile[64];
  float sum = 0.0f;
  for (int i = threadIdx.x; BUG ? i < n - 28 : i - threadIdx.x < n - 28; i += 64) {
    tile[threadIdx.x] = x[i];
    __syncthreads();
    sum += tile[63 - threadIdx.x] * 0.0f;
    __syncthreads();
  }
  __syncthreads();
  y[threadIdx.x] = sum;
}
DEFECT(barrier_in_an_uneven_loop, 1, 64, 0)

KERNEL(barrier_behind_a_guard) {
  __shared__ float tile[64];
  if (!BUG || threadIdx.x < 40) {
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
  }
  if (BUG && threadIdx.x >= 40) {
    tile[threadIdx.x] = 0.0f;
    __syncthreads();
  }
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
DEFECT(barrier_behind_a_guard, 1, 64, 0)

KERNEL(one_barrier_for_two_groups) {
  __shared__ float tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  const int group = threadIdx.x / 64;
  ptx::barrier_sync(BUG ? 1 : 1 + group, 64);
  y[threadIdx.x] = tile[group * 64 + 63 - threadIdx.x % 64];
}
DEFECT(one_barrier_for_two_groups, 1, 128, 0)

KERNEL(barrier_count_in_warps) {
  ptx::barrier_sync(3, BUG ? 2 : 64);
  y[threadIdx.x] = x[threadIdx.x];
}
DEFECT(barrier_count_in_warps, 1, 64, 0)

// Sums of one round are overwritten by the next: two sets, and one barrier too few.
KERNEL(sums_of_the_next_round) {
  __shared__ float partial[2][4];
  for (int round = 0; round < 4; ++round) {
    float* mine = partial[BUG ? 0 : round % 2];
    if (threadIdx.x % 32 == 0) mine[threadIdx.x / 32] = x[round * 128 + threadIdx.x];
    __syncthreads();
    y[round * 128 + threadIdx.x] = mine[0] + mine[1] + mine[2] + mine[3];
  }
}
DEFECT(sums_of_the_next_round, 1, 128, 0)

// ---- cp.async ----

KERNEL(wait_without_commit) {
  __shared__ __align__(16) float tile[128];
  if (threadIdx.x < 32) ptx::copy_async(&tile[threadIdx.x * 4], x + threadIdx.x * 4);
  if (!BUG) ptx::commit();
  ptx::wait<0>();
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
DEFECT(wait_without_commit, 1, 128, 0)

KERNEL(three_stages_and_one_too_many) {
  __shared__ __align__(16) float tile[3][128];
  auto load = [&](int round) {
    if (round < 6 && threadIdx.x < 32) {
      ptx::copy_async(&tile[round % 3][threadIdx.x * 4], x + round * 128 + threadIdx.x * 4);
    }
    ptx::commit();
  };
  float sum = 0.0f;
  load(0);
  load(1);
  for (int round = 0; round < 6; ++round) {
    ptx::wait<BUG ? 2 : 1>();
    __syncthreads();
    load(round + 2);
    sum += tile[round % 3][127 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}
DEFECT(three_stages_and_one_too_many, 1, 128, 0)

KERNEL(stage_of_another_round) {
  __shared__ __align__(16) float tile[2][128];
  auto load = [&](int round) {
    const int stage = BUG ? 0 : round % 2;
    if (threadIdx.x < 32) {
      ptx::copy_async(&tile[stage][threadIdx.x * 4], x + round * 128 + threadIdx.x * 4);
    }
    ptx::commit();
  };
  float sum = 0.0f;
  load(0);
  for (int round = 0; round < 4; ++round) {
    ptx::wait<0>();
    __syncthreads();
    if (round < 3) load(round + 1);
    sum += tile[BUG ? 0 : round % 2][127 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}
DEFECT(stage_of_another_round, 1, 128, 0)

KERNEL(written_under_a_copy) {
  __shared__ __align__(16) float tile[128];
  if (threadIdx.x < 32) ptx::copy_async(&tile[threadIdx.x * 4], x + threadIdx.x * 4);
  ptx::commit();
  if (BUG && threadIdx.x == 0) tile[0] = 0.0f;
  ptx::wait<0>();
  __syncthreads();
  if (!BUG && threadIdx.x == 0) tile[0] = 0.0f;
  y[threadIdx.x] = threadIdx.x == 0 ? 0.0f : tile[threadIdx.x];
}
DEFECT(written_under_a_copy, 1, 128, 0)

// ---- between blocks ----

KERNEL(block_reads_its_neighbour) {
  y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x];
  const unsigned from = BUG ? (blockIdx.x + 1) % gridDim.x : blockIdx.x;
  y[128 + blockIdx.x * 32 + threadIdx.x] = y[from * 32 + threadIdx.x];
}
DEFECT(block_reads_its_neighbour, 4, 32, 0)

KERNEL(last_block_forgets_to_zero) {
  if (threadIdx.x == 0) {
    if (BUG) {
      flags[0] = 0;
    }
    atomicAdd(flags, 1);
  }
}
DEFECT(last_block_forgets_to_zero, 3, 32, 0)

KERNEL(flag_that_is_not_atomic) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    y[0] = x[0];
    __threadfence();
    if (BUG) {
      flags[0] = 1;
    } else {
      atomicExch(flags, 1);
    }
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (atomicAdd(flags, 0) == 0) continue;
    __threadfence();
    y[1] = y[0];
  }
}
DEFECT(flag_that_is_not_atomic, 2, 32, 0)

KERNEL(volatile_flag_without_fence) {
  volatile int* flag = flags;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    y[0] = x[0];
    if (!BUG) __threadfence();
    *flag = 1;
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (*flag == 0) continue;
    if (!BUG) __threadfence();
    y[1] = y[0];
  }
}
DEFECT(volatile_flag_without_fence, 2, 32, 0)

KERNEL(phases_without_grid_sync) {
  y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x];
  if (!BUG) cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0) y[256 + threadIdx.x] = y[threadIdx.x] + y[96 + threadIdx.x];
}
extern "C" int phases_without_grid_sync(int bug, const float* x, float* y, int* flags, int n) {
  void* arguments[] = {&x, &y, &flags, &n};
  auto kernel =
      bug ? phases_without_grid_sync_kernel<true> : phases_without_grid_sync_kernel<false>;
  cudaLaunchCooperativeKernel(kernel, dim3(4), dim3(32), arguments, 0, nullptr);
  return cudaGetLastError();
}

KERNEL(lock_taken_by_a_plain_read) {
  if (threadIdx.x == 0) {
    if (BUG) {
      if (flags[0] == 0) flags[0] = 1;
    } else {
      atomicCAS(flags, 0, 1);
    }
  }
  y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x] + blockIdx.x;
}
extern "C" int lock_taken_by_a_plain_read(int bug, const float* x, float* y, int* flags, int n) {
  flags[0] = 0;
  if (bug) {
    lock_taken_by_a_plain_read_kernel<true><<<3, 32>>>(x, y, flags, n);
  } else {
    lock_taken_by_a_plain_read_kernel<false><<<3, 32>>>(x, y, flags, n);
  }
  return cudaGetLastError();
}

// ---- launches ----

KERNEL(plain) { y[threadIdx.x] = x[threadIdx.x]; }

extern "C" int no_blocks(int bug, const float* x, float* y, int* flags, int n) {
  plain_kernel<true><<<bug ? n / 1000 : 1, 32>>>(x, y, flags, n);
  return cudaGetLastError();
}
extern "C" int too_many_threads(int bug, const float* x, float* y, int* flags, int n) {
  plain_kernel<true><<<1, bug ? n * 16 : n>>>(x, y, flags, n);
  return cudaGetLastError();
}
extern "C" int more_shared_memory_than_allowed(int bug, const float* x, float* y, int* flags,
                                               int n) {
  plain_kernel<true><<<1, 32, bug ? 60000 : 40000>>>(x, y, flags, n);
  return cudaGetLastError();
}

template <bool BUG>
__global__ void static_and_dynamic_shared_kernel(const float* x, float* y, int*, int) {
  __shared__ float tile[8192];
  extern __shared__ float more[];
  tile[threadIdx.x] = x[threadIdx.x];
  more[threadIdx.x] = tile[threadIdx.x];
  y[threadIdx.x] = more[threadIdx.x];
}
extern "C" int static_and_dynamic_shared(int bug, const float* x, float* y, int* flags, int n) {
  static_and_dynamic_shared_kernel<true><<<1, 32, bug ? 32768 : 8192>>>(x, y, flags, n);
  return cudaGetLastError();
}

template <bool BUG>
__global__ void dynamic_shared_in_elements_kernel(const float* x, float* y, int*, int) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
// Bytes and elements mixed up.
extern "C" int dynamic_shared_in_elements(int bug, const float* x, float* y, int* flags, int n) {
  const int bytes = bug ? n : n * static_cast<int>(sizeof(float));
  dynamic_shared_in_elements_kernel<true><<<1, n, bytes>>>(x, y, flags, n);
  return cudaGetLastError();
}
