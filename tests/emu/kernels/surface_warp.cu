// Warp functions: shuffles of every type, votes, reductions, matches.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "surface.cuh"

// out[function][lane] of one warp; `to` is what the shuffles get as their lane, delta or mask.
template <class T>
__global__ void shuffles_kernel(const T* in, T* out, int to, int width) {
  const int lane = threadIdx.x;
  const T value = in[lane];
  out[lane] = __shfl_sync(0xffffffffu, value, to, width);
  out[32 + lane] = __shfl_up_sync(0xffffffffu, value, to, width);
  out[64 + lane] = __shfl_down_sync(0xffffffffu, value, to, width);
  out[96 + lane] = __shfl_xor_sync(0xffffffffu, value, to, width);
}

#define SHUFFLES(name, T)                                                 \
  extern "C" int shuffle_##name(const T* in, T* out, int to, int width) { \
    shuffles_kernel<<<1, 32>>>(in, out, to, width);                       \
    return finish();                                                      \
  }
SHUFFLES(int, int)
SHUFFLES(unsigned, unsigned)
SHUFFLES(long_long, long long)
SHUFFLES(unsigned_long, unsigned long)
SHUFFLES(float, float)
SHUFFLES(double, double)
SHUFFLES(half, __half)
SHUFFLES(half2, __half2)
SHUFFLES(bfloat16, __nv_bfloat16)
SHUFFLES(bfloat162, __nv_bfloat162)

// out[lane][function]; lanes that `mask` does not name do nothing.
__global__ void collectives_kernel(const int* in, unsigned* out, unsigned mask) {
  if ((mask >> (threadIdx.x % 32) & 1) == 0) return;
  const int value = in[threadIdx.x];
  unsigned* mine = out + threadIdx.x * 16;
  mine[0] = __ballot_sync(mask, value & 1);
  mine[1] = __any_sync(mask, value == 3);
  mine[2] = __all_sync(mask, value < 100);
  mine[3] = __uni_sync(mask, value > 1000);
  mine[4] = __reduce_add_sync(mask, value);
  mine[5] = __reduce_min_sync(mask, value - 10);
  mine[6] = __reduce_max_sync(mask, static_cast<unsigned>(value));
  mine[7] = __reduce_and_sync(mask, static_cast<unsigned>(value) | 4u);
  mine[8] = __reduce_or_sync(mask, static_cast<unsigned>(value));
  mine[9] = __reduce_xor_sync(mask, static_cast<unsigned>(value));
  mine[10] = __match_any_sync(mask, value & 3);
  int all;
  mine[11] = __match_all_sync(mask, value & 0x100, &all);
  mine[12] = all;
  mine[13] = __match_any_sync(mask, static_cast<double>(value & 1));
  mine[14] = __activemask();
  __syncwarp(mask);
}

extern "C" int collectives(const int* in, unsigned* out, unsigned mask) {
  collectives_kernel<<<1, 64>>>(in, out, mask);
  return finish();
}

__global__ void block_votes_kernel(const int* in, int* out) {
  const int value = in[threadIdx.x];
  int* mine = out + threadIdx.x * 3;
  mine[0] = __syncthreads_count(value & 1);
  mine[1] = __syncthreads_and(value < 100);
  mine[2] = __syncthreads_or(value == 7);
}

extern "C" int block_votes(const int* in, int* out, int threads) {
  block_votes_kernel<<<1, threads>>>(in, out);
  return finish();
}

// The lanes of a branch find each other, and count themselves with one atomic.
__global__ void aggregated_kernel(const int* in, int* count, int* out) {
  if ((in[threadIdx.x] & 1) == 0) return;
  const unsigned mask = __activemask();
  const int lane = threadIdx.x % 32, leader = __ffs(mask) - 1;
  int before = 0;
  if (lane == leader) before = atomicAdd(count, __popc(mask));
  before = __shfl_sync(mask, before, leader);
  out[before + __popc(mask & ((1u << lane) - 1))] = threadIdx.x;
}

extern "C" int aggregated(const int* in, int* count, int* out, int threads) {
  aggregated_kernel<<<1, threads>>>(in, count, out);
  return finish();
}
