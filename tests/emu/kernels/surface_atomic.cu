// Atomics of every type, and what is built of them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/atomic>

#include "surface.cuh"

// Thread i gives i + 1 to each; cells are 16 bytes apart.
struct Cells {
  char* base;
  template <class T>
  __device__ T* at(int i) const {
    return reinterpret_cast<T*>(base + 16 * i);
  }
};

__global__ void atomics_kernel(Cells cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, v = i + 1;
  using ull = unsigned long long;
  atomicAdd(cells.at<int>(0), v);
  atomicAdd(cells.at<unsigned>(1), static_cast<unsigned>(v));
  atomicAdd(cells.at<ull>(2), static_cast<ull>(v) << 32);
  atomicAdd(cells.at<float>(3), 1.0f * v);
  atomicAdd(cells.at<double>(4), 1.0 * v);
  atomicAdd(cells.at<__half>(5), __float2half(0.25f));
  atomicAdd(cells.at<__half2>(6), __floats2half2_rn(0.25f, -0.5f));
  atomicAdd(cells.at<__nv_bfloat16>(7), __float2bfloat16(0.5f));
  atomicAdd(cells.at<__nv_bfloat162>(8), __floats2bfloat162_rn(0.5f, -0.25f));
  atomicSub(cells.at<int>(9), v);
  atomicMin(cells.at<int>(10), -v);
  atomicMax(cells.at<unsigned>(11), static_cast<unsigned>(v));
  atomicMin(cells.at<long long>(12), -static_cast<long long>(v) << 33);
  atomicMax(cells.at<ull>(13), static_cast<ull>(v) << 33);
  atomicAnd(cells.at<unsigned>(14), ~(1u << (i % 32)));
  atomicOr(cells.at<unsigned>(15), 1u << (i % 16));
  atomicXor(cells.at<ull>(16), static_cast<ull>(v));
  atomicInc(cells.at<unsigned>(17), 9u);
  atomicDec(cells.at<unsigned>(18), 9u);
  atomicAdd_block(cells.at<int>(19), v);
  atomicAdd_system(cells.at<float>(20), 1.0f * v);
  for (unsigned short was = 0;;) {
    const unsigned short seen = atomicCAS(cells.at<unsigned short>(21), was, was + 1);
    if (seen == was) break;
    was = seen;
  }
  for (ull was = atomicAdd(cells.at<ull>(22), 0ull);;) {
    const ull seen = atomicCAS(cells.at<ull>(22), was, was + v);
    if (seen == was) break;
    was = seen;
  }
  cuda::atomic_ref<int, cuda::thread_scope_device>(*cells.at<int>(23)).fetch_add(v);
  cuda::atomic_ref<unsigned, cuda::thread_scope_block>(*cells.at<unsigned>(24))
      .fetch_max(v, cuda::std::memory_order_relaxed);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  atomicAdd(cells.at<float2>(25), make_float2(1.0f * v, -1.0f * v));
  atomicAdd(cells.at<float4>(26), make_float4(1, 2, 3, 4));
#endif
}

extern "C" int atomics(char* cells, int blocks, int threads) {
  atomics_kernel<<<blocks, threads>>>({cells});
  return finish();
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
struct alignas(16) Pair {
  long long first, second;
};

__global__ void wide_kernel(Pair* pair) {
  Pair was = {0, 0};
  for (;;) {
    const Pair seen = atomicCAS(pair, was, Pair{was.first + 1, was.second - 1});
    if (seen.first == was.first && seen.second == was.second) break;
    was = seen;
  }
}
#else
struct Pair;
__global__ void wide_kernel(Pair*) {}
#endif

extern "C" int wide(Pair* pair, int blocks, int threads) {
  wide_kernel<<<blocks, threads>>>(pair);
  return finish();
}

// ---- one thread waits for another ----

enum Wait { kCas, kOr, kAtomicLoad, kVolatile, kFetchAgain, kStandard, kSleep };

__device__ bool locked(int* flag, int how) {
  switch (how) {
    case kCas:
      return atomicCAS(flag, 1, 1) == 0;
    case kOr:
      return atomicOr(flag, 0) == 0;
    case kAtomicLoad:
      return atomicAdd(flag, 0) == 0;
    case kVolatile:
      return *static_cast<volatile int*>(flag) == 0;
    case kFetchAgain:
      return __ldcv(flag) == 0;
    case kStandard:
      return cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).load() == 0;
    default:
      __nanosleep(100);
      return *static_cast<volatile int*>(flag) == 0;
  }
}

// All wait for the last thread of the last block.
__global__ void wait_kernel(int* flag, int* out, int how) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == gridDim.x * blockDim.x - 1) {
    *out = 42;
    __threadfence();
    atomicExch(flag, 1);
    return;
  }
  while (locked(flag, how)) {
  }
  __threadfence();
  atomicAdd(out + 1, *static_cast<volatile int*>(out));
}

extern "C" int wait(int* flag, int* out, int how, int blocks, int threads) {
  wait_kernel<<<blocks, threads>>>(flag, out, how);
  return finish();
}

// A lock taken by every thread of every block in turn.
__global__ void lock_kernel(int* lock, int* counter) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *counter = *static_cast<volatile int*>(counter) + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

extern "C" int lock(int* lock_word, int* counter, int blocks, int threads) {
  lock_kernel<<<blocks, threads>>>(lock_word, counter);
  return finish();
}

// The block that comes last adds up what the others left.
__global__ void last_block_kernel(const float* x, float* partial, unsigned* count, float* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    float mine = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) mine += x[blockIdx.x * blockDim.x + i];
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  __threadfence();
  float all = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) all += partial[i];
  *sum = all;
}

extern "C" int last_block(const float* x, float* partial, unsigned* count, float* sum, int blocks,
                          int threads) {
  last_block_kernel<<<blocks, threads>>>(x, partial, count, sum);
  return finish();
}
