// Correct kernels that are close to a defect of a warp: flags that threads wait for, and warp
// operations of fewer lanes than a warp has.
#include <cooperative_groups.h>

#include "defects.cuh"

#define CORRECT(name, grid, block)                                        \
  extern "C" int name(int, const float* x, float* y, int* flags, int n) { \
    name##_kernel<<<grid, block>>>(x, y, flags, n);                       \
    const cudaError_t launched = cudaGetLastError();                      \
    return launched != cudaSuccess ? launched : cudaDeviceSynchronize();  \
  }

#define CORRECT_KERNEL(name) \
  __global__ void name##_kernel(const float* x, float* y, int* flags, int n)

CORRECT_KERNEL(flag_between_warps) {
  __shared__ float message;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    message = x[0];
    __threadfence_block();
    flag = 1;
  }
  if (threadIdx.x == 32) {
    while (flag == 0) continue;
    __threadfence_block();
    y[0] = message;
  }
}
CORRECT(flag_between_warps, 1, 64)

CORRECT_KERNEL(flag_between_lanes) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncwarp();
  if (threadIdx.x == 3) flag = 7;
  while (flag != 7) __nanosleep(20);
  y[threadIdx.x] = x[threadIdx.x];
}
CORRECT(flag_between_lanes, 1, 32)

// Every lane waits for its turn, which changes many times.
CORRECT_KERNEL(turns_of_lanes) {
  __shared__ volatile unsigned turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  while (turn != threadIdx.x) continue;
  __threadfence_block();
  y[0] += x[threadIdx.x];
  __threadfence_block();
  turn = threadIdx.x + 1;
}
CORRECT(turns_of_lanes, 1, 64)

CORRECT_KERNEL(flag_in_global_memory) {
  volatile int* flag = flags + blockIdx.x;
  if (threadIdx.x == 0) *flag = 0;
  __syncthreads();
  if (threadIdx.x == 63) {
    *flag = 1;
  } else {
    int seen;
    do {
      seen = *flag;
    } while (seen == 0);
  }
  y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
}
CORRECT(flag_in_global_memory, 2, 64)

__device__ bool is_set(const volatile int* flag) { return *flag != 0; }

CORRECT_KERNEL(two_flags) {
  __shared__ int both[2];
  if (threadIdx.x < 2) both[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 1 || threadIdx.x == 33) {
    *static_cast<volatile int*>(&both[threadIdx.x / 32]) = 1;
  }
  if (threadIdx.x == 40) {
    while (!is_set(&both[0]) || !is_set(&both[1])) continue;
    y[0] = x[0];
  }
}
CORRECT(two_flags, 1, 64)

// What it waits for is in memory as well.
CORRECT_KERNEL(flag_beside_plain_memory) {
  __shared__ int target;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) {
    target = 5;
    flag = 0;
  }
  __syncthreads();
  if (threadIdx.x == 32) flag = 5;
  while (flag != target) continue;
  y[threadIdx.x] = x[threadIdx.x];
}
CORRECT(flag_beside_plain_memory, 1, 64)

CORRECT_KERNEL(flag_by_ptx) {
  __shared__ int flag;
  const unsigned at = ptx::shared_address(&flag);
  if (threadIdx.x == 0) flag = 0;
  __syncwarp();
  if (threadIdx.x == 9) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(1));
  int seen = 0;
  while (seen == 0) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at));
  y[threadIdx.x] = seen;
}
CORRECT(flag_by_ptx, 1, 32)

CORRECT_KERNEL(flag_that_is_taken_back) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) {
      while (flag != 0) continue;
      flag = 1;
    } else if (threadIdx.x == 32) {
      while (flag != 1) continue;
      flag = 0;
    }
  }
  y[threadIdx.x] = x[threadIdx.x];
}
CORRECT(flag_that_is_taken_back, 1, 64)

CORRECT_KERNEL(volatile_of_its_own) {
  __shared__ volatile float own[64];
  for (int round = 0; round < 4; ++round) own[threadIdx.x] = round + x[threadIdx.x];
  y[threadIdx.x] = own[threadIdx.x];
}

CORRECT(volatile_of_its_own, 1, 64)

