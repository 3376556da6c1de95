// Lanes that are taken to go in step: volatile or not, nothing but __syncwarp() orders them.
#include <cooperative_groups.h>

#include "defects.cuh"

// One step of a sum over a warp through memory: all have read before any writes.
template <bool BUG>
__device__ void add_from(volatile float* sums, int lane, int distance) {
  if (BUG) {
    sums[lane] += sums[lane + distance];
  } else {
    const float sum = sums[lane] + sums[lane + distance];
    __syncwarp();
    sums[lane] = sum;
    __syncwarp();
  }
}

KERNEL(volatile_last_warp) {
  __shared__ float sums[64];
  sums[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) {
    add_from<BUG>(sums, threadIdx.x, 32);
    add_from<BUG>(sums, threadIdx.x, 16);
    add_from<BUG>(sums, threadIdx.x, 8);
    add_from<BUG>(sums, threadIdx.x, 4);
    add_from<BUG>(sums, threadIdx.x, 2);
    add_from<BUG>(sums, threadIdx.x, 1);
    if (threadIdx.x == 0) y[0] = sums[0];
  }
}
DEFECT(volatile_last_warp, 1, 64, 0)

KERNEL(volatile_loop) {
  __shared__ volatile float sums[64];
  sums[threadIdx.x] = x[threadIdx.x];
  sums[threadIdx.x + 32] = 0.0f;
  __syncwarp();
  for (int distance = 16; distance > 0; distance /= 2) add_from<BUG>(sums, threadIdx.x, distance);
  if (threadIdx.x == 0) y[0] = sums[0];
}
DEFECT(volatile_loop, 1, 32, 0)

KERNEL(volatile_exchange) {
  __shared__ volatile float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  if (!BUG) __syncwarp();
  y[threadIdx.x] = tile[31 - threadIdx.x];
}
DEFECT(volatile_exchange, 1, 32, 0)

KERNEL(volatile_in_global_memory) {
  volatile float* out = y;
  out[threadIdx.x] = x[threadIdx.x];
  if (!BUG) __syncwarp();
  out[32 + threadIdx.x] = out[threadIdx.x ^ 1];
}
DEFECT(volatile_in_global_memory, 1, 32, 0)

KERNEL(volatile_by_a_cast) {
  __shared__ float tile[32];
  *reinterpret_cast<volatile int*>(&tile[threadIdx.x]) = __float_as_int(x[threadIdx.x]);
  if (!BUG) __syncwarp();
  const int bits = *const_cast<volatile int*>(reinterpret_cast<int*>(&tile[threadIdx.x ^ 4]));
  y[threadIdx.x] = __int_as_float(bits);
}
DEFECT(volatile_by_a_cast, 1, 32, 0)

KERNEL(volatile_by_ptx) {
  __shared__ float tile[32];
  const unsigned own = ptx::shared_address(&tile[threadIdx.x]);
  const unsigned other = ptx::shared_address(&tile[threadIdx.x ^ 8]);
  asm volatile("st.volatile.shared.f32 [%0], %1;" ::"r"(own), "f"(x[threadIdx.x]) : "memory");
  if (!BUG) asm volatile("bar.warp.sync %0;" ::"r"(0xffffffff) : "memory");
  float value;
  asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(value) : "r"(other) : "memory");
  y[threadIdx.x] = value;
}
DEFECT(volatile_by_ptx, 1, 32, 0)

KERNEL(volatile_broadcast) {
  __shared__ volatile float value[4];
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) value[warp] = x[threadIdx.x];
  if (!BUG) __syncwarp();
  y[threadIdx.x] = value[warp];
}
DEFECT(volatile_broadcast, 1, 128, 0)

KERNEL(volatile_scan) {
  __shared__ volatile float values[32];
  const int lane = threadIdx.x;
  values[lane] = x[lane];
  __syncwarp();
  for (int distance = 1; distance < 32; distance *= 2) {
    const float left = lane >= distance ? values[lane - distance] : 0.0f;
    if (!BUG) __syncwarp();
    values[lane] = values[lane] + left;
    if (!BUG) __syncwarp();
  }
  y[lane] = values[lane];
}
DEFECT(volatile_scan, 1, 32, 0)

KERNEL(volatile_between_warps) {
  __shared__ volatile float tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  if (!BUG) __syncthreads();
  y[threadIdx.x] = tile[127 - threadIdx.x];
}
DEFECT(volatile_between_warps, 1, 128, 0)

KERNEL(volatile_writers) {
  __shared__ volatile float tile[16];
  if (BUG || threadIdx.x % 2 == 0) tile[threadIdx.x / 2] = x[threadIdx.x];
  __syncwarp();
  y[threadIdx.x] = tile[threadIdx.x / 2];
}
DEFECT(volatile_writers, 1, 32, 0)

// The flag is waited for, and still the data need not be there.
KERNEL(volatile_message_without_fence) {
  __shared__ volatile float message;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    message = x[0];
    if (!BUG) __threadfence_block();
    flag = 1;
  }
  if (threadIdx.x == 32) {
    while (flag == 0) continue;
    if (!BUG) __threadfence_block();
    y[0] = message;
  }
}
DEFECT(volatile_message_without_fence, 1, 64, 0)

KERNEL(plain_write_volatile_read) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  if (!BUG) __syncwarp();
  y[threadIdx.x] = static_cast<volatile float*>(tile)[threadIdx.x ^ 16];
}
DEFECT(plain_write_volatile_read, 1, 32, 0)

KERNEL(ballot_as_a_fence) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  const unsigned all = __ballot_sync(~0u, x[threadIdx.x] > 0.0f);
  if (!BUG) __syncwarp();
  y[threadIdx.x] = tile[31 - threadIdx.x] + __popc(all);
}
DEFECT(ballot_as_a_fence, 1, 32, 0)

KERNEL(reduction_as_a_fence) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  const unsigned most = __reduce_max_sync(~0u, threadIdx.x);
  if (!BUG) __syncwarp();
  y[threadIdx.x] = tile[31 - threadIdx.x] + most;
}
DEFECT(reduction_as_a_fence, 1, 32, 0)

KERNEL(syncwarp_without_one_lane) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  if (!BUG || threadIdx.x != 5) __syncwarp(BUG ? ~(1u << 5) : ~0u);
  y[threadIdx.x] = tile[5];
}
DEFECT(syncwarp_without_one_lane, 1, 32, 0)

KERNEL(one_lane_adds_up) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  if (!BUG) __syncwarp();
  if (threadIdx.x == 31) {
    float sum = 0.0f;
    for (float value : tile) sum += value;
    y[0] = sum;
  }
}
DEFECT(one_lane_adds_up, 1, 32, 0)

KERNEL(counter_set_too_late) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  if (!BUG) __syncthreads();
  if (x[threadIdx.x] > 0.0f) atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) y[0] = count;
}
DEFECT(counter_set_too_late, 1, 64, 0)

KERNEL(counter_read_too_early) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (x[threadIdx.x] > 0.0f) atomicAdd(&count, 1);
  if (!BUG) __syncthreads();
  if (threadIdx.x == 0) y[0] = count;
}
DEFECT(counter_read_too_early, 1, 64, 0)

KERNEL(histogram_without_atomics) {
  __shared__ int bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncthreads();
  const int bin = threadIdx.x % 4;
  if (BUG) {
    ++bins[bin];
  } else {
    atomicAdd(&bins[bin], 1);
  }
  __syncthreads();
  if (threadIdx.x < 4) y[threadIdx.x] = bins[threadIdx.x];
}
DEFECT(histogram_without_atomics, 1, 32, 0)
