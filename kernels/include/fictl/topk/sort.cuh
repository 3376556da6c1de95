// A block sorts numbers in shared memory: a bitonic network.
#pragma once

#include <cuda_runtime.h>

namespace fictl::topk {

// Descending; `count` is a power of two. Called by all threads of the block, after a barrier and
// before one.
template <typename T>
__device__ void sort_descending(T* x, int count) {
#pragma unroll 1
  for (int size = 2; size <= count; size *= 2) {
#pragma unroll 1
    for (int stride = size / 2; stride > 0; stride /= 2) {
#pragma unroll 1
      for (int i = threadIdx.x; i < count / 2; i += blockDim.x) {
        const int low = 2 * i - (i & (stride - 1));
        const int high = low + stride;
        const T a = x[low];
        const T b = x[high];
        const bool descends = (low & size) == 0;
        if (descends ? a < b : b < a) {
          x[low] = b;
          x[high] = a;
        }
      }
      __syncthreads();
    }
  }
}

}  // namespace fictl::topk