CORRECT_KERNEL(slots_of_a_hash_table) {
  __shared__ int slots[64];
  slots[threadIdx.x] = -1;
  __syncthreads();
  const int key = threadIdx.x * 37 % 41;
  int slot = key;
  for (;;) {
    const int seen = *static_cast<volatile int*>(&slots[slot]);
    if (seen == key || (seen == -1 && atomicCAS(&slots[slot], -1, key) == -1)) break;
    if (*static_cast<volatile int*>(&slots[slot]) == key) break;
    slot = (slot + 1) % 64;
  }
  y[threadIdx.x] = slot;
}
CORRECT(slots_of_a_hash_table, 1, 64)

// ---- masks ----

CORRECT_KERNEL(tree_over_half_a_warp) {
  if (threadIdx.x < 16) {
    float sum = x[threadIdx.x];
    for (int distance = 8; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(0x0000ffff, sum, distance);
    }
    if (threadIdx.x == 0) y[0] = sum;
  }
}
CORRECT(tree_over_half_a_warp, 1, 32)

CORRECT_KERNEL(neighbours_of_a_tail) {
  const bool has = threadIdx.x < 21;
  const unsigned mask = __ballot_sync(~0u, has);
  if (!has) return;
  const float right = __shfl_down_sync(mask, x[threadIdx.x], 1);
  const float left = __shfl_up_sync(mask, x[threadIdx.x], 1);
  y[threadIdx.x] = (threadIdx.x < 20 ? right : 0.0f) + (threadIdx.x > 0 ? left : 0.0f);
}
CORRECT(neighbours_of_a_tail, 1, 32)

// What __ballot_sync() and __syncwarp() say of lanes that have returned is defined.
CORRECT_KERNEL(votes_behind_a_return) {
  __shared__ float tile[32];
  if (threadIdx.x >= 21) return;
  tile[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  const unsigned positive = __ballot_sync(~0u, tile[20 - threadIdx.x] > 0.0f);
  y[threadIdx.x] = positive + __all_sync(~0u, 1) + __any_sync(~0u, 0);
}
CORRECT(votes_behind_a_return, 1, 32)

CORRECT_KERNEL(groups_of_their_own_size) {
  const unsigned group = threadIdx.x / 8;
  const unsigned mask = 0xffu << group * 8;
  float sum = x[threadIdx.x];
  if (group % 2 == 0) {
    for (int bits = 4; bits > 0; bits /= 2) sum += __shfl_xor_sync(mask, sum, bits, 8);
  } else {
    sum = __shfl_sync(mask, sum, 3, 8);
  }
  y[threadIdx.x] = sum;
}
CORRECT(groups_of_their_own_size, 1, 32)

CORRECT_KERNEL(short_last_warp) {
  float sum = x[threadIdx.x];
  for (int bits = 8; bits > 0; bits /= 2) sum += __shfl_xor_sync(~0u, sum, bits);
  y[threadIdx.x] = sum;
}
CORRECT(short_last_warp, 1, 48)

// First half of the warp, then all of it, by one function.
__device__ float halves(unsigned mask, float value) { return __shfl_xor_sync(mask, value, 1); }

CORRECT_KERNEL(masks_one_after_another) {
  float value = x[threadIdx.x];
  if (threadIdx.x >= 16) value += halves(0xffff0000, value);
  y[threadIdx.x] = halves(~0u, value);
}
CORRECT(masks_one_after_another, 1, 32)

// The two sides of a branch may call the same operation with the same mask.
CORRECT_KERNEL(barrier_on_both_sides_of_a_branch) {
  __shared__ float tile[32];
  if (threadIdx.x < 16) {
    tile[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
  } else {
    tile[threadIdx.x] = -x[threadIdx.x];
    __syncwarp();
  }
  y[threadIdx.x] = tile[31 - threadIdx.x];
}
CORRECT(barrier_on_both_sides_of_a_branch, 1, 32)

CORRECT_KERNEL(group_of_those_who_are_there) {
  if (x[threadIdx.x] > 0.0f) {
    const auto group = cooperative_groups::coalesced_threads();
    y[threadIdx.x] = group.shfl(x[threadIdx.x], 0) + group.size();
  }
}
CORRECT(group_of_those_who_are_there, 1, 64)
