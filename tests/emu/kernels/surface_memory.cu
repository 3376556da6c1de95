// Loads and stores with cache hints, address spaces, asynchronous copies by their functions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "surface.cuh"

// Copies by every pair of a load and a store.
template <class T>
__global__ void cached_kernel(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __stwb(out + i, __ldg(in + i));
  __stcg(out + n + i, __ldcg(in + i));
  __stcs(out + 2 * n + i, __ldcs(in + i));
  __stwt(out + 3 * n + i, __ldca(in + i));
  __stwb(out + 4 * n + i, __ldlu(in + i));
  __stwb(out + 5 * n + i, __ldcv(in + i));
}

#define CACHED(T)                                         \
  extern "C" int cached_##T(const T* in, T* out, int n) { \
    cached_kernel<<<(n + 63) / 64, 64>>>(in, out, n);     \
    return finish();                                      \
  }
CACHED(char)
CACHED(short)
CACHED(int)
CACHED(float)
CACHED(double)
CACHED(char4)
CACHED(ushort2)
CACHED(int2)
CACHED(uint4)
CACHED(float4)
CACHED(double2)
CACHED(__half)
CACHED(__half2)
CACHED(__nv_bfloat16)
CACHED(__nv_bfloat162)

__constant__ int table[4] = {10, 20, 30, 40};

__global__ void spaces_kernel(int* out) {
  __shared__ int shared[32];
  extern __shared__ int dynamic[];
  int local[4] = {static_cast<int>(threadIdx.x), 1, 2, 3};
  shared[threadIdx.x] = local[threadIdx.x % 4];
  out[0] = __isShared(shared) && __isShared(&shared[31]) && __isShared(dynamic);
  out[1] = !__isShared(out) && !__isShared(local);
  out[2] = __isGlobal(out) && !__isGlobal(shared) && !__isGlobal(local);
  out[3] = __isLocal(local) && !__isLocal(out) && !__isLocal(shared);
  int* again = static_cast<int*>(__cvta_shared_to_generic(__cvta_generic_to_shared(shared + 3)));
  out[4] = again == shared + 3;
  out[5] = __cvta_global_to_generic(__cvta_generic_to_global(out)) == out;
  out[6] = table[2];
  out[7] =
      static_cast<int>(__cvta_generic_to_shared(shared + 3) - __cvta_generic_to_shared(shared));
}

extern "C" int spaces(int* out) {
  spaces_kernel<<<1, 32, 64>>>(out);
  return finish();
}

// Reverses rows of 64 ints through two buffers filled by cp.async; what is beyond n is zero.
__global__ void pipelined_kernel(const int* in, int* out, int n, int rows) {
  __shared__ alignas(16) int buffer[2][64];
  const int i = threadIdx.x;
  const auto fetch = [&](int row) {
    if (i >= 16) return;
    const int left = n - row * 64 - 4 * i, there = left < 0 ? 0 : left > 4 ? 4 : left;
    __pipeline_memcpy_async(&buffer[row % 2][4 * i], in + (there ? row * 64 + 4 * i : 0), 16,
                            16 - 4 * there);
  };
  fetch(0);
  __pipeline_commit();
  for (int row = 0; row < rows; ++row) {
    if (row + 1 < rows) fetch(row + 1);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[row * 64 + i] = buffer[row % 2][63 - i];
    __syncthreads();
  }
}

extern "C" int pipelined(const int* in, int* out, int n, int rows) {
  pipelined_kernel<<<1, 64>>>(in, out, n, rows);
  return finish();
}
