// What kernels have without asking for it, and the libraries that they include.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>

#include <cassert>
#include <cstdio>

#include "surface.cuh"

template <class T>
__device__ __forceinline__ T twice(T x) {
  return x + x;
}

__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

struct alignas(8) Parameters {
  const float* in;
  int n;
};

__device__ int counter = 5;

__global__ void __launch_bounds__(64, 2)
    language_kernel(const __grid_constant__ Parameters parameters, float* __restrict__ out) {
  const int i = threadIdx.x;
  __builtin_assume(parameters.n == 64);
  assert(i < parameters.n);
  const float x = parameters.in[i];
  const auto add = [=](float y) { return x + y; };
  float (*function)(float) = twice<float>;
  int* heap = new int[4];
  heap[i % 4] = i;
  void* block = malloc(16);
  float* mine = out + i;
  constexpr int n = 64;
  mine[0] = isnan(x) || isinf(x) || !isfinite(x) ? -1.0f : add(1.0f);
  mine[n] = function(x);
  mine[2 * n] = abs(x) + fabs(x) + static_cast<float>(abs(-i));
  mine[3 * n] = factorial(i % 6);
  mine[4 * n] = heap[i % 4] + (block != nullptr);
  mine[5 * n] = counter + warpSize;
  mine[6 * n] = exp(x) - expf(x) + (clock64() > 0) + (sizeof(exp(x)) == 4);
  mine[7 * n] = static_cast<float>(__nv_fp8_e4m3(x)) + static_cast<float>(__nv_fp8_e5m2(x));
  mine[8 * n] = static_cast<float>(__nv_fp6_e2m3(x));
  mine[9 * n] = static_cast<float>(__nv_fp4_e2m1(x));
  cuda::std::array<float, 3> array = {x, 2 * x, 3 * x};
  mine[10 * n] = array[2] + cuda::std::get<1>(cuda::std::make_tuple(1, 2.0f)) +
                 (cuda::std::numeric_limits<float>::max() > x) +
                 cuda::std::is_same<float, decltype(array)::value_type>::value;
  delete[] heap;
  free(block);
  if (i == 3) printf("thread %d of %u says %.2f\n", i, blockDim.x, 1.5);
}

extern "C" int language(const float* in, float* out) {
  language_kernel<<<1, 64>>>(Parameters{in, 64}, out);
  return finish();
}

#ifdef __CUDACC__
#pragma nv_diag_suppress 20054  // a barrier in shared memory has a constructor, which init()
                                // replaces
#endif

// Each thread reads its neighbour's number: by barriers of libcu++, then by its pipelines.
__global__ void barriers_kernel(const int* in, int* out, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int shared[64], copied[64];
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    shared[i] = in[i] + round;
    barrier.arrive_and_wait();
    out[round * 64 + i] = shared[(i + 1) % 64];
    barrier.wait(barrier.arrive());
  }
  auto pipeline = cuda::make_pipeline();
  pipeline.producer_acquire();
  cuda::memcpy_async(&copied[i], in + i, sizeof(int), pipeline);
  pipeline.producer_commit();
  pipeline.consumer_wait();
  __syncthreads();
  out[rounds * 64 + i] = copied[(i + 1) % 64];
  pipeline.consumer_release();
}

extern "C" int barriers(const int* in, int* out, int rounds) {
  barriers_kernel<<<1, 64>>>(in, out, rounds);
  return finish();
}
